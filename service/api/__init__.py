"""The HTTP API: ``create_app`` and one module for each resource. It knows no rule of the game."""

from time import perf_counter

from flask import Flask, Response, g, request

from service import __version__
from service.api import fairness, hands, operations, pages, problems, rounds, rulesets
from service.api.answers import deploy
from service.api.manners import register_manners
from service.fairness import SHUFFLE
from service.observability import logs, metrics


def create_app() -> Flask:
    """The WSGI app, its rulesets and tables loaded.

    Raises ``MalformedRuleset`` for a wrong ruleset file, ``MalformedKeys`` for a wrong key file and
    ``MalformedOrigins`` for a wrong ``CORS_ORIGINS``.
    """
    app = Flask(__name__)
    app.url_map.merge_slashes = False  # a path is right or wrong, never redirected
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # `manners` answers OPTIONS
    deploy(app)
    for resource in (rounds, hands, fairness, rulesets, operations, pages):
        app.register_blueprint(resource.blueprint)
    problems.register_problems(app)
    register_manners(app)
    app.before_request(_begin)
    app.after_request(_finish)
    metrics.publish_info(__version__, SHUFFLE)
    return app


def _begin() -> None:
    g.began = perf_counter()
    g.request_id = logs.request_id(request.headers.get("X-Request-Id"))


def _finish(answer: Response) -> Response:
    """Name the request in its answer, count it and log it: by operation, never by path or body."""
    seconds = perf_counter() - g.began
    (ruleset, status), problem = g.get("answered_round", (None, None)), g.get("problem")
    answer.headers["X-Request-Id"] = g.request_id
    metrics.count_request(request.endpoint, answer.status_code, seconds)
    if ruleset:
        metrics.count_round(ruleset, status)
    if problem:
        metrics.count_problem(problem)
    logs.log_request(
        operation=request.endpoint,
        method=request.method,
        status=answer.status_code,
        milliseconds=1000 * seconds,
        request_id=g.request_id,
        ruleset=ruleset,
        problem=problem,
    )
    return answer
