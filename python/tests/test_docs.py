"""Run the examples of docs/python.md, in order, on the robots.txt files of fixtures/demo."""

from __future__ import annotations

import io
import json
import re
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="docs/ is not in the sdist")

#: What each block needs beside this package.
NEEDS = ["pyarrow", "datatrove.pipeline.filters", "datasets"]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("index", range(len(NEEDS)))
def test_examples(index: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == len(NEEDS)
    pytest.importorskip(NEEDS[index])
    shutil.copytree(ROOT / "fixtures" / "demo" / "robots", tmp_path / "robots")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    urls = ["https://shop.example/tea", "https://blog.example/essays/1"]
    lines = [json.dumps({"text": "a", "url": url}) + "\n" for url in urls]
    (tmp_path / "crawl").mkdir()
    for name in ("crawl/1.jsonl", "crawl.jsonl"):
        (tmp_path / name).write_text("".join(lines))
    if index > 0:
        from robots_filter import Table

        Table.compile("robots", "robots.table").close()
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(blocks[index], str(PAGE), "exec"), {"__name__": "example"})
    assert printed.getvalue().splitlines() == re.findall("^#=> (.*)$", blocks[index], re.MULTILINE)
    if NEEDS[index].startswith("datatrove"):
        (kept,) = (tmp_path / "kept").iterdir()
        (dropped,) = (tmp_path / "dropped").iterdir()
        assert all(path.stat().st_size > 0 for path in (kept, dropped))
