"""The errors and warnings of this package."""

import sys
import warnings


class RobotsFilterError(Exception):
    """Something cannot be done; the message names the place and what to write instead."""


class UsageError(RobotsFilterError, ValueError):
    """An argument is wrong, such as an agent that is no product token."""


class ProcessError(RobotsFilterError):
    """The process that judges has ended. The message has the end of its standard error."""


class RobotsFilterWarning(UserWarning):
    """A result that is hardly meant, such as for an agent that is likely misspelt."""


def warn(message: str) -> None:
    """Warn, as from the line that called this package."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
        level += 1
    warnings.warn(message, RobotsFilterWarning, stacklevel=level)
