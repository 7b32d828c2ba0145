"""Measure how the cost of `filter_urls` grows, on one machine: python growth.py --help.

CPU time is that of all processes: the JVM, the Python workers and the filters. The rows go nowhere
(the format `noop`), so that reading, filtering and the shuffle remain. `bare` is the same job
without the filter: Parquet, rows to Python and back. `memory` is the most of one filter.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
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
    parser.add_argument("--columns", type=int, nargs="+", default=[1], help="of the URLs' table")
    parser.add_argument("--ways", nargs="+", default=["bare", "whole", "by_shard"])
    parser.add_argument("--runs", type=int, default=3, help="runs after the first one: median")
    options = parser.parse_args()
    # Else Spark takes the python3 of the PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    head = "hosts | table | URLs | columns | partitions | way | of a URL | CPU | elapsed | memory"
    print(f"| {head} |\n|{'---|' * 10}")
    with tempfile.TemporaryDirectory() as directory:
        for hosts in options.hosts:
            place = Path(directory) / str(hosts)
            place.mkdir()
            table, size = compiled(place, hosts)
            for urls, columns in product(options.urls, options.columns):
                rows = written(place / f"urls-{urls}-{columns}", urls, hosts, columns)
                for partitions in options.partitions:
                    df = spark.read.parquet(rows).coalesce(partitions)
                    for way in options.ways:
                        judged = job(df, way, table, partitions)
                        cpu, elapsed = measured(judged, options.runs)
                        sizes = f"{hosts:,} | {size / 1e6:.0f} MB | {urls:,} | {columns}"
                        costs = f"{cpu / urls * 1e6:.2f} µs | {cpu:.1f} s | {elapsed:.1f} s"
                        costs += f" | {filter_bytes() / 1e6:.0f} MB"
                        print(f"| {sizes} | {partitions} | {way} | {costs} |", flush=True)
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


def measured(run: Callable[[], None], runs: int) -> tuple[float, float]:
    """Return the CPU time and the elapsed time of a job: medians of the runs after the first."""
    run()
    times: list[tuple[float, float]] = []
    for _ in range(runs):
        cpu, started = cpu_seconds(), time.monotonic()
        run()
        times.append((cpu_seconds() - cpu, time.monotonic() - started))
    cpus, elapsed = zip(*times, strict=True)
    return statistics.median(cpus), statistics.median(elapsed)


def cpu_seconds() -> float:
    """Return the CPU time of this process and all below it, in seconds."""
    return sum(own_times().values()) / TICKS


def filter_bytes() -> int:
    """Return the most memory that one of the filter processes below this one has had."""
    most = 0
    for pid in own_times():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        if b"serve" in words and "VmHWM:" in status:
            most = max(most, 1024 * int(status.partition("VmHWM:")[2].split()[0]))
    return most


def own_times() -> dict[int, int]:
    """Return the CPU time of this process and of each below it, in ticks."""
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

    return {pid: time for pid, time in times.items() if is_below(pid)}


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


def written(place: Path, urls: int, hosts: int, columns: int) -> str:
    """Write URLs as Parquet: many of few hosts, and few of many; beside them numbers and texts."""
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
        table: dict[str, list[Any]] = {"url": texts}
        for column in range(1, columns):
            values = [draw.randrange(1_000_000) for _ in texts]
            is_text = column % 2 == 1
            table[f"c{column}"] = [f"text {value}" for value in values] if is_text else values
        pq.write_table(pa.table(table), place / f"{number}.parquet")
    return str(place)


if __name__ == "__main__":
    main()
