"""Simulate how evenly `filter_urls` divides URLs, without Spark: python skew.py --help.

The shards are those that the program computes, and the numbers of tasks those of `filter_urls`.
Within a shard it draws the task of a URL from the URL's CRC-32; Spark draws it from xxhash64.
"""

from __future__ import annotations

import argparse
import gzip
import random
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from robots_filter._shards import Shards
from robots_filter._spark_tasks import SAMPLED, tasks_of


def main() -> None:
    """Print a row for each list of URLs and number of shards."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("urls", type=Path, nargs="+", help="files with a URL in each line; gzip")
    parser.add_argument("--shards", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--tasks", type=int, default=4, help="tasks for each shard (default: 4)")
    options = parser.parse_args()
    print("| list | URLs | shards | largest shard | tasks | largest | tasks, exact | largest |")
    print("|---|---|---|---|---|---|---|---|")
    for path in options.urls:
        opener: Any = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as file:
            urls = file.read().splitlines()
        array = pa.array(urls, pa.binary())
        for shards in options.shards:
            numbers = Shards(shards).of(array).to_pylist()
            largest = max(Counter(numbers).values()) * shards / len(urls)
            sampled = random.Random(1).sample(range(len(urls)), len(urls) // SAMPLED)
            facts = f"| {path.name} | {len(urls):,} | {shards:,} | {largest:.1f} |"
            for counted in (sampled, range(len(urls))):
                counts = Counter(numbers[at] for at in counted)
                facts += divided(urls, numbers, tasks_of(counts, shards, options.tasks * shards))
            print(facts, flush=True)


def divided(urls: list[bytes], numbers: list[int], of_task: list[int]) -> str:
    """Return the number of tasks and the rows of the largest, as a multiple of the mean."""
    salts = Counter(of_task)
    rows = Counter(
        (shard, zlib.crc32(url) % salts[shard]) for url, shard in zip(urls, numbers, strict=True)
    )
    return f" {len(of_task):,} | {max(rows.values()) * len(of_task) / len(urls):.2f} |"


if __name__ == "__main__":
    main()
