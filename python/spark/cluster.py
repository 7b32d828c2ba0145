"""A standalone cluster of Spark on loopback: a master and two workers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyspark

LOOPBACK = "127.0.0.1"
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
        words = ["--host", LOOPBACK, "--webui-port", "0", "--cores", "1", "--memory", "700m"]
        work = ["--work-dir", str(self._place / f"work{number}")]
        return self._start("worker.Worker", *words, *work, self.url, log=f"worker{number}")

    def _start(self, name: str, *words: str, log: str | None = None) -> subprocess.Popen[bytes]:
        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": LOOPBACK,
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


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
