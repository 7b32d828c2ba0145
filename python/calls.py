"""Count the calls, processes and seconds of a job of DuckDB, polars, pandas and Spark.

python calls.py [--urls N] [--hosts N] [--rounds N] [--job JOB] [NAME=PYTHON ...]

Each NAME=PYTHON is the interpreter of a virtual environment with this package, duckdb, polars,
pandas, pyarrow and Protego, and for Spark pyspark: `before=/tmp/old/bin/python`, for example. By
default it is the present one. Each job runs in a process of its own, in turns with the same job by
Protego with a dict of parsed hosts, and all must count the same verdicts.

The seconds are those of the query, without imports and without the parsing of Protego. Spark runs
each query a first time before that, whose processes count, too. A call of Spark is a batch.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import AGENT, ask_protego, generated, write_records

JOBS = ["duckdb", "polars", "pandas", "spark"]
#: Rows of a row group of the file: those that a thread of DuckDB or polars reads at once.
ROW_GROUP = 122_880

#: A job over a file of URLs, with a function that judges a column: it counts verdicts.
Verdicts = Callable[[Any], Any]


def main() -> None:
    """Print a table; or run one job, and print what it counted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--urls", type=int, default=1_500_000)
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--job", action="append", choices=JOBS, help="repeatable")
    parser.add_argument("--run", nargs=3, metavar=("JOB", "WAY", "PLACE"), help=argparse.SUPPRESS)
    parser.add_argument("pythons", nargs="*", metavar="NAME=PYTHON")
    options = parser.parse_args()
    if options.run:
        job, way, place = options.run
        print(json.dumps(counted(job, way, Path(place))))
        return
    pythons = dict(each.split("=", 1) for each in options.pythons) or {"now": sys.executable}
    ways = [*((name, python, "table") for name, python in pythons.items())]
    ways.append(("Protego", [*pythons.values()][-1], "protego"))
    print("| job | | calls | processes | seconds |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        write_data(place, options.hosts, options.urls)
        for job in options.job or JOBS:
            found: dict[str, list[dict[str, Any]]] = {name: [] for name, _, _ in ways}
            for _ in range(options.rounds):
                for name, python, way in ways:
                    words = [python, __file__, "--run", job, way, directory]
                    ended = subprocess.run(words, stdout=subprocess.PIPE, check=True)
                    found[name].append(json.loads(ended.stdout))
            verdicts = [each["verdicts"] for runs in found.values() for each in runs]
            if any(each != verdicts[0] for each in verdicts):
                sys.exit(f"{job}: the verdicts differ: {verdicts}")
            for name, runs in found.items():
                times = [run["seconds"] for run in runs]
                spread = f"{statistics.median(times):.2f} ({min(times):.2f} to {max(times):.2f})"
                counts = " | ".join(spread_of(run[key] for run in runs) for key in COUNTS)
                print(f"| {job} | {name} | {counts} | {spread} |", flush=True)


COUNTS = ["calls", "processes"]


def spread_of(numbers: Any) -> str:
    """Return the least and the greatest number, or the only one."""
    least, *_, greatest = sorted(numbers) * 2
    return f"{least:,}" if least == greatest else f"{least:,} to {greatest:,}"


def write_data(place: Path, hosts: int, count: int) -> None:
    """Write robots.txt files, as records and as a table, and URLs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from robots_filter import Table

    files, urls = generated(hosts, count)
    write_records(place / "robots.ndjson", files)
    Table.compile(place / "robots.ndjson", place / "robots.table").close()
    numbered = pa.table({"id": range(count), "url": urls})
    pq.write_table(numbered, place / "urls.parquet", row_group_size=ROW_GROUP)


def counted(job: str, way: str, place: Path) -> dict[str, Any]:
    """Run a job; return its verdicts, calls, processes and seconds."""
    urls = str(place / "urls.parquet")
    if job == "spark":
        return by_spark(way, place, urls)
    run = {"duckdb": by_duckdb, "polars": by_polars, "pandas": by_pandas}[job]
    calls = 0
    lock = threading.Lock()
    processes = 0
    popen = subprocess.Popen

    class Counting(popen):  # type: ignore[type-arg, valid-type, misc]
        def __init__(self, *words: Any, **more: Any) -> None:
            nonlocal processes
            with lock:
                processes += 1
            super().__init__(*words, **more)

    subprocess.Popen = Counting  # type: ignore[misc]
    judge = judging(way, place)

    def verdicts(column: Any) -> Any:
        nonlocal calls
        with lock:
            calls += 1
        return judge(column)

    started = time.perf_counter()
    found = run(urls, verdicts)
    seconds = time.perf_counter() - started
    return {"verdicts": found, "calls": calls, "processes": processes, "seconds": seconds}


def judging(way: str, place: Path) -> Verdicts:
    """Return the function that judges a column; Protego has parsed its files then."""
    if way == "protego":
        parsed = parsed_in(place)

        def ask(urls: Any) -> list[str]:
            values = urls.to_pylist() if hasattr(urls, "to_pylist") else urls.to_list()
            return ask_protego(parsed, values)

        return ask
    from robots_filter import Table

    table = Table.open(place / "robots.table", threads=1)
    return lambda urls: table.verdicts(urls, AGENT)


def parsed_in(place: Path) -> dict[str, Any]:
    """Return the parsed robots.txt file of each host."""
    from protego import Protego

    with (place / "robots.ndjson").open() as file:
        records = [json.loads(line) for line in file]
    return {record["host"]: Protego.parse(record["robots"]) for record in records}


def by_duckdb(path: str, verdicts: Verdicts) -> dict[str, int]:
    """Count verdicts in SQL, with a function of Arrow on all threads."""
    import duckdb
    import pyarrow as pa

    # DuckDB evaluates the types in this module.
    def verdict(urls: Any) -> Any:
        judged = verdicts(urls)
        return pa.array(judged) if isinstance(judged, list) else judged.cast(pa.string())

    duckdb.create_function("verdict", verdict, ["VARCHAR"], "VARCHAR", type="arrow")
    rows = duckdb.sql(f"SELECT verdict(url) AS v, count(*) FROM '{path}' GROUP BY v").fetchall()
    return dict(sorted(rows))


def by_polars(path: str, verdicts: Verdicts) -> dict[str, int]:
    """Count verdicts in a lazy query that streams."""
    import polars as pl

    def verdict(urls: pl.Series) -> pl.Series:
        judged = verdicts(urls)
        return pl.Series(judged) if isinstance(judged, list) else judged.cast(pl.String)

    judged = pl.col("url").map_batches(verdict, return_dtype=pl.String, is_elementwise=True)
    query = pl.scan_parquet(path).select(judged.alias("v")).group_by("v").len()
    return dict(sorted(query.collect(engine="streaming").rows()))


def by_pandas(path: str, verdicts: Verdicts) -> dict[str, int]:
    """Count the verdicts of a Series."""
    import pandas as pd

    return dict(sorted(Counter(verdicts(pd.read_parquet(path)["url"])).items()))


def by_spark(way: str, place: Path, path: str) -> dict[str, Any]:
    """Count the verdicts of a DataFrame in two Python workers, twice."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F  # noqa: N812

    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Spark's workers find what this file imports.
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    df = spark.read.parquet(path).repartition(4).cache()
    parts = [row[1] for row in df.groupBy(F.spark_partition_id()).count().collect()]
    batch = int(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") or 0)
    if way == "protego":
        judged = df.withColumn("verdict", protego_function(place)(df.url))
    else:
        from robots_filter.spark import filter_urls

        table = place / "robots.table"
        judged = filter_urls(df, table=table, agents=AGENT)
    started: set[int] = set()
    ended = threading.Event()
    watcher = threading.Thread(target=watch, args=(str(place), started, ended))
    watcher.start()
    for _ in range(2):
        start = time.perf_counter()
        rows = judged.groupBy("verdict").count().collect()
        seconds = time.perf_counter() - start
    ended.set()
    watcher.join()
    spark.stop()
    return {
        "verdicts": dict(sorted((row[0], row[1]) for row in rows)),
        "calls": sum(-(-part // batch) for part in parts),
        "processes": len(started),
        "seconds": seconds,
    }


def protego_function(place: Path) -> Any:
    """Return a function of Spark that asks Protego, whose files each worker parses once."""
    import pandas as pd
    from pyspark.sql import functions as F  # noqa: N812

    def judge(urls: pd.Series) -> pd.Series:
        import calls
        from bench import ask_protego

        if calls.worker_files is None:
            calls.worker_files = calls.parsed_in(place)
        return pd.Series(ask_protego(calls.worker_files, list(urls)))

    judge.__annotations__ = {"urls": pd.Series, "return": pd.Series}
    return F.pandas_udf(judge, "string")


#: The files of `protego_function`, in a worker of Spark.
worker_files: dict[str, Any] | None = None


def watch(place: str, started: set[int], ended: threading.Event) -> None:
    """Collect the processes that judge with a table of a directory."""
    while not ended.wait(0.05):
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
            except OSError:
                continue
            if b"serve" in words and any(place.encode() in word for word in words):
                started.add(int(path.parent.name))


if __name__ == "__main__":
    main()
