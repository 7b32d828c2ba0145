"""Compile WARC files into a table in shards, in parallel: spark-submit compile_warc.py --help.

spark-submit compile_warc.py --archives robotstxt.paths --shards 256 --output robots.shards

The parts are those of `robots-filter compile --shards` on one machine, byte for byte, unless
revisits refer to pages (docs/python.md). All paths are shared by the driver and all executors.

1. Each task prints the captures of its archives (`robots-filter captures`).
2. A capture goes to the shard of its host. What a redirect or a revisit refers to goes to the shard
   of the host that needs it, too. Captures of URLs other than robots.txt are read when a redirect
   leads to them.
3. Each shard is compiled (`robots-filter compile --only`), and the driver writes the manifest.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from robots_filter import RobotsFilterError, command

#: Archives that one process reads.
FILES_AT_ONCE = 32
#: Captures of one batch.
CAPTURES_AT_ONCE = 1000
#: A chain has at most five redirects, and each URL in it may be a revisit of another URL.
MOST_ROUNDS = 12

#: A key is a URL, or the digest of a payload after a space, which no URL begins with.
CAPTURE = pa.schema(
    [
        ("file", pa.int32()),
        ("offset", pa.int64()),
        ("url", pa.string()),
        # That of the host if the URL is that of its robots.txt.
        ("shard", pa.int32()),
        ("digest", pa.string()),
        ("needs", pa.list_(pa.string())),
        # The line that `captures` printed; null if the capture was left out.
        ("line", pa.string()),
    ]
)
CAPTURE_DDL = (
    "file int, offset bigint, url string, shard int, digest string, needs array<string>, "
    "line string"
)


def main() -> None:
    """Compile archives into shards."""
    options = parsed()
    spark = SparkSession.builder.appName("robots-filter").getOrCreate()
    compile_archives(spark, options)
    spark.stop()


def parsed(words: list[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog="The other options are those of robots-filter compile.",
    )
    parser.add_argument(
        "--archives",
        action="append",
        required=True,
        help="WARC file, or list of them that ends in .paths or .paths.gz; repeatable",
    )
    parser.add_argument("--shards", type=int, required=True, help="number of shards")
    parser.add_argument("--output", required=True, help="directory to write; it must not exist")
    parser.add_argument("--tasks", type=int, help="tasks that read archives (default: 4 a core)")
    parser.add_argument("-a", "--agent", action="append", help="product token")
    parser.add_argument("--profile", default="rfc9309")
    parser.add_argument("--max-robots-bytes")
    parser.add_argument("--as-of")
    parser.add_argument("--records", action="store_true")
    parser.add_argument("--signals", action="store_true")
    return parser.parse_args(words)


def compile_archives(spark: SparkSession, options: argparse.Namespace) -> None:
    """Compile archives into shards, and write the manifest."""
    output = os.path.abspath(options.output)
    if os.path.exists(output):
        sys.exit(f"{output} is there already. Name a directory that is to be made")
    archives = archives_of(options.archives)
    reading = options_for_reading(options)
    kept = {"--records": options.records, "--signals": options.signals}
    building = [*reading, *(word for word, is_given in kept.items() if is_given)]
    for agent in options.agent or []:
        building += ["--agent", agent]
    rows = [(number, path, source) for number, (path, source) in enumerate(archives)]
    # More tasks than cores: archives differ in length.
    tasks = options.tasks or 4 * spark.sparkContext.defaultParallelism
    files = spark.createDataFrame(rows, "file int, path string, source string")
    files = files.repartition(max(1, min(tasks, len(rows))))
    os.makedirs(output)
    scratch = Path(output) / "captures.tmp"
    captures = captures_of_shards(files, options.shards, reading, scratch)
    compiled = captures.mapInArrow(compiling(output, options.shards, building), "shard int")
    shards = {row.shard for row in compiled.collect()}
    shutil.rmtree(scratch)
    # The others have no captures.
    for shard in sorted(set(range(options.shards)) - shards):
        compile_shard([], shard, options.shards, output, building)
    named = [word for path in options.archives for word in ("--robots-dir", path)]
    only = ["--shards", str(options.shards), "--only", "manifest", "-o", output]
    run(["compile", *named, *only, *building])


def options_for_reading(options: argparse.Namespace) -> list[str]:
    """Return the words that `captures` and `compile` must both have."""
    words = ["--profile", options.profile]
    for name, value in (("max-robots-bytes", options.max_robots_bytes), ("as-of", options.as_of)):
        words += [f"--{name}", value] if value else []
    return words


def archives_of(paths: list[str]) -> list[tuple[str, str]]:
    """Return the path of each archive, and its source as `compile` names it."""
    archives: list[tuple[str, str]] = []
    for path in map(os.path.abspath, paths):
        if path.endswith((".warc", ".warc.gz", ".warc.zst")):
            archives.append((path, os.path.basename(path)))
            continue
        if not path.endswith((".paths", ".paths.gz")):
            sys.exit(
                f"{path} is neither a WARC file (.warc, .warc.gz, .warc.zst) nor a list (.paths)"
            )
        place = os.path.dirname(path)
        opener: Any = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8") as lines:
            names = [line.strip() for line in lines if line.strip()]
        for name in names:
            found = os.path.join(place, name)
            if not os.path.isfile(found):
                found = os.path.join(place, os.path.basename(name))
            archives.append((found, name))
    for path, _ in archives:
        if not os.path.isfile(path):
            sys.exit(f"{path} is not there. All archives must be at paths that executors share")
    return archives


# ---- captures


def captures_of_shards(
    files: DataFrame, shards: int, reading: list[str], scratch: Path
) -> DataFrame:
    """Return the lines of all captures that a shard needs, in the order of the archives."""

    def kept(df: DataFrame, name: str) -> DataFrame:
        # What is in files is not computed again, and no plan grows with the rounds.
        df.write.parquet(str(scratch / name))
        return df.sparkSession.read.parquet(str(scratch / name))

    tasks = files.rdd.getNumPartitions()
    extract = extracting(shards, reading)
    read = kept(files.mapInArrow(extract, CAPTURE_DDL), "captures")
    captures = read.filter("line is not null")
    left_out = read.filter("line is null").select("file", "url").distinct()
    own = captures.filter("shard is not null")
    last = needed = kept(own.select("shard", F.explode("needs").alias("key")).distinct(), "needed")
    for number in range(MOST_ROUNDS):
        # Redirects lead to URLs that no archive was read for.
        wanted = last.select(F.col("key").alias("url")).distinct()
        targets = kept(left_out.join(wanted, "url", "left_semi"), f"targets-{number}")
        if not targets.isEmpty():
            urls = targets.groupBy("file").agg(F.collect_set("url").alias("urls"))
            again = files.join(urls, "file").repartition(tasks).mapInArrow(extract, CAPTURE_DDL)
            again = kept(again.filter("line is not null"), f"captures-{number}")
            captures = captures.unionByName(again)
            left_out = left_out.join(targets, ["file", "url"], "left_anti")
        edges = captures.select(F.col("url").alias("key"), F.explode("needs").alias("next"))
        further = last.join(edges, "key").select("shard", F.col("next").alias("key")).distinct()
        last = kept(further.join(needed, ["shard", "key"], "left_anti"), f"needed-{number}")
        if last.isEmpty():
            break
        needed = needed.unionByName(last)
    place = ["file", "offset"]
    by_url = captures.drop("shard").join(needed, captures.url == needed.key).select("shard", *place)
    # Of the bodies with one digest the last one counts, as on one machine.
    by_digest = captures.filter("digest is not null").withColumn(
        "key", F.concat(F.lit(" "), "digest")
    )
    by_digest = by_digest.groupBy("key").agg(F.max(F.struct(*place)).alias("place"))
    by_digest = by_digest.join(needed, "key").select("shard", "place.file", "place.offset")
    places = own.select("shard", *place).unionByName(by_url).unionByName(by_digest).distinct()
    lines = captures.select(*place, "line").dropDuplicates(place)
    moved = places.join(lines, place).repartition(shards, "shard")
    return moved.sortWithinPartitions("shard", *place)


def extracting(shards: int, reading: list[str]) -> Callable[[Any], Any]:
    """Return the function that reads archives: all of them, or only the captures of some URLs."""

    def extract(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = batch.to_pylist()
            for start in range(0, len(rows), FILES_AT_ONCE):
                yield from extracted(rows[start : start + FILES_AT_ONCE], shards, reading)

    return extract


def extracted(
    files: list[dict[str, Any]], shards: int, reading: list[str]
) -> Iterator[pa.RecordBatch]:
    """Read some archives with one process."""
    with tempfile.TemporaryDirectory() as place:
        words = ["captures", *reading]
        if "urls" in files[0]:
            urls = Path(place) / "targets"
            urls.write_text("".join(f"{url}\n" for file in files for url in file["urls"]))
            words += ["--targets", str(urls)]
        rows: list[dict[str, Any]] = []
        with output_of([*words, *(file["path"] for file in files)]) as lines:
            for line in lines:
                rows.append(row_of(json.loads(line), files, shards))
                if len(rows) == CAPTURES_AT_ONCE:
                    yield pa.RecordBatch.from_pylist(rows, CAPTURE)
                    rows = []
        yield pa.RecordBatch.from_pylist(rows, CAPTURE)


def row_of(capture: dict[str, Any], files: list[dict[str, Any]], shards: int) -> dict[str, Any]:
    """Return the row of a line that `captures` printed."""
    file = files[capture["file"]]
    url = capture["url"]
    row: dict[str, Any] = {"file": file["file"], "url": url, "needs": []}
    if capture["outcome"] == "left-out":
        return row
    capture["source"] = file["source"]
    # The path of a robots.txt, and nothing after it.
    if url.partition("://")[2].partition("/")[2] == "robots.txt" and "host" in capture:
        row["shard"] = zlib.crc32(capture["host"].encode()) % shards
    digest = capture.get("payload_digest")
    if capture["outcome"] == "body":
        row["digest"] = digest
    elif capture["outcome"] == "revisit" and digest is not None:
        row["needs"].append(f" {digest}")
    row["needs"] += [capture[key] for key in ("target", "refers_to") if key in capture]
    return {**row, "offset": capture["offset"], "line": json.dumps(capture)}


# ---- shards


def compiling(output: str, shards: int, words: list[str]) -> Callable[[Any], Any]:
    """Return the function that compiles the shards of a partition, which lie one after another."""

    def each_line(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, str]]:
        for batch in batches:
            numbers = batch.column(batch.schema.get_field_index("shard")).to_pylist()
            lines = batch.column(batch.schema.get_field_index("line")).to_pylist()
            yield from zip(numbers, lines, strict=True)

    def compile_each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for shard, lines in itertools.groupby(each_line(batches), key=lambda row: row[0]):
            compile_shard((line for _, line in lines), shard, shards, output, words)
            yield pa.RecordBatch.from_pydict({"shard": pa.array([shard], pa.int32())})

    return compile_each


def compile_shard(
    lines: Iterable[str], shard: int, shards: int, output: str, words: list[str]
) -> None:
    """Compile one shard from its captures."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "shard.captures.ndjson"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        only = ["--shards", str(shards), "--only", str(shard), "-o", output]
        run(["compile", "--quiet", "--robots-dir", str(path), *only, *words])


# ---- processes


def run(words: list[str]) -> None:
    """Run robots-filter to its end."""
    with output_of(words) as lines:
        for _ in lines:
            pass


@contextmanager
def output_of(words: list[str]) -> Iterator[IO[bytes]]:
    """Run robots-filter, and read what it prints. Its failure is an error with its messages."""
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            [*command(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=messages,
        )
        assert process.stdout is not None
        try:
            yield process.stdout
        except BaseException:
            process.kill()
            raise
        finally:
            process.stdout.close()
            status = process.wait()
        messages.seek(0)
        text = messages.read().decode(errors="replace")
        if status != 0:
            raise RobotsFilterError(f"robots-filter {words[0]} ended with {status}: {text[-4000:]}")
        sys.stderr.write(text)


if __name__ == "__main__":
    main()
