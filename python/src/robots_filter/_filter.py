"""Which items of an iterable pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from ._errors import UsageError

Item = TypeVar("Item")


def passing_of(unknown: object) -> frozenset[str]:
    """Return the verdicts that let an item pass; `unknown` is 'allow' or 'deny'."""
    if unknown not in ("allow", "deny"):
        raise UsageError(f"unknown is {unknown!r}. Use 'allow' or 'deny'")
    return frozenset(["allow", "unknown"] if unknown == "allow" else ["allow"])


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
