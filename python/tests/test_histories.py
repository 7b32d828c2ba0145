"""Tables that answer for a time."""

from __future__ import annotations

import json
import pickle
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

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


def _judged_one_by_one(path: Path, urls: list[str], times: list[datetime | None]) -> list[str]:
    """The verdicts of tables that were opened as of each time."""
    verdicts = []
    tables: dict[datetime, Table] = {}
    for url, moment in zip(urls, times, strict=True):
        if moment is None:
            verdicts.append("invalid")
            continue
        table = tables.setdefault(moment, Table.open(path, as_of=moment))
        verdicts.append(table.verdict(url, "GPTBot").verdict)
    for table in tables.values():
        table.close()
    return verdicts


def _times_of_kinds(times: list[datetime | None]) -> dict[str, Any]:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    naive = [moment and moment.replace(tzinfo=None) for moment in times]
    return {
        "list": times,
        "tuple": tuple(times),
        "pyarrow s": pa.array(times, pa.timestamp("s", "UTC")),
        "pyarrow ms": pa.array(naive, pa.timestamp("ms")),
        "pyarrow us": pa.array(times, pa.timestamp("us", "+02:00")),
        "pyarrow ns chunked": pa.chunked_array(
            [pa.array(times[:7], pa.timestamp("ns")), pa.array(times[7:], pa.timestamp("ns"))]
        ),
        "pyarrow slice": pa.array([None, *times], pa.timestamp("us"))[1:],
        "numpy": np.array(naive, dtype="datetime64[ms]"),
        "pandas": pd.Series(times, dtype="datetime64[ns, UTC]"),
        "pandas with a zone": pd.Series(times, dtype="datetime64[ns, UTC]").dt.tz_convert(
            "Asia/Tokyo"
        ),
        "pandas index": pd.DatetimeIndex(times),
        "polars": pl.Series(naive, dtype=pl.Datetime("us")),
    }


def test_each_url_has_its_time(path: Path) -> None:
    random = Random(4707)
    edges = [datetime(2024, 1, 1, tzinfo=timezone.utc), datetime(2025, 1, 1, tzinfo=timezone.utc)]
    moments = [edge + timedelta(seconds=second) for edge in edges for second in (-1, 0, 1)]
    urls = [random.choice(URLS) for _ in range(500)]
    times = [random.choice([*moments, None]) for _ in urls]
    expected = _judged_one_by_one(path, urls, times)
    assert set(expected) == {"allow", "deny", "unknown", "invalid"}
    with Table.open(path, threads=2) as table:
        for kind, at in _times_of_kinds(times).items():
            assert table.verdicts(urls, "GPTBot", at=at) == expected, kind
        both = table.verdicts(urls, ["GPTBot", "Other"], at=times)
        assert both == [{"GPTBot": verdict, "Other": verdict} for verdict in expected]
        explained = table.verdicts(urls, "GPTBot", True, at=times)
        assert [verdict for verdict, *_ in explained] == expected
        assert {reason for _, reason, *_ in explained} >= {"no-time", "before-first-capture"}
        for index in range(20):
            if times[index] is not None:
                one = table.verdict(urls[index], "GPTBot", at=times[index])
                assert one.verdict == expected[index]
        # More URLs than one request holds.
        many = 200_000 // len(urls)
        assert table.verdicts(urls * many, "GPTBot", at=times * many) == expected * many
        same = [datetime(2024, 6, 1, tzinfo=timezone.utc)] * len(urls)
        assert table.verdicts(urls, "GPTBot", at=same[0]) == table.verdicts(urls, "GPTBot", at=same)
        assert table.verdicts(URLS, "GPTBot", at=date(2025, 1, 1)) == ["deny", "deny", "unknown"]
        assert table.verdicts(URLS, "GPTBot") == ["deny", "deny", "unknown"]


def test_columns_of_urls_with_times(path: Path) -> None:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    urls = [URLS[0], None, URLS[1], URLS[1], URLS[1]]
    times = [datetime(year, 6, 1, tzinfo=timezone.utc) for year in (2024, 2024, 2023, 2024, 2025)]
    expected = ["deny", None, "unknown", "allow", "deny"]
    with Table.open(path) as table:
        assert table.verdicts(urls, "GPTBot", at=times) == expected
        array = pa.array(urls)
        assert table.verdicts(array, "GPTBot", at=times).to_pylist() == expected
        coded = table.verdicts(array.dictionary_encode(), "GPTBot", at=pa.array(times))
        assert coded.to_pylist() == expected
        chunked = pa.chunked_array([array[:2].dictionary_encode(), array[2:].dictionary_encode()])
        assert table.verdicts(chunked, "GPTBot", at=times).to_pylist() == expected
        frame = pd.DataFrame({"url": urls, "time": times})
        judged = table.verdicts(frame["url"], "GPTBot", at=frame["time"])
        assert judged.astype(object).where(judged.notna(), None).tolist() == expected
        series = pl.Series("url", urls)
        assert table.verdicts(series, "GPTBot", at=pl.Series(times)).to_list() == expected
        objects = np.array(urls, dtype=object)
        assert table.verdicts(objects, "GPTBot", at=times).tolist() == expected
        assert table.verdicts([], "GPTBot", at=[]) == []


def test_times_of_urls_that_are_refused(path: Path, tmp_path: Path) -> None:
    import pandas as pd
    import pyarrow as pa

    now = datetime(2025, 1, 1, tzinfo=timezone.utc)
    with Table.open(path) as table:
        for at, message in [
            ([now], "1 times for 3 URLs"),
            (datetime(2025, 1, 1), "has no time zone"),
            (["2025-01-01"] * 3, "a time is of type str"),
            (2025, "at is of type int"),
            (pa.array([1, 2, 3]), "a column of int64"),
            (pd.Series(["2025"] * 3), "a column of (large_)?string"),
        ]:
            with pytest.raises(UsageError, match=message):
                table.verdicts(URLS, "GPTBot", at=at)
    with (
        Table.open(path, as_of="2024-06-01") as table,
        pytest.raises(UsageError, match="opened for one time"),
    ):
        table.verdicts(URLS, "GPTBot", at=now)
    robots = tmp_path / "robots"
    robots.mkdir()
    (robots / "a.example").write_text("")
    with (
        Table.compile(robots, tmp_path / "plain.table") as table,
        pytest.raises(UsageError, match="no histories"),
    ):
        table.verdict(URLS[0], "GPTBot", at=now)
