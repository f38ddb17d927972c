"""Servers as they are deployed, the load on them, and what the system says of their processes (Linux)."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Final, NamedTuple

from tests.api.servers import PATIENCE, ROOT

# Workers live for the whole run: one that is replaced would take its CPU time and its memory along.
GUNICORN: Final = (
    *(sys.executable, "-m", "gunicorn", "--config", "deploy/gunicorn.conf.py"),
    *("--log-level", "error", "--max-requests", "0"),
)
UVICORN: Final = (
    *(sys.executable, "-m", "uvicorn", "--loop", "uvloop", "--http", "httptools"),
    *("--log-level", "error", "--no-access-log"),
)
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def missing() -> str | None:
    """What this machine lacks to put a server under load."""
    if not Path("/proc/self/smaps_rollup").exists():
        return "needs Linux: what a process takes is read from /proc"
    return None if shutil.which("wrk") else "needs wrk (Debian and Ubuntu: apt-get install wrk)"


class Server(NamedTuple):
    """A running server and the port that it answers on."""

    pid: int
    port: int

    def workers(self) -> list[int]:
        return family(self.pid)[1:]

    def cpu_seconds(self) -> float:
        """CPU time of all its processes so far, to a hundredth of a second."""
        return sum(map(_cpu_seconds, family(self.pid)))


@contextmanager
def server(
    command: Sequence[str], workers: int = 2, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """A server for as long as it is needed, its log thrown away.

    The socket is opened here, so the port is known and the first request waits until there is a worker.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        port, number = listening.getsockname()[1], listening.fileno()
        bound = ["--bind", f"fd://{number}"] if "gunicorn" in command else ["--fd", str(number)]
        process = subprocess.Popen(
            [*command, *bound, "--workers", str(workers)],
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            stdout=subprocess.DEVNULL,
            pass_fds=[number],
        )
    try:
        ask(port, "GET", "/")
        yield Server(process.pid, port)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def ask(port: int, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    """Status and body of one answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json", "Connection": "close"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


class Burst(NamedTuple):
    """What a server did under load."""

    requests: int
    seconds: float
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    @property
    def cost(self) -> float:
        """CPU seconds a request."""
        return self.cpu_seconds / self.requests


def burst(
    server: Server, path: str, bodies: Path, seconds: int, connections: int = 16, *, kept: bool = True
) -> Burst:
    """Post the bodies of a file, one a line, by turns, over so many connections at a time.

    They are kept alive, unless each is to carry one request only. Where nothing is answered in time it takes
    twice as long. Afterwards the server is at rest: what was still under way is answered to nobody.
    """
    before = server.cpu_seconds()
    done = subprocess.run(
        [
            *("wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s"),
            *("--timeout", "10s", "--script", str(Path(__file__).with_name("post.lua"))),
            *(f"http://127.0.0.1:{server.port}{path}", "--", str(bodies), "keep-alive" if kept else "close"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    after = server.cpu_seconds()
    _rest(server)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["failed"] == 0, done.stdout
    if not told["requests"]:
        return burst(server, path, bodies, 2 * seconds, connections, kept=kept)
    return Burst(told["requests"], told["microseconds"] / 1e6, after - before)


def _rest(server: Server) -> None:
    before = -1.0
    while (now := server.cpu_seconds()) != before:
        before = now
        sleep(0.05)


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(_stat(int(entry.name))[1])
        except OSError:  # gone meanwhile
            continue
        children.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def _cpu_seconds(pid: int) -> float:
    user, system = _stat(pid)[11:13]
    return (int(user) + int(system)) / _TICKS


def _stat(pid: int) -> list[str]:
    """The fields of proc_pid_stat(5) behind the name of the program, the state first."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def pss(pid: int) -> float:
    """Memory of a process in MB, what it shares counted in proportion."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise AssertionError("no Pss")
