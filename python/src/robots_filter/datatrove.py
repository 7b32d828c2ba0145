"""A filter for pipelines of datatrove."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from datatrove.pipeline.filters.base_filter import BaseFilter

from ._errors import UsageError
from ._filter import passing_of
from ._lists import UseAnswer, Verdict
from ._question import question_of, uses_of
from ._table import Table

if TYPE_CHECKING:
    from datatrove.data import Document


class RobotsFilter(BaseFilter):  # type: ignore[misc, unused-ignore]
    """Keep the documents whose URL all agents may fetch.

    A document that is dropped has the reason `deny`, `unknown` or `invalid`: the first verdict of
    an agent that does not let it pass. A URL of None is `invalid`. With `use`, documents are
    dropped whose use is refused; the reason is `refused`, with `require_grant` also `unstated`.
    """

    name = "🤖 robots.txt"

    def __init__(
        self,
        table: Table | str | os.PathLike[str],
        agents: str | Sequence[str],
        url_key: str = "url",
        *,
        unknown: Literal["allow", "deny"] = "deny",
        use: str | Sequence[str] | None = None,
        policy_tokens: Mapping[str, str] | None = None,
        require_grant: bool = False,
        exclusion_writer: Any = None,
        batch_size: int = 4096,
    ) -> None:
        """Open the table, and check the agents.

        `url_key` is the key of the URL in the metadata of a document. `unknown` says whether
        documents pass whose host has no robots.txt in the table. `use`, `policy_tokens` and
        `require_grant` are those of `Table.filter`. Each task has a process with one thread,
        because executors run a task for each core.

        Raises RobotsFilterError for a table that cannot be opened, UsageError for an agent that is
        no product token.
        """
        super().__init__(exclusion_writer, batch_size)
        if policy_tokens is not None and use is None:
            raise UsageError("policy_tokens has no effect without use. Pass use='train'")
        asked = None if use is None else uses_of(use, policy_tokens)
        self.passing = passing_of(unknown, asked, require_grant)
        self.used = None if asked is None else list(asked.names)
        self.policy_tokens = policy_tokens
        self.agents = list(question_of(agents).agents)
        self.table = table if isinstance(table, Table) else Table.open(table, threads=1)
        self.url_key = url_key
        self.table.verdicts([], self.agents)
        if self.used is not None:
            self.table.uses([], self.agents, self.used, policy_tokens=policy_tokens)

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Judge one document; `filter_batch` is far faster."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Judge documents; the answer is True, or False and the reason."""
        urls = [self._url(document) for document in batch]
        verdicts = self.table.verdicts(urls, self.agents)
        if self.used is None:
            return [self._passes(row, {}) for row in verdicts]
        uses = self.table.uses(urls, self.agents, self.used, policy_tokens=self.policy_tokens)
        return [self._passes(*rows) for rows in zip(verdicts, uses, strict=True)]

    def _passes(
        self,
        verdicts: Mapping[str, Verdict] | None,
        uses: Mapping[str, Mapping[str, UseAnswer | None]] | None,
    ) -> bool | tuple[bool, str]:
        if verdicts is None:
            return False, "invalid"
        for verdict in verdicts.values():
            if verdict not in self.passing.verdicts:
                return False, verdict
        for answers in (uses or {}).values():
            for answer in answers.values():
                if answer not in self.passing.answers:
                    # Nothing is said about the uses of an unknown host.
                    return False, answer or "unstated"
        return True

    def _url(self, document: Document) -> object:
        try:
            return document.metadata[self.url_key]
        except KeyError:
            raise UsageError(
                f"document {document.id} has no {self.url_key!r} in its metadata, which has "
                f"{', '.join(map(repr, document.metadata)) or 'nothing'}. Name the key of the URL: "
                "url_key='…'"
            ) from None
