"""The HTTP API: ``create_app`` and one module for each resource. It knows no rule of the game."""

from time import perf_counter

from flask import Flask, Response, g, request
from werkzeug.exceptions import NotFound

from service import __version__
from service.api import conformance, fairness, hands, operations, pages, problems, rounds, rulesets
from service.api.deployment import deploy
from service.api.direct import answer_directly
from service.api.manners import register_manners
from service.fairness import SHUFFLE
from service.observability import logs, metrics
from service.observability.requests import record


def create_app() -> Flask:
    """The WSGI app, its rulesets and tables loaded.

    Raises ``MalformedRuleset`` for a wrong ruleset file, ``MalformedKeys`` for a wrong key file and
    ``MalformedOrigins`` for a wrong ``CORS_ORIGINS``.
    """
    app = Flask(__name__)
    # A path is right or wrong, never redirected.
    app.url_map.merge_slashes = app.url_map.redirect_defaults = False
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # `manners` answers OPTIONS
    deploy(app)
    for resource in (rounds, hands, fairness, rulesets, conformance, operations, pages):
        app.register_blueprint(resource.blueprint)
    answer_directly(app, rounds.PLAYING)
    problems.register_problems(app)
    register_manners(app)
    app.before_request(_begin)
    app.after_request(_finish)
    metrics.publish_info(__version__, SHUFFLE)
    return app


def _begin() -> None:
    g.began = perf_counter()
    g.request_id = logs.request_id(request.environ.get("HTTP_X_REQUEST_ID"))
    path = request.environ["PATH_INFO"]
    if path != f"/{path.lstrip('/')}":  # a slash too many, or too few, that routing would mend
        raise NotFound


def _finish(answer: Response) -> Response:
    """Name the request in its answer and record it."""
    known = vars(g._get_current_object())
    answer.headers["X-Request-Id"] = known["request_id"]
    record(
        request.endpoint,
        request.method,
        answer.status_code,
        known["began"],
        known["request_id"],
        problem=known.get("problem"),
    )
    return answer
