"""A real gunicorn with the settings that get deployed, while its workers are replaced all the time."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

ROOT = Path(__file__).parents[2]
SEED = "0123456789abcdef" * 4
WORKERS = 2
KINDS = 3  # of files that a process may write: counters, histograms, gauges


@dataclass
class Server:
    """A running gunicorn, its output in files."""

    process: subprocess.Popen[bytes]
    stdout: Path
    stderr: Path
    port: int = 0

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def count(self, requests: int = 1) -> set[int]:
        """Send requests that are counted. The process ids of the workers that answered."""
        answers = [self.get("/") for _ in range(requests)]
        assert {status for status, _ in answers} == {200}
        return {int(pid) for _, pid in answers}

    def metric(self, name: str) -> float:
        _, text = self.get("/metrics")
        families = text_string_to_metric_families(text)
        return sum(sample.value for family in families for sample in family.samples if sample.name == name)

    def directory(self) -> Path:
        return Path(self.get("/directory")[1])

    def listening(self) -> bool:
        assert self.process.poll() is None, self.stderr.read_text()
        found = re.search(r"Listening at: http://127\.0\.0\.1:(\d+)", self.stderr.read_text())
        self.port = int(found[1]) if found else 0
        return found is not None

    def wrote(self, text: str, times: int = 1) -> Callable[[], bool]:
        return lambda: self.stderr.read_text().count(text) >= times

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(60)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    settings = {"max-requests": 10, "max-requests-jitter": 5, "graceful-timeout": 1, "log-level": "debug"}
    environment = {
        **os.environ,
        "HOST": "127.0.0.1",
        "PORT": "0",
        "WEB_CONCURRENCY": str(WORKERS),
        "GUNICORN_CMD_ARGS": " ".join(f"--{name}={value}" for name, value in settings.items()),
    }
    command = [sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.conf.py"]
    stdout, stderr = tmp_path / "stdout", tmp_path / "stderr"
    with (
        stdout.open("wb") as out,
        stderr.open("wb") as err,
        subprocess.Popen(
            [*command, "tests.observability.counting_app:application"],
            cwd=ROOT,
            env=environment,
            stdout=out,
            stderr=err,
        ) as process,
    ):
        server = Server(process, stdout, stderr)
        try:
            wait_until(server.listening)
            yield server
        finally:
            if process.poll() is None:
                try:
                    server.stop()
                except subprocess.TimeoutExpired:
                    process.kill()


def test_recycled_workers_lose_no_count_and_leave_no_files(server: Server) -> None:
    assert len(server.count(400)) > 20, "workers were replaced"
    assert server.metric("russian_poker_requests_total") == 400
    assert server.metric("russian_poker_request_seconds_count") == 400
    assert server.metric("russian_poker_info") == 1
    # Those of the workers, and the one with the master's info.
    assert len(list(server.directory().iterdir())) <= WORKERS * KINDS + 1


def test_a_killed_worker_takes_no_count_with_it(server: Server) -> None:
    for _ in range(3):
        (pid,) = server.count()
        os.kill(pid, signal.SIGKILL)
        # Until it is gone a request could still be handed to it.
        wait_until(server.wrote(f"(pid:{pid}) was sent SIGKILL"))
    server.count(20)
    assert server.metric("russian_poker_requests_total") == 23


def test_a_reload_keeps_counts_and_bounds_files(server: Server) -> None:
    for reloads in (1, 2, 3):
        server.count(10)
        server.process.send_signal(signal.SIGHUP)
        wait_until(server.wrote("Handling signal: hup", times=reloads))
        server.count(10)
    assert server.metric("russian_poker_requests_total") == 60
    assert server.metric("russian_poker_info") == 1
    # During a reload the old workers and the new ones live side by side.
    assert len(list(server.directory().iterdir())) <= 2 * WORKERS * KINDS + 1


def test_the_directory_lives_as_long_as_the_server(server: Server) -> None:
    directory = server.directory()
    server.count(40)
    assert directory.is_dir()
    assert server.stop() == 0
    assert not directory.exists()


def test_the_server_logs_json_and_no_seed(server: Server) -> None:
    status, _ = server.get(f"/fail/{SEED}")
    assert status == 500
    server.stop()
    lines = [json.loads(line) for line in server.stderr.read_text().splitlines()]
    (failure,) = (line for line in lines if "exception" in line)
    assert "ValueError: cannot digest /fail/[64 hex digits]" in failure["exception"]
    assert SEED not in server.stderr.read_text()
    assert server.stdout.read_text() == "", "gunicorn writes no access lines"


def test_no_control_socket_is_opened(server: Server) -> None:
    wait_until(server.wrote("Control socket disabled"))
