"""The HTTP API: ``create_app`` and one module for each resource. It knows no rule of the game."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

from flask import Flask, Response, g, request

from service import __version__
from service.api import conformance, fairness, hands, operations, pages, problems, rounds, rulesets
from service.api.answers import deploy
from service.api.manners import register_manners
from service.fairness import SHUFFLE
from service.observability import logs, metrics


class _App(Flask):
    """Flask, but for its asking five times a request whether a function is a coroutine: none is."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return func


def create_app() -> Flask:
    """The WSGI app, its rulesets and tables loaded.

    Raises ``MalformedRuleset`` for a wrong ruleset file, ``MalformedKeys`` for a wrong key file and
    ``MalformedOrigins`` for a wrong ``CORS_ORIGINS``.
    """
    app = _App(__name__)
    # A path is right or wrong, never redirected.
    app.url_map.merge_slashes = app.url_map.redirect_defaults = False
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # `manners` answers OPTIONS
    deploy(app)
    for resource in (rounds, hands, fairness, rulesets, conformance, operations, pages):
        app.register_blueprint(resource.blueprint)
    problems.register_problems(app)
    register_manners(app)
    app.before_request(_begin)
    app.after_request(_finish)
    metrics.publish_info(__version__, SHUFFLE)
    return app


def _begin() -> None:
    g.began = perf_counter()
    g.request_id = logs.request_id(request.environ.get("HTTP_X_REQUEST_ID"))


def _finish(answer: Response) -> Response:
    """Name the request in its answer, count it and log it: by operation, never by path or body."""
    known = vars(g._get_current_object())
    seconds = perf_counter() - known["began"]
    (ruleset, status), problem = known.get("answered_round", (None, None)), known.get("problem")
    answer.headers["X-Request-Id"] = known["request_id"]
    operation = request.endpoint
    metrics.count_request(operation, answer.status_code, seconds)
    if ruleset:
        metrics.count_round(ruleset, status)
    if problem:
        metrics.count_problem(problem)
    logs.log_request(
        operation=operation,
        method=request.method,
        status=answer.status_code,
        milliseconds=1000 * seconds,
        request_id=known["request_id"],
        ruleset=ruleset,
        problem=problem,
    )
    return answer
