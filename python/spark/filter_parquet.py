"""Judge the URLs of Parquet files: spark-submit filter_parquet.py --help.

spark-submit filter_parquet.py --input urls/ --output verdicts/ --table robots.shards -a GPTBot
"""

from __future__ import annotations

import argparse

from pyspark.sql import SparkSession

from robots_filter.spark import filter_urls


def main() -> None:
    """Read Parquet, add the columns verdict and reason, write Parquet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--input", required=True, help="files or directories of Parquet")
    parser.add_argument("--output", required=True, help="directory to write; it must not exist")
    parser.add_argument("--table", required=True, help="table, or directory of shards")
    parser.add_argument("-a", "--agent", action="append", required=True, help="product token")
    parser.add_argument("--url", default="url", help="column of the URLs (default: url)")
    parser.add_argument("--explain", action="store_true", help="add the column reason")
    parser.add_argument("--tasks", type=int, help="about how many tasks, if rows move by shard")
    options = parser.parse_args()
    spark = SparkSession.builder.appName("robots-filter").getOrCreate()
    agents = options.agent if len(options.agent) > 1 else options.agent[0]
    judged = filter_urls(
        spark.read.parquet(options.input),
        table=options.table,
        agents=agents,
        url=options.url,
        explain=options.explain,
        tasks=options.tasks,
    )
    judged.write.parquet(options.output)
    spark.stop()


if __name__ == "__main__":
    main()
