"""Tables of compiled robots.txt files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from ._compilation import TemporaryTable, words_of
from ._errors import UsageError
from ._filter import Item, Passing, batches_of, passing_of
from ._groups import judge_of
from ._judge import Opening, Profile, Times
from ._lists import Judgement, UseAnswer, UseJudgement, Verdict
from ._moment import Moment, moment_of
from ._packages import need_pyarrow
from ._paths import PathLike, path_of
from ._program import run
from ._question import Question, Uses, question_of, uses_of
from ._times import Time, times_of

if TYPE_CHECKING:
    import polars
    from typing_extensions import TypedDict, Unpack

    class _More(TypedDict, total=False):
        policy_tokens: Mapping[str, str] | None
        at: Any
        max_age: int | None


# A str is a sequence of str, too, so the types of agents, uses and URLs are named one by one.
_Agents: TypeAlias = list[str] | tuple[str, ...]
_Uses: TypeAlias = list[str] | tuple[str, ...]
_Urls: TypeAlias = list[str] | list[bytes]
_UrlsOrNulls: TypeAlias = list[str | None] | list[bytes | None] | tuple[str | bytes | None, ...]

#: One time, or a list or column of them; the packages of columns have no types of their own.
_At: TypeAlias = Any

_KINDS = (
    "Pass a list, an array of pyarrow or NumPy, or a Series of pandas or polars; "
    "filter takes any iterable"
)
#: What to pass in place of an object of a package.
_ADVICE = {
    "duckdb": (
        "Pass a column of it: relation.to_arrow_table().column('url'). "
        "For SQL, make a function: create_function(..., type='arrow')"
    ),
    "pyspark": "Use robots_filter.spark.filter_urls(frame, table=..., agents=...)",
    "datasets": "Pass dataset['url'][:], or map with a function of a batch",
}


class Table:
    """The compiled robots.txt files of many hosts.

    A table has as many processes as it has calls at once, up to one for each core; they live until
    the table is closed or the interpreter ends, and all but one until they have been idle for ten
    seconds. A table may be used by several threads, after a fork, and pickled: then the file is
    opened again, and must be the same as before.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        threads: int | None = None,
        as_of: Moment | None = None,
        _checksum: str | None = None,
    ) -> None:
        """Open a table: see `Table.open`."""
        self._path = path_of("Table.open", path)
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise UsageError(f"threads is {threads!r}. Use a whole number from 1 on")
        self._threads = threads
        self._as_of = None if as_of is None else moment_of(as_of)
        options = () if self._as_of is None else ("--as-of", self._as_of)
        #: The file, if it is to be deleted with the table.
        self._temporary: TemporaryTable | None = None
        self._judge = judge_of(Opening(self._path, threads, _checksum, options))
        self.profile: Profile = self._judge.profile
        self.hosts: int = self._judge.hosts
        #: The checksum of the table, in hexadecimal digits.
        self.checksum: str = self._judge.checksum

    @classmethod
    def open(
        cls, path: PathLike, *, threads: int | None = None, as_of: Moment | None = None
    ) -> Table:
        """Open a table that `Table.compile` or `robots-filter compile` wrote.

        `as_of` asks a table with histories for what was in force then: a date, of which the end
        counts, a datetime with a time zone, or text in ISO 8601, which is UTC. Without it the
        newest robots.txt counts.

        `threads` is the number of threads of each process: by default one for each core, four at
        most. Use 1 where each core has a Python process of its own.

        Raises RobotsFilterError for a file that is missing, damaged, or not a table.
        """
        return cls(path, threads=threads, as_of=as_of)

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
        status_column: str | None = None,
        date_column: str | None = None,
        history: bool = False,
        signals: bool = False,
        follow_links: bool = False,
        threads: int | None = None,
    ) -> Table:
        """Compile robots.txt files: directories, records (NDJSON, Parquet) and WARC files.

        Later paths override earlier ones. `output` is the table's file; without it a temporary
        file is deleted with the table. `signals` keeps what `uses` and `filter(use=…)` need. The
        other arguments are the options of `robots-filter compile`. Warnings go to the logger
        `robots_filter`.

        Raises RobotsFilterError if a path cannot be read or the table cannot be written.
        """
        options = {
            "--profile": profile,
            "--stale": stale,
            "--as-of": as_of,
            "--host-column": host_column,
            "--robots-column": robots_column,
            "--status-column": status_column,
            "--date-column": date_column,
        }
        words = words_of(paths, agents, options)
        if history:
            words.append("--history")
        if signals:
            words.append("--signals")
        if follow_links:
            words.append("--follow-links")
        if output is not None:
            target = path_of("Table.compile", output)
            run([*words, "--output", target])
            return cls(target, threads=threads)
        temporary = TemporaryTable()
        try:
            run([*words, "--output", temporary.path])
            table = cls(temporary.path, threads=threads)
        except BaseException:
            temporary.delete()
            raise
        table._temporary = temporary
        return table

    def verdict(
        self,
        url: str | bytes,
        agent: str,
        *,
        at: Time | None = None,
        max_age: int | None = None,
    ) -> Judgement:
        """Judge one URL for one agent, with the reason and the rule that decided.

        `at` asks a table with histories for the robots.txt that was in force then: a datetime with
        a time zone, or a date, which is its first second in UTC. None asks for the newest. With
        `at`, or a table that was opened with `as_of`, `max_age` is a number of days: a robots.txt
        that was not found again for longer counts for nothing.

        An agent is a product token (RFC 9309 section 2.2.1), or a fallback chain `A:B`. For many
        URLs `verdicts` is hundreds of times as fast.
        """
        _check_one(url, agent, "verdicts")
        judgement: Judgement
        (judgement,) = self._answers([url], self._question(agent, True, at, max_age), at)
        return judgement

    def use(
        self,
        url: str | bytes,
        agent: str,
        use: str,
        *,
        policy_tokens: Mapping[str, str] | None = None,
        at: Time | None = None,
        max_age: int | None = None,
    ) -> UseJudgement:
        """Say whether the content of one URL may be used, with the reason and the signal.

        Experimental. For many URLs `uses`, which has the arguments, is hundreds of times as fast.
        """
        _check_one(url, agent, "uses")
        if not isinstance(use, str):
            raise UsageError(f"the use is of type {type(use).__name__}. Pass one, such as 'train'")
        judgement: UseJudgement
        uses = self._uses(use, policy_tokens)
        question = self._question(agent, True, at, max_age, uses)
        (judgement,) = self._answers([url], question, at)
        return judgement

    @overload
    def verdicts(
        self,
        urls: _Urls,
        agents: str,
        explain: Literal[False] = False,
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> list[Verdict]: ...
    @overload
    def verdicts(
        self,
        urls: _Urls,
        agents: str,
        explain: Literal[True],
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> list[Judgement]: ...
    @overload
    def verdicts(
        self,
        urls: _Urls,
        agents: _Agents,
        explain: Literal[False] = False,
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> list[dict[str, Verdict]]: ...
    @overload
    def verdicts(
        self,
        urls: _Urls,
        agents: _Agents,
        explain: Literal[True],
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> list[dict[str, Judgement]]: ...
    @overload
    def verdicts(
        self,
        urls: _UrlsOrNulls,
        agents: str,
        explain: Literal[False] = False,
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> list[Verdict | None]: ...
    @overload
    def verdicts(
        self,
        urls: _UrlsOrNulls,
        agents: str,
        explain: Literal[True],
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> list[Judgement | None]: ...
    @overload
    def verdicts(
        self,
        urls: _UrlsOrNulls,
        agents: _Agents,
        explain: Literal[False] = False,
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> list[dict[str, Verdict] | None]: ...
    @overload
    def verdicts(
        self,
        urls: _UrlsOrNulls,
        agents: _Agents,
        explain: Literal[True],
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> list[dict[str, Judgement] | None]: ...
    @overload
    def verdicts(
        self,
        urls: polars.Series,
        agents: str | Sequence[str],
        explain: bool = False,
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> polars.Series: ...
    # The packages of the other columns have no types of their own.
    @overload
    def verdicts(
        self,
        urls: Any,
        agents: str | Sequence[str],
        explain: bool = False,
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> Any: ...
    def verdicts(
        self,
        urls: Any,
        agents: str | Sequence[str],
        explain: bool = False,
        *,
        at: _At = None,
        max_age: int | None = None,
    ) -> Any:
        """Judge many URLs; return the same kind of collection, in the same order.

        `urls` is a list, a pyarrow Array or ChunkedArray, a Series of pandas or polars, an Index of
        pandas, or a NumPy array of one dimension, which gives one of objects. For one
        agent given as a str, an item is the verdict: a str, dictionary-encoded in Arrow, a
        categorical in pandas and polars. For a sequence of agents it is a dict or struct with a
        member for each agent. With `explain`, each verdict is replaced by a `Judgement`, or a
        struct with its fields. For a null URL the item is null.

        `at` asks a table with histories for the robots.txt that was in force at a time: one time
        for all URLs as in `verdict`, or one for each: a list, an array of pyarrow or NumPy, or a
        Series, of dates or timestamps. A column without a time zone is UTC. A URL without a time
        is invalid. `max_age` is as in `verdict`.

        Raises UsageError for a wrong type, for an agent that is no product token, for another
        number of times than of URLs, and for times if the table has no histories.
        """
        return self._answers(urls, self._question(agents, bool(explain), at, max_age), at)

    def _answers(self, urls: Any, question: Question, at: Any) -> Any:
        if isinstance(urls, str | bytes):
            one = "verdict(url, agent)" if question.uses is None else "use(url, agent, use)"
            raise UsageError(f"urls is one URL. Use {one}, or pass [url]")
        times = self._times(at, urls)
        if isinstance(urls, list | tuple):
            return self._judge.of_list(urls, question, times)
        package = type(urls).__module__.partition(".")[0]
        if package == "pyarrow":
            return self._of_arrow(urls, question, times)
        if package in ("pandas", "polars"):
            need_pyarrow("a Series")
            from . import _series

            convert = _series.of_pandas if package == "pandas" else _series.of_polars
            return convert(urls, lambda values: self._of_arrow(values, question, times))
        if package == "numpy":
            return self._of_numpy(urls, question, times)
        raise UsageError(
            f"urls is of type {type(urls).__name__}. {_ADVICE.get(package.lstrip('_'), _KINDS)}"
        )

    @overload
    def uses(
        self,
        urls: _Urls,
        agents: str,
        uses: str,
        explain: Literal[False] = False,
        **more: Unpack[_More],
    ) -> list[UseAnswer | None]: ...
    @overload
    def uses(
        self, urls: _Urls, agents: str, uses: str, explain: Literal[True], **more: Unpack[_More]
    ) -> list[UseJudgement]: ...
    @overload
    def uses(
        self,
        urls: _Urls,
        agents: str,
        uses: _Uses,
        explain: Literal[False] = False,
        **more: Unpack[_More],
    ) -> list[dict[str, UseAnswer | None]]: ...
    @overload
    def uses(
        self, urls: _Urls, agents: str, uses: _Uses, explain: Literal[True], **more: Unpack[_More]
    ) -> list[dict[str, UseJudgement]]: ...
    @overload
    def uses(
        self,
        urls: _Urls,
        agents: _Agents,
        uses: str,
        explain: Literal[False] = False,
        **more: Unpack[_More],
    ) -> list[dict[str, UseAnswer | None]]: ...
    @overload
    def uses(
        self, urls: _Urls, agents: _Agents, uses: str, explain: Literal[True], **more: Unpack[_More]
    ) -> list[dict[str, UseJudgement]]: ...
    @overload
    def uses(
        self,
        urls: _Urls,
        agents: _Agents,
        uses: _Uses,
        explain: Literal[False] = False,
        **more: Unpack[_More],
    ) -> list[dict[str, dict[str, UseAnswer | None]]]: ...
    @overload
    def uses(
        self,
        urls: _Urls,
        agents: _Agents,
        uses: _Uses,
        explain: Literal[True],
        **more: Unpack[_More],
    ) -> list[dict[str, dict[str, UseJudgement]]]: ...
    @overload
    def uses(
        self,
        urls: _UrlsOrNulls,
        agents: str,
        uses: str,
        explain: Literal[False] = False,
        **more: Unpack[_More],
    ) -> list[UseAnswer | None]: ...
    @overload
    def uses(
        self,
        urls: _UrlsOrNulls,
        agents: str,
        uses: str,
        explain: Literal[True],
        **more: Unpack[_More],
    ) -> list[UseJudgement | None]: ...
    @overload
    def uses(
        self,
        urls: _UrlsOrNulls,
        agents: str,
        uses: _Uses,
        explain: Literal[False] = False,
        **more: Unpack[_More],
    ) -> list[dict[str, UseAnswer | None] | None]: ...
    @overload
    def uses(
        self,
        urls: _UrlsOrNulls,
        agents: str,
        uses: _Uses,
        explain: Literal[True],
        **more: Unpack[_More],
    ) -> list[dict[str, UseJudgement] | None]: ...
    @overload
    def uses(
        self,
        urls: _UrlsOrNulls,
        agents: _Agents,
        uses: str,
        explain: Literal[False] = False,
        **more: Unpack[_More],
    ) -> list[dict[str, UseAnswer | None] | None]: ...
    @overload
    def uses(
        self,
        urls: _UrlsOrNulls,
        agents: _Agents,
        uses: str,
        explain: Literal[True],
        **more: Unpack[_More],
    ) -> list[dict[str, UseJudgement] | None]: ...
    @overload
    def uses(
        self,
        urls: _UrlsOrNulls,
        agents: _Agents,
        uses: _Uses,
        explain: Literal[False] = False,
        **more: Unpack[_More],
    ) -> list[dict[str, dict[str, UseAnswer | None]] | None]: ...
    @overload
    def uses(
        self,
        urls: _UrlsOrNulls,
        agents: _Agents,
        uses: _Uses,
        explain: Literal[True],
        **more: Unpack[_More],
    ) -> list[dict[str, dict[str, UseJudgement]] | None]: ...
    @overload
    def uses(
        self,
        urls: polars.Series,
        agents: str | Sequence[str],
        uses: str | Sequence[str],
        explain: bool = False,
        **more: Unpack[_More],
    ) -> polars.Series: ...
    # The packages of the other columns have no types of their own.
    @overload
    def uses(
        self,
        urls: Any,
        agents: str | Sequence[str],
        uses: str | Sequence[str],
        explain: bool = False,
        **more: Unpack[_More],
    ) -> Any: ...
    def uses(
        self,
        urls: Any,
        agents: str | Sequence[str],
        uses: str | Sequence[str],
        explain: bool = False,
        *,
        policy_tokens: Mapping[str, str] | None = None,
        at: _At = None,
        max_age: int | None = None,
    ) -> Any:
        """Say for many URLs whether their content may be used (experimental).

        `uses` is `train`, `search`, `input`, or a key of a signal such as `train-ai`. An item is
        `granted`, `refused` or `unstated`; None where the agent may not fetch the URL, and for a
        null URL. It is `refused` if any signal says no. For a sequence of uses it is a dict or
        struct with a member for each use; for a sequence of agents there is one for each agent
        around it. With `explain`, each answer is replaced by a `UseJudgement`, or a struct with its
        fields. `urls`, `agents`, `at`, `max_age` and the kinds of collections are those of
        `verdicts`.

        `policy_tokens` has for a use the product token whose groups count as a signal, too.

        Raises UsageError as `verdicts`, for what is no use, and for a table that was compiled
        without signals.
        """
        asked = self._uses(uses, policy_tokens)
        question = self._question(agents, bool(explain), at, max_age, asked)
        return self._answers(urls, question, at)

    def _uses(self, uses: object, policy_tokens: object) -> Uses:
        """Return the uses; raise UsageError for a table without signals."""
        asked = uses_of(uses, policy_tokens)
        self._check_signals()
        return asked

    def _check_signals(self) -> None:
        if not self._judge.signals:
            raise UsageError(
                f"the table {self._path} was compiled without what robots.txt files say about "
                "uses. Compile it again with signals=True, on the command line with --signals"
            )

    def _question(
        self, agents: object, explain: bool, at: Any, max_age: Any, uses: Uses | None = None
    ) -> Question:
        """Return the question; raise UsageError for an age without a time."""
        question = question_of(agents, explain=explain, max_age=max_age, uses=uses)
        if max_age is not None and at is None and self._as_of is None:
            raise UsageError(
                "max_age needs a time, from which the age is counted. "
                "Pass at=, or open the table with as_of="
            )
        return question

    def _times(self, at: Any, urls: Any) -> Times | None:
        """Return the time of each URL; None if the newest robots.txt counts.

        Raises UsageError for a table that does not answer for them.
        """
        if at is None:
            return None
        if self._as_of is not None:
            raise UsageError(
                f"the table was opened with as_of={self._as_of!r} and answers for that time. "
                "Open it again and leave as_of out"
            )
        if not self._judge.histories:
            raise UsageError(
                f"the table {self._path} has no histories. Compile it with history=True"
            )
        try:
            count = len(urls)
        except TypeError:
            # No column, which is refused by its type.
            return None
        return times_of(at, count)

    def _of_numpy(self, urls: Any, question: Question, times: Times | None) -> Any:
        import numpy as np

        if not isinstance(urls, np.ndarray) or urls.ndim != 1:
            shape = getattr(urls, "shape", ())
            raise UsageError(
                f"urls is a {type(urls).__name__} of NumPy with the shape {shape}. "
                "Pass an array of one dimension: array[:, 0], or array.ravel()"
            )
        result = np.empty(len(urls), dtype=object)
        result[:] = self._judge.of_list(urls.tolist(), question, times)
        return result

    def _of_arrow(self, urls: Any, question: Question, times: Times | None) -> Any:
        from . import _arrow

        _arrow.check(urls)
        if times is not None:
            # Equal URLs may have different times.
            return self._judge.of_arrow(_arrow.decoded(urls), question, times)
        return _arrow.distinct(urls, lambda values: self._judge.of_arrow(values, question))

    def filter(
        self,
        items: Iterable[Item],
        agents: str | Sequence[str],
        *,
        url: Callable[[Item], str | bytes | None] | None = None,
        unknown: Literal["allow", "deny"] = "deny",
        use: str | Sequence[str] | None = None,
        policy_tokens: Mapping[str, str] | None = None,
        require_grant: bool = False,
        batch_size: int = 4096,
    ) -> Iterator[Item]:
        """Yield the items whose URL all agents may fetch, in order.

        With `use`, only the items whose use is not refused to any agent, and with `require_grant`
        those to which each use is granted: see `uses`.

        `url` gives the URL of an item; by default the item is the URL. `unknown` says whether URLs
        without a robots.txt in the table pass. Reads up to `batch_size` items ahead. If `items` or
        `url` raises an error, the items before it are yielded first.

        Raises UsageError at once for arguments of a wrong type or value.
        """
        if policy_tokens is not None and use is None:
            raise UsageError("policy_tokens has no effect without use. Pass use='train'")
        uses = None if use is None else self._uses(use, policy_tokens)
        question = question_of(agents, uses=uses)
        passing = passing_of(unknown, uses, require_grant)
        if not isinstance(batch_size, int) or batch_size < 1:
            raise UsageError(f"batch_size is {batch_size!r}. Use a whole number from 1 on")
        _check_items(items)
        # The program refuses agents that are no product tokens.
        self._judge.of_list([], question)
        return self._filtered(batches_of(iter(items), url, batch_size), question, passing)

    def _filtered(
        self,
        batches: Iterator[tuple[list[Item], Sequence[object]]],
        question: Question,
        passing: Passing,
    ) -> Iterator[Item]:
        first = 0
        for items, urls in batches:
            yield from compress(items, self._judge.passes(urls, question, passing, first))
            first += len(items)

    def close(self) -> None:
        """End all processes. A thread in mid-call gets an error."""
        self._judge.close()
        if self._temporary is not None:
            self._temporary.delete()

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
        return _reopen, (self._path, self._threads, self.checksum, self._as_of)

    def __repr__(self) -> str:
        return f"<robots_filter.Table {self._path!r}: {self.hosts} hosts, {self.profile}>"


def _check_one(url: object, agent: object, many: str) -> None:
    """Raise UsageError unless there is one URL and one agent; `many` is the call for more."""
    if not isinstance(url, str | bytes):
        raise UsageError(
            f"the URL is of type {type(url).__name__}. Pass str or bytes; for many URLs use {many}"
        )
    if not isinstance(agent, str):
        raise UsageError(f"the agent is of type {type(agent).__name__}. Pass a product token")


def _check_items(items: object) -> None:
    """Raise UsageError for what is not iterable, or gives something else than it seems to."""
    kind = type(items).__name__
    package = type(items).__module__.partition(".")[0]
    if isinstance(items, str | bytes):
        raise UsageError("items is one URL. Pass an iterable, such as [url]")
    if isinstance(items, Mapping):
        raise UsageError(f"items is a {kind}, which gives its keys. Pass items.values()")
    if package in ("pandas", "polars") and hasattr(items, "columns"):
        raise UsageError(
            f"items is a {kind}, which does not give its rows. Judge its column: "
            "table.verdicts(frame['url'], agents)"
        )
    if package == "pyarrow":
        raise UsageError(f"items is a pyarrow {kind}. Pass items.to_pylist()")
    if not isinstance(items, Iterable):
        raise UsageError(f"items is of type {kind}. Pass an iterable, such as a list")


def _reopen(path: str, threads: int | None, checksum: str | None, as_of: str | None) -> Table:
    return Table(path, threads=threads, as_of=as_of, _checksum=checksum)
