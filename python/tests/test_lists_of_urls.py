"""A column of Parquet with lists of URLs: the query in the message makes rows of them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from robots_filter import Table
from robots_filter._program import command


@pytest.mark.parametrize("column", ["links", "page"])
def test_query_in_the_message(column: str, robots: Path, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    duckdb = pytest.importorskip("duckdb")
    lists = [["https://shop.example/tea", "https://shop.example/cart/1"], [], None]
    values = lists if column == "links" else [{"links": each} for each in lists]
    path = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"id": [1, 2, 3], column: values}), path)
    Table.compile(robots, tmp_path / "robots.table").close()

    def judge(name: str) -> subprocess.CompletedProcess[str]:
        words = [*command(), "-q", "--table", "robots.table", "--format", "text", name]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)

    refused = judge(path.name)
    assert refused.returncode == 2
    found = re.search(r'duckdb -c "(.*)"; then name (\S+\.parquet)\.', refused.stderr)
    assert found is not None, refused.stderr
    query = found[1].replace("lists.parquet", str(path)).replace("TO '", f"TO '{tmp_path}/")
    duckdb.sql(query)
    assert judge(found[2]).stdout == (
        "allow\thttps://shop.example/tea\ndeny\thttps://shop.example/cart/1\n"
    )
