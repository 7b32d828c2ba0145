"""Which items of an iterable pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from ._errors import UsageError
from ._question import Uses

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Passing:
    """What lets an item pass, if all its verdicts and answers about uses are such."""

    verdicts: frozenset[str]
    answers: frozenset[str | None]


def passing_of(unknown: object, uses: Uses | None = None, require_grant: object = False) -> Passing:
    """Return what lets an item pass.

    `unknown` is 'allow' or 'deny'. With `require_grant` only a use that is granted passes.
    Otherwise what is not refused passes, unknown hosts included, about which nothing is said.
    """
    if unknown not in ("allow", "deny"):
        raise UsageError(f"unknown is {unknown!r}. Use 'allow' or 'deny'")
    if require_grant and uses is None:
        raise UsageError("require_grant has no effect without use. Pass use='train'")
    return Passing(
        frozenset(["allow", "unknown"] if unknown == "allow" else ["allow"]),
        frozenset(["granted"] if require_grant else ["granted", "unstated", None]),
    )


def batches_of(
    items: Iterator[Item], url: Callable[[Item], Any] | None, size: int
) -> Iterator[tuple[list[Item], Sequence[object]]]:
    """Yield batches of items, and their URLs.

    An error of `items` or `url` comes after the items before it, which nobody else has.
    """
    while True:
        batch: list[Item] = []
        urls: list[object] = []
        failure: Exception | None = None
        try:
            batch.extend(islice(items, size))
        except Exception as error:
            failure = error
        ended = len(batch) < size
        if url is not None:
            try:
                urls.extend(url(item) for item in batch)
            except Exception as error:
                failure = error
                del batch[len(urls) :]
        if batch:
            yield batch, batch if url is None else urls
        if failure is not None:
            raise failure
        if ended:
            return
