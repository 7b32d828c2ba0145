"""Tables of compiled robots.txt files."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, islice
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, TypeVar, overload

from ._columns import Column, Question, columns_of
from ._connection import Connection
from ._errors import RobotsFilterError, UsageError
from ._groups import Group, Groups, groups_of
from ._manifest import checksum_of
from ._program import command
from ._results import NO_RULE, Results

Verdict = Literal["allow", "deny", "unknown", "invalid"]
Profile = Literal["rfc9309", "google", "draft-koster-rep-00"]
PathLike = str | os.PathLike[str]
Item = TypeVar("Item")

_log = logging.getLogger("robots_filter")
_MESSAGE_PREFIX = "robots-filter: "


class Judgement(NamedTuple):
    """A verdict and its reason.

    `line` and `rule` are those of the rule that decided, or None: the line's number in the
    robots.txt, from 1, and its text, such as `Disallow: /private/`.
    """

    verdict: Verdict
    reason: str
    line: int | None
    rule: str | None


class Table:
    """The compiled robots.txt files of many hosts.

    Each thread that asks has a process of its own, which lives until the table is closed, the
    thread ends or the interpreter ends. A table may be used by several threads, after a fork,
    and pickled: then the file is opened again, and must be the same as before.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        threads: int | None = None,
        _checksum: str | None = None,
        _group: Group | None = None,
    ) -> None:
        """Open a table: see `Table.open`."""
        self._path = _path("Table.open", path)
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise UsageError(f"threads is {threads!r}. Use a whole number from 1 on")
        self._threads = threads
        self._closed = False
        self._checksum = _checksum
        self._group = _group
        self._begin()
        #: Deletes the table's file if it is temporary.
        self._delete: Callable[[], object] | None = None
        self._groups: Groups | None = None
        groups = groups_of(self._path) if _group is None else []
        if groups:
            self._open_groups(groups)
            return
        self._facts = self._connection()
        self.profile: Profile = self._facts.profile  # type: ignore[assignment]
        self.hosts: int = self._facts.hosts
        #: The CRC-32 of the table, in hexadecimal digits.
        self.checksum: str = self._facts.checksum
        self._verdicts = self._facts.verdicts
        self._reasons = self._facts.reasons
        del self._facts

    def _open_groups(self, groups: list[Group]) -> None:
        """Open a table that is too large for one process."""
        tables: list[Table] = []
        try:
            for group in groups:
                checksum = checksum_of(group.parts)
                tables.append(
                    Table(self._path, threads=self._threads, _group=group, _checksum=checksum)
                )
        except BaseException:
            for table in tables:
                table.close()
            raise
        self._groups = Groups(tables, groups)
        self.profile = tables[0].profile
        self.hosts = sum(table.hosts for table in tables)
        self.checksum = self._groups.checksum
        if self._checksum not in (None, self.checksum):
            self.close()
            raise self._replaced()

    def _replaced(self) -> RobotsFilterError:
        return RobotsFilterError(
            f"the table {self._path} was replaced since it was opened. Open it again"
        )

    def _begin(self) -> None:
        """Begin without connections, in a process: a fork may leave the lock taken for ever."""
        self._pid = os.getpid()
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()

    @classmethod
    def open(cls, path: PathLike, *, threads: int | None = None) -> Table:
        """Open a table that `Table.compile` or `robots-filter compile` wrote.

        `threads` is the number of threads of each process: by default one for each core, four at
        most. Use 1 where each core has a Python process of its own.

        Raises RobotsFilterError for a file that is missing, damaged, or not a table.
        """
        return cls(path, threads=threads)

    @classmethod
    def compile(
        cls,
        paths: PathLike | Iterable[PathLike],
        output: PathLike | None = None,
        *,
        agents: str | Sequence[str] | None = None,
        profile: Profile | None = None,
        stale: Literal["use", "unknown"] | None = None,
        as_of: str | None = None,
        host_column: str | None = None,
        robots_column: str | None = None,
        follow_links: bool = False,
        threads: int | None = None,
    ) -> Table:
        """Compile robots.txt files: directories, records (NDJSON, Parquet) and WARC files.

        Later paths override earlier ones. `output` is the table's file; without it a temporary
        file is deleted with the table. The other arguments are the options of
        `robots-filter compile`. Warnings go to the logger `robots_filter`.

        Raises RobotsFilterError if a path cannot be read or the table cannot be written.
        """
        if isinstance(paths, str | os.PathLike):
            paths = [paths]
        sources = [_path("Table.compile", path) for path in paths]
        if not sources:
            raise UsageError("there is nothing to compile. Pass a directory of robots.txt files")
        options: list[str] = []
        for name, value in (
            ("--profile", profile),
            ("--stale", stale),
            ("--as-of", as_of),
            ("--host-column", host_column),
            ("--robots-column", robots_column),
        ):
            if value is not None:
                options += [name, value]
        if agents is not None:
            for agent in _agents(agents)[0]:
                options += ["--agent", agent]
        if follow_links:
            options.append("--follow-links")
        for source in sources:
            options += ["--robots-dir", source]
        place = tempfile.mkdtemp(prefix="robots-filter-") if output is None else None
        try:
            if place is not None:
                target = os.path.join(place, "robots.table")
            else:
                target = _path("Table.compile", output)
            _run(["compile", *options, "--output", target])
            table = cls(target, threads=threads)
        except BaseException:
            if place is not None:
                shutil.rmtree(place, ignore_errors=True)
            raise
        if place is not None:
            table._delete = weakref.finalize(table, _delete_place, place, os.getpid())
        return table

    def verdict(self, url: str | bytes, agent: str) -> Judgement:
        """Judge one URL for one agent, with the reason and the rule that decided.

        An agent is a product token (RFC 9309 section 2.2.1), or a fallback chain `A>B`. For many
        URLs `verdicts` is hundreds of times as fast.
        """
        if not isinstance(url, str | bytes):
            raise UsageError(
                f"the URL is of type {type(url).__name__}. Pass str or bytes; "
                "for many URLs use verdicts"
            )
        if not isinstance(agent, str):
            raise UsageError(f"the agent is of type {type(agent).__name__}. Pass a product token")
        (judgement,) = self._of_list([url], Question((agent,), explain=True), single=True)
        return judgement  # type: ignore[no-any-return]

    @overload
    def verdicts(
        self,
        urls: list[str] | list[bytes] | list[str | None],
        agents: str,
        explain: Literal[False] = False,
    ) -> list[Verdict | None]: ...
    @overload
    def verdicts(
        self,
        urls: list[str] | list[bytes] | list[str | None],
        agents: str,
        explain: Literal[True],
    ) -> list[Judgement | None]: ...
    @overload
    def verdicts(self, urls: Any, agents: str | Sequence[str], explain: bool = False) -> Any: ...
    def verdicts(self, urls: Any, agents: str | Sequence[str], explain: bool = False) -> Any:
        """Judge many URLs; return the same kind of collection, in the same order.

        `urls` is a list, a pyarrow Array or ChunkedArray, or a Series of pandas or polars. For one
        agent given as a str, an item is the verdict: a str, dictionary-encoded in Arrow, a
        categorical in pandas and polars. For a sequence of agents it is a dict or struct with a
        member for each agent. With `explain`, each verdict is replaced by a `Judgement`, or a
        struct with its fields. For a null URL the item is null.

        Raises UsageError for a wrong type, and for an agent that is no product token.
        """
        names, single = _agents(agents)
        question = Question(names, bool(explain))
        package = type(urls).__module__.partition(".")[0]
        if package == "pyarrow":
            return self._of_arrow(urls, question, single)
        if package in ("pandas", "polars"):
            from . import _series

            convert = _series.of_pandas if package == "pandas" else _series.of_polars
            return convert(urls, lambda values: self._of_arrow(values, question, single))
        if isinstance(urls, list | tuple):
            return self._of_list(urls, question, single=single)
        if isinstance(urls, str | bytes):
            raise UsageError("urls is one URL. Use verdict(url, agent), or pass [url]")
        raise UsageError(
            f"urls is of type {type(urls).__name__}. Pass a list, a pyarrow array, or a Series of "
            "pandas or polars; filter takes any iterable"
        )

    def filter(
        self,
        items: Iterable[Item],
        agents: str | Sequence[str],
        *,
        url: Callable[[Item], str | bytes | None] | None = None,
        unknown: Literal["allow", "deny"] = "deny",
        batch_size: int = 4096,
    ) -> Iterator[Item]:
        """Yield the items whose URL all agents may fetch, in order.

        `url` gives the URL of an item; by default the item is the URL. `unknown` says whether URLs
        without a robots.txt in the table pass. Reads up to `batch_size` items ahead.

        Raises UsageError at once for arguments of a wrong type or value.
        """
        names, _ = _agents(agents)
        if unknown not in ("allow", "deny"):
            raise UsageError(f"unknown is {unknown!r}. Use 'allow' or 'deny'")
        if not isinstance(batch_size, int) or batch_size < 1:
            raise UsageError(f"batch_size is {batch_size!r}. Use a whole number from 1 on")
        if isinstance(items, str | bytes):
            raise UsageError("items is one URL. Pass an iterable, such as [url]")
        question = Question(names, explain=False)
        self._of_list([], question, single=False)
        passing = {"allow"} | ({"unknown"} if unknown == "allow" else set())
        if self._groups is not None:
            return self._filtered_by_groups(iter(items), question, url, passing, batch_size)
        passes = bytes(name in passing for name in self._verdicts)
        return self._filtered(iter(items), question, url, passes, batch_size)

    def _filtered_by_groups(
        self,
        items: Iterator[Item],
        question: Question,
        url: Callable[[Item], str | bytes | None] | None,
        passing: set[str],
        batch_size: int,
    ) -> Iterator[Item]:
        while batch := list(islice(items, batch_size)):
            urls: Sequence[object] = batch if url is None else [url(item) for item in batch]
            answers = self._of_list(urls, question, single=False)
            for item, answer in zip(batch, answers, strict=True):
                # None is no URL, which is invalid.
                if answer is not None and passing.issuperset(answer.values()):
                    yield item

    def _filtered(
        self,
        items: Iterator[Item],
        question: Question,
        url: Callable[[Item], str | bytes | None] | None,
        passes: bytes,
        batch_size: int,
    ) -> Iterator[Item]:
        table = passes + bytes(256 - len(passes))
        while batch := list(islice(items, batch_size)):
            urls: Sequence[object] = batch if url is None else [url(item) for item in batch]
            # A URL of None is judged as an empty one, which is invalid.
            results = self._exchange(question, columns_of(urls, []))
            columns = [column.translate(table) for column in results.verdicts]
            yield from compress(batch, columns[0] if len(columns) == 1 else map(min, *columns))

    def close(self) -> None:
        """End the processes of all threads. A thread in mid-call gets an error."""
        self._closed = True
        if self._groups is not None:
            for table in self._groups.tables:
                table.close()
        if self._pid != os.getpid():
            return
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            if connection.is_own:
                connection.close()
            else:
                connection.kill()
        if self._delete is not None:
            self._delete()

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _reopen, (self._path, self._threads, self.checksum)

    def __repr__(self) -> str:
        return f"<robots_filter.Table {self._path!r}: {self.hosts} hosts, {self.profile}>"

    def _connection(self) -> Connection:
        """Return the connection of this thread in this process; start one if there is none."""
        if self._closed:
            raise RobotsFilterError(f"the table {self._path} is closed. Open it again")
        if self._pid != os.getpid():
            self._begin()
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is not None and connection.is_usable:
            return connection
        words = [*command(), "serve", "--table", self._path]
        if self._group is not None:
            words += self._group.words
        if self._threads is not None:
            words += ["--threads", str(self._threads)]
        connection = Connection(words)
        if self._checksum not in (None, connection.checksum):
            connection.close()
            raise self._replaced()
        self._checksum = connection.checksum
        self._local.connection = connection
        with self._lock:
            self._connections.add(connection)
        return connection

    def _exchange(self, question: Question, columns: Iterable[Column]) -> Results:
        connection = self._connection()
        results = Results(question)
        requests = (
            request
            for column in columns
            for request in column.requests(question, connection.limits)
        )
        connection.exchange(requests, results.add)
        return results

    def _of_list(self, urls: Sequence[object], question: Question, *, single: bool) -> list[Any]:
        if self._groups is not None:
            return self._groups.of_list(
                urls, lambda table, own: table._of_list(own, question, single=single)
            )
        nulls: list[int] = []
        results = self._exchange(question, columns_of(urls, nulls))
        of_agents = [self._items(results, index) for index in range(len(question.agents))]
        if single:
            items = of_agents[0]
        else:
            names = question.agents
            items = [dict(zip(names, row, strict=True)) for row in zip(*of_agents, strict=True)]
        for index in nulls:
            items[index] = None
        return items

    def _items(self, results: Results, index: int) -> list[Any]:
        verdicts = map(self._verdicts.__getitem__, results.verdicts[index])
        if not results.question.explain:
            return list(verdicts)
        return [
            Judgement(
                next(verdicts),  # type: ignore[arg-type]
                self._reasons[reason],
                None if rule == NO_RULE else line,
                None if rule == NO_RULE else part.texts[rule],
            )
            for part in results.explained[index]
            for reason, line, rule in zip(part.reasons, part.lines, part.rules, strict=True)
        ]

    def _of_arrow(self, urls: Any, question: Question, single: bool) -> Any:
        import pyarrow as pa

        from . import _arrow

        if not isinstance(urls, pa.Array | pa.ChunkedArray):
            raise UsageError(
                f"urls is a pyarrow {type(urls).__name__}. Pass one of its columns: "
                "table.column('url')"
            )
        _arrow.check_type(urls.type)
        if pa.types.is_dictionary(urls.type):
            return _arrow.of_dictionary(
                urls, lambda values: self._of_arrow(values, question, single)
            )
        if self._groups is not None:
            return self._groups.of_arrow(
                urls, lambda table, own: table._of_arrow(own, question, single)
            )
        chunks = urls.chunks if isinstance(urls, pa.ChunkedArray) else [urls]
        columns: Iterable[Column] = map(_arrow.column_of, chunks)
        results = self._exchange(question, columns if chunks else columns_of([], []))
        arrow = _arrow.ArrowResults(results, self._verdicts, self._reasons)
        arrays = []
        start = 0
        for chunk in chunks:
            valid = _arrow.validity_of(chunk)
            arrays.append(arrow.array(start, len(chunk), valid, single=single))
            start += len(chunk)
        if not isinstance(urls, pa.ChunkedArray):
            return arrays[0]
        return pa.chunked_array(arrays or [arrow.array(0, 0, None, single=single)])


