"""Packages that only some calls need."""

from __future__ import annotations

from importlib import import_module

from ._errors import RobotsFilterError


def need_pyarrow(what: str) -> None:
    """Raise RobotsFilterError if pyarrow is missing; `what` names what needs it."""
    try:
        import_module("pyarrow")
    except ImportError as cause:
        raise RobotsFilterError(f"{what} needs pyarrow. Type: pip install pyarrow") from cause
