/** What `--help` shows behind the options. */

export const filter = `
Examples:
  $ robots-filter --robots-dir robots/ urls.txt
  allow   https://example.com/
  deny    https://example.com/private/a

  $ zcat crawl.ndjson.gz | robots-filter --robots-dir robots/ -a GPTBot --allowed > frontier.ndjson
  $ robots-filter compile --robots-dir robots/ -o robots.table
  $ robots-filter --table robots.table -a 'Googlebot-Image>Googlebot' --explain urls.txt
  $ robots-filter --table robots.table -a GPTBot,CCBot --url-field request.url crawl.ndjson

A verdict is allow, deny, unknown (no robots.txt for its host here) or invalid (no http, https or ftp URL).
Text comes out as VERDICT, tab, URL; with --explain followed, for each agent, by REASON, LINE, RULE, AGENT and SOURCE.
Exit status: 0 the run was completed, whatever the verdicts; 2 error; 130 interrupted (SIGTERM 143, SIGHUP 129).
A file that is called as a command is: ./compile
`;

export const compile = `
Examples:
  $ robots-filter compile --robots-dir robots/ -o robots.table
  $ robots-filter compile --robots-dir base.ndjson.gz --robots-dir newer/ -o robots.table
  $ robots-filter compile --robots-dir robots/ -a GPTBot,CCBot -o small.table
`;

export const fetch = `
Examples:
  $ robots-filter fetch --robots-dir robots/ --user-agent 'MyBot/1.0 (+https://example.com/bot)' urls.txt
  $ robots-filter --robots-dir robots/ -a MyBot --allowed urls.txt > frontier.txt
  $ robots-filter fetch --robots-dir robots/ --stale
  $ robots-filter --fetch --robots-dir robots/ -a MyBot urls.txt

200 to 299 is successful; 400 to 499, and too many redirects, unavailable: all is allowed; anything else, be it a
status or a failure of the network, unreachable: all is denied.
What is fresh in the directory is not asked for again, so the same command goes on where another one was stopped.
Exit status: 0 completed, whatever came of it; 2 error; 130 interrupted (SIGTERM 143, SIGHUP 129).
`;

export const check = `
Prints for each URL: VERDICT, URL, REASON and, where a rule decided, LINE, RULE and AGENT, with tabs between.

Examples:
  $ robots-filter check robots.txt GPTBot https://example.com/ https://example.com/private/
  $ curl -s https://example.com/robots.txt | robots-filter check - '*' https://example.com/search

Exit status: 0 all URLs are allowed; 1 some URL is not, be it denied or invalid; 2 error.
`;

export const inspect = `
Examples:
  $ robots-filter inspect robots.table
  $ robots-filter inspect robots.table example.com
  $ robots-filter inspect robots.table https://example.com:8443
  $ robots-filter inspect --verify theirs.table && robots-filter --table theirs.table urls.txt

--verify proves that no look-up can read outside the table or run without end, whoever made it. Its verdicts are its maker's.
Exit status: 0 printed; 2 error, or the table is damaged or not sound.
`;
