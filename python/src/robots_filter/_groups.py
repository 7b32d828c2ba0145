"""A table that is too large for one process: a process for each group of its shards.

A memory of the program has 4 GiB at most. Each URL goes to the process that has the shard of its
host, and the answers are put back into the order of the URLs.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._columns import encoded
from ._errors import UsageError
from ._manifest import MANIFEST, Part, checksum_of, parts_of

if TYPE_CHECKING:
    from ._table import Table


@dataclass(frozen=True)
class Group:
    """Shards one after another that one process opens."""

    first: int
    parts: tuple[Part, ...]

    @property
    def words(self) -> list[str]:
        """The option of `serve`."""
        return ["--parts", f"{self.first}-{self.first + len(self.parts) - 1}"]


#: Bytes of tables that one process opens. Beside them it needs room for requests.
GROUP_BYTES = 7 << 29


def groups_of(path: str) -> list[Group]:
    """Return the groups of a table in shards; none if one process is enough."""
    if os.path.basename(path) == MANIFEST:
        path = os.path.dirname(path)
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
    """Tables that hold a group of the shards each."""

    def __init__(self, tables: Sequence[Table], groups: Sequence[Group]) -> None:
        self.tables = tables
        self._group_of = [at for at, group in enumerate(groups) for _ in group.parts]
        self._local = threading.local()
        self.checksum = checksum_of([part for group in groups for part in group.parts])

    def of_list(self, urls: Sequence[object], ask: Callable[[Table, Any], list[Any]]) -> list[Any]:
        """Ask the tables about a list of URLs."""
        pa = _pyarrow()
        texts = pa.array(encoded(urls, []), pa.large_binary())
        places: list[list[int]] = [[] for _ in self.tables]
        for place, shard in enumerate(self._shards(texts).to_pylist()):
            places[self._group_of[shard]].append(place)
        items: list[Any] = [None] * len(urls)
        for table, own in zip(self.tables, places, strict=True):
            # Also without URLs: the agents are checked.
            for place, item in zip(own, ask(table, [urls[at] for at in own]), strict=True):
                items[place] = item
        return items

    def of_arrow(self, urls: Any, ask: Callable[[Table, Any], Any]) -> Any:
        """Ask the tables about an array or a chunked array of URLs."""
        pa = _pyarrow()
        import pyarrow.compute as pc

        chunks = urls.chunks if isinstance(urls, pa.ChunkedArray) else [urls]
        arrays = [self._of_array(pa, pc, chunk, ask) for chunk in chunks]
        if not isinstance(urls, pa.ChunkedArray):
            return arrays[0]
        return pa.chunked_array(arrays or [ask(self.tables[0], urls.slice(0, 0)).type])

    def _of_array(self, pa: Any, pc: Any, urls: Any, ask: Callable[[Table, Any], Any]) -> Any:
        groups = pc.take(pa.array(self._group_of, pa.int32()), self._shards(urls))
        places = [pc.indices_nonzero(pc.equal(groups, at)) for at in range(len(self.tables))]
        answers = [
            ask(table, urls.take(own)) for table, own in zip(self.tables, places, strict=True)
        ]
        order = pc.sort_indices(pa.concat_arrays(places))
        return pa.concat_arrays(answers).take(order)

    def _shards(self, urls: Any) -> Any:
        from ._shards import Shards

        shards = getattr(self._local, "shards", None)
        if shards is None:
            shards = self._local.shards = Shards(len(self._group_of))
        return shards.of(urls)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise UsageError(
            "a table of more than 3.5 GiB needs pyarrow. Type: pip install pyarrow"
        ) from None
    return pyarrow
