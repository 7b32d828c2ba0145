"""Judge the URLs of a Spark DataFrame where they are: `filter_urls`.

A table in one piece, or a small one in shards, is opened whole by each Python worker, and no row
moves. Of a large table in shards each task opens one shard, to which the rows of its hosts are
sent. Spark 3.5 and 4 are supported, and no package is needed beside pyspark and pyarrow.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from ._errors import RobotsFilterError, UsageError
from ._manifest import COPY_AGAIN, MANIFEST, Part, checksum_of, parts_of
from ._shards import Shards
from ._table import Profile, Table

#: Bytes of a table in shards up to which each worker opens all of it.
WHOLE_BYTES = 1 << 30
#: Rows of which one is counted to find heavy shards.
SAMPLED = 100
#: Column names while rows move, when all others are plain.
_SHARD = "__robots_filter_shard"
_TASK = "__robots_filter_task"

#: Tables that this Python worker has opened: the last one. Its process outlives a task.
_opened: dict[_File, Table] = {}
#: The process that computes shards, by their number.
_sharding: dict[int, Shards] = {}


@dataclass(frozen=True)
class _File:
    """A table, or its manifest, as it was when it was opened: another may take its path later."""

    path: str
    inode: int
    bytes: int
    modified: int


@dataclass(frozen=True)
class _Place:
    """Where the executors find a table: a path that they share, or a file that Spark brings."""

    path: str
    #: The checksum of the table: another may take its path.
    checksum: str
    shipped: bool = False

    def of(self, part: str | None = None) -> str:
        if self.shipped:
            base: str = SparkFiles.get(os.path.basename(self.path))
            return base
        return self.path if part is None else os.path.join(self.path, part)


@dataclass(frozen=True)
class _Question:
    #: The plain name of the column of the URLs.
    url: str
    agents: str | tuple[str, ...]
    explain: bool


def filter_urls(
    df: DataFrame,
    *,
    table: str | os.PathLike[str],
    agents: str | Sequence[str],
    url: str = "url",
    profile: Profile | None = None,
    explain: bool = False,
    ship: bool = False,
    by_shard: bool | None = None,
    tasks: int | None = None,
) -> DataFrame:
    """Return the DataFrame with a column `verdict`, and with `explain` a column `reason`.

    For one agent given as a str both are strings; for a list they are structs with a string for
    each agent. A null URL has null. Rows keep their columns; if rows move, their order is lost.

    `table` is a file that `robots-filter compile` wrote, or the directory of `compile --shards`, at
    a path that the driver and all executors share. With `ship`, Spark brings a file to each
    executor.
    `by_shard` says whether rows move to tasks that open one shard each: by default if the table
    has more than WHOLE_BYTES. Then `tasks` is about the number of tasks, by default
    `spark.sql.shuffle.partitions`, but at least one for each shard. A shard with many rows gets
    several tasks, for which a hundredth of the rows is counted first.

    Raises UsageError for a column or agent that is wrong, and RobotsFilterError for a table that
    is damaged, incomplete or for another profile: all before a job starts.
    """
    path = os.path.abspath(os.fspath(table))
    if os.path.basename(path) == MANIFEST:
        path = os.path.dirname(path)
    question = _question(df, url, agents, explain)
    # Spark does not tell columns apart by case.
    added = ("verdict", "reason")[: 1 + explain]
    for name in df.columns:
        if name.lower() in added:
            raise UsageError(
                f"the DataFrame has a column {name} already. "
                f"Rename it first: df.withColumnRenamed({name!r}, ...)"
            )
    if tasks is not None and (not isinstance(tasks, int) or tasks < 1):
        raise UsageError(f"tasks is {tasks!r}. Use a whole number from 1 on")
    parts = parts_of(path) if os.path.isdir(path) else None
    checksum = _check_answers(path, parts, question, profile)
    place = _Place(path, checksum)
    if ship:
        if parts is not None:
            raise UsageError(
                f"{path} is a directory, which Spark does not bring to executors. Put it where all "
                "of them find it and leave ship out, or compile a table in one piece"
            )
        place = _Place(path, checksum, shipped=True)
        df.sparkSession.sparkContext.addFile(path)
    # Spark finds no column again whose name has a dot, or that two columns have.
    plain = df.toDF(*(_plain(index) for index in range(len(df.columns))))
    judged = _judged_frame(plain, place, parts, question, by_shard, tasks)
    return judged.toDF(*df.columns, *added)


def _plain(index: int) -> str:
    return f"c{index}"


def _judged_frame(
    df: DataFrame,
    place: _Place,
    parts: list[Part] | None,
    question: _Question,
    by_shard: bool | None,
    tasks: int | None,
) -> DataFrame:
    """Return the DataFrame, whose names are plain, with its verdicts."""
    schema = _schema(df, question)
    if parts is None:
        if by_shard:
            raise UsageError(f"{place.path} is a table in one piece. Compile it with --shards")
        return df.mapInArrow(_judging(place, question, None), schema)
    if by_shard is None:
        by_shard = sum(part.bytes for part in parts) > WHOLE_BYTES
    if not by_shard or len(parts) == 1:
        return df.mapInArrow(_judging(place, question, None), schema)
    moved, of_task = _moved(df, question.url, len(parts), tasks)
    names = [parts[shard].file for shard in of_task]
    checksums = {part.file: part.checksum for part in parts}
    return moved.mapInArrow(_judging(place, question, (names, checksums)), schema)


def _question(df: DataFrame, url: str, agents: object, explain: bool) -> _Question:
    if not isinstance(df, DataFrame):
        raise UsageError(f"df is of type {type(df).__name__}. Pass a DataFrame of Spark")
    if url not in df.columns:
        raise UsageError(
            f"the DataFrame has no column {url}. Name the column of the URLs: url=... "
            f"with one of {', '.join(df.columns)}"
        )
    if df.columns.count(url) > 1:
        raise UsageError(f"the DataFrame has several columns {url}. Rename all but one")
    column = df.columns.index(url)
    kind = df.schema.fields[column].dataType
    if not isinstance(kind, T.StringType | T.BinaryType):
        raise UsageError(
            f"the column {url} is of type {kind.simpleString()}. "
            f"Name a column of strings, such as url='url'"
        )
    if isinstance(agents, str):
        return _Question(_plain(column), agents, explain)
    if not isinstance(agents, Sequence) or isinstance(agents, bytes) or not agents:
        raise UsageError(
            f"agents is {agents!r}. Pass a product token such as 'GPTBot', or a list of them"
        )
    return _Question(_plain(column), tuple(agents), explain)


def _check_answers(
    path: str, parts: list[Part] | None, question: _Question, profile: str | None
) -> str:
    """Open the table, or its smallest part, and ask it nothing: it refuses what is wrong.

    Return the checksum of the table.
    """
    if parts is not None:
        path = os.path.join(path, min(parts, key=lambda part: part.bytes).file)
    with Table.open(path, threads=1) as table:
        if profile is not None and table.profile != profile:
            raise RobotsFilterError(
                f"{path} was compiled for the profile {table.profile} and cannot answer for "
                f"{profile}. Leave profile out, or compile again with --profile {profile}"
            )
        agents = question.agents
        table.verdicts([""], agents if isinstance(agents, str) else list(agents))
        checksum = table.checksum
    return checksum if parts is None else checksum_of(parts)


def _schema(df: DataFrame, question: _Question) -> T.StructType:
    kind: T.DataType = T.StringType()
    if not isinstance(question.agents, str):
        kind = T.StructType([T.StructField(agent, T.StringType()) for agent in question.agents])
    names = ["verdict", "reason"] if question.explain else ["verdict"]
    return T.StructType([*df.schema.fields, *(T.StructField(name, kind) for name in names)])


def _judging(
    place: _Place,
    question: _Question,
    by_task: tuple[list[str], dict[str, str]] | None,
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """Return the function that judges the batches of a task."""

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table: Table | None = None
        task = None
        for batch in batches:
            if by_task is not None:
                batch, own = _without_task(batch)
                if task is not None and own != {task}:
                    raise RobotsFilterError(f"rows of several tasks in one: {own | {task}}")
                if task is None:
                    (task,) = own
            if table is None:
                if by_task is None or task is None:
                    table = _table_at(place.of(), place.checksum)
                else:
                    names, checksums = by_task
                    part = place.of(names[task])
                    table = _table_at(part, checksums[names[task]])
            yield _judged(table, batch, question)

    return judge


def _table_at(path: str, checksum: str) -> Table:
    """Return the table at a path. A Python worker has one process, which later tasks use again.

    Raises RobotsFilterError if it is not the table that `filter_urls` has checked.
    """
    name = os.path.join(path, MANIFEST) if os.path.isdir(path) else path
    status = os.stat(name)
    file = _File(path, status.st_ino, status.st_size, status.st_mtime_ns)
    table = _opened.get(file)
    if table is None:
        for other in _opened.values():
            other.close()
        _opened.clear()
        table = Table.open(path, threads=1)
        _opened[file] = table
    if table.checksum != checksum:
        raise RobotsFilterError(f"{path}: not the table that was named. {COPY_AGAIN}")
    return table


def _judged(table: Table, batch: pa.RecordBatch, question: _Question) -> pa.RecordBatch:
    agents = question.agents
    urls = batch.column(batch.schema.get_field_index(question.url))
    names = [agents] if isinstance(agents, str) else list(agents)
    result = table.verdicts(urls, names, explain=question.explain)
    members = ["verdict", "reason"] if question.explain else ["verdict"]
    columns = []
    for member in members:
        # The struct's own nulls are those of the URLs.
        fields = [_text(result.field(index), member) for index in range(len(names))]
        fields = [_masked(field, result) for field in fields]
        columns.append(
            fields[0]
            if isinstance(agents, str)
            else pa.StructArray.from_arrays(fields, names, mask=pa.compute.is_null(result))
        )
    return pa.RecordBatch.from_arrays(
        [*batch.columns, *columns], names=[*batch.schema.names, *members]
    )


def _text(result: Any, member: str) -> Any:
    if pa.types.is_struct(result.type):
        result = result.field(result.type.get_field_index(member))
    return result.cast(pa.string())


def _masked(values: Any, result: Any) -> Any:
    if result.null_count == 0:
        return values
    return pa.compute.if_else(pa.compute.is_valid(result), values, pa.scalar(None, pa.string()))


def _moved(df: DataFrame, url: str, shards: int, tasks: int | None) -> tuple[DataFrame, list[int]]:
    """Return the rows in tasks of one shard each, and the shard of each task."""
    spark = df.sparkSession
    wanted = tasks or int(spark.conf.get("spark.sql.shuffle.partitions", "200") or 200)
    counted = _sharded(df.select(url).sample(1 / SAMPLED, seed=1), url, shards)
    counts = {row[0]: row[1] for row in counted.groupBy(_SHARD).count().collect()}
    of_task = _tasks_of(counts, shards, wanted)
    first = {shard: of_task.index(shard) for shard in range(shards)}
    salts = [of_task.count(shard) for shard in range(shards)]
    keys = _keys_of(df, len(of_task))
    # The task of a row follows from its values, so that a task that runs again has the same rows.
    row = F.col(_SHARD) + 1
    hashed = [field.name for field in df.schema.fields if _is_atomic(field.dataType)]
    salt = F.pmod(F.xxhash64(*map(F.col, hashed)), F.element_at(_literals(salts), row))
    task = F.element_at(_literals([first[shard] for shard in range(shards)]), row) + salt
    placed = _sharded(df, url, shards).withColumn(_TASK, task.cast("int")).drop(_SHARD)
    key = F.element_at(_literals(keys), F.col(_TASK) + 1)
    return placed.repartition(len(of_task), key), of_task


def _is_atomic(kind: T.DataType) -> bool:
    return not isinstance(kind, T.ArrayType | T.MapType | T.StructType | T.UserDefinedType)


def _literals(numbers: Sequence[int]) -> Any:
    return F.array(*(F.lit(number) for number in numbers))


def _tasks_of(counts: dict[int, int], shards: int, wanted: int) -> list[int]:
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

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            urls = batch.column(batch.schema.get_field_index(url))
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, _shards_of(urls, shards)], names=[*batch.schema.names, _SHARD]
            )

    schema = T.StructType([*df.schema.fields, T.StructField(_SHARD, T.IntegerType())])
    return df.mapInArrow(add, schema)


def _shards_of(urls: Any, shards: int) -> Any:
    # A function of its own: what a nested function refers to is copied into each task.
    process = _sharding.get(shards)
    if process is None:
        process = _sharding[shards] = Shards(shards)
    return process.of(urls)


def _without_task(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, set[int]]:
    index = batch.schema.get_field_index(_TASK)
    own = set(pa.compute.unique(batch.column(index)).to_pylist())
    names = [name for name in batch.schema.names if name != _TASK]
    columns = [column for at, column in enumerate(batch.columns) if at != index]
    return pa.RecordBatch.from_arrays(columns, names=names), own
