"""What is asked about every URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._errors import UsageError


@dataclass(frozen=True, slots=True)
class Question:
    """The agents, and what the answer is made of."""

    #: Product tokens, or fallback chains `A:B`.
    agents: tuple[str, ...]
    #: Whether the reason and the rule are wanted beside the verdict.
    explain: bool
    #: Whether the answer is that of the only agent, and not a dict or struct by agent.
    single: bool


def question_of(agents: object, *, explain: bool = False) -> Question:
    """Return the question about an agent given as a str, or about a sequence of agents.

    Raises UsageError for another type. The program refuses what is no product token.
    """
    if isinstance(agents, str):
        return Question((agents,), explain, single=True)
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
    return Question(names, explain, single=False)
