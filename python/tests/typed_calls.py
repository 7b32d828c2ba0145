"""Calls whose types mypy checks; nothing runs them."""

from __future__ import annotations

from datetime import datetime, timezone

import polars as pl
from typing_extensions import assert_type

from robots_filter import Judgement, Table, UseAnswer, UseJudgement, Verdict


def lists(table: Table, urls: list[str], urls_or_nulls: list[str | None]) -> None:
    """Without a null among the URLs there is none among the verdicts."""
    assert_type(table.verdicts(urls, "a"), list[Verdict])
    assert_type(table.verdicts([b"url"], "a"), list[Verdict])
    assert_type(table.verdicts(urls, "a", explain=True), list[Judgement])
    assert_type(table.verdicts(urls, ["a", "b"]), list[dict[str, Verdict]])
    assert_type(table.verdicts(urls, ("a", "b"), explain=True), list[dict[str, Judgement]])
    assert_type(table.verdicts(urls_or_nulls, "a"), list[Verdict | None])
    assert_type(table.verdicts(("url", None), "a", True), list[Judgement | None])
    assert_type(table.verdicts(urls_or_nulls, ["a"]), list[dict[str, Verdict] | None])
    assert_type(
        table.verdicts(urls_or_nulls, ["a"], explain=True), list[dict[str, Judgement] | None]
    )


def times(table: Table, urls: list[str], urls_or_nulls: list[str | None]) -> None:
    """The times of URLs change no type."""
    now = datetime.now(timezone.utc)
    assert_type(table.verdicts(urls, "a", at=now), list[Verdict])
    assert_type(table.verdicts(urls, "a", True, at=[now, None]), list[Judgement])
    assert_type(table.verdicts(urls, ["a"], at=pl.Series([now])), list[dict[str, Verdict]])
    assert_type(
        table.verdicts(urls_or_nulls, ["a"], explain=True, at=now.date()),
        list[dict[str, Judgement] | None],
    )
    for at in (now, now.date(), None):
        assert_type(table.verdict("url", "a", at=at), Judgement)
        assert_type(table.verdicts(urls, "a", at=at, max_age=90), list[Verdict])


def uses(table: Table, urls: list[str], urls_or_nulls: list[str | None]) -> None:
    """There is no answer where the URL may not be fetched."""
    one, many = "train", ["train", "search"]
    assert_type(table.uses(urls, "a", one), list[UseAnswer | None])
    assert_type(table.uses(urls, "a", one, True, max_age=9), list[UseJudgement])
    assert_type(table.uses(urls, "a", many), list[dict[str, UseAnswer | None]])
    assert_type(table.uses(urls, ["a"], one, explain=True), list[dict[str, UseJudgement]])
    assert_type(table.uses(urls, ["a"], many), list[dict[str, dict[str, UseAnswer | None]]])
    assert_type(table.uses(urls_or_nulls, "a", one, policy_tokens={}), list[UseAnswer | None])
    assert_type(table.uses(urls_or_nulls, "a", one, explain=True), list[UseJudgement | None])
    assert_type(
        table.uses(urls_or_nulls, ["a"], many, explain=True),
        list[dict[str, dict[str, UseJudgement]] | None],
    )
    assert_type(table.uses(pl.Series(urls), ["a"], many), pl.Series)
    assert_type(table.use("url", "a", "train", policy_tokens={"train": "T"}), UseJudgement)
    assert_type(list(table.filter(urls, "a", use=many, require_grant=True)), list[str])


def columns(table: Table, series: pl.Series) -> None:
    """A Series of polars gives a Series."""
    assert_type(table.verdicts(series, ["a", "b"], explain=True), pl.Series)
    assert_type(table.verdicts(series, "a", at=series), pl.Series)
    assert_type(
        list(table.filter([("id", "url")], "a", url=lambda item: item[1])), list[tuple[str, str]]
    )
    assert_type(table.verdict("url", "a").rule, str | None)
