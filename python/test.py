"""Build, install and test the Python package in a virtual environment: `npm run test:python`.

The environment is python/.venv, and is kept. The wheel is built from what `npm pack` packs. Only
the standard library is needed here; packages come from PyPI. If PyPI does not answer, it ends with
status 75, "try again later".
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

# Other versions of mypy and ruff may find other things.
TOOLS = ["hatchling", "mypy==2.4.1", "pandas", "polars", "pyarrow", "pytest", "ruff==0.17.6"]

# EX_TEMPFAIL of sysexits.h.
UNREACHABLE = 75


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
    quickly = ["--retries", "1", "--timeout", "20"]
    run("pip", "install", "--quiet", "--no-compile", *quickly, *TOOLS, status=UNREACHABLE)
    step("style and types")
    run("ruff", "format", "--check", ".")
    run("ruff", "check", ".")
    step("wheel and sdist")
    run("python", "build.py", *(["--no-npm-build"] if options.no_npm_build else []))
    (wheel,) = (HERE / "dist").glob("*.whl")
    run("pip", "install", "--quiet", str(wheel))
    # The same version may have been installed before.
    run("pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel))
    run("mypy")
    step("tests")
    run("pytest", *options.tests)


def step(name: str) -> None:
    """Say what begins."""
    print(f"\n== {name}", flush=True)


def run(program: str, *words: str, status: int = 1) -> None:
    """Run a program of the environment in python/; end with a status if it fails."""
    programs = PLACE / "bin"
    path = f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    ended = subprocess.run([str(programs / program), *words], cwd=HERE, env=environment)
    if ended.returncode != 0:
        sys.exit(status)


if __name__ == "__main__":
    main()
