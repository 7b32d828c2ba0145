"""Series of pandas and polars. Both go through Arrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ._arrow import array_of
from ._errors import UsageError


def of_pandas(urls: Any, judge: Callable[[Any], Any]) -> Any:
    """Judge a Series of pandas; return a Series with its index and name."""
    import pandas as pd

    if isinstance(urls, pd.Index) and not isinstance(urls, pd.MultiIndex):
        # With its own type: otherwise pandas makes text of objects, some of which are none.
        series = pd.Series(urls.array, dtype=urls.dtype)
        return pd.Index(of_pandas(series, judge), name=urls.name)
    if not isinstance(urls, pd.Series):
        raise UsageError(
            f"urls is a pandas {type(urls).__name__}. "
            "Pass a Series: frame['url'], or pandas.Series(values)"
        )
    try:
        values = pa.array(urls, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        # Lone surrogates, and texts beside bytes; array_of names what is no URL.
        values = array_of(urls.tolist())
    if 0 < len(values) == values.null_count:
        # pandas reads a column without any text as numbers that are missing.
        values = pa.nulls(len(values))
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

    if not isinstance(urls, pl.Series):
        advice = (
            "Use pl.col('url').map_batches(lambda urls: table.verdicts(urls, 'GPTBot'))"
            if isinstance(urls, pl.LazyFrame | pl.Expr)
            else "Pass a Series: frame['url']"
        )
        raise UsageError(f"urls is a polars {type(urls).__name__}. {advice}")
    # Polars gives objects to Arrow as addresses.
    result = judge(array_of(urls.to_list()) if urls.dtype == pl.Object else urls.to_arrow())
    if isinstance(result, pa.ChunkedArray):
        result = result.combine_chunks()
    return pl.Series(urls.name, result)
