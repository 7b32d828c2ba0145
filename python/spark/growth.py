"""Measure how the cost of `filter_urls` grows, on one machine: python growth.py --help.

CPU time is that of all processes: the JVM, the Python workers and the filters. The rows go nowhere
(the format `noop`), so that reading, filtering and the shuffle remain. `bare` is the same job
without the filter: Parquet, rows to Python and back.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from robots_filter import command
from robots_filter.spark import filter_urls

SHARDS = 16
#: URLs of one file of Parquet: there are at least 8 files.
URLS_OF_FILE = 250_000
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print a row for each measurement."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hosts", type=int, nargs="+", default=[100_000])
    parser.add_argument("--urls", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--partitions", type=int, nargs="+", default=[4])
    parser.add_argument("--ways", nargs="+", default=["bare", "whole", "by_shard"])
    options = parser.parse_args()
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    print("| hosts | table | URLs | partitions | way | CPU of a URL | CPU | elapsed |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        for hosts in options.hosts:
            place = Path(directory) / str(hosts)
            place.mkdir()
            table, size = compiled(place, hosts)
            for urls in options.urls:
                rows = written(place / f"urls-{urls}", urls, hosts)
                for partitions in options.partitions:
                    df = spark.read.parquet(rows).coalesce(partitions)
                    for way in options.ways:
                        judged = job(df, way, table, partitions)
                        cpu, elapsed = measured(judged)
                        facts = f"{hosts:,} | {size / 1e6:.0f} MB | {urls:,} | {partitions}"
                        costs = f"{cpu / urls * 1e6:.2f} µs | {cpu:.1f} s | {elapsed:.1f} s"
                        print(f"| {facts} | {way} | {costs} |", flush=True)
    spark.stop()


def job(df: DataFrame, way: str, table: str, partitions: int) -> Callable[[], None]:
    """Return a function that runs a job to its end."""

    def run() -> None:
        if way == "bare":
            judged = df.mapInArrow(lambda batches: batches, df.schema)
        else:
            by_shard = way == "by_shard"
            judged = filter_urls(
                df, table=table, agents="GPTBot", by_shard=by_shard, tasks=max(partitions, SHARDS)
            )
        judged.write.format("noop").mode("overwrite").save()

    return run


def measured(run: Callable[[], None]) -> tuple[float, float]:
    """Return the CPU time and the elapsed time of a job, whose second run is measured."""
    run()
    cpu, started = cpu_seconds(), time.monotonic()
    run()
    return cpu_seconds() - cpu, time.monotonic() - started


def cpu_seconds() -> float:
    """Return the CPU time of this process and all below it, in seconds."""
    parents: dict[int, int] = {}
    times: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        # Its own time, and that of children that have ended.
        times[pid] = sum(map(int, fields[11:15]))

    def is_below(pid: int) -> bool:
        while pid in parents:
            if pid == os.getpid():
                return True
            pid = parents[pid]
        return False

    return sum(time for pid, time in times.items() if is_below(pid)) / TICKS


def compiled(place: Path, hosts: int) -> tuple[str, int]:
    """Compile a table in shards; return its directory and its bytes."""
    draw = random.Random(hosts)
    source = place / "robots.ndjson"
    with source.open("w") as file:
        for number in range(hosts):
            rules = "".join(
                f"Disallow: /{draw.randrange(1000)}/{number % 89}\n"
                for _ in range(draw.randrange(8))
            )
            robots = f"User-agent: {draw.choice(['*', 'GPTBot'])}\n{rules}"
            file.write(json.dumps({"host": host_of(number), "robots": robots}) + "\n")
    table = place / "table"
    words = ["compile", "-q", "--robots-dir", str(source), "--shards", str(SHARDS)]
    subprocess.run([*command(), *words, "-o", str(table)], check=True)
    source.unlink()
    return str(table), sum(path.stat().st_size for path in table.glob("*.table"))


def host_of(number: int) -> str:
    """Return a host."""
    return f"www.site-{number}.example"


def written(place: Path, urls: int, hosts: int) -> str:
    """Write URLs as Parquet: many of few hosts, and few of many."""
    draw = random.Random(urls)
    place.mkdir()
    files = max(8, urls // URLS_OF_FILE)
    for number in range(files):
        texts: list[Any] = []
        for _ in range(urls // files):
            host = int(hosts ** draw.random()) if draw.random() < 0.5 else draw.randrange(hosts)
            texts.append(
                f"https://{host_of(host)}/{draw.randrange(1000)}/{draw.randrange(89)}/page.html"
            )
        pq.write_table(pa.table({"url": texts}), place / f"{number}.parquet")
    return str(place)


if __name__ == "__main__":
    main()
