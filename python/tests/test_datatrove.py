from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from robots_filter import RobotsFilterError, Table, UsageError

pytest.importorskip("datatrove.pipeline.filters")

from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

from robots_filter.datatrove import RobotsFilter

URLS = {
    "https://shop.example/tea": True,
    "https://blog.example/essays/1": (False, "deny"),
    "https://new.example/": (False, "unknown"),
    "no url": (False, "invalid"),
    None: (False, "invalid"),
}


def documents() -> list[Document]:
    return [Document("text", str(number), metadata={"u": url}) for number, url in enumerate(URLS)]


def test_documents(table_path: Path) -> None:
    step = RobotsFilter(table_path, "GPTBot", "u", batch_size=2)
    assert step.filter_batch(documents()) == list(URLS.values())
    assert [step.filter(document) for document in documents()] == list(URLS.values())
    assert [document.id for document in step.run(iter(documents()))] == ["0"]
    lenient = RobotsFilter(str(table_path), ["GPTBot", "*"], "u", unknown="allow")
    assert [each is True for each in lenient.filter_batch(documents())] == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert pickle.loads(pickle.dumps(step)).filter_batch(documents()) == list(URLS.values())


def test_documents_whose_use_is_refused(tmp_path: Path) -> None:
    said = {"n.example": "train-ai=n", "y.example": "train-ai=y", "x.example": "search=n"}
    for host, usage in said.items():
        (tmp_path / host).write_text(f"User-agent: *\nContent-Usage: {usage}\nDisallow: /d\n")
    Table.compile(tmp_path, tmp_path / "t", signals=True).close()
    paths = ["n.example/", "y.example/", "x.example/", "n.example/d", "new.example/"]
    batch = [Document("", "", metadata={"url": f"https://{path}"}) for path in paths]
    refused, unstated, denied = ((False, word) for word in ("refused", "unstated", "deny"))
    step = RobotsFilter(tmp_path / "t", "GPTBot", use="train", unknown="allow")
    assert step.filter_batch(batch) == [refused, True, True, denied, True]
    assert pickle.loads(pickle.dumps(step)).filter_batch(batch) == step.filter_batch(batch)
    strict = RobotsFilter(
        tmp_path / "t", ["A", "B"], use=["train"], unknown="allow", require_grant=True
    )
    assert strict.filter_batch(batch) == [refused, True, unstated, denied, unstated]
    token = {"train": "Token"}
    with pytest.raises(UsageError, match="policy_tokens has no effect without use"):
        RobotsFilter(tmp_path / "t", "A", policy_tokens=token)
    with pytest.raises(UsageError, match="require_grant has no effect without use"):
        RobotsFilter(tmp_path / "t", "A", require_grant=True)


def test_wrong_arguments(table_path: Path) -> None:
    with pytest.raises(RobotsFilterError, match="no such file"):
        RobotsFilter("missing.table", "GPTBot")
    with pytest.raises(UsageError, match="it has spaces"):
        RobotsFilter(table_path, "Bad Bot")
    with pytest.raises(UsageError, match="signals=True"):
        RobotsFilter(table_path, "GPTBot", use="train")
    with pytest.raises(UsageError, match=r"document 0 has no 'url' in its metadata, which has 'u'"):
        RobotsFilter(table_path, "GPTBot").filter_batch(documents())


@pytest.mark.filterwarnings("default")
def test_a_pipeline_on_files(table_path: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for part in range(3):
        with open(tmp_path / "in" / f"{part}.jsonl", "w") as file:
            for number, url in enumerate(URLS):
                record = {"text": "a", "id": f"{part}/{number}", "url": url}
                file.write(json.dumps(record) + "\n")
    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(str(tmp_path / "in")),
            RobotsFilter(
                table_path,
                ["GPTBot"],
                exclusion_writer=JsonlWriter(str(tmp_path / "dropped"), compression=None),
            ),
            JsonlWriter(str(tmp_path / "kept"), compression=None),
        ],
        tasks=3,
        workers=2,
        start_method="spawn",
        logging_dir=str(tmp_path / "logs"),
    ).run()
    kept = [path.read_text() for path in sorted((tmp_path / "kept").iterdir())]
    assert [json.loads(text)["id"] for text in kept] == ["0/0", "1/0", "2/0"]
    dropped = "".join(path.read_text() for path in (tmp_path / "dropped").iterdir())
    reasons = [json.loads(line)["metadata"]["filter_reason"] for line in dropped.splitlines()]
    assert sorted(reasons) == sorted(["deny", "unknown", "invalid", "invalid"] * 3)
