"""What is asked about every URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._errors import UsageError

#: The greatest age in days: about a century.
_MOST_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Question:
    """The agents, and what the answer is made of."""

    #: Product tokens, or fallback chains `A:B`.
    agents: tuple[str, ...]
    #: Whether the reason and the rule are wanted beside the verdict.
    explain: bool
    #: Whether the answer is that of the only agent, and not a dict or struct by agent.
    single: bool
    #: Days after which a robots.txt that was not found again counts for nothing; None for any.
    max_age: int | None = None


def question_of(agents: object, *, explain: bool = False, max_age: object = None) -> Question:
    """Return the question about an agent given as a str, or about a sequence of agents.

    Raises UsageError for another type, and for an age that is no number of days. The program
    refuses what is no product token.
    """
    age = _days(max_age)
    if isinstance(agents, str):
        return Question((agents,), explain, single=True, max_age=age)
    if not isinstance(agents, Sequence) or isinstance(agents, bytes | bytearray):
        raise UsageError(
            f"agents is of type {type(agents).__name__}. "
            "Pass a product token such as 'GPTBot', or a list of them"
        )
    names = tuple(agents)
    for name in names:
        if not isinstance(name, str):
            raise UsageError(
                f"an agent is of type {type(name).__name__}. Pass product tokens, such as 'GPTBot'"
            )
    known: dict[str, str] = {}
    for name in names:
        # Capitals make no difference to a product token, nor to columns in SQL.
        key = ":".join(link.strip() for link in name.replace(">", ":").split(":")).lower()
        if key in known:
            raise UsageError(
                f"the agent {name!r} is named twice. Name it once"
                if known[key] == name
                else f"{known[key]!r} and {name!r} are the same agent. Name it once"
            )
        known[key] = name
    if not names:
        raise UsageError("agents is empty. Pass a product token such as 'GPTBot', or '*'")
    return Question(names, explain, single=False, max_age=age)


def _days(max_age: object) -> int | None:
    if max_age is None:
        return None
    is_whole = isinstance(max_age, int) and not isinstance(max_age, bool)
    if isinstance(max_age, int) and is_whole and 1 <= max_age <= _MOST_DAYS:
        return max_age
    raise UsageError(f"max_age is {max_age!r}. Pass a whole number of days, from 1 to {_MOST_DAYS}")
