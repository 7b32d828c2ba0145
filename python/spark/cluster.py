"""A standalone cluster of Spark on loopback: a master and two workers; a server of Connect.

The workers have addresses of their own, because Spark runs a second copy of a slow task on another
host only. Linux has them all; macOS needs `ifconfig lo0 alias 127.0.0.2`.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

LOOPBACK = "127.0.0.1"
WORKERS = ("127.0.0.1", "127.0.0.2")
START_SECONDS = 90.0


class Cluster:
    """Processes that end with `close`."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._processes: list[subprocess.Popen[bytes]] = []
        self.url = f"spark://{LOOPBACK}:{free_port()}"
        port = self.url.rpartition(":")[2]
        self._start("master.Master", "--host", LOOPBACK, "--port", port, "--webui-port", "0")
        self._await("master.Master", "New state: ALIVE")
        self.workers = [self._worker(number) for number in (1, 2)]
        for number in (1, 2):
            self._await(f"worker{number}", "Successfully registered with master")

    def kill_worker(self) -> None:
        """Kill a worker and its executor, as a machine that fails does."""
        os.killpg(self.workers[1].pid, signal.SIGKILL)

    def close(self) -> None:
        """End all processes of the cluster."""
        for process in self._processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            process.wait()

    def _worker(self, number: int) -> subprocess.Popen[bytes]:
        host = WORKERS[number - 1]
        words = ["--host", host, "--webui-port", "0", "--cores", "1", "--memory", "700m"]
        work = ["--work-dir", str(self._place / f"work{number}")]
        log = f"worker{number}"
        return self._start("worker.Worker", *words, *work, self.url, host=host, log=log)

    def _start(
        self, name: str, *words: str, host: str = LOOPBACK, log: str | None = None
    ) -> subprocess.Popen[bytes]:
        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
        }
        log_path = self._place / f"{log or name}.log"
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *words],
            stdin=subprocess.DEVNULL,
            stdout=log_path.open("wb"),
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def _await(self, log: str, text: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        path = self._place / f"{log}.log"
        while time.monotonic() < deadline:
            if path.exists() and text in path.read_text(errors="replace"):
                return
            time.sleep(0.2)
        raise TimeoutError(f"{log} did not start: {path.read_text(errors='replace')[-2000:]}")


#: A session that serves clients until its standard input ends.
CONNECT = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
for word in sys.argv[1:]:
    builder = builder.config(*word.split("=", 1))
builder.getOrCreate()
print("ready", flush=True)
sys.stdin.read()
"""


#: Spark Connect for PySpark 3.5, which has no server. Of 3.5.8 and 3.5.9 Maven had none.
CONNECT_3 = "org.apache.spark:spark-connect_2.12:3.5.7"


@contextmanager
def connect_server(place: Path) -> Iterator[str | None]:
    """Start a server of Spark Connect; give its address, or None if Maven does not give it."""
    port = free_port()
    settings = [
        "spark.plugins=org.apache.spark.sql.connect.SparkConnectPlugin",
        f"spark.connect.grpc.binding.port={port}",
    ]
    if pyspark.__version__.startswith("3."):
        jar = jar_of(CONNECT_3, place)
        if jar is None:
            yield None
            return
        settings.append(f"spark.jars={jar}")
    log = place / "connect.log"
    with log.open("wb") as errors:
        server = subprocess.Popen(
            [sys.executable, "-c", CONNECT, *settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            # The server keeps what clients send in its directory.
            cwd=place,
            start_new_session=True,
        )
    try:
        assert server.stdout is not None
        if server.stdout.readline() != b"ready\n":
            raise RuntimeError(f"no server of Connect: {log.read_text(errors='replace')[-3000:]}")
        yield f"sc://{LOOPBACK}:{port}"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def jar_of(artifact: str, place: Path) -> Path | None:
    """Copy an artifact of Maven to a directory; return None if there is no Maven or network."""
    if shutil.which("mvn") is None:
        return None
    get = ["dependency:get", f"-Dartifact={artifact}", "-Dtransitive=false"]
    copy = ["dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={place}"]
    for goal in (get, copy):
        if subprocess.run(["mvn", "-q", "-B", *goal], cwd=place, capture_output=True).returncode:
            return None
    _, name, version = artifact.split(":")
    return place / f"{name}-{version}.jar"


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
