"""A time for which a table is asked."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import TypeAlias

from ._errors import UsageError

Moment: TypeAlias = str | date | datetime


def moment_of(moment: object) -> str:
    """Return the text that `--as-of` takes.

    Raises UsageError for a datetime without a time zone, and for any other type.
    """
    if isinstance(moment, str):
        return moment
    # A datetime is a date, too.
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise UsageError(
                f"as_of is {moment!r}, without a time zone. Pass an aware datetime, such as "
                "datetime(2025, 3, 10, tzinfo=timezone.utc)"
            )
        return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(moment, date):
        return moment.isoformat()
    raise UsageError(
        f"as_of is of type {type(moment).__name__}. Pass a date, a datetime with a time zone, "
        "or text such as 2025-03-10"
    )
