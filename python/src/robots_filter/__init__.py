"""Decide, for millions of URLs at a time, whether a crawler may fetch them (RFC 9309).

>>> from robots_filter import Table
>>> table = Table.compile("robots/")
>>> table.verdicts(["https://example.com/"], "GPTBot")
['allow']
"""

from ._errors import ProcessError, RobotsFilterError, RobotsFilterWarning, UsageError
from ._judge import Profile
from ._lists import Judgement, Verdict
from ._program import command
from ._table import Table

__all__ = [
    "Judgement",
    "ProcessError",
    "Profile",
    "RobotsFilterError",
    "RobotsFilterWarning",
    "Table",
    "UsageError",
    "Verdict",
    "command",
]
