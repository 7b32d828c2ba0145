"""Arrow in, Arrow out. Imported only when somebody passes Arrow, pandas or polars data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ._columns import Column, columns_of, encoded
from ._errors import UsageError
from ._names import Names
from ._question import Uses
from ._results import NO_RULE, Results

_EMPTY = memoryview(b"\0\0\0\0\0\0\0\0")


def is_text(kind: pa.DataType) -> bool:
    """Whether values of this type can be URLs."""
    return (
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_null(kind)
        or is_view(kind)
    )


def is_view(kind: pa.DataType) -> bool:
    """Whether values of this type are views, of which Arrow takes no selection."""
    views = (getattr(pa.types, name, None) for name in ("is_string_view", "is_binary_view"))
    return any(view is not None and view(kind) for view in views)


def check(urls: Any) -> None:
    """Raise UsageError unless this is an array, or a chunked one, that holds text or bytes."""
    if not isinstance(urls, pa.Array | pa.ChunkedArray):
        raise UsageError(
            f"urls is a pyarrow {type(urls).__name__}. Pass one of its columns: table.column('url')"
        )
    kind = urls.type
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not is_text(inner):
        raise UsageError(
            f"the URLs are an Arrow array of {kind}. Pass an array of strings or of binary values"
        )


def array_of(urls: Sequence[object], first: int = 0) -> Any:
    """Return a list of str, bytes and None as an array of bytes: see `columns_of`."""
    nulls: list[int] = []
    texts: list[bytes | None] = [*encoded(urls, nulls, first)]
    for index in nulls:
        texts[index] = None
    return pa.array(texts, pa.large_binary())


def column_of(values: Any) -> Column:
    """Return the URLs of an array that `check` accepts and that is not dictionary-encoded.

    Copies nothing of string and binary arrays; other types are cast first.
    """
    kind = values.type
    is_large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if not (is_large or pa.types.is_string(kind) or pa.types.is_binary(kind)):
        values = values.cast(pa.large_binary())
        is_large = True
    _, offsets_buffer, data_buffer = values.buffers()
    size = 8 if is_large else 4
    first, count = values.offset, len(values)
    if count == 0:
        # An array without values may have no offsets at all.
        first, offsets_buffer = 0, None
    raw = _EMPTY if offsets_buffer is None else memoryview(offsets_buffer)
    raw = raw.cast("B")[size * first : size * (first + count + 1)]
    offsets = raw.cast("q") if is_large else raw.cast("i")
    data = memoryview(b"" if data_buffer is None else data_buffer).cast("B")

    def words(start: int, end: int) -> memoryview:
        return raw[size * start : size * end]

    def narrowed(start: int, end: int) -> memoryview:
        buffers = [None, pa.py_buffer(raw[size * start : size * end])]
        wide = pa.Array.from_buffers(pa.int64(), end - start, buffers)
        # A request has less than 2^32 bytes.
        narrow = pc.subtract(wide, offsets[start]).cast(pa.uint32())
        return memoryview(narrow.buffers()[1]).cast("B")[: 4 * (end - start)]

    return Column(offsets, data, narrowed if is_large else words)


def judged(
    urls: Any,
    ask: Callable[[Iterable[Column]], Results],
    names: Names,
) -> Any:
    """Return the results for an array that is not dictionary-encoded, or a chunked one."""
    if not isinstance(urls, pa.ChunkedArray):
        results = ArrowResults(ask([column_of(urls)]), names)
        return results.array(0, len(urls), validity_of(urls))
    columns = map(column_of, urls.chunks) if urls.chunks else columns_of([], [])
    results = ArrowResults(ask(columns), names)
    arrays = []
    start = 0
    for chunk in urls.chunks:
        arrays.append(results.array(start, len(chunk), validity_of(chunk)))
        start += len(chunk)
    return pa.chunked_array(arrays or [results.array(0, 0, None)])


class ArrowResults:
    """The results of a call as arrays."""

    def __init__(self, results: Results, names: Names) -> None:
        self._results = results
        self._verdicts = _Words(names.verdicts, names.reasons, "verdict", "rule")
        self._answers = _Words(names.answers, names.answer_reasons, "answer", "signal")
        self._codes = [pa.py_buffer(column) for column in results.codes]
        self._explained = [self._explanation(index) for index in range(len(self._codes))]

    def array(self, start: int, count: int, valid: Any) -> Any:
        """Return the results of `count` URLs from `start` on.

        `valid` is a boolean array that is false where the URL is null, or None without nulls.
        """
        question = self._results.question
        if question.uses is None:
            return self._of_verdicts(start, count, valid)
        answers = self._of_uses(question.uses, start, count, valid)
        if not question.both:
            return answers
        verdicts = self._of_verdicts(start, count, valid)
        return _struct([verdicts, answers], ["verdicts", "uses"], valid)

    def _of_verdicts(self, start: int, count: int, valid: Any) -> Any:
        question = self._results.question
        arrays = [
            self._column(agent, self._verdicts, start, count, valid)
            for agent in range(len(question.agents))
        ]
        return arrays[0] if question.single else _struct(arrays, list(question.agents), valid)

    def _of_uses(self, uses: Uses, start: int, count: int, valid: Any) -> Any:
        question = self._results.question
        of_agents = []
        for agent in range(len(question.agents)):
            places = (self._results.of_use(agent, use) for use in range(len(uses.names)))
            arrays = [self._column(at, self._answers, start, count, valid) for at in places]
            of_agents.append(arrays[0] if uses.single else _struct(arrays, list(uses.names), valid))
        return of_agents[0] if question.single else _struct(of_agents, [*question.agents], valid)

    def _column(self, index: int, words: _Words, start: int, count: int, valid: Any) -> Any:
        codes = self._codes[index].slice(start, count)
        word = _encoded(codes, count, valid, words.names, words.none)
        if not self._results.question.explain:
            return word
        reasons, lines, rules = self._explained[index]
        reason = _encoded(reasons.slice(start, count), count, valid, words.reasons)
        fields = [word, reason, lines.slice(start, count), rules.slice(start, count)]
        return _struct(fields, words.members, valid)

    def _explanation(self, index: int) -> tuple[Any, Any, Any]:
        parts = self._results.explained[index]
        if not self._results.question.explain:
            return None, None, None
        reasons = pa.py_buffer(b"".join(part.reasons for part in parts))
        lines = []
        rules = []
        for part in parts:
            count = len(part.rules)
            places = pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(part.rules)])
            ruled = pc.not_equal(places, NO_RULE)
            none = pa.scalar(None, pa.int32())
            numbers = pa.Array.from_buffers(pa.uint32(), count, [None, pa.py_buffer(part.lines)])
            lines.append(pc.if_else(ruled, numbers.cast(pa.int32()), none))
            rules.append(
                pa.DictionaryArray.from_arrays(
                    pc.if_else(ruled, places, none), pa.array(part.texts, pa.string())
                )
            )
        return reasons, _one(lines), _one(rules)


class _Words:
    """The words of verdicts, or of answers about uses, and the members of an explanation."""

    def __init__(
        self, names: Sequence[str | None], reasons: Sequence[str], word: str, text: str
    ) -> None:
        #: The number that stands for no word, the last one; None if there is no such.
        self.none = names.index(None) if None in names else None
        self.names = pa.array([name for name in names if name is not None], pa.string())
        self.reasons = pa.array(reasons, pa.string())
        self.members = [word, "reason", "line", text]


def _one(chunks: list[Any]) -> Any:
    chunked = pa.chunked_array(chunks).unify_dictionaries()
    combined = chunked.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def _encoded(codes: Any, count: int, valid: Any, names: Any, none: int | None = None) -> Any:
    """Return the names of codes; null where `valid` is false, and for the code `none`."""
    validity = None if valid is None else valid.buffers()[1]
    indices = pa.Array.from_buffers(pa.int8(), count, [validity, codes])
    if none is not None:
        indices = pc.if_else(pc.equal(indices, none), pa.scalar(None, pa.int8()), indices)
    return pa.DictionaryArray.from_arrays(indices, names)


def _struct(arrays: list[Any], names: list[str], valid: Any) -> Any:
    mask = None if valid is None else pc.invert(valid)
    return pa.StructArray.from_arrays(arrays, names, mask=mask)


def validity_of(values: Any) -> Any:
    """Return a boolean array that is true where there is a value; None if there always is."""
    return None if values.null_count == 0 else pc.is_valid(values)


def distinct(urls: Any, judge: Callable[[Any], Any]) -> Any:
    """Judge an array. The values of a dictionary-encoded one are judged once."""
    if not pa.types.is_dictionary(urls.type):
        return judge(urls)
    if isinstance(urls, pa.ChunkedArray):
        chunks = [distinct(chunk, judge) for chunk in urls.chunks]
        if not chunks:
            return judge(pa.chunked_array([], urls.type.value_type))
        return pa.chunked_array(chunks).unify_dictionaries()
    return judge(urls.dictionary).take(urls.indices)


def decoded(urls: Any) -> Any:
    """Return an array that is not dictionary-encoded."""
    if not pa.types.is_dictionary(urls.type):
        return urls
    if isinstance(urls, pa.ChunkedArray):
        return pa.chunked_array([decoded(chunk) for chunk in urls.chunks], pa.large_binary())
    # With offsets of 32 bits, values that are repeated often would not fit into one array.
    return urls.dictionary.cast(pa.large_binary()).take(urls.indices)
