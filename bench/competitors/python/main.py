"""Decides URLs by a library from PyPI, with one parsed object kept for each host.

    main.py LIBRARY ROBOTS_DIRECTORY URLS MAX_URLS AGENT [VERDICTS_FILE]

LIBRARY is protego, fastrobots (in Rust), or fast-robotstxt: a fork of google/robotstxt in C++ with the URL parser ada.
The last parses a file for each URL, since it has no other interface. Prints one JSON object.
"""

import json
import os
import sys
import time

library, directory, urls, limit, agent = sys.argv[1:6]
verdicts_file = sys.argv[6] if len(sys.argv) > 6 else None


def read(host):
    with open(os.path.join(directory, host), "rb") as file:
        return file.read()


if library == "protego":
    from protego import Protego

    def parse(body):
        return Protego.parse(body.decode("utf-8-sig", "replace"))

    def is_allowed(robots, url):
        return robots.can_fetch(url, agent)

elif library == "fastrobots":
    from fastrobots import Robots

    def parse(body):
        return Robots.parse(body.decode("utf-8-sig", "replace"))

    def is_allowed(robots, url):
        # It takes paths only. A URL that came here has "://".
        rest = url.partition("#")[0].partition("://")[2]
        slash = rest.find("/")
        return robots.allowed(rest[slash:] if slash >= 0 else "/", agent)

else:
    from robotstxt import RobotsMatcher

    matcher = RobotsMatcher()

    def parse(body):
        return body.decode("utf-8", "replace")

    def is_allowed(robots, url):
        return matcher.is_allowed(robots, agent, url)


def decide(url):
    scheme, mark, rest = url.partition("://")
    scheme = scheme.lower()
    if not mark or scheme not in ("http", "https"):
        return "invalid"
    authority = rest.partition("/")[0].partition("?")[0].lower()
    if not authority:
        return "invalid"
    if scheme == "https":
        authority = authority.removesuffix(":443")
    else:
        authority = authority.removesuffix(":80")
    robots = robots_of.get(authority)
    if robots is None:
        return "unknown"
    return "allow" if is_allowed(robots, url) else "deny"


start = time.perf_counter()
robots_of = {host: parse(read(host)) for host in os.listdir(directory)}
parse_seconds = time.perf_counter() - start

counts = {"allow": 0, "deny": 0, "unknown": 0, "invalid": 0}
verdicts = []
remaining = int(limit)
start = time.perf_counter()
with open(urls, encoding="utf-8", newline="\n") as lines:
    for line in lines:
        if remaining == 0:
            break
        remaining -= 1
        verdict = decide(line[:-1])
        counts[verdict] += 1
        if verdicts_file:
            verdicts.append(verdict)
seconds = time.perf_counter() - start

print(json.dumps({"seconds": seconds, "parseSeconds": parse_seconds, "counts": counts}))
if verdicts_file:
    with open(verdicts_file, "w") as file:
        file.write("\n".join(verdicts) + "\n")
