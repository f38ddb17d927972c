"""The service asked over sockets: as deployed, by ``russian-poker serve``, or in a thread of this process."""

import contextlib
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from socketserver import BaseServer
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

ROOT = Path(__file__).parents[2]
SERVE = [sys.executable, "-m", "service.cli", "serve"]
PATIENCE = 60.0


class Answer(NamedTuple):
    """An answer as it came over the wire, the names of its headers in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


class Wire:
    """One connection, for bytes that no client library would send."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self) -> Answer:
        """The next answer; anything that is none fails."""
        line = self.file.readline()
        found = re.fullmatch(rb"HTTP/1\.1 (\d{3}) [ -~]*\r\n", line)
        assert found, line
        headers: dict[str, str] = {}
        while (line := self.file.readline()) != b"\r\n":
            name, _, text = line.decode("latin-1").partition(":")
            headers[name.lower()] = text.strip()
        length = int(headers.get("content-length", "0"))
        body = self.file.read(length)
        assert len(body) == length
        return Answer(int(found[1]), headers, body)

    def rest(self) -> bytes:
        """What still comes until the service closes the connection."""
        return self.file.read()

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@dataclass
class Server:
    """A running service, its output in files."""

    process: subprocess.Popen[bytes]
    stdout: Path
    stderr: Path
    port: int = 0

    def listening(self) -> bool:
        assert self.process.poll() is None, self.stderr.read_text()
        found = re.search(r"Listening at: http://127\.0\.0\.1:(\d+)", self.stderr.read_text())
        self.port = int(found[1]) if found else 0
        return found is not None

    @contextlib.contextmanager
    def wire(self) -> Iterator[Wire]:
        wire = Wire(self.port)
        try:
            yield wire
        finally:
            wire.close()

    @contextlib.contextmanager
    def client(self) -> Iterator[Callable[..., Answer]]:
        """A function that asks over one connection that is kept alive."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

        def ask(path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
            if body is None:
                connection.request("GET", path, headers=dict(headers or {}))
            else:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                sent = {"Content-Type": "application/json", **(headers or {})}
                connection.request("POST", path, data, sent)
            response = connection.getresponse()
            return Answer(
                response.status,
                {name.lower(): text for name, text in response.getheaders()},
                response.read(),
            )

        try:
            yield ask
        finally:
            connection.close()

    def ask(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """The answer over a connection of its own."""
        with self.client() as ask:
            return ask(path, body, {"Connection": "close", **(headers or {})})

    def lines(self) -> list[dict[str, Any]]:
        """All that was logged so far."""
        text = self.stdout.read_text() + self.stderr.read_text()
        return [json.loads(line) for line in text.splitlines()]

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def serving(
    folder: Path, command: list[str] = SERVE, cwd: Path = ROOT, **environment: str
) -> Iterator[Server]:
    """A service on a free port for as long as it is needed."""
    settings = {"HOST": "127.0.0.1", "PORT": "0", "WEB_CONCURRENCY": "2", **environment}
    folder.mkdir(exist_ok=True)
    stdout, stderr = folder / "stdout", folder / "stderr"
    with (
        stdout.open("wb") as out,
        stderr.open("wb") as err,
        subprocess.Popen(command, cwd=cwd, env={**os.environ, **settings}, stdout=out, stderr=err) as process,
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


@contextlib.contextmanager
def serving_here(app: "WSGIApplication", tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """An app on a free port, which is given, for as long as it is needed."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Silent, ssl_context=tls)
    with listening(server):
        yield server.port


class _Silent(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"  # so that connections are kept alive

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


@contextlib.contextmanager
def listening(server: BaseServer) -> Iterator[None]:
    """A server in a thread of this process."""
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
