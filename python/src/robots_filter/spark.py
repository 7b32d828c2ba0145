"""Judge the URLs of a Spark DataFrame where they are: `filter_urls`; or in SQL: `register`.

A table in one piece, or a small one in shards, is opened whole by each Python worker, and no row
moves. Of a large table in shards each task opens one shard, to which the rows of its hosts are
sent. Only the URLs and their times go to Python. Spark 3.5 and 4 are supported, Spark Connect too,
and no package is needed beside pyspark, pandas and pyarrow.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import SparkFiles
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from ._errors import RobotsFilterError, UsageError
from ._judge import Profile
from ._manifest import COPY_AGAIN, MANIFEST, Part, checksum_of, directory_of, parts_of
from ._paths import PathLike, path_of
from ._question import Question, question_of, uses_of
from ._spark_columns import Columns, scalar
from ._spark_tasks import TASK, bytes_of, moved
from ._table import Table

#: Bytes of a table in shards up to which each worker opens all of it.
WHOLE_BYTES = 1 << 30

#: The column of all judgements, before they are divided.
_JUDGED = "__robots_filter_judged"

#: The directories with tables that were shipped, by checksum, for executors that start later.
#: They are deleted with the interpreter.
_shipped: dict[str, tempfile.TemporaryDirectory[str]] = {}
#: Tables that this Python worker has opened: the last one. Its process outlives a task.
_opened: dict[_File, Table] = {}


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
class _Asked:
    #: The plain name of the column of the URLs.
    url: str
    question: Question
    #: A column of Spark with the times of the URLs, in seconds since 1970, of any size.
    time: Any = None

    @property
    def members(self) -> list[str]:
        """The columns that are added."""
        return _members_of(self.question)


def filter_urls(
    df: DataFrame,
    *,
    table: PathLike,
    agents: str | Sequence[str],
    use: str | Sequence[str] | None = None,
    policy_tokens: Mapping[str, str] | None = None,
    url: str = "url",
    time: str | None = None,
    max_age: int | None = None,
    profile: Profile | None = None,
    explain: bool = False,
    ship: bool = False,
    by_shard: bool | None = None,
    tasks: int | None = None,
) -> DataFrame:
    """Return the DataFrame with a column `verdict`, and with `explain` a column `reason`.

    For one agent given as a str both are strings; for a list they are structs with a string for
    each agent. A null URL has null. Rows keep their columns; if rows move, their order is lost.

    With `use` (experimental) there is a column `use`, and with `explain` a column `use_reason`:
    whether the content may be used, as in `Table.uses`, null where the agent may not fetch the URL.
    For a list of uses they are structs with a string for each use, within those of the agents.
    `policy_tokens` is that of `Table.uses`. The table must be compiled with signals.

    `time` names the column with the time for which each URL is judged, if the table has histories:
    timestamps, or dates, which are their first second in UTC. A URL without a time is invalid.
    With `time`, `max_age` is a number of days: a robots.txt that was last found longer before the
    time counts for nothing, as in `Table.verdict`.

    `table` is a file that `robots-filter compile` wrote, or the directory of `compile --shards`, at
    a path that the driver and all executors share. With `ship`, Spark brings a file to each
    executor. `file:` may stand before the path.

    `by_shard` says whether rows move to tasks that open one shard each: by default if the table
    has more than WHOLE_BYTES. Then `tasks` is about the number of tasks, by default
    `spark.sql.shuffle.partitions`, but at least one for each shard. A shard with many rows gets
    several tasks, for which a hundredth of the rows is counted first.

    Raises UsageError for a column or agent that is wrong, and RobotsFilterError for a table that
    is damaged, incomplete or for another profile: all before a job starts.
    """
    path = _local_path("filter_urls", table)
    question = _question(agents, explain, use, policy_tokens, max_age)
    if max_age is not None and time is None:
        raise UsageError(
            "max_age needs a time, from which the age is counted. Name the column: time='time'"
        )
    asked = _asked(df, url, question, time)
    for name in df.columns:
        # Spark does not tell columns apart by case.
        if name.lower() in asked.members:
            raise UsageError(
                f"the DataFrame has a column {name} already. "
                f"Rename it first: df.withColumnRenamed({name!r}, ...)"
            )
    if tasks is not None and (type(tasks) is not int or tasks < 1):
        raise UsageError(f"tasks is {tasks!r}. Use a whole number from 1 on")
    place, parts = _placed(df.sparkSession, path, question, profile, ship, timed=time is not None)
    # Spark finds no column again whose name has a dot, or that two columns have.
    plain = df.toDF(*(_plain(index) for index in range(len(df.columns))))
    judged = _judged_frame(plain, place, parts, asked, by_shard, tasks)
    return judged.toDF(*df.columns, *asked.members)


def register(
    spark: Any,
    name: str,
    *,
    table: PathLike,
    agents: str | Sequence[str],
    use: str | None = None,
    policy_tokens: Mapping[str, str] | None = None,
    profile: Profile | None = None,
    explain: bool = False,
    ship: bool = False,
) -> Any:
    """Register a function for SQL that takes a URL: `SELECT verdict(url) FROM urls`.

    For one agent given as a str it returns a string, with `explain` a struct of `verdict` and
    `reason`; for a list a struct with a string for each agent. With `use`, which needs one agent
    and one use, it returns a struct that has `use` after `verdict`, and with `explain` also
    `use_reason`. A null URL has null. Returns the function, which takes a column.

    The arguments are those of `filter_urls`. A table of more than WHOLE_BYTES in shards is refused,
    because no row moves. Raises as `filter_urls` does.
    """
    path = _local_path("register", table)
    question = _question(agents, explain, use, policy_tokens)
    if question.explain and not question.single:
        raise UsageError(
            "a function explains the verdicts of one agent. Register one for each, or leave "
            "explain out"
        )
    if question.uses is not None and not (question.single and question.uses.single):
        raise UsageError(
            "a function answers about one use for one agent, each given as a str. "
            "Register one for each"
        )
    place, parts = _placed(spark, path, question, profile, ship)
    if parts is not None and sum(part.bytes for part in parts) > WHOLE_BYTES:
        raise UsageError(
            f"{path} has more than 1 GiB, and each worker would open all of it. Use filter_urls, "
            "which moves rows to the shards of their hosts"
        )
    kind: T.DataType = T.StringType()
    if question.explain or question.uses is not None:
        kind = _struct(_members_of(question))
    elif not question.single:
        kind = _struct(question.agents)
    asked = _Asked("", question)
    return spark.udf.register(name, scalar(_judging(place, asked, None), 1, kind))


def _question(
    agents: object,
    explain: object,
    use: object,
    policy_tokens: object,
    max_age: object = None,
) -> Question:
    if use is None and policy_tokens is not None:
        raise UsageError("policy_tokens has no effect without use. Pass use='train'")
    uses = None if use is None else uses_of(use, policy_tokens)
    return question_of(agents, explain=bool(explain), max_age=max_age, uses=uses)


def _members_of(question: Question) -> list[str]:
    """Return the columns that are added, in order."""
    plain = ["verdict"] if question.uses is None else ["verdict", "use"]
    reasons = {"verdict": "reason", "use": "use_reason"}
    return [*plain, *(reasons[member] for member in plain)] if question.explain else plain


def _uses_in(question: Question, member: str) -> tuple[str, ...] | None:
    """Return the uses about which a column is; None for verdicts and their reasons."""
    return question.uses.names if question.uses and member.startswith("use") else None


def _leaves(question: Question) -> int:
    """Return the number of texts that a URL has in all columns that are added."""
    of_agent = (len(_uses_in(question, member) or [""]) for member in _members_of(question))
    return len(question.agents) * sum(of_agent)


def _plain(index: int) -> str:
    return f"c{index}"


def _local_path(caller: str, table: PathLike) -> str:
    """Return the path of a table, without `file:`. Raises UsageError for another file system."""
    named = os.fspath(table) if isinstance(table, str | os.PathLike) else ""
    url = urlsplit(named)
    if url.scheme == "file":
        table = unquote(url.path)
    elif url.scheme == "dbfs":
        raise UsageError(f"{named} is a path of Spark. Name the same as a file: /dbfs{url.path}")
    elif len(url.scheme) > 1 and not os.path.exists(named):
        raise UsageError(
            f"{named} lies in {url.scheme}, which the program does not read. Copy the table to a "
            "path that the driver and all executors share; or to the driver, and pass ship=True"
        )
    return directory_of(path_of(caller, table))


def _placed(
    spark: Any,
    path: str,
    question: Question,
    profile: str | None,
    ship: bool,
    *,
    timed: bool = False,
) -> tuple[_Place, list[Part] | None]:
    """Check a table; return where the executors find it, and its parts if it is in shards."""
    parts = parts_of(path) if os.path.isdir(path) else None
    checksum = _check_answers(path, parts, question, profile, timed)
    if not ship:
        return _Place(path, checksum), parts
    if parts is not None:
        raise UsageError(
            f"{path} is a directory, which Spark does not bring to executors. Put it where all "
            "of them find it and leave ship out, or compile a table in one piece"
        )
    # Spark brings no second file of the same name, and a table may be compiled again.
    name = f"robots-{checksum}.table"
    if checksum not in _shipped:
        directory = tempfile.TemporaryDirectory(prefix="robots-filter-")
        shutil.copyfile(path, os.path.join(directory.name, name))
        _shipped[checksum] = directory
    copy = os.path.join(_shipped[checksum].name, name)
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        spark.addArtifacts(copy, file=True)
    else:
        spark.sparkContext.addFile(copy)
    return _Place(copy, checksum, shipped=True), parts


def _judged_frame(
    df: DataFrame,
    place: _Place,
    parts: list[Part] | None,
    asked: _Asked,
    by_shard: bool | None,
    tasks: int | None,
) -> DataFrame:
    """Return the DataFrame, whose names are plain, with its verdicts."""
    if parts is None and by_shard:
        raise UsageError(f"{place.path} is a table in one piece. Compile it with --shards")
    if df.isStreaming:
        if by_shard:
            raise UsageError(
                "the DataFrame is a stream, of which no rows can be counted to divide them. "
                "Leave by_shard out: each worker opens the whole table"
            )
        by_shard = False
    if by_shard is None:
        by_shard = parts is not None and sum(part.bytes for part in parts) > WHOLE_BYTES
    question = asked.question
    arguments = [bytes_of(asked.url)]
    if asked.time is not None:
        arguments.append(asked.time)
    flat = _struct([f"f{at}" for at in range(_leaves(question))])
    if parts is None or not by_shard or len(parts) == 1:
        function = scalar(_judging(place, asked, None), len(arguments), flat)
        judged = function.asNondeterministic()(*arguments)
        return _divided(df, judged, df.columns, asked)
    rows, of_task = moved(df, asked.url, len(parts), tasks)
    names = [parts[shard].file for shard in of_task]
    checksums = {part.file: part.checksum for part in parts}
    arguments.append(F.col(TASK))
    function = scalar(_judging(place, asked, (names, checksums)), len(arguments), flat)
    judged = function.asNondeterministic()(*arguments)
    return _divided(rows, judged, df.columns, asked)


def _divided(rows: DataFrame, judged: Any, columns: Sequence[str], asked: _Asked) -> DataFrame:
    """Return these columns of the rows, and what is asked for of the judgements.

    The function is not called deterministic, because Spark would judge twice what it filters by
    its verdict.
    """
    question = asked.question
    leaves = (F.col(_JUDGED).getField(f"f{at}") for at in range(_leaves(question)))

    def struct(names: Sequence[str], columns: Sequence[Any]) -> Any:
        fields = (column.alias(name) for name, column in zip(names, columns, strict=True))
        return F.when(F.col(asked.url).isNotNull(), F.struct(*fields))

    added = []
    for member in asked.members:
        uses = _uses_in(question, member)
        of_agents = []
        for _ in question.agents:
            if uses is None or (question.uses and question.uses.single):
                of_agents.append(next(leaves))
            else:
                of_agents.append(struct(uses, [next(leaves) for _ in uses]))
        column = of_agents[0] if question.single else struct(question.agents, of_agents)
        added.append(column.alias(member))
    return rows.withColumn(_JUDGED, judged).select(*columns, *added)


def _asked(df: DataFrame, url: str, question: Question, time: str | None) -> _Asked:
    # Before Spark 4 the DataFrame of Spark Connect is no DataFrame.
    if not isinstance(df, DataFrame) and not hasattr(df, "mapInArrow"):
        raise UsageError(f"df is of type {type(df).__name__}. Pass a DataFrame of Spark")
    column, kind = _found(df, url, "the column of the URLs: url")
    if not isinstance(kind, T.StringType | T.BinaryType):
        raise UsageError(
            f"the column {url} is of type {kind.simpleString()}. "
            f"Name a column of strings, such as url='url'"
        )
    if time is None:
        return _Asked(_plain(column), question)
    place, moments = _found(df, time, "the column of the times: time")
    return _Asked(_plain(column), question, _seconds_of(_plain(place), moments, time))


def _found(df: DataFrame, name: str, what: str) -> tuple[int, T.DataType]:
    """Return the place of a column and its type."""
    if name not in df.columns:
        raise UsageError(
            f"the DataFrame has no column {name}. Name {what}=... "
            f"with one of {', '.join(df.columns)}"
        )
    if df.columns.count(name) > 1:
        raise UsageError(f"the DataFrame has several columns {name}. Rename all but one")
    place = df.columns.index(name)
    return place, df.schema.fields[place].dataType


def _seconds_of(column: str, kind: T.DataType, name: str) -> Any:
    """Return a column with the seconds since 1970 of a column of times.

    The time zone of the session has no part in it: pandas would have times in that zone.
    """
    times = F.col(column)
    if isinstance(kind, T.TimestampType):
        return times.cast("long")
    if isinstance(kind, T.DateType | T.TimestampNTZType):
        days = F.datediff(times.cast("date"), F.lit("1970-01-01").cast("date")).cast("long")
        if isinstance(kind, T.DateType):
            return days * 86_400
        return days * 86_400 + F.hour(times) * 3600 + F.minute(times) * 60 + F.second(times)
    raise UsageError(
        f"the column {name} is of type {kind.simpleString()}. Name a column of timestamps or "
        f"dates, which to_timestamp and timestamp_seconds make of text and numbers"
    )


def _check_answers(
    path: str, parts: list[Part] | None, question: Question, profile: str | None, timed: bool
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
        at = date(2000, 1, 1) if timed else None
        table.verdicts([""], question.agents, at=at)
        if question.uses is not None:
            table._check_signals()
            # What one part does not speak of, another may.
            table._answers([""], replace(question, warn=parts is None), at)
        checksum = table.checksum
    return checksum if parts is None else checksum_of(parts)


def _struct(names: Sequence[str]) -> T.StructType:
    return T.StructType([T.StructField(name, T.StringType()) for name in names])


def _judging(
    place: _Place, asked: _Asked, by_task: tuple[list[str], dict[str, str]] | None
) -> Columns:
    """Return the function that judges batches: URLs, their times if `asked` has such, and the task.

    It gives the texts of `_members_of`, those of each agent and each use. With `by_task`, the last
    column is the number of the task, the same in all batches.
    """
    # No column of Spark goes into a task.
    timed = asked.time is not None
    uses = asked.question.uses
    if uses is not None:
        uses = replace(uses, single=False)
    # A part does not speak for the table, so it must not warn of agents and uses.
    warn = by_task is None
    question = replace(asked.question, single=False, uses=uses, both=uses is not None, warn=warn)

    def judge(batches: Iterator[tuple[Any, ...]]) -> Iterator[Sequence[Any]]:
        table: Table | None = None
        task = None
        for batch in batches:
            if by_task is not None:
                own = set(pc.unique(batch[-1]).to_pylist())
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
            times = batch[1].cast(pa.int64()).cast(pa.timestamp("s")) if timed else None
            yield _judged(table, batch[0], question, times)

    return judge


def _table_at(path: str, checksum: str) -> Table:
    """Return the table at a path. A Python worker has one process, which later tasks use again.

    Raises RobotsFilterError if it is not the table that `filter_urls` has checked.
    """
    name = os.path.join(path, MANIFEST) if os.path.isdir(path) else path
    try:
        status = os.stat(name)
    except OSError as cause:
        raise RobotsFilterError(
            f"{name}: cannot be read ({cause.strerror}). Put the table at a path that the driver "
            "and all executors share"
        ) from cause
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


def _judged(table: Table, urls: Any, question: Question, times: Any) -> list[Any]:
    result = table._answers(urls, question, times)
    verdicts, answers = result, None
    if question.both:
        verdicts, answers = result.field(0), result.field(1)
    texts = []
    for member in _members_of(question):
        uses = _uses_in(question, member)
        for agent in range(len(question.agents)):
            if uses is None or answers is None:
                texts.append(_text(verdicts.field(agent), member))
            else:
                of_agent = answers.field(agent)
                texts += [_text(of_agent.field(use), member) for use in range(len(uses))]
    # The struct's own nulls are those of the URLs.
    return [_masked(text, result) for text in texts]


def _text(result: Any, member: str) -> Any:
    if pa.types.is_struct(result.type):
        # An explanation begins with the word and its reason.
        result = result.field(1 if member.endswith("reason") else 0)
    return result.cast(pa.string())


def _masked(values: Any, result: Any) -> Any:
    if result.null_count == 0:
        return values
    return pc.if_else(pc.is_valid(result), values, pa.scalar(None, pa.string()))
