"""Virtual environments that are kept, for test.py and test_spark.py.

Only the standard library is needed here; packages come from PyPI. If PyPI does not answer, the
process ends with status 75, "try again later".
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: EX_TEMPFAIL of sysexits.h.
UNREACHABLE = 75


class Environment:
    """A virtual environment, made unless it is there. Programs run in python/."""

    def __init__(self, place: Path) -> None:
        """Make it."""
        self._programs = place / "bin"
        if not (self._programs / "python").exists():
            step(f"virtual environment in {place}")
            venv.create(place, with_pip=True)

    def install(self, *words: str) -> None:
        """Install packages, or end with status 75."""
        quickly = ["--quiet", "--no-compile", "--retries", "1", "--timeout", "20"]
        self.run("pip", "install", *quickly, *words, status=UNREACHABLE)

    def build(self, *, npm_build: bool, out: Path = HERE / "dist") -> Path:
        """Build the wheel and the sdist in a directory; return the wheel.

        Every build fills src/robots_filter/_program, so processes build one after another.
        """
        with Path(__file__).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            options = [] if npm_build else ["--no-npm-build"]
            self.run("python", "build.py", "--out", str(out), *options)
        (wheel,) = out.glob("*.whl")
        return wheel

    def install_wheel(self, wheel: Path) -> None:
        """Install the wheel and what it needs, also if its version was installed before."""
        self.install(str(wheel))
        self.run("pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel))

    def run(self, program: str, *words: str, status: int = 1) -> None:
        """Run a program of the environment; end with a status if it fails."""
        environment = {
            **os.environ,
            "PATH": f"{self._programs}{os.pathsep}{os.environ.get('PATH', '')}",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        ended = subprocess.run([str(self._programs / program), *words], cwd=HERE, env=environment)
        if ended.returncode != 0:
            sys.exit(status)


def step(name: str) -> None:
    """Say what begins."""
    print(f"\n== {name}", flush=True)
