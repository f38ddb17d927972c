"""One request without a network: CPU time of the WSGI apps, each against its baseline block by block.

Logging is as ``create_app`` leaves it: unconfigured, so that no request is logged.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from io import BytesIO
from statistics import median
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import orjson
from flask import Flask
from werkzeug.test import EnvironBuilder
from werkzeug.wsgi import ClosingIterator

from service.api import create_app
from tests.api.calls import JSON, SETTLE, STEP
from tests.benchmarks.baseline import create_baseline
from tests.benchmarks.measuring import Effort, Figure, Goal, Part, cpu_in_turns, ratios
from tests.benchmarks.nested_app import create_nested
from tests.benchmarks.specimens import Document, full_round

_WARM_UP: Final = 100


class Row(NamedTuple):
    """An app, and what it is asked; ``prepared`` holds while it is measured."""

    name: str
    app: Flask
    path: str
    body: Document
    goal: Goal | None = None
    prepared: Callable[[], AbstractContextManager[Any]] = nullcontext


def rows() -> list[Row]:
    body = full_round()
    unfinished = {**body, "actions": body["actions"][:-1]}
    ours = create_app()
    return [
        Row("`settle`, without certificate", ours, SETTLE, body, Goal("≤", 1.3), _uncertified),
        Row("`settle`", ours, SETTLE, body, Goal("≤", 1.7)),
        Row("`step`", ours, STEP, unfinished, Goal("≤", 1.3)),
        Row("`settle` by nested marshmallow", create_nested(), SETTLE, body),
    ]


def _uncertified() -> AbstractContextManager[Any]:
    """The service always certifies; here, and in this process alone, it is kept from it."""
    return patch("service.api.rounds.certify", lambda outcome, signer: outcome)


def missing() -> str | None:
    return None


def run(effort: Effort) -> Part:
    figures = []
    for row in rows():
        with row.prepared():
            figures.append(_measured(row, effort))
    return Part(figures)


def _measured(row: Row, effort: Effort) -> Figure:
    data = orjson.dumps(row.body)
    ask = caller(row.app, row.path, data)
    baseline = caller(create_baseline(orjson.loads(ask())), row.path, data)
    for call in (ask, baseline):
        for _ in range(_WARM_UP):
            call()
    costs = cpu_in_turns({"ours": ask, "baseline": baseline}, effort.calls, effort.pairs)
    ours, theirs = (1e6 * median(costs[name]) for name in ("ours", "baseline"))
    detail = f"{ours:,.0f} µs against {theirs:,.0f} µs"
    return Figure(
        f"{row.name}, in process",
        "× baseline",
        ratios(costs["ours"], costs["baseline"]),
        row.goal,
        detail,
    )


def caller(app: Flask, path: str, data: bytes) -> Callable[[], bytes]:
    """Sends an app this body, as a server would, and gives the body of its answer."""
    environ = EnvironBuilder(path=path, method="POST", data=data, content_type=JSON).get_environ()

    def call() -> bytes:
        statuses: list[str] = []

        def started(status: str, _headers: object, _failure: object = None) -> Callable[[bytes], object]:
            statuses.append(status)
            return statuses.clear  # type: ignore[return-value]  # nobody writes

        answer: Iterable[bytes] = app({**environ, "wsgi.input": BytesIO(data)}, started)
        body = b"".join(answer)
        if isinstance(answer, ClosingIterator):
            answer.close()
        assert statuses == ["200 OK"], body
        return body

    return call
