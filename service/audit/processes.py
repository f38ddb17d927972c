"""Chunks audited by processes of this machine."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Final, cast

from service.audit import RefusedAudit
from service.audit.reader import Chunk, lines
from service.audit.records import Tally
from service.audit.terms import Auditor

AHEAD: Final = 4
"""How many chunks a process may be ahead of the slowest: what bounds the results that wait for their turn."""


def in_processes(chunks: Iterator[Chunk], auditor: Auditor, workers: int) -> Generator[tuple[Chunk, Tally]]:
    """Audit chunks in so many processes; the results come in the order of the chunks.

    Raises ``RefusedAudit`` where a process ends by itself, and ``OSError`` that one met.
    """
    waiting: deque[Chunk] = deque()
    done: dict[int, Tally] = {}
    at_work: dict[Connection, int] = {}
    first = sent = 0
    with _started(auditor, workers) as idle:
        while True:
            while idle and len(waiting) < AHEAD * workers and (chunk := next(chunks, None)):
                idle[-1].send(chunk.payload)
                at_work[idle.pop()] = sent
                waiting.append(chunk._replace(payload=b""))
                sent += 1
            if not waiting:
                return
            for connection in cast(list[Connection], wait(list(at_work))):
                done[at_work.pop(connection)] = _received(connection)
                idle.append(connection)
            while first in done:
                yield waiting.popleft(), done.pop(first)
                first += 1


@contextmanager
def _started(auditor: Auditor, workers: int) -> Iterator[list[Connection]]:
    """Processes that wait for work, each behind its connection."""
    # Forked: what is imported here, the hand tables above all, is there at once.
    context = multiprocessing.get_context("fork")
    ours: list[Connection] = []
    processes = []
    try:
        for _ in range(workers):
            here, there = context.Pipe()
            ours.append(here)
            process = context.Process(target=_work, args=(there, ours, auditor), daemon=True)
            process.start()
            there.close()
            processes.append(process)
        yield list(ours)
    finally:
        for connection in ours:
            connection.close()
        for process in processes:
            process.terminate()
            process.join()


def _work(connection: Connection, ours: Sequence[Connection], auditor: Auditor) -> None:
    """Audit what comes until nobody is at the other end any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells the whole group; the parent decides
    for other in ours:
        other.close()
    with suppress(EOFError, ConnectionError):
        while True:
            payload = connection.recv()
            try:
                result: Tally | OSError = auditor(lines(payload))
            except OSError as error:
                result = error
            connection.send(result)


def _received(connection: Connection) -> Tally:
    try:
        result: Tally | OSError = connection.recv()
    except (EOFError, ConnectionError):
        raise RefusedAudit("a worker process ended by itself; go on with --resume") from None
    if isinstance(result, OSError):
        raise result
    return result
