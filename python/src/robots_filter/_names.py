"""The words that the numbers in answers stand for, as the process stated them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Names:
    """The place of each word is its number."""

    verdicts: tuple[str, ...]
    #: Reasons of verdicts.
    reasons: tuple[str, ...]
    #: Answers about uses; None where there is none, as the URL may not be fetched.
    answers: tuple[str | None, ...]
    #: Reasons of answers about uses.
    answer_reasons: tuple[str, ...]
