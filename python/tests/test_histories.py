"""Tables that answer for a time."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest

from robots_filter import RobotsFilterError, Table, UsageError
from robots_filter._times import NO_TIME, times_of

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


def test_a_robots_txt_that_is_too_old(path: Path) -> None:
    import pyarrow as pa

    first = datetime(2024, 1, 1, tzinfo=timezone.utc)
    ages = [timedelta(days=-1), timedelta(0), timedelta(days=90), timedelta(days=90, seconds=1)]
    times = [first + age for age in ages]
    urls = URLS[:1] * len(times)
    expected = ["unknown", "deny", "deny", "unknown"]
    with Table.open(path) as table:
        assert table.verdicts(urls, "GPTBot", at=times, max_age=90) == expected
        column = pa.array(times, pa.timestamp("s", "UTC"))
        assert (
            table.verdicts(pa.array(urls), "GPTBot", at=column, max_age=90).to_pylist() == expected
        )
        assert table.verdicts(urls, "GPTBot", at=times) == ["unknown", "deny", "deny", "deny"]
        reasons = [table.verdict(urls[0], "GPTBot", at=at, max_age=90).reason for at in times]
        assert reasons == ["before-first-capture", "rule", "rule", "no-recent-capture"]
        with pytest.raises(UsageError, match="max_age needs a time"):
            table.verdicts(urls, "GPTBot", max_age=90)
        for wrong in (0, 36_501, 1.5, True, "90d", timedelta(days=90)):
            with pytest.raises(UsageError, match="Pass a whole number of days, from 1 to 36500"):
                table.verdict(urls[0], "GPTBot", at=first, max_age=wrong)  # type: ignore[arg-type]
    with Table.open(path, as_of="2024-06-30") as table:
        assert table.verdicts(urls[:1], "GPTBot", max_age=90) == ["unknown"]
        assert table.verdicts(pa.array(urls[:1]), "GPTBot", max_age=365).to_pylist() == ["deny"]
        assert table.verdicts(urls[:1], "GPTBot") == ["deny"]


def _judged_one_by_one(path: Path, urls: list[str], times: list[datetime | None]) -> list[str]:
    """The verdicts of tables that were opened as of each time."""
    verdicts = []
    tables: dict[datetime, Table] = {}
    for url, moment in zip(urls, times, strict=True):
        if moment is None:
            verdicts.append("invalid")
            continue
        if moment not in tables:
            tables[moment] = Table.open(path, as_of=moment)
        verdicts.append(tables[moment].verdict(url, "GPTBot").verdict)
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
        "list of Timestamps": [
            pd.NaT if moment is None else pd.Timestamp(moment) + pd.Timedelta(999_999_999, "ns")
            for moment in times
        ],
        "list of datetime64": [np.datetime64(moment, "ms") for moment in naive],
        "pyarrow dictionary of times": pa.array(times, pa.timestamp("ms")).dictionary_encode(),
        "pandas objects": pd.Series(times, dtype=object),
        "polars with a zone": pl.Series(naive, dtype=pl.Datetime("ms", "UTC")).dt.convert_time_zone(
            "Europe/Berlin"
        ),
        "polars objects": pl.Series(times, dtype=pl.Object),
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


def test_times_are_floored_and_bounded() -> None:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    new_year = 1_735_689_600
    late = pd.Timestamp("2024-12-31T23:59:59.999999999Z")
    assert list(times_of(late, 1)) == [new_year - 1]
    assert list(times_of(pd.Series([late, pd.NaT]), 2)) == [new_year - 1, NO_TIME]
    assert list(times_of(np.datetime64("2024-12-31T23:59:59.999"), 1)) == [new_year - 1]
    assert list(times_of(pd.NaT, 2)) == [NO_TIME, NO_TIME]
    early, last = datetime.min.replace(tzinfo=timezone.utc), datetime.max
    aware = last.replace(tzinfo=timezone(timedelta(hours=-12)))
    assert list(times_of([early, aware], 2)) == [0, NO_TIME - 1]
    days = [date(2025, 1, 1), None, date(1960, 1, 1), date(2200, 1, 1)]
    expected = [new_year, NO_TIME, 0, NO_TIME - 1]
    for column in [
        days,
        pa.array(days, pa.date32()),
        pa.array(days, pa.date64()),
        pl.Series(days),
        pd.Series(days),
        pd.Series(pd.to_datetime(days)),
        np.array(days, "datetime64[D]"),
        np.array(days, "datetime64[h]"),
        pa.array([None, *days], pa.date32())[1:],
    ]:
        assert list(times_of(column, 4)) == expected, column
    zone = pa.array([new_year * 1000 - 1], pa.timestamp("ms", "America/New_York"))
    assert list(times_of(zone, 1)) == [new_year - 1]
    assert list(times_of(pa.nulls(2), 2)) == [NO_TIME, NO_TIME]
    assert list(times_of(pa.chunked_array([], pa.timestamp("s")), 0)) == []


def test_questions_for_times_as_tables_for_one_time_answer_them(tmp_path: Path) -> None:
    import pyarrow as pa

    random = Random(4848)
    hosts = [f"h{number}.example" for number in range(12)]
    first = 1_700_000_000
    moments = sorted(random.sample(range(first, first + 100_000), 6))
    records = tmp_path / "records.ndjson"
    with records.open("w") as file:
        for host in hosts[:-1]:
            for moment in random.sample(moments, random.randint(1, 6)):
                lines = [random.choice(["User-agent: *", "User-agent: GPTBot\nUser-agent: Other"])]
                for _ in range(random.randint(0, 3)):
                    rule = random.choice(["Allow", "Disallow"])
                    lines.append(f"{rule}: /{random.choice('abc')}")
                robots = "\n".join(lines) + "\n"
                record: dict[str, object] = {"host": host, "robots": robots, "fetched": moment}
                if random.random() < 0.1:
                    record = {"host": host, "status": 503, "fetched": moment}
                file.write(json.dumps(record) + "\n")
    path = tmp_path / "random.table"
    Table.compile(records, path, history=True).close()
    seconds = [moment + edge for moment in moments for edge in (-1, 0, 1)]
    count = 70_000
    agents = ["GPTBot", "Other", "Third>GPTBot"]
    urls = [
        random.choice([None, "no URL", *(f"https://{host}/{name}" for name in "abcd")])
        for host in random.choices(hosts, k=count)
    ]
    times = random.choices([*seconds, None], k=count)
    expected: list[Any] = [None] * count
    for second in seconds:
        places = [at for at, time in enumerate(times) if time == second]
        moment = datetime.fromtimestamp(second, timezone.utc)
        with Table.open(path, as_of=moment, threads=1) as table:
            judged = table.verdicts([urls[at] for at in places], agents, True)
        for at, item in zip(places, judged, strict=True):
            expected[at] = item
    with Table.open(path, threads=2) as table:
        columns = pa.array(urls), pa.array(times, pa.timestamp("s"))
        judged = table.verdicts(urls, agents, True, at=columns[1])
        for url, time, item, wanted in zip(urls, times, judged, expected, strict=True):
            if url is not None and time is None:
                assert item is not None
                reason = "invalid-url" if url == "no URL" else "no-time"
                assert {*item.values()} == {("invalid", reason, None, None)}
            else:
                assert item == wanted, (url, time)
        plain = [item and {name: one.verdict for name, one in item.items()} for item in judged]

        def ask(shift: int) -> None:
            kinds = (columns[0], columns[0].dictionary_encode(), columns[0].cast(pa.string_view()))
            for kind in kinds:
                found = table.verdicts(kind[shift:], agents, at=columns[1][shift:])
                assert found.to_pylist() == plain[shift:]

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(ask, [0, 1]))


def test_long_urls_have_their_own_times(path: Path) -> None:
    import pyarrow as pa

    times = [date(year, 6, 1) for year in (2024, 2025, 2023, 2024, 2024)]
    tails = ["n" * (300 << 10), "", "n" * (700 << 10), "n" * (17 << 20), "x"]
    urls = [URLS[1] + tail for tail in tails]
    expected = ["allow", "deny", "unknown", "invalid", "allow"]
    with Table.open(path) as table:
        assert table.verdicts(urls, "GPTBot", at=times) == expected
        found = table.verdicts(pa.array(urls), "GPTBot", at=pa.array(times))
        assert found.to_pylist() == expected


def test_times_of_urls_that_are_refused(path: Path, table: Table, tmp_path: Path) -> None:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    now = datetime(2025, 1, 1, tzinfo=timezone.utc)
    frame = pd.DataFrame({"time": [now] * 3})
    with Table.open(path) as dated:
        for at, message in [
            ([now], "at has 1 times for 3 URLs"),
            (pa.array([now] * 4), "at has 4 times for 3 URLs"),
            ([], "at has 0 times for 3 URLs"),
            (datetime(2025, 1, 1), "has no time zone. Pass an aware datetime"),
            ([None, datetime(2025, 1, 1), None], "has no time zone"),
            (pd.Timestamp(2025, 1, 1), "has no time zone"),
            ([now, b"2025-01-01", now], "a time is of type bytes"),
            ([now, True, now], "a time is of type bool"),
            (True, "at is of type bool"),
            ({}, "at is of type dict"),
            (2025, "at is of type int"),
            ("2025-01-01", "at is of type str"),
            (["2025-01-01"] * 3, "a time is of type str"),
            ([1_735_689_600] * 3, "a time is of type int"),
            (pa.array([1, 2, 3]), "at is a column of int64. Say what a number counts"),
            (pd.Series([1.7e9] * 3), "a column of double. Say what a number counts"),
            (pd.Series(["2025"] * 3), "a column of (large_)?string. Pass a date"),
            (pa.array([True] * 3), "at is a column of bool"),
            (pa.array([b"2025"] * 3), "at is a column of binary"),
            (frame, r"DataFrame of pandas with the shape \(3, 1\). Pass one column"),
            (np.array([[1, 2, 3]]), r"ndarray of numpy with the shape \(1, 3\)"),
            (pl.DataFrame(frame["time"].tolist()), "at is a polars DataFrame"),
            (pl.col("time"), "at is a polars Expr"),
            (pa.table({"time": [now]}), "at is a pyarrow Table"),
        ]:
            with pytest.raises(UsageError, match=message):
                dated.verdicts(URLS, "GPTBot", at=at)
        with pytest.raises(UsageError, match="urls is one URL"):
            dated.verdicts(URLS[0], "GPTBot", at=[now])
        with pytest.raises(UsageError, match="of type generator"):
            dated.verdicts((url for url in URLS), "GPTBot", at=[now] * 3)
    with (
        Table.open(path, as_of="2024-06-01") as one,
        pytest.raises(UsageError, match=r"as_of='2024-06-01'.* leave as_of out"),
    ):
        one.verdicts(URLS, "GPTBot", at=now)
    for urls in (URLS, []):
        with pytest.raises(UsageError, match=r"has no histories. Compile it with history=True"):
            table.verdicts(urls, "GPTBot", at=now)
    with pytest.raises(UsageError, match=r"has no histories. Compile it with history=True"):
        table.verdict(URLS[0], "GPTBot", at=now)
