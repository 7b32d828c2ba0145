"""The results of a call as a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from ._names import Names
from ._results import NO_RULE, Results

Verdict = Literal["allow", "deny", "unknown", "invalid"]
UseAnswer = Literal["granted", "refused", "unstated"]


class Judgement(NamedTuple):
    """A verdict and its reason.

    `line` and `rule` are those of the rule that decided, or None: the line's number in the
    robots.txt, from 1, and its text, such as `Disallow: /private/`.
    """

    verdict: Verdict
    reason: str
    line: int | None
    rule: str | None


class UseJudgement(NamedTuple):
    """An answer about a use, and its reason. There is no answer where the verdict is not `allow`.

    `line` and `signal` are those of the signal that decided, or None: the line's number in the
    robots.txt, from 1, and its text, such as `Content-Usage: train-ai=n`.
    """

    answer: UseAnswer | None
    reason: str
    line: int | None
    signal: str | None


def list_of(results: Results, nulls: Iterable[int], names: Names) -> list[Any]:
    """Return an item for each URL: see `Table.verdicts` and `Table.uses`.

    `nulls` are the indices of null URLs.
    """
    question = results.question
    agents, uses = question.agents, question.uses
    if uses is None:
        of_agents = [_verdicts(results, agent, names) for agent in range(len(agents))]
    else:
        of_agents = [
            _by_name(
                uses.names,
                uses.single,
                [_answers(results, agent, use, names) for use in range(len(uses.names))],
            )
            for agent in range(len(agents))
        ]
    items = _by_name(agents, question.single, of_agents)
    for index in nulls:
        items[index] = None
    return items


def _by_name(names: Sequence[str], single: bool, columns: Sequence[list[Any]]) -> list[Any]:
    if single:
        return columns[0]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _verdicts(results: Results, agent: int, names: Names) -> list[Any]:
    return _items(results, agent, names.verdicts, names.reasons, Judgement)


def _answers(results: Results, agent: int, use: int, names: Names) -> list[Any]:
    index = results.of_use(agent, use)
    return _items(results, index, names.answers, names.answer_reasons, UseJudgement)


def _items(
    results: Results,
    index: int,
    words: Sequence[str | None],
    reasons: Sequence[str],
    judgement: Callable[[Any, str, int | None, str | None], Judgement | UseJudgement],
) -> list[Any]:
    named = map(words.__getitem__, results.codes[index])
    if not results.question.explain:
        return list(named)
    return [
        judgement(
            next(named),
            reasons[reason],
            None if rule == NO_RULE else line,
            None if rule == NO_RULE else part.texts[rule],
        )
        for part in results.explained[index]
        for reason, line, rule in zip(part.reasons, part.lines, part.rules, strict=True)
    ]
