"""Processes of `robots-filter serve`: as many as there are calls at once, up to one a core."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from ._connection import Connection
from ._errors import ProcessError, RobotsFilterError
from ._program import command, within_limits

#: Seconds after which a process without a call ends, unless it is the only one.
IDLE_SECONDS = 10.0
#: Seconds after which a call that waits looks again, although no call has ended.
LOST_SECONDS = 1.0


class Processes:
    """Lends processes to calls, also after a fork, and ends them all.

    A process belongs to no thread. DuckDB and polars call from threads that Python did not start,
    and what such a thread keeps in `threading.local` is lost after each call.
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
        # A signal handler that asks or closes may interrupt the thread that has the lock.
        self._lock = threading.RLock()
        #: Calls that wait, the first one first: a thread that asks again and again waits, too. An
        #: exception from another thread may end a call without a trace, and so without its turn.
        self._waiting: deque[weakref.ref[_Turn]] = deque()
        #: The moment at which each was returned; the last one is lent first.
        self._idle: list[tuple[float, Connection]] = []
        #: An interrupted call may lose its connection, whose process then ends.
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        #: Calls that start a process.
        self._starting: weakref.WeakSet[_Turn] = weakref.WeakSet()
        self._timer: threading.Timer | None = None
        # The last thing: another thread may ask at the same time.
        self._pid = os.getpid()

    @contextmanager
    def lent(self) -> Iterator[Connection]:
        """Lend a connection for one call: an idle one, or a new one.

        Waits while each core has a call, in the order of the calls. A signal handler that asks in
        the middle of a call of its thread gets one more process, and does not wait.
        """
        connection = self._take()
        try:
            yield connection
        except ProcessError as error:
            if self._closed:
                raise self._is_closed() from error
            raise
        finally:
            self._give(connection)

    def _take(self) -> Connection:
        if self._pid != os.getpid():
            self._begin()
        turn = _Turn()
        try:
            connection = self._awaited(turn)
            return self._start(turn.caller) if connection is None else connection
        finally:
            with self._lock:
                self._starting.discard(turn)
            self._call_next()

    def _awaited(self, turn: _Turn) -> Connection | None:
        """Wait for the turn of a call; return None if it is to start a process."""
        try:
            with self._lock:
                is_nested = self._is_calling(turn.caller)
                self._waiting.append(weakref.ref(turn))
            while True:
                with self._lock:
                    if self._closed:
                        raise self._is_closed()
                    if is_nested or self._next_turn() is turn:
                        connection = self._idle_one()
                        if connection is not None:
                            connection.caller = turn.caller
                            return connection
                        if is_nested or len(self._connections) + len(self._starting) < _cores():
                            self._starting.add(turn)
                            return None
                turn.called.wait(LOST_SECONDS)
                turn.called.clear()
        finally:
            with self._lock, suppress(ValueError):
                self._waiting.remove(weakref.ref(turn))
            self._call_next()

    def _is_calling(self, thread: int) -> bool:
        """Whether a thread is in the middle of a call, which a signal handler has interrupted."""
        turns = (reference() for reference in self._waiting)
        calls = (*self._connections, *self._starting, *turns)
        return thread in [each.caller for each in calls if each is not None]

    def _next_turn(self) -> _Turn | None:
        while self._waiting:
            turn = self._waiting[0]()
            if turn is not None:
                return turn
            self._waiting.popleft()
        return None

    def _idle_one(self) -> Connection | None:
        """Take the connection that was returned last and whose process has not died since."""
        while self._idle:
            connection = self._idle.pop()[1]
            if connection.is_alive:
                return connection
            self._connections.discard(connection)
            connection.close()
        return None

    def _call_next(self) -> None:
        with self._lock:
            turn = self._next_turn()
        if turn is not None:
            turn.called.set()

    def _start(self, me: int) -> Connection:
        connection = Connection(within_limits([*command(), "serve", *self._options]))
        try:
            if self._check is not None:
                self._check(connection.checksum)
            with self._lock:
                # Closed by another thread meanwhile.
                if self._closed:
                    raise self._is_closed()
                connection.caller = me
                self._connections.add(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _give(self, connection: Connection) -> None:
        # A call that forked has come back in the child: the process is the parent's.
        if self._pid != os.getpid():
            return
        with self._lock:
            connection.caller = None
            if self._closed or not connection.is_usable:
                self._connections.discard(connection)
                connection.close()
            else:
                self._idle.append((time.monotonic(), connection))
                self._watch()
            self._call_next()

    def _watch(self) -> None:
        """See to it that idle processes end, if there are several."""
        if len(self._idle) < 2 or self._timer is not None:
            return
        left = self._idle[0][0] + IDLE_SECONDS - time.monotonic()
        # A table that nobody holds is not kept alive for its timer.
        timer = threading.Timer(max(left, 0), _end_idle, [weakref.ref(self)])
        timer.daemon = True
        self._timer = timer
        # At its end the interpreter starts no threads; it ends all processes.
        with suppress(RuntimeError):
            timer.start()

    def end_idle(self) -> None:
        """End the processes that have been idle for IDLE_SECONDS, except the last one."""
        with self._lock:
            self._timer = None
            past = time.monotonic() - IDLE_SECONDS
            ended = [connection for returned, connection in self._idle[:-1] if returned <= past]
            del self._idle[: len(ended)]
            for connection in ended:
                self._connections.discard(connection)
                connection.close()
            self._watch()

    def close(self) -> None:
        """End all processes. A thread in mid-call gets an error."""
        self._closed = True
        # After a fork, those of the parent are its own.
        if self._pid != os.getpid():
            return
        with self._lock:
            self._idle.clear()
            connections = list(self._connections)
            for reference in self._waiting:
                turn = reference()
                if turn is not None:
                    turn.called.set()
        for connection in connections:
            if connection.caller is None:
                connection.close()
            else:
                connection.kill()

    def _is_closed(self) -> RobotsFilterError:
        return RobotsFilterError(f"the table {self._path} is closed. Open it again")


class _Turn:
    """A call that waits for a process."""

    def __init__(self) -> None:
        self.caller = threading.get_ident()
        self.called = threading.Event()


def _end_idle(processes: weakref.ref[Processes]) -> None:
    found = processes()
    if found is not None:
        found.end_idle()


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
