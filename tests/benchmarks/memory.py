"""Memory of a worker after many requests, and the time from the start to the first answer of ``/readyz``."""

from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import orjson

from tests.api.calls import SETTLE
from tests.api.servers import serving
from tests.benchmarks.measuring import Effort, Figure, Goal, Part
from tests.benchmarks.servers import GUNICORN, Server, burst, missing, pss, server
from tests.benchmarks.specimens import random_bodies

__all__ = ["missing", "run"]


def run(effort: Effort) -> Part:
    with TemporaryDirectory() as name:
        folder = Path(name)
        return Part([_memory(folder, effort), _start(folder, effort)])


def _memory(folder: Path, effort: Effort) -> Figure:
    bodies = folder / "rounds.ndjson"
    rounds = (body for boxes in (1, 2) for body in islice(random_bodies(boxes), effort.distinct // 8))
    bodies.write_bytes(b"".join(orjson.dumps(body) + b"\n" for body in rounds))
    with server(GUNICORN) as ours:
        burst(ours, SETTLE, bodies, 1)
        before = _largest(ours)
        answered = 0
        while answered < effort.requests:
            answered += burst(ours, SETTLE, bodies, effort.seconds).requests
        after = _largest(ours)
    return Figure(
        f"memory of a worker after {effort.requests:,} requests",
        "MB (Pss)",
        [after],
        Goal("≤", 45),
        f"the larger of two; {before:.1f} MB before",
    )


def _largest(ours: Server) -> float:
    return max(map(pss, ours.workers()))


def _start(folder: Path, effort: Effort) -> Figure:
    times = []
    for number in range(effort.starts):
        began = perf_counter()
        with serving(folder / str(number)) as service:
            assert service.ask("/readyz").status == 200
            times.append(perf_counter() - began)
    return Figure("start to ready", "s", times, Goal("≤", 1.5), f"{effort.starts} starts")
