"""What surroundings and callers can do to a table: each case runs against a real process."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from robots_filter import RobotsFilterError, Table, UsageError
from robots_filter._columns import columns_of
from robots_filter._question import question_of

URLS = ["https://shop.example/tea", "https://blog.example/essays/1", "https://new.example/"]
VERDICTS = ["allow", "deny", "unknown"]


@pytest.mark.parametrize("before", [0, 1, 9, 10, 11])
def test_filter_yields_what_stands_before_an_error(table: Table, before: int) -> None:
    def broken() -> Iterator[str]:
        yield from URLS[:1] * before
        raise LookupError("the source broke")

    taken: list[str] = []
    with pytest.raises(LookupError, match="the source broke"):
        taken.extend(table.filter(broken(), "*", batch_size=10))
    assert taken == URLS[:1] * before

    def url(number: int) -> str:
        if number == before:
            raise LookupError("no URL")
        return URLS[0]

    numbers: list[int] = []
    with pytest.raises(LookupError, match="no URL"):
        numbers.extend(table.filter(range(30), "*", url=url, batch_size=10))
    assert numbers == list(range(before))


def test_filter_does_not_end_early_when_url_raises_stop_iteration(table: Table) -> None:
    def url(number: int) -> str:
        return next(iter([])) if number == 5 else URLS[0]

    with pytest.raises(RuntimeError, match="StopIteration"):
        list(table.filter(range(30), "*", url=url, batch_size=10))


def test_filter_names_the_item_that_is_no_url(table: Table) -> None:
    with pytest.raises(UsageError, match="URL 25 is of type int"):
        list(table.filter([*URLS[:1] * 25, 7], "*", batch_size=10))  # type: ignore[list-item]


def test_a_signal_handler_that_closes_the_table(table_path: Path, tmp_path: Path) -> None:
    # If the pipe were closed in mid-call, its number could be that of the file, and URLs go there.
    table = Table.open(table_path)
    other = tmp_path / "other"
    opened: list[Any] = []

    def columns() -> Iterator[Any]:
        yield from columns_of(URLS, [])
        table.close()
        opened.append(other.open("wb"))
        yield from columns_of(URLS * 100_000, [])

    with pytest.raises(RobotsFilterError, match="is closed"):
        table._judge.exchange(question_of("*"), columns())  # type: ignore[union-attr]
    opened[0].close()
    assert other.read_bytes() == b""
    with pytest.raises(RobotsFilterError, match="is closed"):
        table.verdicts(URLS, "*")


def test_close_while_another_thread_opens(table_path: Path, monkeypatch: Any) -> None:
    table = Table.open(table_path, threads=1)
    from robots_filter import _processes

    def connection(words: list[str]) -> Any:
        made.append(_connection(words))
        table.close()
        return made[0]

    made: list[Any] = []
    _connection = _processes.Connection
    monkeypatch.setattr(_processes, "Connection", connection)
    lent = table._judge._processes.lent()
    with lent, ThreadPoolExecutor(1) as pool, pytest.raises(RobotsFilterError, match="is closed"):
        pool.submit(table.verdicts, URLS, "*").result()
    assert made[0]._process.poll() is not None


def test_no_descriptors_left(table_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, limits[1]))
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        # Six for the pipes, and two more while the process starts.
        for _ in range(8):
            with pytest.raises(RobotsFilterError, match=r"Too many open files. Close tables"):
                Table.open(table_path)
            os.close(taken.pop())
        # As many as were given back, so that no pipe was left open.
        with Table.open(table_path) as table:
            assert table.verdicts(URLS, "GPTBot") == VERDICTS
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for descriptor in taken:
            os.close(descriptor)


def test_no_temporary_directory(robots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(robots / "missing"))
    with pytest.raises(RobotsFilterError, match="no temporary directory can be made"):
        Table.compile(robots)


def test_a_table_that_is_truncated_while_it_is_used(table_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "robots.table"
    data = table_path.read_bytes()
    path.write_bytes(data)
    with Table.open(path, threads=1) as table:
        for length in (len(data) // 2, 10, 0):
            os.truncate(path, length)
            assert table.verdicts(URLS, "GPTBot") == VERDICTS
            # The only process is taken, so that another one opens the file.
            with table._judge._processes.lent(), pytest.raises(RobotsFilterError) as raised:
                table.verdicts(URLS, "GPTBot")
            assert str(path) in str(raised.value)


def judge_here(table: Table) -> list[Any]:
    return table.verdicts(URLS, "GPTBot")


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_pools_of_processes(table_path: Path, method: str) -> None:
    with Table.open(table_path, threads=1) as table:
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(judge_here, [table] * 3, chunksize=1) == [VERDICTS] * 3
        assert judge_here(table) == VERDICTS


def test_without_standard_streams(table_path: Path, tmp_path: Path) -> None:
    script = f"""
