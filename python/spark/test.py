"""Run `robots_filter.spark` on a cluster of Spark on this machine: `npm run test:spark`.

For each line of PySpark it makes a virtual environment in python/.venv-spark with PySpark and the
wheel of this clone, and then runs checks.py in it. Only the standard library is needed here;
packages come from PyPI, and Spark needs Java 17 or later. If PyPI does not answer, or there is no
Java, it ends with status 75, "try again later".
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

#: The lines of PySpark that are supported, the newest last.
PYSPARK = ["3.5.9", "4.0.1"]
#: Numbers of URLs: usually, and with --quick.
URLS, FEW_URLS = 200_000, 2_000

# EX_TEMPFAIL of sysexits.h.
UNREACHABLE = 75


def main() -> None:
    """Make the environments, build the wheel, run the checks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pyspark",
        action="append",
        help=f"version; repeatable (default: {' and '.join(PYSPARK)})",
    )
    parser.add_argument("--urls", type=int, help=f"number of URLs (default: {URLS:,})")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"only PySpark {PYSPARK[-1]}, {FEW_URLS:,} URLs, and the checks that matter most",
    )
    parser.add_argument("--no-npm-build", action="store_true", help="pack dist/ as it is")
    options = parser.parse_args()
    if shutil.which("java") is None:
        print("Spark needs Java 17 or later, and there is no java. Install one, such as openjdk")
        sys.exit(UNREACHABLE)
    versions = options.pyspark or (PYSPARK[-1:] if options.quick else PYSPARK)
    urls = options.urls or (FEW_URLS if options.quick else URLS)
    wheel: Path | None = None
    for version in versions:
        print(f"\n== PySpark {version}", flush=True)
        environment = Environment(PLACE / version)
        environment.install("hatchling", "pandas<3", "pyarrow", f"pyspark=={version}")
        if wheel is None:
            build = ["--no-npm-build"] if options.no_npm_build else []
            environment.run("python", str(PYTHON / "build.py"), *build)
            (wheel,) = (PYTHON / "dist").glob("*.whl")
        environment.install(str(wheel))
        # The same version may have been installed before.
        environment.run("pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel))
        quick = ["--quick"] if options.quick else []
        environment.run("python", str(HERE / "checks.py"), "--urls", str(urls), *quick)


class Environment:
    """A virtual environment, which is kept."""

    def __init__(self, place: Path) -> None:
        self._programs = place / "bin"
        if not (self._programs / "python").exists():
            venv.create(place, with_pip=True)

    def install(self, *words: str) -> None:
        """Install packages, or end with status 75."""
        quickly = ["--quiet", "--no-compile", "--retries", "1", "--timeout", "20"]
        self.run("pip", "install", *quickly, *words, status=UNREACHABLE)

    def run(self, program: str, *words: str, status: int = 1) -> None:
        """Run a program of the environment; end with a status if it fails."""
        environment = {
            **os.environ,
            "PATH": f"{self._programs}{os.pathsep}{os.environ.get('PATH', '')}",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        words = (str(self._programs / program), *words)
        if subprocess.run(words, cwd=PYTHON.parent, env=environment).returncode != 0:
            sys.exit(status)


if __name__ == "__main__":
    main()
