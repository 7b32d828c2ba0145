//! Decides URLs by a crate, with one parsed object kept for each host.
//!
//!     competitor LIBRARY ROBOTS_DIRECTORY URLS MAX_URLS AGENT [VERDICTS_FILE]
//!
//! LIBRARY is texting_robots, fast-robots or robotstxt. The last is a port of google/robotstxt and
//! parses a file for each URL, since it has no other interface. Prints one JSON object.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::time::Instant;

enum Robots {
    Parsed(texting_robots::Robot),
    Compiled(fast_robots::RobotsMatcher<'static>),
    Text(String),
    /// The library refused the file: nothing is forbidden.
    Refused,
}

impl Robots {
    fn allows(&self, agent: &str, url: &str) -> bool {
        match self {
            Robots::Parsed(robot) => robot.allowed(url),
            Robots::Compiled(matcher) => matcher.is_allowed(agent, path_of(url)),
            Robots::Text(body) => {
                robotstxt::DefaultMatcher::default().one_agent_allowed_by_robots(body, agent, url)
            }
            Robots::Refused => true,
        }
    }
}

fn parse(library: &str, agent: &str, body: Vec<u8>) -> Robots {
    if library == "robotstxt" {
        return Robots::Text(String::from_utf8_lossy(&body).into_owned());
    }
    if library == "fast-robots" {
        // Its matchers borrow from the parsed file, and that from the text: both stay until the end.
        let text: &'static str = String::from_utf8_lossy(&body).into_owned().leak();
        let parsed = Box::leak(Box::new(fast_robots::RobotsTxt::parse(text)));
        return Robots::Compiled(parsed.matcher());
    }
    match texting_robots::Robot::new(agent, &body) {
        Ok(robot) => Robots::Parsed(robot),
        Err(_) => Robots::Refused,
    }
}

/// The path and query of a URL that has "://".
fn path_of(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or(url);
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |slash| &rest[slash..])
}

fn decide(hosts: &HashMap<String, Robots>, agent: &str, url: &str) -> &'static str {
    let Some((scheme, rest)) = url.split_once("://") else {
        return "invalid";
    };
    let port = if scheme.eq_ignore_ascii_case("https") {
        ":443"
    } else if scheme.eq_ignore_ascii_case("http") {
        ":80"
    } else {
        return "invalid";
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest[..end].strip_suffix(port).unwrap_or(&rest[..end]);
    if authority.is_empty() {
        return "invalid";
    }
    let known = if authority.bytes().any(|octet| octet.is_ascii_uppercase()) {
        hosts.get(&authority.to_ascii_lowercase())
    } else {
        hosts.get(authority)
    };
    match known {
        None => "unknown",
        Some(robots) if robots.allows(agent, url) => "allow",
        Some(_) => "deny",
    }
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [library, directory, urls, limit, agent] = &words[..5] else {
        panic!("usage: competitor LIBRARY ROBOTS_DIRECTORY URLS MAX_URLS AGENT [VERDICTS_FILE]");
    };
    let start = Instant::now();
    let mut hosts = HashMap::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let body = std::fs::read(entry.path())?;
        let host = entry.file_name().to_string_lossy().into_owned();
        hosts.insert(host, parse(library, agent, body));
    }
    let parse_seconds = start.elapsed().as_secs_f64();

    let mut verdicts = match words.get(5) {
        Some(path) => Some(BufWriter::new(File::create(path)?)),
        None => None,
    };
    let mut counts = HashMap::from([("allow", 0), ("deny", 0), ("unknown", 0), ("invalid", 0)]);
    let limit: usize = limit.parse().expect("MAX_URLS is a number");
    let mut input = BufReader::with_capacity(1 << 20, File::open(urls)?);
    let mut line = String::new();
    let start = Instant::now();
    for _ in 0..limit {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            break;
        }
        let verdict = decide(&hosts, agent, line.trim_end_matches('\n'));
        *counts.entry(verdict).or_default() += 1;
        if let Some(file) = &mut verdicts {
            writeln!(file, "{verdict}")?;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        r#"{{"seconds":{seconds},"parseSeconds":{parse_seconds},"counts":{{"allow":{},"deny":{},"unknown":{},"invalid":{}}}}}"#,
        counts["allow"], counts["deny"], counts["unknown"], counts["invalid"]
    );
    Ok(())
}
