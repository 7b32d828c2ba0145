"""The time for which each URL is judged, as the program takes it."""

from __future__ import annotations

from array import array
from datetime import date, datetime, time, timezone
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
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def times_of(at: object, count: int) -> array[int]:
    """Return the seconds since 1970 for which each of `count` URLs is judged.

    `at` is one time for all URLs, or a list or column with a time for each. None, NaT and null are
    no time. Raises UsageError for anything else, and for another number of times.
    """
    if isinstance(at, date):
        return array("I", [_seconds(at)]) * count
    if isinstance(at, list | tuple):
        times = array("I", map(_seconds_or_none, at))
    else:
        times = _of_column(at)
    if len(times) != count:
        raise UsageError(f"at has {len(times)} times for {count} URLs. Pass one time for each URL")
    return times


def _seconds_or_none(moment: object) -> int:
    # pandas has NaT in place of a datetime, which is one by its class.
    if moment is None or type(moment).__name__ == "NaTType":
        return NO_TIME
    return _seconds(moment)


def _seconds(moment: object) -> int:
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise UsageError(
                f"the time {moment!r} has no time zone. Pass an aware datetime, such as "
                "datetime(2025, 3, 10, tzinfo=timezone.utc)"
            )
        return _clamped(int(moment.timestamp() // 1))
    if isinstance(moment, date):
        return _clamped(int(datetime.combine(moment, time(), timezone.utc).timestamp()))
    raise UsageError(f"a time is of type {type(moment).__name__}. {_ADVICE}")


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

    if package == "polars":
        at = at.to_arrow()
    elif package in ("pandas", "numpy"):
        try:
            at = pa.array(at, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError) as error:
            raise UsageError(f"at cannot be read as times ({error}). {_ADVICE}") from error
    if isinstance(at, pa.ChunkedArray):
        at = pa.concat_arrays(at.chunks) if at.chunks else pa.array([], at.type)
    if not isinstance(at, pa.Array):
        raise UsageError(f"at is a {package} {type(at).__name__}. {_ADVICE}")
    kind = at.type
    if pa.types.is_timestamp(kind):
        seconds = pc.divide(at.cast(pa.int64()), _UNITS[kind.unit])
    elif pa.types.is_date32(kind):
        seconds = pc.multiply(at.cast(pa.int32()).cast(pa.int64()), 86_400)
    elif pa.types.is_date64(kind):
        seconds = pc.divide(at.cast(pa.int64()), 1000)
    elif pa.types.is_null(kind):
        seconds = at.cast(pa.int64())
    else:
        raise UsageError(f"at is a column of {kind}. {_ADVICE}")
    bounded = pc.min_element_wise(
        pc.max_element_wise(seconds, 0, skip_nulls=False), _LAST, skip_nulls=False
    )
    words = pc.fill_null(bounded, NO_TIME).cast(pa.uint32())
    times = array("I")
    if len(words) > 0:
        start = 4 * words.offset
        times.frombytes(memoryview(words.buffers()[1])[start : start + 4 * len(words)])
    return times
