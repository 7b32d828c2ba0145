"""What happens to the process that judges: death, fork, threads, interruption, the end."""

from __future__ import annotations

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

from robots_filter import ProcessError, RobotsFilterError, Table
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
    return judge_of(table)._processes.own()


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


def test_kill_between_calls(table_path: Path) -> None:
    with Table.open(table_path) as table:
        os.kill(process_of(table), signal.SIGKILL)
        with pytest.raises(ProcessError, match="The next call starts another"):
            table.verdict(URLS[0], "*")
        assert table.verdict(URLS[0], "*").verdict == "allow"


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
        with ThreadPoolExecutor(1) as pool, pytest.raises(RobotsFilterError, match="no such file"):
            pool.submit(table.verdicts, URLS, "GPTBot").result()


def test_threads_have_their_own_processes(table_path: Path) -> None:
    with Table.open(table_path, threads=1) as table:
        barrier = threading.Barrier(3)

        def judge(number: int) -> tuple[int, list[object]]:
            barrier.wait()
            urls = URLS * (2_000 + number)
            return process_of(table), [table.verdicts(urls, "GPTBot") for _ in range(3)]

        with ThreadPoolExecutor(3) as pool:
            judged = list(pool.map(judge, range(3)))
        processes = {process for process, _ in judged}
        assert len(processes) == 3
        for number, (_, results) in enumerate(judged):
            assert results == [VERDICTS * (2_000 + number)] * 3
        # A thread that has ended takes its process along.
        gc.collect()
        assert not any(is_alive(process) for process in processes)


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
print(table._judge._processes.own()._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=25)
    assert ended.returncode == -9
    wait_for_end(int(ended.stdout))


def test_the_end_of_the_interpreter(table_path: Path) -> None:
    script = f"""
import threading
from robots_filter import Table
table = Table.open({str(table_path)!r})
passed = table.filter(iter(["https://shop.example/tea"] * 100), "*", batch_size=10)
next(passed)
processes = [table._judge._processes.own()._process.pid]
def other():
    table.verdict("https://shop.example/tea", "*")
    processes.append(table._judge._processes.own()._process.pid)
    waiting.set()
    threading.Event().wait()
waiting = threading.Event()
threading.Thread(target=other, daemon=True).start()
waiting.wait()
print(*processes)
"""
    started = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=50)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert time.monotonic() - started < 30
    processes = [int(process) for process in ended.stdout.split()]
    assert len(processes) == 2
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
        with pytest.raises(ProcessError, match="signal 9"):
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


def test_a_call_within_a_call_is_refused(table_path: Path) -> None:
    with Table.open(table_path) as table:

        def columns() -> Iterator[object]:
            table.verdict(URLS[0], "*")
            yield from columns_of(URLS, [])

        with pytest.raises(RobotsFilterError, match="in the middle of another call"):
            ask(table, columns())
        assert table.verdicts(URLS, "GPTBot") == VERDICTS


def test_a_replaced_table_is_refused(robots: Path, tmp_path: Path) -> None:
    path, source = tmp_path / "robots.table", tmp_path / "robots.ndjson"
    Table.compile(robots, path).close()
    source.write_text('{"host":"shop.example","status":503}\n')
    with Table.open(path) as table:
        pickled = pickle.dumps(table)
        Table.compile(source, path).close()
        # The process that is there has the old table.
        assert table.verdicts(URLS, "GPTBot") == VERDICTS
        os.kill(process_of(table), signal.SIGKILL)
        with pytest.raises(ProcessError):
            table.verdicts(URLS, "GPTBot")
        for again in (lambda: table.verdicts(URLS, "GPTBot"), lambda: pickle.loads(pickled)):
            with pytest.raises(RobotsFilterError, match=r"robots\.table was replaced since it was"):
                again()
    with Table.open(path) as table:
        assert table.verdicts(URLS, "GPTBot") == ["deny", "unknown", "unknown"]


def test_pickle(table_path: Path) -> None:
    with Table.open(table_path, threads=1) as table, pickle.loads(pickle.dumps(table)) as copy:
        assert copy.verdicts(URLS, "GPTBot") == VERDICTS
        assert process_of(copy) != process_of(table)
