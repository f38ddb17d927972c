"""Runs the ``russian-poker`` of the guides' shell blocks: ``python -m tests.docs.commands SOCKET`` waits for
calls and forks for each, so that the hand tables are built once and not for every command.
"""

import json
import os
import signal
import socket
import sys
from typing import Final

from service.cli import main

CALLER: Final = """\
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as call:
    call.connect({socket!r})
    text = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(call, [len(text).to_bytes(4, "big")], [0, 1, 2])
    call.sendall(text)
    sys.exit(call.recv(1)[0])
"""
"""A program that has its arguments run by whoever listens at a socket, in the program's own surroundings."""


def listen(address: str) -> None:
    """Answer calls one after the other until the process is told to end."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        while True:
            call, _ = listener.accept()
            with call:
                _answer(call)


def _answer(call: socket.socket) -> None:
    size, descriptors, *_ = socket.recv_fds(call, 4, 3)
    with call.makefile("rb") as stream:
        arguments, folder, environment = json.loads(stream.read(int.from_bytes(size, "big")))
    child = os.fork()
    if child == 0:
        for standard, descriptor in enumerate(descriptors):
            os.dup2(descriptor, standard)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        os._exit(_run(arguments))
    for descriptor in descriptors:
        os.close(descriptor)
    _, status = os.waitpid(child, 0)
    call.sendall(bytes([os.waitstatus_to_exitcode(status)]))


def _run(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as wrong_usage:
        return int(wrong_usage.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    listen(sys.argv[1])
