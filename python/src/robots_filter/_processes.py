"""Processes of `robots-filter serve`: one for each thread that asks."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence

from ._connection import Connection
from ._errors import RobotsFilterError
from ._program import command


class Processes:
    """Starts processes as threads need them, also after a fork, and ends them all.

    A process ends with its thread, too, because nothing else refers to its connection.
    """

    def __init__(
        self, options: Sequence[str], path: str, check: Callable[[str], None] | None = None
    ) -> None:
        """Begin without a process.

        `options` are those of `serve`, `path` names the table in messages, and `check` raises an
        error for the checksum of another table.
        """
        self._options = options
        self._path = path
        self._check = check
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        """Begin in this process of Python: a fork may leave the lock taken for ever."""
        self._local = threading.local()
        # A signal handler that closes the table may interrupt the thread that has the lock.
        self._lock = threading.RLock()
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        # The last thing: another thread may ask at the same time.
        self._pid = os.getpid()

    def own(self) -> Connection:
        """Return the connection of this thread; start a process if there is none."""
        if self._closed:
            raise self._is_closed()
        if self._pid != os.getpid():
            self._begin()
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is not None and connection.is_usable:
            return connection
        connection = Connection([*command(), "serve", *self._options])
        try:
            if self._check is not None:
                self._check(connection.checksum)
            with self._lock:
                # Closed by another thread meanwhile.
                if self._closed:
                    raise self._is_closed()
                self._connections.add(connection)
        except BaseException:
            connection.close()
            raise
        self._local.connection = connection
        return connection

    def close(self) -> None:
        """End all processes. A thread in mid-call gets an error."""
        self._closed = True
        # After a fork, those of the parent are its own.
        if self._pid != os.getpid():
            return
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.end()

    def _is_closed(self) -> RobotsFilterError:
        return RobotsFilterError(f"the table {self._path} is closed. Open it again")
