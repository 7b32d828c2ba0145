"""Decide, for millions of URLs at a time, whether a crawler may fetch them (RFC 9309).

>>> from robots_filter import Table
>>> table = Table.compile("robots/")
>>> table.verdicts(["https://example.com/"], "GPTBot")
['allow']
"""

from importlib.metadata import PackageNotFoundError as _NotFound
from importlib.metadata import version as _version

from ._errors import ProcessError, RobotsFilterError, RobotsFilterWarning, UsageError
from ._judge import Profile
from ._lists import Judgement, UseAnswer, UseJudgement, Verdict
from ._program import command
from ._table import Table

try:
    __version__ = _version("robots-filter")
except _NotFound:
    # A source tree that is not installed.
    __version__ = "unknown"

__all__ = [
    "Judgement",
    "ProcessError",
    "Profile",
    "RobotsFilterError",
    "RobotsFilterWarning",
    "Table",
    "UsageError",
    "UseAnswer",
    "UseJudgement",
    "Verdict",
    "__version__",
    "command",
]
