"""Exceptions of signal handlers, such as Ctrl-C, at any line while a process starts."""

from __future__ import annotations

import gc
import linecache
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from robots_filter import RobotsFilterError, Table, _processes, _program
from robots_filter._processes import Processes

PACKAGE = os.path.dirname(_program.__file__)


class Interrupts:
    """Calls something again and again, and interrupts it at another line each time."""

    def __init__(
        self, call: Callable[[], object], is_end: Callable[[FrameType], bool] = lambda _: False
    ) -> None:
        self._call = call
        #: Whether a frame would wait, so that this is the last call.
        self._is_end = is_end
        self.lines: set[tuple[str, int]] = set()

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Yield each line of this package at which the call was interrupted."""
        while (line := self._interrupted()) is not None:
            self.lines.add(line)
            yield line

    def _interrupted(self) -> tuple[str, int] | None:
        found: tuple[str, int] | None = None

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal found
            is_end = self._is_end(frame)
            if not is_end and not frame.f_code.co_filename.startswith(PACKAGE):
                return None
            line = (frame.f_code.co_filename, frame.f_lineno)
            is_new = event == "line" and line not in self.lines and not is_exit_of_with(frame)
            if is_end or is_new:
                sys.settrace(None)
                found = None if is_end else line
                raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        with suppress(KeyboardInterrupt):
            self._call()
        sys.settrace(None)
        return found


def is_exit_of_with(frame: FrameType) -> bool:
    """Whether a frame is before the call of `__exit__`, which Python does not interrupt."""
    lines = frame.f_code.co_lines()
    first = min(start for start, _, line in lines if line == frame.f_lineno)
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return text.lstrip().startswith("with ") and frame.f_lasti > first


@pytest.fixture
def stub(table_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a shell in the place of Node, which greets and waits for the end of its input."""
    words = [*_program.command(), "serve", "--table", str(table_path)]
    greeted = subprocess.run(
        words, input=struct.pack("<2I", 0x56534652, 1), capture_output=True, check=True
    )
    (tmp_path / "greeting").write_bytes(greeted.stdout)
    script = f"cat {tmp_path}/greeting; read -r line"
    monkeypatch.setattr(_processes, "command", lambda: ["/bin/sh", "-c", script])


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note the processes that are started."""
    pids: list[int] = []
    popen = subprocess.Popen

    class Noting(popen):  # type: ignore[type-arg, valid-type, misc]
        def __init__(self, *words: Any, **pipes: Any) -> None:
            super().__init__(*words, **pipes)
            pids.append(self.pid)

    monkeypatch.setattr(subprocess, "Popen", Noting)
    return pids


def is_reaped(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


def lent_in_a_thread(processes: Processes) -> bool:
    """Whether another thread gets a process."""
    lent: list[object] = []

    def call() -> None:
        with processes.lent() as connection:
            lent.append(connection)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(20)
    return len(lent) == 1


@pytest.mark.usefixtures("stub")
def test_an_interrupted_start_leaves_nothing(
    started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # With one core, a process that is only counted would stop all calls.
    monkeypatch.setattr(_processes, "_cores", lambda: 1)
    monkeypatch.setattr(_processes, "LOST_SECONDS", 0.01)
    processes = Processes([], "a table")

    def call() -> None:
        with processes.lent():
            pass

    files = open_files()
    begun = 0
    interrupts = Interrupts(call)
    for line in interrupts:
        gc.collect(1)
        begun += len(started)
        assert lent_in_a_thread(processes), line
        processes.close()
        assert eventually(lambda: all(map(is_reaped, started))), line
        assert eventually(lambda: open_files() == files), line
        started.clear()
        processes = Processes([], "a table")
    processes.close()
    assert len(interrupts.lines) > 100
    # Many were interrupted after the process had begun.
    assert 50 < begun < len(interrupts.lines)


def test_an_interrupted_start_of_compile_leaves_nothing(
    tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_program, "command", lambda: ["/bin/sh", "-c", "exec sleep 100"])
    files = open_files()
    begun = 0

    def is_waiting(frame: FrameType) -> bool:
        return frame.f_code is subprocess.Popen.communicate.__code__

    interrupts = Interrupts(lambda: Table.compile(tmp_path), is_waiting)
    for line in interrupts:
        gc.collect(1)
        assert eventually(lambda: open_files() == files), line
        assert all(map(is_reaped, started)), line
        begun += len(started)
        started.clear()
    assert len(interrupts.lines) > 50
    assert begun > 4


def test_an_open_that_was_interrupted_can_be_repeated(table_path: Path) -> None:
    # With Node, at the moment when its process has begun, and is not known yet.
    started = []
    popen = subprocess.Popen

    class Interrupting(popen):  # type: ignore[type-arg, valid-type, misc]
        def __init__(self, *words: Any, **pipes: Any) -> None:
            super().__init__(*words, **pipes)
            started.append(self)
            os.kill(os.getpid(), 2)
            time.sleep(0.05)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", Interrupting)
        with pytest.raises(KeyboardInterrupt):
            Table.open(table_path)
    assert len(started) == 1
    assert eventually(lambda: is_reaped(started[0].pid))
    with Table.open(table_path) as table:
        assert table.verdict("https://shop.example/tea", "GPTBot").verdict == "allow"


def test_a_start_that_the_system_refuses(table_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_processes, "command", lambda: [str(table_path)])
    with pytest.raises(RobotsFilterError, match=r"cannot be started: Permission denied"):
        Table.open(table_path)
