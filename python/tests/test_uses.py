"""Answers about uses are those of the command line, whatever the kind of collection."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import warnings
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from robots_filter import (
    RobotsFilterWarning,
    Table,
    UsageError,
    UseJudgement,
    _groups,
    command,
)
from robots_filter._groups import Groups

AGENTS = ["GPTBot", "CCBot:Other", "*"]
USES = ["train", "search", "use"]
TOKENS = {"train": "TrainTok"}
START = datetime(2024, 1, 1, tzinfo=timezone.utc)
STEP = timedelta(days=100)
HOSTS = 60


def robots_text(draw: random.Random) -> str:
    lines = []
    if draw.random() < 0.3:
        lines.append(f"Content-Signal: ai-train={draw.choice(['yes', 'no'])}")
    for _ in range(draw.randrange(1, 5)):
        lines.append(f"User-agent: {draw.choice(['GPTBot', 'Other', '*', 'TrainTok'])}")
        for _ in range(draw.randrange(4)):
            key = draw.choice(["train-ai", "search", "use"])
            path = draw.choice(["", "/ ", "/a ", '/"é\\ '])
            usage = f"Content-Usage: {path}{key}={draw.choice('yn')}"
            key = draw.choice(["ai-train", "search", "use"])
            signal = f"Content-Signal: {key}={draw.choice(['yes', 'no'])}"
            lines.append(draw.choice([usage, signal]))
        if draw.random() < 0.5:
            lines.append(f"Disallow: {draw.choice(['/a', '/b'])}")
    return "\n".join(lines) + "\n"


def urls_of(count: int) -> list[str | None]:
    draw = random.Random(4804)
    paths = ["/", "/a", "/b", '/"é\\', "/robots.txt"]
    urls: list[str | None] = [None, "nonsense"]
    hosts = [draw.randrange(HOSTS + 3) for _ in range(count)]
    urls += [f"https://h{host}.example{draw.choice(paths)}" for host in hosts]
    draw.shuffle(urls)
    return urls


URLS = urls_of(500)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("uses") / "robots.ndjson"
    draw = random.Random(4803)
    with path.open("w") as file:
        for host in range(HOSTS):
            for fetched in (START, START + STEP):
                record = {
                    "host": f"h{host}.example",
                    "robots": robots_text(draw),
                    "fetched": fetched.isoformat(),
                }
                file.write(json.dumps(record) + "\n")
    return path


@pytest.fixture(scope="module")
def path(source: Path) -> Path:
    place = source.parent / "h.table"
    Table.compile(source, place, history=True, signals=True).close()
    return place


@pytest.fixture(scope="module")
def opened(path: Path) -> Iterator[Table]:
    with Table.open(path) as table:
        yield table


def by_command(
    path: Path, *words: str, agents: list[str] = AGENTS, uses: list[str] = USES
) -> list[dict[str, Any]]:
    """The records of the command line for the URLs that are no null."""
    lines = "".join(json.dumps({"url": url}) + "\n" for url in URLS if url is not None)
    asked = ["--agent", ",".join(agents), "--use", ",".join(uses)]
    asked += [word for pair in TOKENS.items() for word in ("--policy-token", "=".join(pair))]
    ended = subprocess.run(
        [*command(), "-q", "--table", str(path), *asked, *words],
        input=lines,
        capture_output=True,
        text=True,
    )
    assert ended.stderr == ""
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_lists_have_the_answers_of_the_command_line(path: Path) -> None:
    records = iter(by_command(path, "--explain"))
    seen: Counter[object] = Counter()
    with Table.open(path) as table:
        explained = table.uses(URLS, AGENTS, USES, explain=True, policy_tokens=TOKENS)
        plain = table.uses(URLS, AGENTS, USES, policy_tokens=TOKENS)
        one = table.uses(URLS, "GPTBot", "train", policy_tokens=TOKENS)
        single = table.uses(URLS, AGENTS, "use")
        uses = table.uses(URLS, "*", ("search", "use"), explain=True)
        verdicts = table.verdicts(URLS, AGENTS)
    for index, url in enumerate(URLS):
        row, answers = explained[index], plain[index]
        if url is None or row is None or answers is None:
            assert (row, answers, one[index], single[index], uses[index]) == (None,) * 5
            assert url is None
            continue
        record = next(records)
        assert verdicts[index] == record["verdicts"]
        for agent in AGENTS:
            for use in USES:
                name = f"{agent} {use}"
                signal = record.get("signals", {}).get(name, {})
                expected = UseJudgement(
                    record["use"][name],
                    record["use_reasons"][name],
                    signal.get("line"),
                    signal.get("text"),
                )
                assert row[agent][use] == expected, (url, name)
                assert answers[agent][use] == expected.answer
                seen.update([expected.answer, expected.reason, expected.line is None])
        assert one[index] == row["GPTBot"]["train"].answer
        assert single[index] == {agent: row[agent]["use"].answer for agent in AGENTS}
        assert uses[index] == {use: row["*"][use] for use in ("search", "use")}
    assert next(records, None) is None
    wanted = {"granted", "refused", "unstated", None, True, False, "content-usage"}
    wanted |= {"content-signal", "policy-token", "no-signal", "not-allowed", "invalid-url"}
    assert set(seen) == wanted
    assert all(seen[each] > 30 for each in wanted - {"invalid-url"}), seen


def test_one_url(path: Path) -> None:
    url = next(url for url in URLS if url is not None and "h1.example" in url)
    with Table.open(path) as table:
        for agent in AGENTS:
            judged = table.use(url, agent, "train", policy_tokens=TOKENS)
            assert isinstance(judged, UseJudgement)
            assert [judged] == table.uses([url], agent, "train", True, policy_tokens=TOKENS)
        again = pickle.loads(pickle.dumps(table))
        assert again.use(url.encode(), "*", "search") == table.use(url, "*", "search")
        again.close()


def test_columns_have_the_answers_of_lists(path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    np = pytest.importorskip("numpy")
    array = pa.array(URLS)
    chunks = pa.chunked_array([array.slice(0, 7), array.slice(7, 0), array.slice(7)])
    cases: list[tuple[Any, Any]] = [
        ("GPTBot", "train"),
        (AGENTS, "train"),
        ("GPTBot", USES),
        (AGENTS, USES),
        (["*"], ["use"]),
    ]
    with Table.open(path) as table:
        for agents, uses in cases:
            for explain in (False, True):
                expected = _plain(table.uses(URLS, agents, uses, explain))
                for values in (array, chunks, array.dictionary_encode()):
                    judged = table.uses(values, agents, uses, explain)
                    judged.validate(full=True)
                    assert judged.to_pylist() == expected
                part = table.uses(array.slice(9, 30), agents, uses, explain)
                part.validate(full=True)
                assert part.to_pylist() == expected[9:39]
                series = table.uses(pl.Series("u", URLS), agents, uses, explain)
                assert (series.name, series.to_list()) == ("u", expected)
                numbers = table.uses(np.array(URLS, dtype=object), agents, uses, explain)
                assert _plain(numbers.tolist()) == expected
                for urls in ([], [None, None]):
                    empty = table.uses(pa.array(urls, pa.string()), agents, uses, explain)
                    empty.validate(full=True)
                    assert empty.to_pylist() == urls
        answers = table.uses(pd.Series(URLS, index=range(5, 507), name="u"), "GPTBot", "train")
        assert (answers.name, answers.index[0], str(answers.dtype)) == ("u", 5, "category")
        expected = table.uses(URLS, "GPTBot", "train")
        assert [None if pd.isna(answer) else answer for answer in answers] == expected
        assert list(answers.cat.categories) == ["granted", "refused", "unstated"]


def _plain(items: Any) -> Any:
    """Items as Arrow gives them back."""
    if isinstance(items, UseJudgement):
        return items._asdict()
    if isinstance(items, list):
        return [_plain(item) for item in items]
    if isinstance(items, dict):
        return {name: _plain(item) for name, item in items.items()}
    return items


def test_filter_keeps_what_the_command_line_keeps(path: Path) -> None:
    urls = [url for url in URLS if url is not None]
    agents = ["GPTBot", "CCBot:Other"]
    kept = []
    with Table.open(path) as table:
        for grant in (False, True):
            for unknown in ("allow", "deny"):
                words = ["--allowed", "--unknown", unknown]
                words += ["--require-grant"] if grant else []
                records = by_command(path, *words, agents=agents, uses=["train"])
                expected = [record["url"] for record in records]
                found = table.filter(
                    urls,
                    agents,
                    unknown=unknown,  # type: ignore[arg-type]
                    use="train",
                    policy_tokens=TOKENS,
                    require_grant=grant,
                    batch_size=70,
                )
                assert list(found) == expected
                kept.append(len(expected))
        # Each option makes a difference.
        assert kept[0] > kept[1] > kept[3] > 0
        assert kept[2] == kept[3] < len(list(table.filter(urls, agents)))
        found = table.filter(urls, agents, use=["train", "search"], policy_tokens=TOKENS)
        records = by_command(path, "--allowed", agents=agents, uses=["train", "search"])
        assert list(found) == [record["url"] for record in records] != []


def test_times_and_ages(path: Path) -> None:
    urls = [url for url in URLS if url is not None]
    draw = random.Random(4805)
    times = [START + STEP * draw.randrange(-1, 3) for _ in urls]
    with Table.open(path) as table:
        timed = table.uses(urls, "GPTBot", "train", True, at=times, max_age=50)
        expected: dict[object, list[Any]] = {}
        for at in sorted(set(times)):
            with Table.open(path, as_of=at) as then:
                expected[at] = then.uses(urls, "GPTBot", "train", True, max_age=50)
        for index, (at, judged) in enumerate(zip(times, timed, strict=True)):
            assert judged == expected[at][index]
        assert {judged.answer for judged in timed} == {"granted", "refused", "unstated", None}
        with pytest.raises(UsageError, match="max_age needs a time"):
            table.uses(urls, "GPTBot", "train", max_age=50)


def test_sizes_around_those_of_requests(path: Path) -> None:
    url = "https://h1.example/"
    uses = ["train", "search", "use"]
    with Table.open(path) as table:
        (one,) = table.uses([url], "GPTBot", uses, True)
        for count in (2**14 - 1, 2**14, 2**14 + 1):
            assert table.uses([url] * count, "GPTBot", uses, True) == [one] * count
        many = [f"k{number}" for number in range(254)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (row,) = table.uses([url], "GPTBot", ["train", *many])
        assert (row["train"], row["k253"]) == (one["train"].answer, "unstated")


def test_groups_answer_as_one_process(
    source: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    shards = source.parent / "shards"
    words = ["compile", "-q", "--history", "--signals", "--robots-dir", str(source)]
    subprocess.run([*command(), *words, "--shards", "8", "-o", str(shards)], check=True)
    most = max(part.stat().st_size for part in shards.glob("*.table"))
    monkeypatch.setattr(_groups, "GROUP_BYTES", 3 * most)
    urls = [url for url in URLS if url is not None]
    with Table.open(path) as one, Table.open(shards) as many:
        assert isinstance(many._judge, Groups)
        assert many.uses(URLS, AGENTS, USES, True) == one.uses(URLS, AGENTS, USES, True)
        for explain in (False, True):
            found = many.uses(pa.array(URLS), AGENTS, USES, explain)
            assert found.to_pylist() == one.uses(pa.array(URLS), AGENTS, USES, explain).to_pylist()
        kept = list(one.filter(urls, AGENTS, use="train"))
        assert list(many.filter(urls, AGENTS, use="train")) == kept
    # No part of the shards may speak for all of them.
    with Table.open(shards) as many, warnings.catch_warnings():
        warnings.simplefilter("error")
        many.uses(URLS, "*", "trane")


def test_a_use_of_which_nobody_speaks_is_warned_of(path: Path) -> None:
    with Table.open(path) as table:
        with pytest.warns(RobotsFilterWarning, match="says anything about trane, so each") as seen:
            assert set(table.uses(URLS, "*", "trane")) == {"unstated", None}
        assert [warning.filename for warning in seen] == [__file__]
        table.uses(URLS, "*", "trane")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.uses("https://h1.example/", "*", "train"), "Use use(url, agent, use)"),
        (lambda t: t.uses([], "*", 5), "the uses are of type int. Pass a use such as 'train'"),
        (lambda t: t.uses([], "*", b"train"), "the uses are of type bytes"),
        (lambda t: t.uses([], "*", []), "no use in the list of uses"),
        (lambda t: t.uses([], "*", [None]), "a use is of type NoneType"),
        (lambda t: t.uses([], "*", "a b"), 'the use "a b" is no purpose and no key of a signal'),
        (lambda t: t.uses([], "*", ["train", "TRAIN"]), "the use train is named twice"),
        (lambda t: t.uses([], "*", "train", policy_tokens="T"), "policy_tokens is of type str"),
        (lambda t: t.uses([], "*", "train", policy_tokens={"train": 5}), "Pass product tokens"),
        (lambda t: t.uses([], "*", "train", policy_tokens={"use": "T"}), "has no effect without"),
        (lambda t: t.uses([], "*", "train", policy_tokens={"train": "T T"}), "not a product token"),
        (lambda t: t.uses([], "*", [f"k{n}" for n in range(256)]), "are 257 answers for each URL"),
        (lambda t: t.uses([], "*", ["k" * 60] * 1100), "the names of the uses have"),
        (lambda t: t.use("https://h1.example/", "*", ["train"]), "the use is of type list"),
        (lambda t: t.use(["https://h1.example/"], "*", "train"), "for many URLs use uses"),
        (lambda t: t.filter([], "*", require_grant=True), "require_grant has no effect without"),
        (lambda t: t.filter([], "*", policy_tokens={}), "policy_tokens has no effect without use"),
        (lambda t: t.filter([], "*", use="a b"), "no purpose and no key"),
    ],
)
def test_wrong_calls_are_refused_with_a_remedy(opened: Table, call: Any, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        call(opened)
    assert message in str(raised.value)


def test_a_table_without_signals_is_refused(table: Table) -> None:
    for call in (
        lambda: table.uses([], "*", "train"),
        lambda: table.use("https://shop.example/", "*", "train"),
        lambda: table.filter([], "*", use="train"),
    ):
        with pytest.raises(UsageError, match="Compile it again with signals=True"):
            call()