def _reopen(path: str, threads: int | None, checksum: str | None) -> Table:
    return Table(path, threads=threads, _checksum=checksum)


def _delete_place(place: str, pid: int) -> None:
    """Delete a temporary table, unless this is a child by fork: the parent still uses it."""
    if os.getpid() == pid:
        shutil.rmtree(place, ignore_errors=True)


def _path(call: str, path: object) -> str:
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"{call} needs a path, not {type(path).__name__}. Pass str or Path")
    text = os.fspath(path)
    if not isinstance(text, str) or text == "" or "\0" in text:
        raise UsageError(f"{call} cannot use the path {text!r}. Pass the name of a file")
    # A child that changes its directory, and a pickle, still find the file.
    return str(Path(text).absolute())


def _agents(agents: object) -> tuple[tuple[str, ...], bool]:
    """Return the agents, and whether they are one that was given as a str."""
    if isinstance(agents, str):
        return (agents,), True
    if not isinstance(agents, Sequence) or isinstance(agents, bytes | bytearray):
        raise UsageError(
            f"agents is of type {type(agents).__name__}. "
            "Pass a product token such as 'GPTBot', or a list of them"
        )
    names = tuple(agents)
    for name in names:
        if not isinstance(name, str):
            raise UsageError(
                f"an agent is of type {type(name).__name__}. Pass product tokens, such as 'GPTBot'"
            )
    if not names:
        raise UsageError("agents is empty. Pass a product token such as 'GPTBot', or '*'")
    return names, False


def _run(words: list[str]) -> None:
    """Run the command line; raise its error, and log its other messages."""
    ended = subprocess.run(
        [*command(), *words], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    text = ended.stderr.decode("utf-8", "replace").strip()
    if ended.returncode != 0:
        raise RobotsFilterError(
            text.rpartition("\n" + _MESSAGE_PREFIX)[2].removeprefix(_MESSAGE_PREFIX)
            or f"robots-filter {words[0]} ended with status {ended.returncode}. Run it again"
        )
    for line in text.splitlines():
        level = logging.WARNING if "warning:" in line else logging.INFO
        _log.log(level, line.removeprefix(_MESSAGE_PREFIX))
