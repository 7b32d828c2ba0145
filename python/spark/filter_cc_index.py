"""Judge a crawl of Common Crawl's columnar index: spark-submit filter_cc_index.py --help.

spark-submit filter_cc_index.py --index cc-index/table/cc-main/warc --crawl CC-MAIN-2025-13 \
    --output verdicts/ --table robots.shards -a CCBot

Only the columns that say where a capture lies are written beside the URL and its verdict.
"""

from __future__ import annotations

import argparse

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from robots_filter.spark import filter_urls

COLUMNS = [
    "url",
    "url_host_name",
    "warc_filename",
    "warc_record_offset",
    "warc_record_length",
]


def main() -> None:
    """Read the index, judge its URLs, write Parquet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", required=True, help="directory with crawl=.../subset=...")
    parser.add_argument("--crawl", required=True, help="such as CC-MAIN-2025-13")
    parser.add_argument("--subset", default="warc", help="default: warc")
    parser.add_argument("--output", required=True, help="directory to write; it must not exist")
    parser.add_argument("--table", required=True, help="table, or directory of shards")
    parser.add_argument("-a", "--agent", action="append", required=True, help="product token")
    parser.add_argument("--tasks", type=int, help="about how many tasks, if rows move by shard")
    options = parser.parse_args()
    spark = SparkSession.builder.appName("robots-filter").getOrCreate()
    index = spark.read.parquet(options.index)
    for column, value in (("crawl", options.crawl), ("subset", options.subset)):
        index = index.filter(F.col(column) == value)
    agents = options.agent if len(options.agent) > 1 else options.agent[0]
    rows = index.select(*COLUMNS)
    judged = filter_urls(rows, table=options.table, agents=agents, tasks=options.tasks)
    judged.write.parquet(options.output)
    spark.stop()


if __name__ == "__main__":
    main()
