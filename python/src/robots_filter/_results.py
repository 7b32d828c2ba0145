"""The answers to all requests of a call, put together by columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ._columns import Request
from ._question import Question

_WORD = 4
#: The place of the text of no rule.
NO_RULE = -1


@dataclass(slots=True)
class Explained:
    """The explanation of the verdicts for one agent, or of the answers about a use."""

    reasons: memoryview
    lines: memoryview
    #: Places in `texts`, or NO_RULE.
    rules: memoryview
    texts: list[str]


@dataclass(slots=True)
class Results:
    """Collects answers. `codes[i]` has one byte for each URL: the verdicts of agent i.

    After them come the answers about the uses of the first agent, use by use, then of the second.
    """

    question: Question
    codes: list[bytearray] = field(init=False)
    explained: list[list[Explained]] = field(init=False)

    def __post_init__(self) -> None:
        self.codes = [bytearray() for _ in range(self.question.outcomes)]
        self.explained = [[] for _ in range(self.question.outcomes)]

    def of_use(self, agent: int, use: int) -> int:
        """Return the place of the answers about a use of an agent."""
        uses = 0 if self.question.uses is None else len(self.question.uses.names)
        return len(self.question.agents) + agent * uses + use

    def add(self, request: Request, payload: memoryview) -> None:
        """Take the answer to one request (docs/serve.md has its layout)."""
        count = request.count
        for index, column in enumerate(self.codes):
            column += payload[index * count : (index + 1) * count]
        if not self.question.explain:
            return
        total = count * self.question.outcomes
        reasons = payload[total : 2 * total]
        at = 2 * total + -(2 * total) % _WORD
        lines = _words(payload[at : at + _WORD * total], "I")
        at += _WORD * total
        rules = _words(payload[at : at + _WORD * total], "i")
        texts = _texts(payload[at + _WORD * total :])
        for index, parts in enumerate(self.explained):
            part = slice(index * count, (index + 1) * count)
            parts.append(Explained(reasons[part], lines[part], rules[part], texts))


def _words(data: memoryview, code: Literal["i", "I"]) -> memoryview:
    # The program refuses machines that store the high byte first.
    return data.cast(code)


def _texts(data: memoryview) -> list[str]:
    count = int.from_bytes(data[:_WORD], "little")
    offsets: Sequence[int] = _words(data[_WORD : _WORD * (count + 2)], "I")
    texts = data[_WORD * (count + 2) :]
    return [str(texts[offsets[i] : offsets[i + 1]], "utf-8") for i in range(count)]
