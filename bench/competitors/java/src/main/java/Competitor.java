import crawlercommons.robots.BaseRobotRules;
import crawlercommons.robots.SimpleRobotRulesParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Decides URLs by crawler-commons, with one parsed object kept for each host.
 *
 * <pre>Competitor LIBRARY ROBOTS_DIRECTORY URLS MAX_URLS AGENT [VERDICTS_FILE]</pre>
 *
 * <p>LIBRARY is crawler-commons. Prints one JSON object.
 */
public final class Competitor {
  private static final String[] VERDICTS = {"allow", "deny", "unknown", "invalid"};

  private final Map<String, BaseRobotRules> robots = new HashMap<>();

  private Competitor(Path directory, String agent) throws IOException {
    SimpleRobotRulesParser parser = new SimpleRobotRulesParser();
    List<String> agents = List.of(agent.toLowerCase(Locale.ROOT));
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        String host = file.getFileName().toString();
        String url = "https://" + host + "/robots.txt";
        byte[] body = Files.readAllBytes(file);
        robots.put(host, parser.parseContent(url, body, "text/plain", agents));
      }
    }
  }

  private int decide(String url) {
    int mark = url.indexOf("://");
    if (mark < 0) return 3;
    String scheme = url.substring(0, mark).toLowerCase(Locale.ROOT);
    if (!scheme.equals("http") && !scheme.equals("https")) return 3;
    int end = mark + 3;
    while (end < url.length() && "/?#".indexOf(url.charAt(end)) < 0) end++;
    String authority = url.substring(mark + 3, end).toLowerCase(Locale.ROOT);
    if (authority.isEmpty()) return 3;
    String port = scheme.equals("https") ? ":443" : ":80";
    if (authority.endsWith(port)) {
      authority = authority.substring(0, authority.length() - port.length());
    }
    BaseRobotRules rules = robots.get(authority);
    if (rules == null) return 2;
    return rules.isAllowed(url) ? 0 : 1;
  }

  public static void main(String[] args) throws IOException {
    long start = System.nanoTime();
    Competitor competitor = new Competitor(Path.of(args[1]), args[4]);
    double parseSeconds = (System.nanoTime() - start) / 1e9;

    long[] counts = new long[4];
    int limit = Integer.parseInt(args[3]);
    List<String> verdicts = args.length > 5 ? new ArrayList<>() : null;
    start = System.nanoTime();
    try (BufferedReader lines = Files.newBufferedReader(Path.of(args[2]))) {
      String line;
      for (int seen = 0; seen < limit && (line = lines.readLine()) != null; seen++) {
        int verdict = competitor.decide(line);
        counts[verdict]++;
        if (verdicts != null) verdicts.add(VERDICTS[verdict]);
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;

    System.out.printf(
        Locale.ROOT,
        "{\"seconds\":%f,\"parseSeconds\":%f,"
            + "\"counts\":{\"allow\":%d,\"deny\":%d,\"unknown\":%d,\"invalid\":%d}}",
        seconds, parseSeconds, counts[0], counts[1], counts[2], counts[3]);
    if (verdicts != null) Files.write(Path.of(args[5]), verdicts);
  }
}
