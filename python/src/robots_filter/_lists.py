"""The results of a call as a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from ._results import NO_RULE, Results

Verdict = Literal["allow", "deny", "unknown", "invalid"]


class Judgement(NamedTuple):
    """A verdict and its reason.

    `line` and `rule` are those of the rule that decided, or None: the line's number in the
    robots.txt, from 1, and its text, such as `Disallow: /private/`.
    """

    verdict: Verdict
    reason: str
    line: int | None
    rule: str | None


def list_of(
    results: Results, nulls: Iterable[int], verdicts: Sequence[str], reasons: Sequence[str]
) -> list[Any]:
    """Return an item for each URL: see `Table.verdicts`. `nulls` are the indices of null URLs."""
    question = results.question
    of_agents = [
        _of_agent(results, index, verdicts, reasons) for index in range(len(question.agents))
    ]
    if question.single:
        items = of_agents[0]
    else:
        names = question.agents
        items = [dict(zip(names, row, strict=True)) for row in zip(*of_agents, strict=True)]
    for index in nulls:
        items[index] = None
    return items


def _of_agent(
    results: Results, index: int, verdicts: Sequence[str], reasons: Sequence[str]
) -> list[Any]:
    named = map(verdicts.__getitem__, results.verdicts[index])
    if not results.question.explain:
        return list(named)
    return [
        Judgement(
            next(named),  # type: ignore[arg-type]
            reasons[reason],
            None if rule == NO_RULE else line,
            None if rule == NO_RULE else part.texts[rule],
        )
        for part in results.explained[index]
        for reason, line, rule in zip(part.reasons, part.lines, part.rules, strict=True)
    ]
