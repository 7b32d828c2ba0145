"""Measure the package beside Protego with a dict of parsed hosts, in one run.

python bench.py [--urls N] [--hosts N] [--repeats N] [--quick]

It needs pyarrow, pandas, polars and Protego. The robots.txt files and the URLs are generated from
a seed, and hold only what both programs understand alike: their verdicts are compared one by one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import polars as pl
import pyarrow as pa
from protego import Protego

from robots_filter import Table

AGENT = "GPTBot"
WORDS = [
    "news",
    "shop",
    "blog",
    "image",
    "essay",
    "cart",
    "search",
    "private",
    "tag",
    "feed",
    "api",
]
#: Protego is asked about so many URLs at most, and its rate is that of these.
PROTEGO_URLS = 200_000
#: URLs that are asked about one by one.
SINGLE_URLS = 2_000


def main() -> None:
    """Print a table of rates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=2_000_000)
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small, for the verdicts alone")
    options = parser.parse_args()
    if options.quick:
        options.urls, options.hosts, options.repeats = 50_000, 500, 1
    files, urls = generated(options.hosts, options.urls)
    with tempfile.TemporaryDirectory() as place:
        records = Path(place) / "robots.ndjson"
        write_records(records, files)
        with Table.compile(records) as table:
            measure(table, files, urls, options.repeats)


def generated(hosts: int, count: int) -> tuple[dict[str, str], list[str]]:
    """Return a robots.txt for each host, and URLs."""
    source = random.Random(29)
    files = {f"host-{number}.example": robots_text(source) for number in range(hosts)}
    # As in an index of a crawl: runs of URLs of one host, and some of hosts without a file.
    urls: list[str] = []
    while len(urls) < count:
        host = f"host-{source.randrange(hosts + hosts // 20)}.example"
        urls += [url_of(source, host) for _ in range(source.randrange(1, 12))]
    return files, urls[:count]


def write_records(path: Path, files: dict[str, str]) -> None:
    """Write robots.txt files as NDJSON."""
    with path.open("w") as file:
        for host, text in files.items():
            file.write(json.dumps({"host": host, "robots": text}) + "\n")


def measure(table: Table, files: dict[str, str], urls: list[str], repeats: int) -> None:
    """Print the rate of each way to ask; compare all verdicts."""
    array = pa.array(urls)
    data = len("".join(urls)) / len(urls)
    print(f"{len(urls):,} URLs of {data:.0f} bytes, {len(files):,} hosts, {os.cpu_count()} cores")
    agents = [AGENT, "CCBot", "*"]
    ways: list[tuple[str, Callable[[], Any]]] = [
        ("pyarrow Array", lambda: table.verdicts(array, AGENT)),
        ("pyarrow Array, explain", lambda: table.verdicts(array, AGENT, explain=True)),
        ("pyarrow Array, 3 agents", lambda: table.verdicts(array, agents)),
        ("polars Series", lambda: table.verdicts(pl.Series(array), AGENT)),
        ("pandas Series", lambda: table.verdicts(pd.Series(urls), AGENT)),
        ("list", lambda: table.verdicts(urls, AGENT)),
        ("filter", lambda: sum(1 for _ in table.filter(urls, AGENT))),
    ]
    # The process starts with the table, and its threads with the first requests.
    table.verdicts(array.slice(0, 100_000), AGENT)
    for name, ask in ways:
        report(name, len(urls), [seconds(ask) for _ in range(repeats)])
    some = urls[:PROTEGO_URLS]
    parsed = {host: Protego.parse(text) for host, text in files.items()}
    report("Protego, dict of hosts", len(some), [seconds(lambda: ask_protego(parsed, some))])
    single = some[:SINGLE_URLS]
    alone: dict[str, list[float]] = {"verdict, one URL": [], "Protego, one URL": []}
    for _ in range(repeats):
        for url in single:
            alone["verdict, one URL"].append(seconds(lambda url=url: table.verdict(url, AGENT)))
            alone["Protego, one URL"].append(seconds(lambda url=url: ask_protego(parsed, [url])))
    for name, times in alone.items():
        print(f"{name:26} {1e6 * statistics.median(times):8.0f} µs")

    ours = table.verdicts(some, AGENT)
    theirs = ask_protego(parsed, some)
    if ours != theirs:
        at = next(
            at for at, pair in enumerate(zip(ours, theirs, strict=True)) if len(set(pair)) > 1
        )
        sys.exit(f"{some[at]} is {ours[at]}, and for Protego {theirs[at]}")
    counts = {verdict: ours.count(verdict) for verdict in ("allow", "deny", "unknown")}
    if min(counts.values()) < len(some) // 100:
        sys.exit(f"too few of some verdict: {counts}")
    print(f"equal verdicts on {len(some):,} URLs: {counts}")


def ask_protego(parsed: dict[str, Protego], urls: list[str]) -> list[str]:
    """Ask Protego as its users do: one parsed file for each host."""
    verdicts = []
    for url in urls:
        robots = parsed.get(urlsplit(url).netloc)
        if robots is None:
            verdicts.append("unknown")
        else:
            verdicts.append("allow" if robots.can_fetch(url, AGENT) else "deny")
    return verdicts


def seconds(ask: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    started = time.perf_counter()
    ask()
    return time.perf_counter() - started


def report(name: str, urls: int, times: list[float]) -> None:
    """Print the rate of the median."""
    print(f"{name:26} {urls / statistics.median(times) / 1e6:8.3f} million URLs/s")


def robots_text(source: random.Random) -> str:
    """Return a robots.txt of groups and rules that both programs read alike."""
    lines = []
    for agent in ("*", AGENT, "CCBot")[: source.randrange(1, 4)]:
        lines.append(f"User-agent: {agent}")
        for _ in range(source.randrange(1, 12)):
            verb = source.choice(["Disallow", "Disallow", "Disallow", "Allow"])
            path = "/".join(source.choices(WORDS, k=source.randrange(1, 3)))
            # No "?": Protego counts it as the three bytes of %3F, so that another rule may win.
            ending = source.choice(["", "/", "*.html", "/*/feed", ".html$"])
            lines.append(f"{verb}: /{path}{ending}")
        lines.append("")
    return "\n".join(lines)


def url_of(source: random.Random, host: str) -> str:
    """Return a URL of a host."""
    path = "/".join(source.choices(WORDS, k=source.randrange(1, 5)))
    ending = source.choice(["", "/", ".html", f"-{source.randrange(10**6)}.html", "?id=7"])
    return f"https://{host}/{path}{ending}"


if __name__ == "__main__":
    main()
