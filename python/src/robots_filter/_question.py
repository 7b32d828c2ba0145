"""What is asked about every URL."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ._errors import UsageError

#: The greatest age in days: about a century.
_MOST_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Uses:
    """Uses about which is asked for each agent."""

    names: tuple[str, ...]
    #: Whether the answer is that about the only use, and not a dict or struct by use.
    single: bool
    #: The use and the product token whose groups speak for it, of each.
    policy_tokens: tuple[tuple[str, str], ...] = ()

    @property
    def json(self) -> bytes:
        """The uses as a request has them."""
        named = {"uses": self.names, "policyTokens": dict(self.policy_tokens)}
        return json.dumps(named).encode()


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
    #: If there are some, the answer is about them, and not the verdict.
    uses: Uses | None = None
    #: Whether the verdicts are wanted beside the answers about uses, in Arrow.
    both: bool = False
    #: Whether warnings about agents and uses are wanted.
    warn: bool = True

    @property
    def outcomes(self) -> int:
        """The number of verdicts, and answers about uses, of each URL."""
        return len(self.agents) * (1 + (0 if self.uses is None else len(self.uses.names)))


def question_of(
    agents: object, *, explain: bool = False, max_age: object = None, uses: Uses | None = None
) -> Question:
    """Return the question about an agent given as a str, or about a sequence of agents.

    Raises UsageError for another type, and for an age that is no number of days. The program
    refuses what is no product token.
    """
    age = _days(max_age)
    if isinstance(agents, str):
        return Question((agents,), explain, single=True, max_age=age, uses=uses)
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
    return Question(names, explain, single=False, max_age=age, uses=uses)


def uses_of(uses: object, policy_tokens: object = None) -> Uses:
    """Return a use given as a str, or a sequence of uses.

    Raises UsageError for another type. The program refuses what is no use.
    """
    single = isinstance(uses, str)
    if not isinstance(uses, Sequence) or isinstance(uses, bytes | bytearray):
        raise UsageError(
            f"the uses are of type {type(uses).__name__}. Pass a use such as 'train', or a list"
        )
    names = (uses,) if isinstance(uses, str) else tuple(uses)
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"a use is of type {type(name).__name__}. Pass a use, such as 'train'")
    if not names:
        raise UsageError("there is no use in the list of uses. Pass a use such as 'train'")
    if policy_tokens is None:
        return Uses(names, single)
    if not isinstance(policy_tokens, Mapping):
        raise UsageError(
            f"policy_tokens is of type {type(policy_tokens).__name__}. "
            "Pass a dict of uses and product tokens, such as {'train': 'TOKEN'}"
        )
    for pair in policy_tokens.items():
        if not all(isinstance(text, str) for text in pair):
            raise UsageError(f"policy_tokens has {pair!r}. Pass product tokens as str")
    return Uses(names, single, tuple(policy_tokens.items()))


def _days(max_age: object) -> int | None:
    if max_age is None:
        return None
    is_whole = isinstance(max_age, int) and not isinstance(max_age, bool)
    if isinstance(max_age, int) and is_whole and 1 <= max_age <= _MOST_DAYS:
        return max_age
    raise UsageError(f"max_age is {max_age!r}. Pass a whole number of days, from 1 to {_MOST_DAYS}")
