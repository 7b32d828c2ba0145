"""Rows of a DataFrame in tasks of one shard each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from ._shards import Shards
from ._spark_columns import scalar

#: Rows of which one is counted to find heavy shards.
SAMPLED = 100
#: Names of columns while rows move, when all others are plain.
_SHARD = "__robots_filter_shard"
TASK = "__robots_filter_task"

#: The processes that compute shards, by the number of shards.
_sharding: dict[int, Shards] = {}


def moved(df: DataFrame, url: str, shards: int, tasks: int | None) -> tuple[DataFrame, list[int]]:
    """Return the rows in tasks of one shard each, with their TASK, and the shard of each task."""
    spark = df.sparkSession
    wanted = tasks or _partitions_of(spark.conf.get("spark.sql.shuffle.partitions"))
    counted = _sharded(df.select(url).sample(1 / SAMPLED, seed=1), url, shards)
    counts = {row[0]: row[1] for row in counted.groupBy(_SHARD).count().collect()}
    of_task = tasks_of(counts, shards, wanted)
    first = {shard: of_task.index(shard) for shard in range(shards)}
    salts = [of_task.count(shard) for shard in range(shards)]
    keys = _keys_of(df, len(of_task))
    # The task of a row follows from its values, so that a task that runs again has the same rows.
    row = F.col(_SHARD) + 1
    hashed = [field.name for field in df.schema.fields if _is_atomic(field.dataType)]
    salt = F.pmod(F.xxhash64(*map(F.col, hashed)), F.element_at(_literals(salts), row))
    task = F.element_at(_literals([first[shard] for shard in range(shards)]), row) + salt
    placed = _sharded(df, url, shards).withColumn(TASK, task.cast("int")).drop(_SHARD)
    key = F.element_at(_literals(keys), F.col(TASK) + 1)
    return placed.repartition(len(of_task), key), of_task


def _partitions_of(setting: str | None) -> int:
    # Databricks allows "auto"; Spark's own default is 200.
    return int(setting) if setting is not None and setting.isdecimal() else 200


def _is_atomic(kind: T.DataType) -> bool:
    # Spark 4.0 was the first with variants, which it does not hash.
    variant = getattr(T, "VariantType", T.UserDefinedType)
    nested = T.ArrayType | T.MapType | T.StructType | T.UserDefinedType
    return not isinstance(kind, nested | variant)


def _literals(numbers: Sequence[int]) -> Any:
    return F.array(*(F.lit(number) for number in numbers))


def tasks_of(counts: dict[int, int], shards: int, wanted: int) -> list[int]:
    """Return the shard of each task: one for each shard, and more for shards with many rows."""
    total = sum(counts.values())
    share = max(total / max(wanted, 1), 1)
    return [
        shard
        for shard in range(shards)
        for _ in range(max(1, math.ceil(counts.get(shard, 0) / share)))
    ]


def _keys_of(df: DataFrame, tasks: int) -> list[int]:
    """Return for each task a number that Spark's hash sends to the partition of that number."""
    keys: dict[int, int] = {}
    start, step = 0, 16 * tasks
    while len(keys) < tasks:
        numbers = df.sparkSession.range(start, start + step, 1, 1).selectExpr("cast(id as int) n")
        for number, partition in numbers.selectExpr("n", f"pmod(hash(n), {tasks}) p").collect():
            keys.setdefault(partition, number)
        start += step
    return [keys[task] for task in range(tasks)]


def _sharded(df: DataFrame, url: str, shards: int) -> DataFrame:
    """Return the DataFrame with the shard of each URL; an invalid one has shard 0."""

    def columns(batches: Iterator[tuple[Any, ...]]) -> Iterator[Sequence[Any]]:
        for (urls,) in batches:
            yield [_shards_of(urls, shards)]

    shard = scalar(columns, 1, T.IntegerType())
    return df.withColumn(_SHARD, shard(bytes_of(url)))


def bytes_of(url: str) -> Any:
    """Return the column of the URLs as bytes: those of a string need not be UTF-8."""
    return F.col(url).cast("binary")


def _shards_of(urls: Any, shards: int) -> Any:
    # A function of its own: what a nested function refers to is copied into each task.
    process = _sharding.get(shards)
    if process is None:
        process = _sharding[shards] = Shards(shards)
    return process.of(urls)
