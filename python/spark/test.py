"""Run `robots_filter.spark` on a cluster of Spark on this machine: `npm run test:spark`.

It makes a virtual environment in python/.venv-spark with PySpark and the wheel of this clone, and
then runs checks.py in it. Only the standard library is needed here; packages come from PyPI, and
Spark needs Java 17 or later.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parent
PLACE = PYTHON / ".venv-spark"
PYSPARK = "4.0.1"


def main() -> None:
    """Make the environment, build the wheel, run the checks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", default="200000", help="number of URLs (default: 200,000)")
    parser.add_argument("--pyspark", default=PYSPARK, help=f"version (default: {PYSPARK})")
    parser.add_argument("--no-npm-build", action="store_true", help="pack dist/ as it is")
    options = parser.parse_args()
    if shutil.which("java") is None:
        sys.exit("Spark needs Java 17 or later, and there is no java. Install one, such as openjdk")
    if not (PLACE / "bin" / "python").exists():
        venv.create(PLACE, with_pip=True)
    tools = ["build", "hatchling", "pandas<3", "pyarrow", f"pyspark=={options.pyspark}"]
    run("pip", "install", "--quiet", "--disable-pip-version-check", *tools)
    run("python", str(PYTHON / "build.py"), *(["--no-npm-build"] if options.no_npm_build else []))
    (wheel,) = (PYTHON / "dist").glob("*.whl")
    run("pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    # The same version may have been installed before.
    run("pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel))
    run("python", str(HERE / "checks.py"), "--urls", options.urls)


def run(program: str, *words: str) -> None:
    """Run a program of the environment; end with its failure."""
    programs = PLACE / "bin"
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    ended = subprocess.run([str(programs / program), *words], cwd=PYTHON.parent, env=environment)
    if ended.returncode != 0:
        sys.exit(1)


if __name__ == "__main__":
    main()
