"""Run the examples of docs/python.md, docs/guide.md and README.md as scripts, as readers do."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from robots_filter import Table

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "python.md"
GUIDE = ROOT / "docs" / "guide.md"
README = ROOT / "python" / "README.md"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="docs/ is not in the sdist")

#: The blocks of a page, by what each needs beside this package.
NEEDS = {
    DOCS: [
        *("pyarrow", "robots_filter", "robots_filter", "duckdb", "polars"),
        *("datatrove.pipeline.filters", "datasets"),
    ],
    GUIDE: ["duckdb", "datatrove.pipeline.filters"],
    README: ["robots_filter"],
}
CASES = [(page, index) for page, needs in NEEDS.items() for index in range(len(needs))]


@pytest.mark.parametrize(("page", "index"), CASES)
def test_examples(page: Path, index: int, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == len(NEEDS[page])
    need = NEEDS[page][index]
    pytest.importorskip(need)
    urls = ["https://shop.example/tea", "https://blog.example/essays/1"]
    if page != README:
        shutil.copytree(ROOT / "fixtures" / "demo" / "robots", tmp_path / "robots")
        lines = [json.dumps({"text": "a", "url": url}) + "\n" for url in urls]
        (tmp_path / "crawl").mkdir()
        for name in ("crawl/1.jsonl", "crawl.jsonl"):
            (tmp_path / name).write_text("".join(lines))
    if index > 0 and page == DOCS:
        Table.compile(tmp_path / "robots", tmp_path / "robots.table").close()
    if need in ("duckdb", "polars"):
        pq = pytest.importorskip("pyarrow.parquet")
        pa = pytest.importorskip("pyarrow")
        pq.write_table(pa.table({"id": [1, 2], "url": urls}), tmp_path / "urls.parquet")
        # As the annotation web-graph, of two crawls; no robots.txt is known of the last host.
        names = ["example,blog", "example,down", "example,shop", "org,example"]
        outin = {
            "surt_host_name": names + names,
            "crawl": ["CC-MAIN-2026-43"] * 4 + ["CC-MAIN-2026-38"] * 4,
            "webgraph_outdegree": [1] * 8,
            "webgraph_indegree": [25, 40, 300, 1000, 24, 39, 299, 999],
        }
        pq.write_table(pa.table(outin), tmp_path / "outin.parquet")
    if page == GUIDE and need == "duckdb":
        text = page.read_text(encoding="utf-8")
        (command,) = re.findall(r"^\$ robots-filter (.*) > audit\.parquet$", text, re.MULTILINE)
        with (tmp_path / "audit.parquet").open("wb") as audit:
            words = [sys.executable, "-m", "robots_filter", *command.split()]
            subprocess.run(words, cwd=tmp_path, stdout=audit, check=True, timeout=50)
    (tmp_path / "example.py").write_text(blocks[index], encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "example.py"],
        cwd=tmp_path,
        env={**os.environ, "HF_HOME": str(tmp_path / "hf")},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert ended.stdout.splitlines() == re.findall("^# ?=> (.*)$", blocks[index], re.MULTILINE)
    if page == DOCS and need.startswith("datatrove"):
        (kept,) = (tmp_path / "kept").iterdir()
        (dropped,) = (tmp_path / "dropped").iterdir()
        assert all(path.stat().st_size > 0 for path in (kept, dropped))
