"""One process of `robots-filter serve`, and the frames to and from it (docs/serve.md)."""

from __future__ import annotations

import contextlib
import json
import os
import select
import struct
import subprocess
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ._columns import Limits, Request
from ._errors import ProcessError, RobotsFilterError, UsageError, warn
from ._names import Names
from ._program import END_SECONDS, MESSAGE_PREFIX, Start, advice_on_limits

_MAGIC = 0x56534652
_VERSION = 1
_GREETING = struct.Struct("<2I")
_SERVER_GREETING = struct.Struct("<3I")
_ANSWER = struct.Struct("<2I")
_KIND_VERDICTS = 1
_KIND_REFUSAL = 2
_KIND_WARNING = 3

#: Bytes of standard error that are kept for messages.
_KEPT_ERRORS = 8192
#: Bytes that the pipes hold, if the system lets them.
_PIPE_BYTES = 1 << 20

#: All connections of this process, for a child that `fork` makes.
_connections: weakref.WeakSet[Connection] = weakref.WeakSet()


class Connection:
    """A process, for one call at a time of one process of Python."""

    def __init__(self, words: Sequence[str]) -> None:
        start = Start(
            words,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C interrupts Python; the process ends with its standard input.
            start_new_session=True,
        )
        try:
            self._process = start.do()
            self._set_up()
            self._greet()
            self._use.busy = False
        except BaseException:
            start.abandon()
            raise

    def _set_up(self) -> None:
        self._pid = os.getpid()
        #: The thread in whose call the connection is.
        self.caller: int | None = None
        self._errors = bytearray()
        self._use = _Use()
        self._use.busy = True
        #: Warnings of the requests of this call.
        self._warned: list[str] = []
        #: Warnings that were given.
        self._told: set[str] = set()
        self._greeted = False
        self._streams = [
            stream
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr)
            if stream is not None
        ]
        self._input, self._output, self._error = (stream.fileno() for stream in self._streams)
        self._end = weakref.finalize(self, _end, self._process, self._streams, self._pid, self._use)
        for descriptor in (self._input, self._output, self._error):
            os.set_blocking(descriptor, False)
        _widen(self._input, self._output)
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._poll.register(self._error, select.POLLIN)
        self._writing = False
        _connections.add(self)

    @property
    def is_usable(self) -> bool:
        """Whether the process was started by this process of Python, and not ended."""
        return self._end.alive and self._pid == os.getpid()

    @property
    def is_alive(self) -> bool:
        """Whether the process is usable and has not died."""
        return self.is_usable and self._process.poll() is None

    def close(self) -> None:
        """End the process. It holds nothing that could be lost."""
        self._end()

    def kill(self) -> None:
        """End the process under the call that uses it, which gets an error."""
        # The call may read and write until it notices, so the pipes stay open.
        if self.is_usable:
            self._process.kill()

    def exchange(
        self, requests: Iterable[Request], receive: Callable[[Request, memoryview], None]
    ) -> None:
        """Send requests, and call `receive` for each with its answer, in order.

        Reads and writes at once, so that neither side waits for the other. Requests are taken
        when the process takes them. Raises UsageError if the process refuses a request, and
        ProcessError if it ends; an error of `requests` comes after the answers to the requests
        before it.
        """
        self._use.busy = True
        try:
            failure = self._exchange(iter(requests), receive)
            self._use.busy = False
        finally:
            # Interrupted in mid-frame, so that nothing more can be read.
            if self._use.busy:
                self._use.busy = False
                self.close()
        # A warning may be an error, and then comes when the frames are whole.
        warned = [message for message in self._warned if message not in self._told]
        self._told.update(warned)
        self._warned.clear()
        if failure is not None:
            raise failure
        for message in dict.fromkeys(warned):
            warn(message)

    def _exchange(
        self,
        requests: Any,
        receive: Callable[[Request, memoryview], None],
    ) -> Exception | None:
        pending: deque[Request] = deque()
        outgoing: list[memoryview] = []
        incoming = _Incoming()
        failure: Exception | None = None
        more = True
        while True:
            if not outgoing and more:
                try:
                    request = next(requests, None)
                except Exception as error:
                    request, failure = None, error
                more = request is not None
                if request is not None:
                    pending.append(request)
                    outgoing = [piece for piece in request.pieces if len(piece) > 0]
            if not pending:
                return failure
            readable = self._wait(bool(outgoing))
            if outgoing:
                outgoing = self._write(outgoing)
            if not readable:
                continue
            for kind, payload in incoming.read(self._output, self._died):
                if kind == _KIND_WARNING:
                    self._warned.append(str(payload, "utf-8"))
                    continue
                request = pending.popleft()
                if kind == _KIND_REFUSAL:
                    failure = failure or UsageError(str(payload, "utf-8"))
                    more = False
                elif failure is None:
                    receive(request, payload)

    def _wait(self, writing: bool) -> bool:
        """Wait until something can be done; return whether an answer can be read."""
        if writing != self._writing:
            self._writing = writing
            if writing:
                self._poll.register(self._input, select.POLLOUT)
            else:
                self._poll.unregister(self._input)
        readable = False
        for descriptor, events in self._poll.poll():
            if descriptor == self._output:
                readable = events != 0
            elif descriptor == self._error:
                self._read_errors()
        return readable

    def _write(self, pieces: list[memoryview]) -> list[memoryview]:
        """Write what the pipe takes now; return the rest."""
        try:
            written = os.writev(self._input, pieces)
        except BlockingIOError:
            return pieces
        except BrokenPipeError:
            raise self._died() from None
        for index, piece in enumerate(pieces):
            if written < len(piece):
                return [piece[written:], *pieces[index + 1 :]]
            written -= len(piece)
        return []

    def _read_errors(self) -> bool:
        """Read what stands in standard error; return whether it may have more later."""
        try:
            text = os.read(self._error, _PIPE_BYTES)
        except BlockingIOError:
            return True
        self._errors += text
        del self._errors[:-_KEPT_ERRORS]
        if not text and self._end.alive:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._error)
        return bool(text)

    def _died(self) -> RobotsFilterError:
        """Return the error for a process that has ended, with the end of its standard error."""
        deadline = time.monotonic() + END_SECONDS
        errors = select.poll()
        errors.register(self._error, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            if errors.poll(1000 * left) and not self._read_errors():
                break
        try:
            status = self._process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        text = self._errors.decode("utf-8", "replace").strip()
        self._use.busy = False
        self.close()
        advice = advice_on_limits(text)
        if advice:
            return ProcessError(advice)
        if not self._greeted and status == 2 and text.startswith(MESSAGE_PREFIX):
            return RobotsFilterError(text.removeprefix(MESSAGE_PREFIX))
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        said = f"Its standard error ends with:\n{text}" if text else "It wrote no error"
        return ProcessError(f"the process that judges {how}. The next call starts another. {said}")

    def _greet(self) -> None:
        pieces = [memoryview(_GREETING.pack(_MAGIC, _VERSION))]
        greeting = bytearray(_SERVER_GREETING.size)
        room = memoryview(greeting)
        facts: bytearray | None = None
        while len(room) > 0:
            if self._wait(bool(pieces)):
                read = _read_into(self._output, room)
                if read == 0:
                    raise self._died()
                room = room[max(read, 0) :]
            if pieces:
                pieces = self._write(pieces)
            if len(room) == 0 and facts is None:
                magic, version, length = _SERVER_GREETING.unpack(greeting)
                if (magic, version) != (_MAGIC, _VERSION) or length > _PIPE_BYTES:
                    raise ProcessError(
                        f"the process speaks version {version} of the protocol, and this package "
                        f"version {_VERSION}. Install robots-filter again"
                    )
                facts = bytearray(length)
                room = memoryview(facts)
        stated: dict[str, Any] = json.loads(facts or b"")
        self.profile: str = stated["profile"]
        self.hosts: int = stated["hosts"]
        self.rules: int = stated["rules"]
        #: Whether the table answers for the times of URLs.
        self.histories: bool = stated["histories"]
        #: Whether the table answers about uses.
        self.signals: bool = stated["signals"]
        self.checksum: str = stated["checksum"]
        reasons = tuple(stated["reasons"])
        self.names = Names(
            verdicts=tuple(stated["verdicts"]),
            reasons=reasons,
            answers=tuple(stated["answers"]),
            answer_reasons=(*reasons, *stated["useReasons"]),
        )
        self._greeted = True
        limits = stated["limits"]
        self.limits = Limits(
            verdicts=limits["verdicts"],
            url_bytes=limits["urlBytes"],
            agents_bytes=limits["agentsBytes"],
            uses_bytes=limits["usesBytes"],
        )


class _Incoming:
    """Answers as they come in."""

    def __init__(self) -> None:
        self._header = bytearray(_ANSWER.size)
        self._payload: bytearray | None = None
        self._room = memoryview(self._header)
        self._kind = 0

    def read(
        self, descriptor: int, died: Callable[[], Exception]
    ) -> Iterable[tuple[int, memoryview]]:
        """Yield the kind and the content of each answer that is whole."""
        while True:
            read = _read_into(descriptor, self._room)
            if read == 0 and len(self._room) > 0:
                raise died()
            if read < 0:
                return
            self._room = self._room[read:]
            if len(self._room) > 0:
                continue
            if self._payload is None:
                self._kind, length = _ANSWER.unpack(self._header)
                if self._kind not in (_KIND_VERDICTS, _KIND_REFUSAL, _KIND_WARNING):
                    raise ProcessError(
                        f"the process answers with a frame of kind {self._kind}. "
                        "Install robots-filter again"
                    )
                self._payload = bytearray(length)
                self._room = memoryview(self._payload)
                if length > 0:
                    continue
            payload = self._payload
            self._payload = None
            self._room = memoryview(self._header)
            yield self._kind, memoryview(payload)


def _read_into(descriptor: int, room: memoryview) -> int:
    """Return the number of bytes read; 0 at the end, -1 if none can be read now."""
    if len(room) == 0:
        return 0
    try:
        return os.readv(descriptor, [room])
    except BlockingIOError:
        return -1


def _widen(*descriptors: int) -> None:
    """Let the pipes hold more, so that both sides are woken less often. Only Linux can."""
    import fcntl

    widen = getattr(fcntl, "F_SETPIPE_SZ", None)
    if widen is None:
        return
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, widen, _PIPE_BYTES)


class _Use:
    """Whether a call is reading and writing."""

    busy = False


def _end(process: subprocess.Popen[bytes], streams: Sequence[Any], pid: int, use: _Use) -> None:
    """End a process and close its pipes. After a fork, the child only closes its copies."""
    is_own = os.getpid() == pid
    # At the end of the interpreter, a daemon thread may be in mid-call. It would read from what
    # is opened next; so it finds the end of its process.
    if not (is_own and use.busy):
        for stream in streams:
            with contextlib.suppress(OSError):
                stream.close()
    if is_own:
        process.kill()
        process.wait()
    else:
        # The process belongs to the parent: nothing is left to wait for here.
        process.returncode = 0


def _after_fork() -> None:
    for connection in list(_connections):
        connection.close()


# Windows has none; `command` says so when a table is opened.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
