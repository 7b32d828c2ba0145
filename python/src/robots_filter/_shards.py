"""The shards of hosts, as `robots-filter serve --shards` computes them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ._arrow import column_of
from ._columns import Request
from ._processes import Processes
from ._question import question_of

#: What stands in place of the shard of an invalid URL.
_NO_SHARD = 0xFFFF_FFFF


class Shards:
    """Computes the shards of hosts, in processes of its own."""

    def __init__(self, shards: int) -> None:
        """Begin without a process. `shards` is their number."""
        self._processes = Processes(["--shards", str(shards), "--threads", "1"], "in shards")

    def of(self, urls: Any) -> Any:
        """Return the shard of each URL of an Arrow array, as int32.

        A URL that is null or invalid has no host. It has the shard 0.
        """
        answers = bytearray()

        def add(_request: Request, payload: memoryview) -> None:
            answers.extend(payload)

        with self._processes.lent() as connection:
            requests = column_of(urls).requests(question_of("*"), connection.limits)
            connection.exchange(requests, add)
        stated = pa.Array.from_buffers(pa.uint32(), len(urls), [None, pa.py_buffer(answers)])
        valid = pc.and_(pc.not_equal(stated, _NO_SHARD), pc.is_valid(urls))
        return pc.if_else(valid, stated, pa.scalar(0, pa.uint32())).cast(pa.int32())

    def close(self) -> None:
        """End all processes."""
        self._processes.close()