import os
os.closerange(0, 3)
from robots_filter import Table
with Table.open({str(table_path)!r}) as table:
    found = table.verdicts({URLS!r} * 50_000, "GPTBot") == {VERDICTS!r} * 50_000
os._exit(7 if found else 1)
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=50).returncode == 7


def test_ctrl_c(table_path: Path) -> None:
    script = f"""
import sys
from robots_filter import Table
table = Table.open({str(table_path)!r})
process = table._judge._processes._idle[-1][1]._process
print(process.pid, flush=True)
try:
    while True:
        table.verdicts({URLS!r} * 50_000, "GPTBot")
except KeyboardInterrupt:
    assert table.verdicts({URLS!r}, "GPTBot") == {VERDICTS!r}
    last = table._judge._processes._idle[-1][1]._process
    assert process is last or process.poll() is not None
    sys.exit(7)
"""
    words = [sys.executable, "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as python:
        assert python.stdout is not None
        python.stdout.readline()
        threading.Event().wait(0.3)
        # As a terminal does: to the whole group.
        os.killpg(python.pid, signal.SIGINT)
        assert python.wait(30) == 7


def test_ctrl_c_leaves_no_unfinished_table(tmp_path: Path) -> None:
    source, output = tmp_path / "robots.ndjson", tmp_path / "tables" / "robots.table"
    output.parent.mkdir()
    with source.open("w") as file:
        for number in range(20_000):
            robots = "".join(f"Disallow: /{number}/{rule}\\n" for rule in range(9))
            file.write(f'{{"host":"h{number}.example","robots":"User-agent: *\\n{robots}"}}\n')

    def interrupt() -> None:
        while not any(output.parent.iterdir()):
            threading.Event().wait(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        Table.compile(source, output)
    assert not any(path.suffix == ".tmp" for path in output.parent.iterdir())


def test_a_url_longer_than_a_word_counts(table: Table) -> None:
    try:
        # Memory that nobody writes to takes no room.
        url = bytes((1 << 32) + 1)
    except MemoryError:
        pytest.skip("there is no room")
    assert table.verdicts([URLS[0], url, URLS[0]], "*") == ["allow", "invalid", "allow"]


def test_blocks_of_long_urls(table: Table) -> None:
    url = "https://blog.example/old".ljust(1 << 20, "x")
    urls = [URLS[0], None, *[url] * 40, URLS[0]]
    expected = ["allow", None, *["deny"] * 40, "allow"]
    assert table.verdicts(urls, "*") == expected  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux refuses addresses")
@pytest.mark.parametrize(("gibibytes", "works"), [(1, False), (16, True), (18, True)])
def test_limits_of_addresses(table_path: Path, gibibytes: int, works: bool) -> None:
    # As spark.executor.pyspark.memory sets them.
    script = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({gibibytes} << 30, {gibibytes} << 30))
from robots_filter import RobotsFilterError, Table
try:
    with Table.open({str(table_path)!r}, threads=1) as table:
        print(*table.verdicts({URLS!r}, "GPTBot"))
except RobotsFilterError as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    if works:
        assert ended.stdout.split() == VERDICTS
    else:
        assert "is limited to 1.0 GiB" in ended.stdout
        assert "spark.executor.pyspark.memory" in ended.stdout
