"""How gunicorn runs the service, by `russian-poker serve` or `gunicorn -c deploy/gunicorn.conf.py`."""

import itertools
import os
import socket
import struct
from typing import Any

from gunicorn.glogging import Logger

from service.observability import logs, metrics
from service.settings import whole_setting

wsgi_app = "service.api:create_app()"

# On this machine only, unless told otherwise.
_host, _port = os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8080")
bind = f"[{_host}]:{_port}" if ":" in _host else f"{_host}:{_port}"  # IPv6 addresses need the brackets

# A worker uses one core, so as many as there are cores. Two, so that one answers while the other is replaced.
workers = whole_setting("WEB_CONCURRENCY")

# Rounds take turns on the core whatever the number of threads; these keep a slow sender from stopping all.
worker_class = "gthread"
threads = 4

# Seconds that a thread waits for the next bytes of a request: who sends none holds it no longer.
_PATIENCE = whole_setting("SENDER_TIMEOUT")

# Tables are built once, in the master, and shared with all workers: a worker starts in milliseconds.
preload_app = True

# Both the workers' signs of life and their metrics are small files written all the time: never to a disk, and
# writable where the root file system is not.
_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - names inside are random
worker_tmp_dir = _memory

# A worker that gives no sign of life for this many seconds hangs and is replaced.
timeout = 30

# Time to finish what has begun after SIGTERM; less than the 30 seconds that Kubernetes grants by default.
graceful_timeout = 20

# Longer than a proxy keeps its idle connections (nginx: 60 seconds), so that it is the proxy that closes them
# and never sends a request into a connection that is just going away.
keepalive = 75

# No leak, ours or a library's, grows for ever. The jitter keeps workers from leaving together.
max_requests = 100_000
max_requests_jitter = 10_000

# What a request may spend of our memory before the application sees it; bodies are limited there.
limit_request_line = 4094
limit_request_fields = 64
limit_request_field_size = 8190

# No header decides where a request goes: gunicorn would believe these of a proxy on this machine.
forwarder_headers = ""

# Nobody steers workers through a socket here: signals do.
control_socket_disable = True

# JSON lines, free of seeds, for gunicorn's own messages too.
logconfig_dict = logs.dict_config()


class logger_class(Logger):
    """gunicorn's logger without the access line, which it would compose for each request and then drop."""

    def access(self, *args: object) -> None:
        """Do nothing: the application logs its requests itself."""


# Before the application is loaded, for that is when counting starts.
metrics.share_between_workers(_memory)


def when_ready(server: Any) -> None:
    """Let connections wait for no sender too long: they take that over from the socket that accepts them."""
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", _PATIENCE, 0))


def pre_request(worker: Any, request: Any) -> None:
    """Close after a long body: of one that is refused unread gunicorn passes over so much and no more."""
    if any(name == "CONTENT-LENGTH" and int(value) > 64 * 1024 for name, value in request.headers):
        request.force_close()


def pre_fork(server: Any, worker: Any) -> None:
    """Give the worker the lowest slot that no living worker holds."""
    taken = {other.slot for other in server.WORKERS.values()}
    worker.slot = next(slot for slot in itertools.count() if slot not in taken)


def post_fork(server: Any, worker: Any) -> None:
    """Let the worker, now a process of its own, count in its slot."""
    metrics.take_slot(worker.slot)
