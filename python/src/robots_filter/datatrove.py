"""A filter for pipelines of datatrove."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from datatrove.pipeline.filters.base_filter import BaseFilter

from ._errors import UsageError
from ._filter import passing_of
from ._question import question_of
from ._table import Table

if TYPE_CHECKING:
    from datatrove.data import Document


class RobotsFilter(BaseFilter):  # type: ignore[misc, unused-ignore]
    """Keep the documents whose URL all agents may fetch.

    A document that is dropped has the reason `deny`, `unknown` or `invalid`: the first verdict of
    an agent that does not let it pass. A URL of None is `invalid`.
    """

    name = "🤖 robots.txt"

    def __init__(
        self,
        table: Table | str | os.PathLike[str],
        agents: str | Sequence[str],
        url_key: str = "url",
        *,
        unknown: Literal["allow", "deny"] = "deny",
        exclusion_writer: Any = None,
        batch_size: int = 4096,
    ) -> None:
        """Open the table, and check the agents.

        `url_key` is the key of the URL in the metadata of a document. `unknown` says whether
        documents pass whose host has no robots.txt in the table. Each task has a process with one
        thread, because executors run a task for each core.

        Raises RobotsFilterError for a table that cannot be opened, UsageError for an agent that is
        no product token.
        """
        super().__init__(exclusion_writer, batch_size)
        self.passing = passing_of(unknown)
        self.agents = list(question_of(agents).agents)
        self.table = table if isinstance(table, Table) else Table.open(table, threads=1)
        self.url_key = url_key
        self.table.verdicts([], self.agents)

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Judge one document; `filter_batch` is far faster."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Judge documents; the answer is True, or False and the reason."""
        urls = [self._url(document) for document in batch]
        return [
            next(
                ((False, verdict) for verdict in verdicts.values() if verdict not in self.passing),
                True,
            )
            for verdicts in (
                row or {"": "invalid"} for row in self.table.verdicts(urls, self.agents)
            )
        ]

    def _url(self, document: Document) -> object:
        try:
            return document.metadata[self.url_key]
        except KeyError:
            raise UsageError(
                f"document {document.id} has no {self.url_key!r} in its metadata, which has "
                f"{', '.join(map(repr, document.metadata)) or 'nothing'}. Name the key of the URL: "
                "url_key='…'"
            ) from None
