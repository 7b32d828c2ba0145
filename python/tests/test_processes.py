"""What happens to the process that judges: death, fork, threads, interruption, the end."""

from __future__ import annotations

import _thread
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from robots_filter import ProcessError, RobotsFilterError, Table, _processes
from robots_filter._columns import columns_of
from robots_filter._connection import Connection
from robots_filter._judge import Judge
from robots_filter._question import question_of

URLS = ["https://shop.example/tea", "https://blog.example/essays/1", "https://new.example/"]
VERDICTS = ["allow", "deny", "unknown"]


def judge_of(table: Table) -> Judge:
    assert isinstance(table._judge, Judge)
    return table._judge


def connection_of(table: Table) -> Connection:
    """The connection of the next call."""
    with judge_of(table)._processes.lent() as connection:
        return connection


def process_of(table: Table) -> int:
    return connection_of(table)._process.pid


def ask(table: Table, columns: Iterator[Any]) -> object:
    return judge_of(table).exchange(question_of("*"), columns)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(autouse=True)
def within_a_minute() -> Iterator[None]:
    """Fail, rather than hang."""

    def fail(*_: object) -> None:
        raise AssertionError("a minute has passed")

    signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("after", [0, 1, 7])
def test_kill_in_mid_call(table_path: Path, threads: int, after: int) -> None:
    with Table.open(table_path, threads=threads) as table:
        process = process_of(table)
        taken = 0

        def columns() -> Iterator[object]:
            nonlocal taken
            for taken in range(100):
                if taken == after:
                    os.kill(process, signal.SIGKILL)
                yield from columns_of(URLS * 20_000, [])

        with pytest.raises(ProcessError, match="was ended by signal 9"):
            ask(table, columns())
        assert taken < 99
        # The next call has another process.
        assert table.verdicts(URLS, "GPTBot") == VERDICTS
        assert process_of(table) != process


def test_kill_between_calls(table_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_processes, "_cores", lambda: 2)
    with Table.open(table_path) as table:
        lend = judge_of(table)._processes.lent
        with lend() as first, lend() as second:
            processes = [each._process for each in (first, second)]
        for process in processes:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        # Nothing was lost, so that nobody need know.
        assert table.verdicts(URLS, "GPTBot") == VERDICTS
        assert process_of(table) not in [process.pid for process in processes]


def test_each_call_has_its_turn(table_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_processes, "_cores", lambda: 2)
    with Table.open(table_path, threads=1) as table:
        # Hundreds of calls of the others may end while one call starts the second process.
        lend = judge_of(table)._processes.lent
        with lend(), lend():
            pass
        calls = [0] * 6
        ended = threading.Event()

        def judge(thread: int) -> None:
            while not ended.is_set():
                assert table.verdicts(URLS * 500, "GPTBot") == VERDICTS * 500
                calls[thread] += 1

        with ThreadPoolExecutor(6) as pool:
            threads = [pool.submit(judge, thread) for thread in range(6)]
            while sum(calls) < 300:
                time.sleep(0.05)
            ended.set()
            for thread in threads:
                thread.result()
    # Threads that ask at once cannot be told to keep in step, but none is left out.
    assert min(calls) >= 20, calls


def test_the_error_has_the_end_of_standard_error(table_path: Path) -> None:
    with Table.open(table_path) as table:
        connection = connection_of(table)
        # A frame that is none: the program says what is wrong, and ends.
        os.write(connection._input, b"\xff" * 20)
        with pytest.raises(ProcessError) as raised:
            table.verdicts(URLS, "GPTBot")
        assert "ended with status 2" in str(raised.value)
        assert "a request of kind 4294967295" in str(raised.value)
        assert table.verdicts(URLS, "GPTBot") == VERDICTS


