"""Functions of Spark that take columns and give a column: no other column leaves the JVM.

Spark 4.1 was the first to pass columns as Arrow. Before, they pass as Series of pandas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

#: Judges batches of arrays of Arrow: one array of each argument gives one array, or for a struct
#: the arrays of its fields.
Columns = Callable[[Iterator[tuple[Any, ...]]], Iterator[Sequence[Any]]]


def scalar(columns: Columns, arguments: int, kind: T.DataType) -> Any:
    """Return the function of Spark, of some number of arguments, whose result is of this type."""
    if hasattr(F, "arrow_udf"):
        return _of_arrow(columns, arguments, kind)
    return _of_pandas(columns, arguments, kind)


def _of_arrow(columns: Columns, arguments: int, kind: T.DataType) -> Any:
    names = kind.names if isinstance(kind, T.StructType) else None

    def judge(batches: Any) -> Any:
        for fields in columns(_tuples(batches, arguments)):
            yield fields[0] if names is None else pa.StructArray.from_arrays(fields, names)

    one: Any = pa.Array if arguments == 1 else tuple[(pa.Array,) * arguments]  # type: ignore[misc]
    judge.__annotations__ = {"batches": Iterator[one], "return": Iterator[pa.Array]}
    return F.arrow_udf(judge, kind)


def _of_pandas(columns: Columns, arguments: int, kind: T.DataType) -> Any:
    import pandas as pd

    names = kind.names if isinstance(kind, T.StructType) else None

    def judge(batches: Any) -> Any:
        import pandas as pd
        import pyarrow as pa

        arrays = (
            tuple(pa.array(series, from_pandas=True) for series in batch)
            for batch in _tuples(batches, arguments)
        )
        for fields in columns(arrays):
            series = [field.to_pandas() for field in fields]
            if names is None:
                yield series[0]
            else:
                yield pd.DataFrame(dict(zip(names, series, strict=True)))

    one: Any = pd.Series if arguments == 1 else tuple[(pd.Series,) * arguments]  # type: ignore[misc]
    result: Any = pd.Series if names is None else pd.DataFrame
    judge.__annotations__ = {"batches": Iterator[one], "return": Iterator[result]}
    return F.pandas_udf(judge, kind)


def _tuples(batches: Any, arguments: int) -> Iterator[tuple[Any, ...]]:
    return ((batch,) for batch in batches) if arguments == 1 else batches
