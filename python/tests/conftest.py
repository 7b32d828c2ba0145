"""One table for all tests: its robots.txt files are written here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from robots_filter import Table

ROBOTS = {
    "shop.example": "User-agent: *\nDisallow: /cart/\nAllow: /cart/help\nDisallow: /*?sort=\n",
    "blog.example": "User-agent: GPTBot\nDisallow: /essays/\n\nUser-agent: *\nDisallow: /old\n",
    "texts.example": "User-agent: *\n"
    + "".join(f'Disallow: /{number}/"é\\{number}\n' for number in range(300)),
}


@pytest.fixture(scope="session")
def robots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("robots")
    for host, text in ROBOTS.items():
        (place / host).write_text(text, encoding="utf-8")
    return place


@pytest.fixture(scope="session")
def table_path(robots: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "robots.table"
    Table.compile(robots, path).close()
    return path


@pytest.fixture(scope="session")
def table(table_path: Path) -> Iterator[Table]:
    with Table.open(table_path) as opened:
        yield opened