def test_a_file_that_vanished(table_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "copy.table"
    path.write_bytes(table_path.read_bytes())
    with Table.open(path) as table:
        path.unlink()
        assert table.verdicts(URLS, "GPTBot") == VERDICTS
        # The only process is taken, so that another one opens the file.
        processes = judge_of(table)._processes
        with processes.lent(), pytest.raises(RobotsFilterError, match="no such file"):
            table.verdicts(URLS, "GPTBot")


def test_calls_at_once_have_a_process_each(
    table_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_processes, "_cores", lambda: 3)
    with Table.open(table_path, threads=1) as table:
        barrier = threading.Barrier(3)

        def judge(number: int) -> tuple[int, list[object]]:
            with judge_of(table)._processes.lent() as connection:
                barrier.wait()
            urls = URLS * (2_000 + number)
            return connection._process.pid, [table.verdicts(urls, "GPTBot") for _ in range(3)]

        with ThreadPoolExecutor(3) as pool:
            judged = list(pool.map(judge, range(3)))
        processes = {process for process, _ in judged}
        assert len(processes) == 3
        for number, (_, results) in enumerate(judged):
            assert results == [VERDICTS * (2_000 + number)] * 3
        assert all(is_alive(process) for process in processes)
    assert not any(is_alive(process) for process in processes)


def test_further_calls_wait(table_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_processes, "_cores", lambda: 2)
    with Table.open(table_path, threads=1) as table:
        used: set[int] = set()

        def judge(number: int) -> list[object]:
            with judge_of(table)._processes.lent() as connection:
                used.add(connection._process.pid)
            urls = URLS * (2_000 + number)
            return table.verdicts(urls, "GPTBot")

        with ThreadPoolExecutor(8) as pool:
            judged = list(pool.map(judge, range(40)))
        assert judged == [VERDICTS * (2_000 + number) for number in range(40)]
        assert len(used) <= 2


def test_a_waiting_call_learns_that_the_table_is_closed(
    table_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_processes, "_cores", lambda: 1)
    table = Table.open(table_path, threads=1)
    with ThreadPoolExecutor(1) as pool, judge_of(table)._processes.lent():
        waiting = pool.submit(table.verdict, URLS[0], "*")
        time.sleep(0.1)
        assert not waiting.done()
        table.close()
        with pytest.raises(RobotsFilterError, match="is closed"):
            waiting.result()


def test_threads_that_python_did_not_start_share_a_process(table_path: Path) -> None:
    # Such a thread has an empty threading.local in each call, as one of _thread has.
    with Table.open(table_path, threads=1) as table:
        ended = threading.Semaphore(0)
        processes: set[int] = set()

        def judge() -> None:
            processes.add(process_of(table))
            ended.release()

        for _ in range(20):
            _thread.start_new_thread(judge, ())
            ended.acquire()
        assert len(processes) == 1


def test_idle_processes_end_but_one(table_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_processes, "_cores", lambda: 3)
    monkeypatch.setattr(_processes, "IDLE_SECONDS", 0.3)
    with Table.open(table_path, threads=1) as table:
        lend = judge_of(table)._processes.lent
        with lend() as first, lend() as second, lend() as third:
            processes = [each._process.pid for each in (first, second, third)]
        wait_for_end(processes[1])
        wait_for_end(processes[2])
        time.sleep(0.5)
        assert is_alive(processes[0])
        assert process_of(table) == processes[0]
        assert table.verdicts(URLS, "GPTBot") == VERDICTS


def test_a_table_that_nobody_holds_does_not_wait_for_its_timer(
    table_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_processes, "_cores", lambda: 2)
    monkeypatch.setattr(_processes, "IDLE_SECONDS", 50)
    table = Table.open(table_path, threads=1)
    with judge_of(table)._processes.lent() as first, judge_of(table)._processes.lent() as second:
        processes = [each._process.pid for each in (first, second)]
    del first, second, table
    gc.collect()
    for process in processes:
        wait_for_end(process)


def test_fork(table_path: Path) -> None:
    with Table.open(table_path, threads=1) as table:
        before = process_of(table)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                assert table.verdicts(URLS * 5000, "GPTBot") == VERDICTS * 5000
                assert process_of(table) != before
                own = process_of(table)
                table.close()
                assert not is_alive(own)
                status = 0
            finally:
                os.write(write, b"x")
                os._exit(status)
        # Both at the same time.
        assert table.verdicts(URLS * 5000, "GPTBot") == VERDICTS * 5000
        assert os.waitpid(child, 0)[1] == 0
        os.close(read)
        os.close(write)
        assert process_of(table) == before
        assert table.verdicts(URLS, "GPTBot") == VERDICTS
    assert not is_alive(before)


def test_a_forked_child_leaves_a_temporary_table_alone(robots: Path) -> None:
    script = f"""
import os
from robots_filter import Table
table = Table.compile({str(robots)!r}, threads=1)
if os.fork() > 0:
    assert os.wait()[1] == 0
    assert os.path.exists(table._path)
    table.__reduce__()[0](*table.__reduce__()[1]).close()
    print(table._path)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=50)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert not Path(ended.stdout.decode().strip()).exists()


def test_fork_while_another_thread_holds_the_lock(table_path: Path) -> None:
    table = Table.open(table_path, threads=1)
    held, forked = threading.Event(), threading.Event()

    def hold() -> None:
        with judge_of(table)._processes._lock:
            held.set()
            forked.wait()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        held.wait()
        child = os.fork()
        if child == 0:
            # Only this thread is here; nobody would ever free the lock.
            os._exit(0 if table.verdicts(URLS, "GPTBot") == VERDICTS else 1)
        forked.set()
    assert os.waitpid(child, 0)[1] == 0
    table.close()


def test_a_forked_child_does_not_hold_the_process_open(table_path: Path) -> None:
    # The child would keep the process alive if it held the other end of its standard input.
    script = f"""
import os, time
from robots_filter import Table
table = Table.open({str(table_path)!r})
if os.fork() == 0:
    os.closerange(0, 3)
    time.sleep(30)
    os._exit(0)
with table._judge._processes.lent() as connection:
    print(connection._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=25)
    assert ended.returncode == -9
    wait_for_end(int(ended.stdout))


@pytest.mark.parametrize("in_mid_call", [False, True])
def test_the_end_of_the_interpreter(table_path: Path, in_mid_call: bool) -> None:
    script = f"""
import threading
from robots_filter import Table
from robots_filter._columns import columns_of
from robots_filter._question import question_of
table = Table.open({str(table_path)!r})
passed = table.filter(iter(["https://shop.example/tea"] * 100), "*", batch_size=10)
next(passed)
processes = []
def columns():
    while True:
        yield from columns_of(["https://shop.example/tea"] * 1000, [])
        waiting.set()
        if not {in_mid_call}:
            return
def other():
    with table._judge._processes.lent() as connection:
        processes.append(connection._process.pid)
    table._judge.exchange(question_of("*"), columns())
    threading.Event().wait()
waiting = threading.Event()
threading.Thread(target=other, daemon=True).start()
waiting.wait()
print(*processes)
"""
    started = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=50)
    assert ended.returncode == 0
    # The thread may come to its error before the interpreter stops it.
    last = ended.stderr.decode().strip().rpartition("\n")[2]
    assert last == "" or in_mid_call
    assert time.monotonic() - started < 30
    processes = [int(process) for process in ended.stdout.split()]
    assert len(processes) == 1
    for process in processes:
        wait_for_end(process)


