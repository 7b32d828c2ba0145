"""Robots.txt files and URLs for checks.py."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa

from robots_filter import command

HOSTS = 400
SHARDS = 5
#: The time of the first version of histories, 2024-01-01, and the seconds up to the next one.
HISTORY_START, HISTORY_STEP = 1_704_067_200, 8_640_000
#: The host with half of all URLs.
HEAVY = "heavy.example"


def host_of(number: int) -> str:
    """Return a host; the first has half of all URLs."""
    return HEAVY if number == 0 else f"h{number}.example"


def write_table(place: Path) -> None:
    """Compile a table whole and in shards."""
    with (place / "robots.ndjson").open("w") as file:
        for number in range(HOSTS):
            record: dict[str, Any] = {"host": host_of(number)}
            if number % 17 == 3:
                record["status"] = 404 if number % 2 else 503
            else:
                agent = ["*", "GPTBot", "CCBot"][number % 3]
                record["robots"] = (
                    f"User-agent: {agent}\nDisallow: /{number % 7}/\nAllow: /*.html$\n"
                )
            file.write(json.dumps(record) + "\n")
    words = [*command(), "compile", "-q", "--robots-dir", str(place / "robots.ndjson")]
    subprocess.run([*words, "-o", str(place / "robots.table")], check=True)
    shards = ["--shards", str(SHARDS), "-o", str(place / "shards")]
    subprocess.run([*words, *shards], check=True)


def write_histories(place: Path) -> None:
    """Compile a table with histories whole and in shards: three versions of each host."""
    with (place / "history.ndjson").open("w") as file:
        for number in range(HOSTS):
            for version in range(3):
                robots = f"User-agent: *\nDisallow: /{(number + version) % 4}/\n"
                fetched = HISTORY_START + version * HISTORY_STEP
                record = {"host": host_of(number), "robots": robots, "fetched": fetched}
                file.write(json.dumps(record) + "\n")
    source = str(place / "history.ndjson")
    words = [*command(), "compile", "-q", "--history", "--robots-dir", source]
    subprocess.run([*words, "-o", str(place / "history.table")], check=True)
    shards = ["--shards", str(SHARDS), "-o", str(place / "history.shards")]
    subprocess.run([*words, *shards], check=True)


def write_signals(place: Path) -> None:
    """Compile a table with signals whole and in shards, in which some hosts have none."""
    with (place / "signals.ndjson").open("w") as file:
        for number in range(HOSTS):
            signals = [
                "Content-Usage: train-ai=n\n",
                "Content-Usage: /1/ train-ai=y\nContent-Signal: search=no\n",
                "Content-Signal: search=yes, ai-train=yes\n",
                "",
            ]
            robots = f"User-agent: *\n{signals[number % 4]}Disallow: /2/\n"
            if number % 5 == 0:
                robots += f"User-agent: Trainer\nDisallow: /{number % 3}/\n"
            file.write(json.dumps({"host": host_of(number), "robots": robots}) + "\n")
    source = str(place / "signals.ndjson")
    words = [*command(), "compile", "-q", "--signals", "--robots-dir", source]
    subprocess.run([*words, "-o", str(place / "signals.table")], check=True)
    shards = ["--shards", str(SHARDS), "-o", str(place / "signals.shards")]
    subprocess.run([*words, *shards], check=True)


def urls_of(count: int) -> pa.Table:
    """URLs of all kinds: half of one host, some unknown, invalid, null or spelt oddly."""
    draw = random.Random(29)
    urls: list[str | None] = []
    for number in range(count):
        host = HEAVY if number % 2 else host_of(draw.randrange(HOSTS + 20))
        kind = draw.random()
        ending = draw.choice(["", ".html", "?a=\u00fc"])
        path = f"/{draw.randrange(8)}/{number}{ending}"
        if kind < 0.01:
            urls.append(draw.choice([None, "nonsense", "https://\n/", "http://[::g]/"]))
        elif kind < 0.1:
            urls.append(f"HTTPS://{host.upper()}.:443{path}")
        else:
            urls.append(f"https://{host}{path}")
    return pa.table({"id": pa.array(range(count), pa.int64()), "url": pa.array(urls, pa.string())})


def texts_of(judged: Any, agents: list[str], member: str) -> Any:
    """Return verdicts or reasons as `filter_urls` has them: structs with a text for each agent."""
    chunks = [judged] if isinstance(judged, pa.Array) else judged.chunks
    missing = [chunk.is_null() for chunk in chunks]
    return pa.chunked_array(
        pa.StructArray.from_arrays(
            [chunk.field(agent).field(member).cast(pa.string()) for agent in agents],
            agents,
            mask=mask,
        )
        for chunk, mask in zip(chunks, missing, strict=True)
    )
