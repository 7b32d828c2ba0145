"""Answers about URLs from one table, or from those shards of it that one process opens."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ._columns import Column, Request, columns_of
from ._errors import RobotsFilterError
from ._filter import Passing
from ._lists import list_of
from ._processes import Processes
from ._question import Question
from ._results import Results

#: The time of each URL, in seconds since 1970.
Times: TypeAlias = "array[int]"

Profile = Literal["rfc9309", "google", "draft-koster-rep-00"]


@dataclass
class Opening:
    """How processes open a table."""

    path: str
    #: Threads of each process; None is the program's default.
    threads: int | None
    #: The checksum that the table must have: None until a process has opened it.
    checksum: str | None
    #: Options of `serve` beside these.
    options: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The options of `serve`."""
        words = ["--table", self.path, "--allow-empty", *self.options]
        return words if self.threads is None else [*words, "--threads", str(self.threads)]

    def check(self, checksum: str) -> None:
        """Raise RobotsFilterError for another table than was opened first."""
        if self.checksum is None:
            self.checksum = checksum
        elif self.checksum != checksum:
            raise RobotsFilterError(
                f"the table {self.path} was replaced since it was opened. Open it again"
            )


class Judge:
    """Asks the processes of one table."""

    def __init__(self, opening: Opening) -> None:
        """Start a process.

        Raises RobotsFilterError for a file that is missing, damaged, or not a table.
        """
        # Not a method of this object: the processes would end with a garbage collection only.
        self._processes = Processes(opening.words, opening.path, opening.check)
        with self._processes.lent() as facts:
            self.profile: Profile = facts.profile  # type: ignore[assignment]
            self.hosts = facts.hosts
            self.histories = facts.histories
            self.signals = facts.signals
            self.checksum = facts.checksum
            self._names = facts.names

    def exchange(
        self, question: Question, columns: Iterable[Column], times: Times | None = None
    ) -> Results:
        """Ask about columns of URLs. `times` has a word for each URL of all columns."""
        results = Results(question)
        with self._processes.lent() as connection:
            limits = connection.limits
            own = None if times is None else memoryview(times)

            def requests() -> Iterator[Request]:
                start = 0
                for column in columns:
                    end = start + column.count
                    yield from column.requests(question, limits, own and own[start:end])
                    start = end

            connection.exchange(requests(), results.add)
        return results

    def of_list(
        self, urls: Sequence[object], question: Question, times: Times | None = None
    ) -> list[Any]:
        """Judge a list of URLs."""
        nulls: list[int] = []
        results = self.exchange(question, columns_of(urls, nulls), times)
        return list_of(results, nulls, self._names)

    def of_arrow(self, urls: Any, question: Question, times: Times | None = None) -> Any:
        """Judge an Arrow array, or a chunked one, that is not dictionary-encoded."""
        from . import _arrow

        def ask(columns: Iterable[Column]) -> Results:
            return self.exchange(question, columns, times)

        return _arrow.judged(urls, ask, self._names)

    def passes(
        self, urls: Sequence[object], question: Question, passing: Passing, first: int
    ) -> Sequence[int]:
        """Return 1 for each URL for which all verdicts and answers are passing, else 0.

        None is no URL, which is invalid. `first` is the index of the first URL, for messages.
        """
        agents = len(question.agents)
        verdicts = _flags(self._names.verdicts, passing.verdicts)
        answers = _flags(self._names.answers, passing.answers)
        # A URL of None is judged as an empty one.
        codes = self.exchange(question, columns_of(urls, [], first)).codes
        columns = [column.translate(verdicts) for column in codes[:agents]]
        columns += [column.translate(answers) for column in codes[agents:]]
        return columns[0] if len(columns) == 1 else list(map(min, *columns))

    def close(self) -> None:
        """End all processes."""
        self._processes.close()


def _flags(names: Sequence[str | None], passing: Collection[str | None]) -> bytes:
    """Return the table of bytes.translate that gives 1 for each of these names."""
    return bytes(name in passing for name in names).ljust(256, b"\0")
