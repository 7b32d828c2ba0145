"""A table that is too large for one process: a process for each group of its shards.

A memory of the program has 4 GiB at most. Each URL goes to the process that has the shard of its
host, and the answers are put back into the order of the URLs.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ._filter import Passing
from ._judge import Judge, Opening, Times
from ._manifest import Part, checksum_of, directory_of, parts_of
from ._packages import need_pyarrow
from ._question import Question

if TYPE_CHECKING:
    from ._shards import Shards

#: Bytes of tables that one process opens. Beside them it needs room for requests.
GROUP_BYTES = 7 << 29


@dataclass(frozen=True)
class Group:
    """Shards one after another that one process opens."""

    first: int
    parts: tuple[Part, ...]

    def opening(self, opening: Opening) -> Opening:
        """Return how to open this group of the table."""
        last = self.first + len(self.parts) - 1
        options = (*opening.options, "--parts", f"{self.first}-{last}")
        return replace(opening, checksum=checksum_of(self.parts), options=options)


def judge_of(opening: Opening) -> Judge | Groups:
    """Open a table with one process, or with several if it is too large for one."""
    groups = groups_of(opening.path)
    return Groups(opening, groups) if groups else Judge(opening)


def groups_of(path: str) -> list[Group]:
    """Return the groups of a table in shards; none if one process is enough."""
    path = directory_of(path)
    if not os.path.isdir(path) or _bytes_in(path) <= GROUP_BYTES:
        return []
    groups = _divided(parts_of(path))
    return groups if len(groups) > 1 else []


def _bytes_in(path: str) -> int:
    with os.scandir(path) as entries:
        return sum(entry.stat().st_size for entry in entries if entry.name.endswith(".table"))


def _divided(parts: Sequence[Part]) -> list[Group]:
    groups: list[Group] = []
    own: list[Part] = []
    for shard, part in enumerate(parts):
        if own and sum(each.bytes for each in own) + part.bytes > GROUP_BYTES:
            groups.append(Group(shard - len(own), tuple(own)))
            own = []
        own.append(part)
    return [*groups, Group(len(parts) - len(own), tuple(own))]


class Groups:
    """Asks the processes of several groups: what `Judge` does for one."""

    def __init__(self, opening: Opening, groups: Sequence[Group]) -> None:
        """Start a process for each group."""
        need_pyarrow("a table of more than 3.5 GiB")
        from ._shards import Shards

        self.checksum = checksum_of([part for group in groups for part in group.parts])
        opening.check(self.checksum)
        self._group_of = [at for at, group in enumerate(groups) for _ in group.parts]
        self._shards: Shards = Shards(len(self._group_of))
        self.judges: list[Judge] = []
        try:
            for group in groups:
                self.judges.append(Judge(group.opening(opening)))
        except BaseException:
            self.close()
            raise
        self.profile = self.judges[0].profile
        self.hosts = sum(judge.hosts for judge in self.judges)
        self.histories = all(judge.histories for judge in self.judges)
        self.signals = all(judge.signals for judge in self.judges)

    def of_list(
        self, urls: Sequence[object], question: Question, times: Times | None = None
    ) -> list[Any]:
        """Judge a list of URLs."""

        def ask(judge: Judge, own: Sequence[object], places: Sequence[int]) -> list[Any]:
            return judge.of_list(own, question, _times_at(times, places))

        return self._spread(urls, 0, ask)

    def passes(
        self, urls: Sequence[object], question: Question, passing: Passing, first: int
    ) -> Sequence[int]:
        """Return 1 for each URL that passes, else 0."""
        return self._spread(
            urls, first, lambda judge, own, _: judge.passes(own, question, passing, 0)
        )

    def of_arrow(self, urls: Any, question: Question, times: Times | None = None) -> Any:
        """Judge an Arrow array, or a chunked one, that is not dictionary-encoded."""
        import pyarrow as pa

        if not isinstance(urls, pa.ChunkedArray):
            return self._of_array(urls, question, times)
        if urls.num_chunks == 0:
            return self.judges[0].of_arrow(urls, question, times)
        answers = []
        start = 0
        for chunk in urls.chunks:
            end = start + len(chunk)
            answers.append(self._of_array(chunk, question, times and times[start:end]))
            start = end
        return pa.chunked_array(answers)

    def close(self) -> None:
        """End all processes."""
        for judge in self.judges:
            judge.close()
        self._shards.close()

    def _spread(
        self,
        urls: Sequence[object],
        first: int,
        ask: Callable[[Judge, Sequence[object], Sequence[int]], Sequence[Any]],
    ) -> list[Any]:
        from ._arrow import array_of

        places: list[list[int]] = [[] for _ in self.judges]
        shards = self._shards.of(array_of(urls, first)).to_pylist()
        for place, shard in enumerate(shards):
            places[self._group_of[shard]].append(place)
        items: list[Any] = [None] * len(urls)
        for judge, own in zip(self.judges, places, strict=True):
            # Also without URLs: the agents are checked.
            answers = ask(judge, [urls[at] for at in own], own)
            for place, item in zip(own, answers, strict=True):
                items[place] = item
        return items

    def _of_array(self, urls: Any, question: Question, times: Times | None) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        from ._arrow import is_view

        if is_view(urls.type):
            urls = urls.cast(pa.large_binary())
        groups = pc.take(pa.array(self._group_of, pa.int32()), self._shards.of(urls))
        places = [pc.indices_nonzero(pc.equal(groups, at)) for at in range(len(self.judges))]
        answers = [
            judge.of_arrow(urls.take(own), question, _times_at(times, own.to_pylist()))
            for judge, own in zip(self.judges, places, strict=True)
        ]
        order = pc.sort_indices(pa.concat_arrays(places))
        return pa.concat_arrays(answers).take(order)


def _times_at(times: Times | None, places: Sequence[int]) -> Times | None:
    return None if times is None else array("I", map(times.__getitem__, places))
