"""The errors of this package."""


class RobotsFilterError(Exception):
    """Something cannot be done; the message names the place and what to write instead."""


class UsageError(RobotsFilterError, ValueError):
    """An argument is wrong, such as an agent that is no product token."""


class ProcessError(RobotsFilterError):
    """The process that judges has ended. The message has the end of its standard error."""
