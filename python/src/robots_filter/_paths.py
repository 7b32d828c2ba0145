"""Paths of files, as arguments of calls."""

from __future__ import annotations

import os

from ._errors import UsageError

PathLike = str | os.PathLike[str]


def path_of(call: str, path: object) -> str:
    """Return the absolute path of an argument; `call` names the function that takes it."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"{call} needs a path, not {type(path).__name__}. Pass str or Path")
    text = os.fspath(path)
    if not isinstance(text, str) or text == "" or "\0" in text:
        raise UsageError(f"{call} cannot use the path {text!r}. Pass the name of a file")
    # A child that changes its directory, and a pickle, still find the file.
    return os.path.abspath(text)
