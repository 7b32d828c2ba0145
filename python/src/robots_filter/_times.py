"""The time for which each URL is judged, as the program takes it."""

from __future__ import annotations

from array import array
from datetime import date, datetime, timedelta
from typing import Any, TypeAlias

from ._errors import UsageError

#: One time for all URLs.
Time: TypeAlias = date | datetime

#: No time: the URL is invalid.
NO_TIME = 0xFFFF_FFFF
#: The last time: later ones count as this one.
_LAST = NO_TIME - 1

_ADVICE = (
    "Pass a date, a datetime with a time zone, a list of these, or a column of timestamps: "
    "pandas.to_datetime(frame['time'], utc=True)"
)
# Without its unit, pandas takes a number for nanoseconds.
_NUMBERS = (
    "Say what a number counts: pandas.to_datetime(frame['time'], unit='s', utc=True) for seconds, "
    "unit='ms' for milliseconds"
)
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

_EPOCH = datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)
_DAY = 86_400


def times_of(at: object, count: int) -> array[int]:
    """Return the seconds since 1970 for which each of `count` URLs is judged.

    `at` is one time for all URLs, or a list or column with a time for each. None, NaT and null are
    no time. Raises UsageError for anything else, and for another number of times.
    """
    if isinstance(at, list | tuple):
        times = array("I", map(_seconds_or_none, at))
    elif isinstance(at, date) or _is_datetime64(at):
        return array("I", [_seconds_or_none(at)]) * count
    else:
        times = _of_column(at)
    if len(times) != count:
        raise UsageError(f"at has {len(times)} times for {count} URLs. Pass one time for each URL")
    return times


def _seconds_or_none(moment: Any) -> int:
    # pandas has NaT in place of a datetime, which is one by its class.
    if moment is None or type(moment).__name__ in ("NaTType", "NAType"):
        return NO_TIME
    if isinstance(moment, datetime):
        offset = moment.utcoffset()
        if offset is None:
            raise UsageError(
                f"the time {moment!r} has no time zone. Pass an aware datetime, such as "
                "datetime(2025, 3, 10, tzinfo=timezone.utc)"
            )
        # Not timestamp(): it rounds, and that of pandas up to the next second.
        return _clamped((moment.replace(tzinfo=None) - _EPOCH - offset) // _SECOND)
    if isinstance(moment, date):
        return _clamped((moment.toordinal() - _EPOCH.toordinal()) * _DAY)
    if _is_datetime64(moment):
        return _of_column(moment.reshape(1))[0]
    raise UsageError(f"a time is of type {type(moment).__name__}. {_ADVICE}")


def _is_datetime64(moment: object) -> bool:
    # numpy is not imported for it: it may not be there.
    return type(moment).__name__ == "datetime64" and type(moment).__module__ == "numpy"


def _clamped(seconds: int) -> int:
    return min(max(seconds, 0), _LAST)


def _of_column(at: Any) -> array[int]:
    package = type(at).__module__.partition(".")[0]
    if package not in ("pyarrow", "pandas", "polars", "numpy"):
        raise UsageError(f"at is of type {type(at).__name__}. {_ADVICE}")
    from ._packages import need_pyarrow

    need_pyarrow("a column of times")
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _arrow_of(at, package)
    if isinstance(column, list):
        return array("I", map(_seconds_or_none, column))
    if not isinstance(column, pa.Array | pa.ChunkedArray):
        raise UsageError(f"at is a {package} {type(at).__name__}. {_ADVICE}")
    times = array("I")
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        seconds = _column_seconds(chunk)
        bounded = pc.min_element_wise(
            pc.max_element_wise(seconds, 0, skip_nulls=False), _LAST, skip_nulls=False
        )
        words = pc.fill_null(bounded, NO_TIME).cast(pa.uint32())
        if len(words) > 0:
            start = 4 * words.offset
            times.frombytes(memoryview(words.buffers()[1])[start : start + 4 * len(words)])
    return times


def _arrow_of(at: Any, package: str) -> Any:
    """Return a column as Arrow has it, or as a list if it holds objects of several types."""
    import pyarrow as pa

    if package == "pyarrow":
        return at
    if package == "polars":
        import polars as pl

        if not isinstance(at, pl.Series):
            return None
        return at.to_list() if at.dtype == pl.Object else at.to_arrow()
    if getattr(at, "ndim", 1) != 1:
        raise UsageError(
            f"at is a {type(at).__name__} of {package} with the shape {at.shape}. "
            "Pass one column: frame['time']"
        )
    if package == "numpy" and at.dtype.kind == "M":
        import numpy as np

        # Arrow knows no hours, minutes, months or years.
        if np.datetime_data(at.dtype)[0] not in ("D", *_UNITS):
            at = at.astype("datetime64[s]")
    try:
        return pa.array(at, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError) as error:
        if str(getattr(at, "dtype", None)) == "object":
            return at.tolist()
        raise UsageError(f"at cannot be read as times ({error}). {_ADVICE}") from error


def _column_seconds(at: Any) -> Any:
    """Return the seconds of an array as 64-bit integers, and null for what is no time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = at.type
    if pa.types.is_dictionary(kind):
        return _column_seconds(at.dictionary).take(at.indices)
    # Division drops the fraction. What that rounds up is before 1970.
    if pa.types.is_timestamp(kind):
        return pc.divide(at.cast(pa.int64()), _UNITS[kind.unit])
    if pa.types.is_date32(kind):
        return pc.multiply(at.cast(pa.int32()).cast(pa.int64()), _DAY)
    if pa.types.is_date64(kind):
        return pc.divide(at.cast(pa.int64()), 1000)
    if pa.types.is_null(kind):
        return at.cast(pa.int64())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        raise UsageError(f"at is a column of {kind}. {_NUMBERS}")
    raise UsageError(f"at is a column of {kind}. {_ADVICE}")
