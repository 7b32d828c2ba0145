"""Tables that answer for a time."""

from __future__ import annotations

import json
import pickle
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from robots_filter import RobotsFilterError, Table, UsageError

URLS = ["https://a.example/old", "https://a.example/new", "https://b.example/"]
RECORDS = [
    {"host": "a.example", "robots": "User-agent: *\nDisallow: /old\n", "fetched": "2024-01-01"},
    {"host": "a.example", "robots": "User-agent: *\nDisallow: /\n", "fetched": "2025-01-01"},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    records = tmp_path / "robots.ndjson"
    records.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    Table.compile(records, tmp_path / "history.table", history=True).close()
    return tmp_path / "history.table"


@pytest.mark.parametrize(
    ("as_of", "verdicts"),
    [
        (None, ["deny", "deny", "unknown"]),
        ("2024-06-30", ["deny", "allow", "unknown"]),
        (date(2024, 12, 31), ["deny", "allow", "unknown"]),
        (datetime(2024, 12, 31, 23, 59, 59, tzinfo=timezone.utc), ["deny", "allow", "unknown"]),
        (
            datetime(2025, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
            ["deny", "deny", "unknown"],
        ),
        ("2023-12-31", ["unknown", "unknown", "unknown"]),
    ],
)
def test_a_table_answers_for_a_time(path: Path, as_of: object, verdicts: list[str]) -> None:
    with Table.open(path, as_of=as_of) as table:  # type: ignore[arg-type]
        assert table.verdicts(URLS, "GPTBot") == verdicts
        with pickle.loads(pickle.dumps(table)) as again:
            assert again.verdicts(URLS, "GPTBot") == verdicts


def test_the_reason_before_the_first_capture(path: Path) -> None:
    with Table.open(path, as_of="2023-01-01") as table:
        assert table.verdict(URLS[0], "GPTBot").reason == "before-first-capture"
        assert table.verdict(URLS[2], "GPTBot").reason == "unknown-host"


def test_times_that_are_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without a time zone"):
        Table.open(path, as_of=datetime(2024, 1, 1))
    with pytest.raises(UsageError, match="as_of is of type int"):
        Table.open(path, as_of=2024)  # type: ignore[arg-type]
    with pytest.raises(RobotsFilterError, match="Give a date or time in UTC"):
        Table.open(path, as_of="soon")
    robots = tmp_path / "robots"
    robots.mkdir()
    (robots / "a.example").write_text("")
    Table.compile(robots, tmp_path / "plain.table").close()
    with pytest.raises(RobotsFilterError, match="has no histories"):
        Table.open(tmp_path / "plain.table", as_of="2024-01-01")