def wait_for_end(process: int) -> None:
    # The process may be a zombie until its new parent has noticed.
    for _ in range(200):
        if not is_alive(process) or is_zombie(process):
            return
        time.sleep(0.05)
    pytest.fail(f"process {process} is still there")


def is_zombie(process: int) -> bool:
    try:
        return ") Z " in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def test_close(table_path: Path) -> None:
    table = Table.open(table_path)
    process = process_of(table)
    table.close()
    table.close()
    assert not is_alive(process)
    with pytest.raises(RobotsFilterError, match=r"is closed. Open it again"):
        table.verdicts(URLS, "*")


def test_close_while_another_thread_asks(table_path: Path) -> None:
    table = Table.open(table_path)
    begun = threading.Event()

    def columns() -> Iterator[object]:
        while True:
            yield from columns_of(URLS, [])
            begun.set()

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, table, columns())
        begun.wait()
        table.close()
        with pytest.raises(RobotsFilterError, match=r"is closed. Open it again"):
            asked.result()


def test_an_error_of_the_caller_leaves_the_table_usable(table_path: Path) -> None:
    with Table.open(table_path) as table:
        process = process_of(table)

        def columns() -> Iterator[object]:
            for _ in range(5):
                yield from columns_of(URLS * 20_000, [])
            raise LookupError("nothing more")

        with pytest.raises(LookupError, match="nothing more"):
            ask(table, columns())
        assert table.verdicts(URLS, "GPTBot") == VERDICTS
        assert process_of(table) == process


