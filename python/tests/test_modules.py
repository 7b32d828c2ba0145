"""How the package is cut into modules."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import robots_filter

MODULES = {path.stem: path for path in Path(robots_filter.__file__).parent.glob("*.py")}


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names |= {node.module} if node.module else {alias.name for alias in node.names}
    return names


def test_imports_run_one_way() -> None:
    imports = {name: imports_of(path) for name, path in MODULES.items()}
    # Also those within functions, and for types. Raises an error for a cycle.
    order = list(TopologicalSorter(imports).static_order())
    assert set(order) == set(MODULES)
    assert order.index("_connection") < order.index("_table") < order.index("spark")


def test_modules_are_concepts_of_a_readable_length() -> None:
    for name, path in MODULES.items():
        assert len(path.read_text(encoding="utf-8").splitlines()) < 800, name
