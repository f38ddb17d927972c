"""Calls that play rounds, answered before Flask sees them.

Flask's cycle, with its contexts, routing, hooks and signals, takes longer than dealing, replaying and
settling a round of four boxes, and these calls need none of it. Flask knows their paths all the same: it
answers ``OPTIONS``, other methods and everything else.
"""

from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from time import perf_counter
from typing import Final, TypeAlias
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Flask

from service.api.answers import Answer
from service.api.deployment import Deployment, deployment
from service.api.manners import require_json_reader
from service.api.problems import REFUSALS, as_problem, unexpected
from service.observability.logs import request_id
from service.observability.requests import record

Operation: TypeAlias = Callable[[WSGIEnvironment, Deployment], Answer]

_STATUS: Final = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}


def answer_directly(app: Flask, operations: Mapping[str, tuple[str, Operation]]) -> None:
    """Let an app answer ``POST`` to these paths by these operations, counted under the names before them."""
    for path, (name, _) in operations.items():
        app.add_url_rule(path, name, methods=["POST"])
    otherwise = app.wsgi_app

    def wsgi_app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        known = operations.get(environ["PATH_INFO"])
        if known is None or environ["REQUEST_METHOD"].upper() != "POST":
            return otherwise(environ, start_response)
        began = perf_counter()
        id = request_id(environ.get("HTTP_X_REQUEST_ID"))
        name, operation = known
        answer = _answer(operation, environ, deployment(app), id)
        headers = [*answer.headers, ("Content-Length", str(len(answer.body))), ("X-Request-Id", id)]
        record(name, "POST", answer.status, began, id, answer.ruleset, answer.problem)
        start_response(_STATUS[answer.status], headers)
        return [answer.body]

    app.wsgi_app = wsgi_app  # type: ignore[method-assign]  # Flask's own way to put something in front


def _answer(operation: Operation, environ: WSGIEnvironment, here: Deployment, request_id: str) -> Answer:
    try:
        here.require_integrity()
        require_json_reader(environ)
        return operation(environ, here)
    except REFUSALS as error:
        return as_problem(error).answer()
    except Exception as error:  # noqa: BLE001  # whatever it was, the caller gets an answer
        return unexpected(error, request_id).answer()
