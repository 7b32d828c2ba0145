"""URLs as Arrow has them: offsets, and the bytes of all URLs one after another."""

from __future__ import annotations

import codecs
import json
import struct
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ._errors import UsageError
from ._question import Question

#: Bytes of URLs that a request has, unless one URL has more. Two of them fit into a 2 MiB cache.
REQUEST_URL_BYTES = 1 << 19
#: Items of a list that are encoded at a time.
_BLOCK = 8192
#: Bytes of a block up to which its items are joined. Above, each is a column of its own.
_JOINED_BYTES = 1 << 24

_HEADER = struct.Struct("<5I")
_KIND_JUDGE = 1
_FLAG_EXPLAIN = 1
_FLAG_WARN = 2
_FLAG_TIMES = 4
_FLAG_MAX_AGE = 8
_FLAG_USES = 16
_WORD = struct.Struct("<I")
_DAY = 86_400


def _replace_surrogates(error: UnicodeError) -> tuple[bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "\ufffd".encode() * (error.end - error.start), error.end


# As the URL Standard and Node do it: a lone surrogate becomes U+FFFD.
codecs.register_error("robots_filter.scalar", _replace_surrogates)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that the process stated in its greeting."""

    verdicts: int
    url_bytes: int
    agents_bytes: int
    uses_bytes: int


@dataclass(frozen=True, slots=True)
class Request:
    """A frame to write, in pieces, and the number of its URLs."""

    count: int
    pieces: list[memoryview]


@dataclass(frozen=True, slots=True)
class Column:
    """URLs. `offsets` has one more item than there are URLs; each is a place in `data`."""

    offsets: memoryview
    data: memoryview
    #: Returns the offsets from one index to another, as 32-bit words of any base.
    words: Callable[[int, int], memoryview]

    @property
    def count(self) -> int:
        """The number of URLs."""
        return len(self.offsets) - 1

    def requests(
        self, question: Question, limits: Limits, times: memoryview | None = None
    ) -> Iterator[Request]:
        """Yield the requests about all URLs, in order: one at least.

        `times` has a word for each URL: the time for which it is judged.
        """
        agents = json.dumps(question.agents).encode()
        if len(agents) > limits.agents_bytes:
            raise UsageError(
                f"the names of the agents have {len(agents)} bytes. "
                f"Ask about fewer agents at a time: at most {limits.agents_bytes} bytes of names"
            )
        uses = b"" if question.uses is None else question.uses.json
        if len(uses) > limits.uses_bytes:
            raise UsageError(
                f"the names of the uses have {len(uses)} bytes. "
                f"Ask about fewer uses at a time: at most {limits.uses_bytes} bytes of names"
            )
        most = max(1, limits.verdicts // question.outcomes)
        offsets = self.offsets
        start = 0
        while True:
            end = min(self.count, start + most)
            wanted = offsets[start] + REQUEST_URL_BYTES
            if offsets[end] > wanted:
                end = max(start + 1, bisect_right(offsets, wanted, start, end) - 1)
            if end > start and offsets[end] - offsets[start] > limits.url_bytes:
                # One URL that is too long. The first byte beyond the limit shows that it is.
                length = limits.url_bytes + 1
                words = memoryview(array("I", [0, length])).cast("B")
                data = self.data[offsets[start] : offsets[start] + length]
            else:
                words = self.words(start, end + 1)
                data = self.data[offsets[start] : offsets[end]]
            flags = _FLAG_WARN if question.warn else 0
            flags |= _FLAG_EXPLAIN if question.explain else 0
            of_urls = []
            if times is not None:
                flags |= _FLAG_TIMES
                of_urls = [times[start:end].cast("B")] if end > start else []
            more = b""
            if question.max_age is not None:
                flags |= _FLAG_MAX_AGE
                more += _WORD.pack(_DAY * question.max_age)
            if question.uses is not None:
                flags |= _FLAG_USES
                more += _WORD.pack(len(uses))
            header = _HEADER.pack(_KIND_JUDGE, flags, len(agents), end - start, len(data))
            head = header + more + _padded(agents) + _padded(uses)
            yield Request(end - start, [memoryview(head), *of_urls, words, data])
            start = end
            if start >= self.count:
                return


def _padded(text: bytes) -> bytes:
    return text + bytes(-len(text) % 4)


def column_of(offsets: array[int], data: bytes | memoryview) -> Column:
    """Return a column of offsets of 32 bits."""
    items = memoryview(offsets)

    def words(start: int, end: int) -> memoryview:
        return items[start:end].cast("B")

    return Column(items, memoryview(data), words)


def columns_of(urls: Sequence[object], nulls: list[int], first: int = 0) -> Iterator[Column]:
    """Yield the columns of a list of str, bytes and None: one at least.

    Adds the indices of None to `nulls`. Raises UsageError for an item of another type. `first` is
    the index of the first item, for this message.
    """
    for start in range(0, max(len(urls), 1), _BLOCK):
        own: list[int] = []
        block = encoded(urls[start : start + _BLOCK], own, first + start)
        nulls += [start + index for index in own]
        try:
            offsets = array("I", accumulate(map(len, block), initial=0))
        except OverflowError:
            offsets = None
        if offsets is not None and offsets[-1] <= _JOINED_BYTES:
            yield column_of(offsets, b"".join(block))
        else:
            yield from map(_column_of_one, block)


def encoded(urls: Sequence[object], nulls: list[int], first: int = 0) -> list[bytes]:
    """Return the bytes of each URL of a list: see `columns_of`."""
    try:
        return list(map(str.encode, urls))  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):
        return [_encode(url, index, nulls, first) for index, url in enumerate(urls)]


def _column_of_one(url: bytes) -> Column:
    # More than the program reads of a URL, and less than a 32-bit word counts.
    data = memoryview(url)[: 1 << 31]
    return column_of(array("I", [0, len(data)]), data)


def _encode(url: object, index: int, nulls: list[int], first: int) -> bytes:
    if isinstance(url, str):
        return url.encode("utf-8", "robots_filter.scalar")
    if isinstance(url, bytes):
        return url
    if url is None or _is_missing(url):
        nulls.append(index)
        return b""
    raise UsageError(
        f"URL {first + index} is of type {type(url).__name__}. "
        "Pass str or bytes, or None for no URL"
    )


def _is_missing(url: object) -> bool:
    """Whether pandas has this in the place of a text: NaN, NA or NaT."""
    return (isinstance(url, float) and url != url) or type(url).__name__ in ("NAType", "NaTType")
