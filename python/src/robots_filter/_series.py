"""Series of pandas and polars. Both go through Arrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._errors import RobotsFilterError, UsageError


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as cause:
        raise RobotsFilterError("a Series needs pyarrow. Type: pip install pyarrow") from cause
    return pyarrow


def of_pandas(urls: Any, judge: Callable[[Any], Any]) -> Any:
    """Judge a Series of pandas; return a Series with its index and name."""
    import pandas as pd

    pa = _pyarrow()
    if not isinstance(urls, pd.Series):
        raise UsageError(f"urls is a pandas {type(urls).__name__}. Pass a Series: frame['url']")
    try:
        values = pa.array(urls, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        # Lone surrogates, and texts beside bytes; columns_of names what is no URL.
        values = _binary(pa, urls.tolist())
    result = judge(values)
    if isinstance(result, pa.ChunkedArray):
        result = result.combine_chunks()
    if pa.types.is_dictionary(result.type):
        return pd.Series(
            pd.Categorical.from_codes(
                result.indices.fill_null(-1).to_numpy(zero_copy_only=False),
                categories=result.dictionary.to_pylist(),
            ),
            index=urls.index,
            name=urls.name,
        )
    array = pd.arrays.ArrowExtensionArray(pa.chunked_array([result]))
    return pd.Series(array, index=urls.index, name=urls.name)


def of_polars(urls: Any, judge: Callable[[Any], Any]) -> Any:
    """Judge a Series of polars; return a Series with its name."""
    import polars as pl

    pa = _pyarrow()
    if not isinstance(urls, pl.Series):
        raise UsageError(f"urls is a polars {type(urls).__name__}. Pass a Series: frame['url']")
    result = judge(urls.to_arrow())
    if isinstance(result, pa.ChunkedArray):
        result = result.combine_chunks()
    return pl.Series(urls.name, result)


def _binary(pa: Any, items: list[object]) -> Any:
    from ._columns import columns_of

    nulls: list[int] = []
    chunks = []
    for column in columns_of(items, nulls):
        offsets = pa.py_buffer(column.words(0, column.count + 1))
        buffers = [None, offsets, pa.py_buffer(column.data)]
        chunks.append(pa.Array.from_buffers(pa.binary(), column.count, buffers))
    values = pa.chunked_array(chunks).combine_chunks()
    if not nulls:
        return values
    missing = set(nulls)
    mask = pa.array([index in missing for index in range(len(items))])
    return pa.compute.if_else(mask, pa.scalar(None, pa.binary()), values)
