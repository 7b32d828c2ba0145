"""A table that is too large for one process, with a limit of a few kilobytes."""

from __future__ import annotations

import json
import pickle
import random
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from robots_filter import RobotsFilterError, Table, UsageError, _groups
from robots_filter._groups import Groups
from robots_filter._program import run

HOSTS = 200
SHARDS = 16
AGENTS = ["GPTBot", "a>b", "*"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("groups") / "robots.ndjson"
    with path.open("w") as file:
        for number in range(HOSTS):
            robots = f"User-agent: {AGENTS[number % 3][0:6]}\nDisallow: /{number % 7}\n"
            file.write(json.dumps({"host": f"h{number}.example", "robots": robots}) + "\n")
    return path


@pytest.fixture(scope="module")
def shards(source: Path) -> Path:
    path = source.parent / "shards"
    words = ["--robots-dir", str(source), "--shards", str(SHARDS), "-o", str(path)]
    run(["compile", "-q", *words])
    return path


@pytest.fixture
def few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_groups, "GROUP_BYTES", 12_000)


def urls_of(count: int) -> list[str | None]:
    draw = random.Random(8)
    urls: list[str | None] = [None, "nonsense", "https://H3.example.:443/3", "\ud800"]
    urls += [
        f"https://h{draw.randrange(HOSTS + 20)}.example/{draw.randrange(8)}" for _ in range(count)
    ]
    draw.shuffle(urls)
    return urls


def test_groups_answer_as_one_process(
    shards: Path, source: Path, tmp_path: Path, few_bytes: None
) -> None:
    urls = urls_of(300)
    whole = tmp_path / "whole.table"
    with Table.compile(source, whole) as one, Table.open(shards) as many:
        assert isinstance(many._judge, Groups)
        assert 2 < len(many._judge.judges) < SHARDS
        assert (many.hosts, many.profile) == (one.hosts, one.profile)
        for explain in (False, True):
            expected = one.verdicts(urls, AGENTS, explain)
            assert many.verdicts(urls, AGENTS, explain) == expected
            assert many.verdicts([], AGENTS, explain) == []
            array = pa.array([url and url.replace("\ud800", "x") for url in urls])
            chunks = pa.chunked_array([array.slice(0, 7), array.slice(7, 0), array.slice(7)])
            for values, agents in (
                (array, "GPTBot"),
                (array.slice(5, 99), AGENTS),
                (chunks, AGENTS),
                (pa.chunked_array([], pa.string()), "GPTBot"),
                (array.dictionary_encode(), AGENTS),
                # pyarrow 16 was the first with views.
                (array.cast(pa.string_view()) if hasattr(pa, "string_view") else array, AGENTS),
            ):
                found = many.verdicts(values, agents, explain)
                wanted = one.verdicts(values, agents, explain)
                assert type(found) is type(wanted)
                assert found.type == wanted.type
                assert found.to_pylist() == wanted.to_pylist()
        texts = [url for url in urls if url is not None]
        for unknown in ("allow", "deny"):
            expected = list(one.filter(texts, AGENTS, unknown=unknown))
            assert list(many.filter(texts, AGENTS, unknown=unknown, batch_size=70)) == expected
        url = "https://h3.example/3"
        assert many.verdict(url, "GPTBot") == one.verdict(url, "GPTBot")
        with pytest.raises(UsageError):
            many.verdicts([], "a b")
        with pytest.raises(UsageError):
            many.filter([], "a b")
        again = pickle.loads(pickle.dumps(many))
        assert again.verdicts(urls, "*") == one.verdicts(urls, "*")
        again.close()


def test_parts_that_are_not_those_of_the_manifest_are_refused(
    shards: Path, tmp_path: Path, few_bytes: None
) -> None:
    manifest = json.loads((shards / "manifest.json").read_text())
    for change in ({"file": "../x"}, {"bytes": None}, {"checksum": "x"}, {"checksum": 5}):
        for path in shards.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        parts = [{**manifest["parts"][0], **change}, *manifest["parts"][1:]]
        (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "parts": parts}))
        with pytest.raises(RobotsFilterError, match="a part is not described"):
            Table.open(tmp_path)


def test_groups_answer_for_times(tmp_path: Path, few_bytes: None) -> None:
    source = tmp_path / "robots.ndjson"
    with source.open("w") as file:
        for number in range(HOSTS):
            for year in (2023, 2024, 2025):
                robots = f"User-agent: *\nDisallow: /{(number + year) % 7}\n"
                record = {
                    "host": f"h{number}.example",
                    "robots": robots,
                    "fetched": f"{year}-01-01",
                }
                file.write(json.dumps(record) + "\n")
    shards = tmp_path / "shards"
    words = ["--robots-dir", str(source), "--shards", str(SHARDS), "-o", str(shards)]
    run(["compile", "-q", "--history", *words])
    urls = [url and url.replace("\ud800", "x") for url in urls_of(300)]
    days = [date(2022, 12, 31), date(2023, 1, 1), date(2023, 12, 31), date(2025, 1, 1), None]
    times = random.Random(9).choices(days, k=len(urls))
    whole = tmp_path / "whole.table"
    with Table.compile(source, whole, history=True) as one, Table.open(shards) as many:
        assert isinstance(many._judge, Groups)
        expected = one.verdicts(urls, AGENTS, True, at=times)
        assert many.verdicts(urls, AGENTS, True, at=times) == expected
        plain = one.verdicts(urls, AGENTS, at=times)
        array = pa.array(urls)
        chunks = pa.chunked_array([array.slice(0, 7), array.slice(7, 0), array.slice(7)])
        for values in (array, chunks, array.dictionary_encode(), chunks.dictionary_encode()):
            assert many.verdicts(values, AGENTS, at=pa.array(times)).to_pylist() == plain
        assert many.verdicts([], AGENTS, at=[]) == []


def test_groups_without_histories_refuse_times(shards: Path, few_bytes: None) -> None:
    with Table.open(shards) as many, pytest.raises(UsageError, match="has no histories"):
        many.verdicts(["https://h1.example/"], AGENTS, at=date(2025, 1, 1))
