"""Build, install and test the Python package in a virtual environment: `npm run test:python`.

The environment is python/.venv, and is kept. The wheel is built from what `npm pack` packs. Only
the standard library is needed here; packages come from PyPI.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLACE = HERE / ".venv"

TOOLS = ["hatchling", "mypy", "pandas", "polars", "pyarrow", "pytest", "ruff"]


def main() -> None:
    """Run everything that must hold; end with status 1 at the first thing that does not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-npm-build", action="store_true", help="pack dist/ as it is")
    parser.add_argument("tests", nargs="*", help="arguments for pytest")
    options = parser.parse_args()
    if not (PLACE / "bin" / "python").exists():
        step(f"virtual environment in {PLACE}")
        venv.create(PLACE, with_pip=True)
    step("tools")
    run("pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", *TOOLS)
    step("style and types")
    run("ruff", "format", "--check", ".")
    run("ruff", "check", ".")
    step("wheel and sdist")
    run("python", "build.py", *(["--no-npm-build"] if options.no_npm_build else []))
    (wheel,) = (HERE / "dist").glob("*.whl")
    run("pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    # The same version may have been installed before.
    run("pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel))
    run("mypy")
    step("tests")
    run("pytest", *options.tests)


def step(name: str) -> None:
    """Say what begins."""
    print(f"\n== {name}", flush=True)


def run(program: str, *words: str) -> None:
    """Run a program of the environment in python/."""
    programs = PLACE / "bin"
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    ended = subprocess.run([str(programs / program), *words], cwd=HERE, env=environment)
    if ended.returncode != 0:
        sys.exit(1)


if __name__ == "__main__":
    main()
