"""The shards of hosts, as `robots-filter serve --shards` computes them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from . import _arrow
from ._columns import Question, Request
from ._connection import Connection
from ._program import command

#: What stands in place of the shard of an invalid URL.
_NO_SHARD = 0xFFFF_FFFF


class Shards:
    """Computes the shards of hosts, in a process of its own. For one thread."""

    def __init__(self, shards: int) -> None:
        self._shards = shards
        self._connection: Connection | None = None

    def of(self, urls: Any) -> Any:
        """Return the shard of each URL of an Arrow array, as int32.

        A URL that is null or invalid has no host. It has the shard 0.
        """
        if self._connection is None or not self._connection.is_usable:
            words = [*command(), "serve", "--shards", str(self._shards), "--threads", "1"]
            self._connection = Connection(words)
        column = _arrow.column_of(urls)
        answers = bytearray()

        def add(_request: Request, payload: memoryview) -> None:
            answers.extend(payload)

        question = Question(("*",), explain=False)
        self._connection.exchange(column.requests(question, self._connection.limits), add)
        words_ = pa.Array.from_buffers(pa.uint32(), len(urls), [None, pa.py_buffer(answers)])
        valid = pc.and_(pc.not_equal(words_, _NO_SHARD), pc.is_valid(urls))
        return pc.if_else(valid, words_, pa.scalar(0, pa.uint32())).cast(pa.int32())
