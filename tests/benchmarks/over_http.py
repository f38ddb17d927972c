"""Requests over HTTP, two workers, connections kept alive: CPU time of the server for each, and batches."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import orjson

from service.certificate.jws import certify
from tests.api.calls import SETTLE
from tests.benchmarks.baseline import ANSWER
from tests.benchmarks.measuring import Effort, Figure, Goal, Part, boxes_named, in_turns, ratios
from tests.benchmarks.servers import GUNICORN, UVICORN, Burst, Server, burst, missing, server
from tests.benchmarks.specimens import KEYS, full_round, settled

__all__ = ["missing", "run"]

_BATCH: Final = "/v1/rounds/settle-batch"
_ROUNDS: Final = 100


class Caller(NamedTuple):
    """How single calls and batches are sent."""

    name: str
    connections: int
    kept: bool


# Four connections keep two workers busy and leave little under way at the end.
CALLERS: Final = (
    Caller("4 connections kept alive", 4, True),
    Caller("1 connection kept alive", 1, True),
    Caller("a connection for each call", 1, False),
)
VARIANTS: Final = {
    "ours": GUNICORN,
    "baseline": (*GUNICORN, "tests.benchmarks.baseline:served()"),
    "nested marshmallow": (*GUNICORN, "tests.benchmarks.nested_app:create_nested()"),
    "FastAPI, pydantic, uvicorn": (*UVICORN, "tests.benchmarks.fastapi_app:app"),
}


def run(effort: Effort) -> Part:
    with TemporaryDirectory() as folder:
        return Part([*_requests(Path(folder), effort), *_batches(Path(folder), effort)])


def _requests(folder: Path, effort: Effort) -> list[Figure]:
    body, answer = folder / "round.ndjson", folder / "answer.json"
    body.write_bytes(orjson.dumps(full_round()))
    answer.write_bytes(orjson.dumps(certify(settled(full_round()), KEYS.signer)))
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(server(command, 2, {ANSWER: str(answer)}))
            for name, command in VARIANTS.items()
        }
        found = in_turns(
            {name: partial(burst, one, SETTLE, body, effort.seconds) for name, one in servers.items()},
            effort.bursts,
        )
    costs = {name: [one.cost for one in bursts] for name, bursts in found.items()}
    return [
        Figure(
            f"`settle` over HTTP{'' if name == 'ours' else f' by {name}'}",
            "× baseline’s CPU",
            ratios(costs[name], costs["baseline"]),
            Goal("≤", 1.5) if name == "ours" else None,
            f"{1e6 * median(costs[name]):,.0f} µs against {1e6 * median(costs['baseline']):,.0f} µs",
        )
        for name in found
        if name != "baseline"
    ]


def _batches(folder: Path, effort: Effort) -> list[Figure]:
    with server(GUNICORN) as ours:
        return [
            _batch(ours, boxes, caller, folder, effort)
            for boxes in effort.boxes
            if boxes in (1, 4)
            for caller in CALLERS
        ]


def _batch(ours: Server, boxes: int, caller: Caller, folder: Path, effort: Effort) -> Figure:
    body = full_round(boxes)
    single, many = folder / f"{boxes}.ndjson", folder / f"{boxes}-batch.ndjson"
    single.write_bytes(orjson.dumps(body))
    many.write_bytes(orjson.dumps({"rounds": [body] * _ROUNDS}))
    send = partial(burst, ours, seconds=effort.seconds, connections=caller.connections, kept=caller.kept)
    found = in_turns(
        {"single": partial(send, SETTLE, single), "batch": partial(send, _BATCH, many)}, effort.bursts
    )
    rates = {"single": _rates(found["single"], 1), "batch": _rates(found["batch"], _ROUNDS)}
    return Figure(
        f"`settle-batch` of {_ROUNDS} rounds, {boxes_named(boxes)}, {caller.name}",
        "× rounds/s of single calls",
        ratios(rates["batch"], rates["single"]),
        Goal("≥", 8) if caller is CALLERS[0] else None,
        f"{median(rates['batch']):,.0f} against {median(rates['single']):,.0f} rounds/s",
    )


def _rates(bursts: list[Burst], rounds: int) -> list[float]:
    return [rounds * one.rate for one in bursts]
