"""Judges the lines of the logs of web servers, with one parsed robots.txt kept for each server.

    log.py LIBRARY ROBOTS LOG MAX_LINES

LIBRARY is protego, or urllib for Python's own urllib.robotparser. ROBOTS has a line of JSON for each authority. Prints
one JSON object.
"""

import json
import re
import sys
import time

library, robots_file, log, limit = sys.argv[1:5]

LINE = re.compile(
    r'(\S+) \S+ \S+ .*? \[[^\]]*\] "\S+ (.*?)(?: HTTP/[0-9.]+)?" (?:\d+|-) (?:\d+|-) "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)"'
)
CRAWLER = re.compile(r"CCBot|GPTBot|AhrefsBot")

if library == "protego":
    from protego import Protego

    def parse(body):
        return Protego.parse(body)

    def is_allowed(robots, url, agent):
        return robots.can_fetch(url, agent)

else:
    from urllib.robotparser import RobotFileParser

    def parse(body):
        robots = RobotFileParser()
        robots.parse(body.splitlines())
        return robots

    def is_allowed(robots, url, agent):
        return robots.can_fetch(agent, url)


def decide(line):
    found = LINE.match(line)
    if found is None:
        return "invalid"
    server, target, header = found.groups()
    host, _, port = server.partition(":")
    if target.startswith("/"):
        authority = ("https://" if port == "443" else "http://") + host
        url = authority + target.replace('\\"', '"').replace("\\\\", "\\")
    else:
        authority = "/".join(target.split("/", 3)[:3])
        url = target
    robots = robots_of.get(authority, "unknown")
    if isinstance(robots, str):
        return robots
    crawler = CRAWLER.search(header)
    return "allow" if is_allowed(robots, url, crawler.group() if crawler else "*") else "deny"


WITHOUT_BODY = {"unavailable": "allow", "unreachable": "deny", "unknown": "unknown"}

start = time.perf_counter()
robots_of = {}
with open(robots_file, encoding="utf-8") as lines:
    for line in lines:
        entry = json.loads(line)
        body = entry.get("body")
        robots_of[entry["authority"]] = WITHOUT_BODY[entry["kind"]] if body is None else parse(body)
parse_seconds = time.perf_counter() - start

counts = {"allow": 0, "deny": 0, "unknown": 0, "invalid": 0}
remaining = int(limit)
start = time.perf_counter()
with open(log, encoding="utf-8", newline="\n") as lines:
    for line in lines:
        if remaining == 0:
            break
        remaining -= 1
        counts[decide(line)] += 1
seconds = time.perf_counter() - start

print(json.dumps({"seconds": seconds, "parseSeconds": parse_seconds, "counts": counts}))