def test_an_interruption_in_mid_call(table_path: Path) -> None:
    with Table.open(table_path) as table:
        process = process_of(table)

        def columns() -> Iterator[object]:
            yield from columns_of(URLS * 20_000, [])
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ask(table, columns())
        # Answers may be on their way, so that process is not asked again.
        assert not is_alive(process)
        assert table.verdicts(URLS, "GPTBot") == VERDICTS


def test_a_call_within_a_call(table_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As a signal handler makes it. It does not wait for the call that it interrupts.
    monkeypatch.setattr(_processes, "_cores", lambda: 1)
    with Table.open(table_path) as table:
        inner = []

        def columns() -> Iterator[object]:
            inner.append(table.verdicts(URLS, "GPTBot"))
            yield from columns_of(URLS, [])

        ask(table, columns())
        assert inner == [VERDICTS]
        assert table.verdicts(URLS, "GPTBot") == VERDICTS


def test_a_call_of_a_signal_handler_while_a_call_waits(
    table_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_processes, "_cores", lambda: 1)
    with Table.open(table_path, threads=1) as table:
        handled: list[object] = []
        lent, handler = threading.Event(), threading.Event()

        def handle(*_: object) -> None:
            handled.append(table.verdicts(URLS, "GPTBot"))
            handler.set()

        def hold() -> None:
            with judge_of(table)._processes.lent():
                lent.set()
                time.sleep(0.2)
                os.kill(os.getpid(), signal.SIGUSR1)
                handler.wait()

        before = signal.signal(signal.SIGUSR1, handle)
        try:
            with ThreadPoolExecutor(1) as pool:
                held = pool.submit(hold)
                lent.wait()
                assert table.verdicts(URLS, "GPTBot") == VERDICTS
                held.result()
        finally:
            signal.signal(signal.SIGUSR1, before)
        assert handled == [VERDICTS]


def test_a_replaced_table_is_refused(robots: Path, tmp_path: Path) -> None:
    path, source = tmp_path / "robots.table", tmp_path / "robots.ndjson"
    Table.compile(robots, path).close()
    source.write_text('{"host":"shop.example","status":503}\n')
    with Table.open(path) as table:
        pickled = pickle.dumps(table)
        Table.compile(source, path).close()
        # The process that is there has the old table.
        assert table.verdicts(URLS, "GPTBot") == VERDICTS
        process = connection_of(table)._process
        process.kill()
        process.wait()
        for again in (lambda: table.verdicts(URLS, "GPTBot"), lambda: pickle.loads(pickled)):
            with pytest.raises(RobotsFilterError, match=r"robots\.table was replaced since it was"):
                again()
    with Table.open(path) as table:
        assert table.verdicts(URLS, "GPTBot") == ["deny", "unknown", "unknown"]


def test_pickle(table_path: Path) -> None:
    with Table.open(table_path, threads=1) as table, pickle.loads(pickle.dumps(table)) as copy:
        assert copy.verdicts(URLS, "GPTBot") == VERDICTS
        assert process_of(copy) != process_of(table)
