"""HTTP manners: what holds for resources whatever they answer.

``OPTIONS`` tells the methods of a resource, browsers' pages may read what is public where the operator allows
it, and a caller who can read no JSON is told so before anything is computed.
"""

import os
import re
from functools import lru_cache
from typing import Final, cast
from wsgiref.types import WSGIEnvironment

from flask import Blueprint, Flask, Response, request
from flask.globals import request_ctx
from werkzeug.datastructures import MIMEAccept
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.http import parse_accept_header
from werkzeug.routing import MapAdapter, Rule

from service.api.answers import JSON, NDJSON, PROBLEM_JSON
from service.api.problems import Problem

SHARED: Final = frozenset(
    {
        "/.well-known/jwks.json",
        "/openapi.yaml",
        "/v1/conformance",
        "/v1/conformance/<version>",
        "/v1/conformance/<version>/readme",
        "/v1/conformance/<version>/schema",
        "/v1/fairness/deck",
        "/v1/hands/evaluate",
        "/v1/integrity",
        "/v1/rounds/verify",
        "/v1/rulesets",
        "/v1/rulesets/<id>",
        "/v1/version",
    }
)
"""What the page of a player or an auditor may use from another origin. Nothing that plays a round is here."""

_ORIGIN: Final = re.compile(r"https?://[a-z0-9.\-]+(:[0-9]+)?|https?://\[[0-9a-f:.]+\](:[0-9]+)?")


class MalformedOrigins(ValueError):
    """``CORS_ORIGINS`` names what no browser would send as its origin."""


def configured_origins() -> frozenset[str]:
    """The origins in ``CORS_ORIGINS``, separated by blanks; ``*`` is any; none by default.

    Raises ``MalformedOrigins``.
    """
    origins = frozenset(os.environ.get("CORS_ORIGINS", "").split())
    for origin in sorted(origins - {"*"}):
        if not _ORIGIN.fullmatch(origin):
            raise MalformedOrigins(
                f"CORS_ORIGINS: {origin!r} is no origin; write scheme, host in lower case and, unless it is"
                " the usual one, port, such as https://play.example, without a slash at the end"
            )
    return origins


def register_manners(app: Flask) -> None:
    """Give an app these manners once it has all its resources. Raises ``MalformedOrigins``."""
    _answer_options(app)
    if origins := configured_origins():
        _share_with_browsers(app, origins)


def _answer_options(app: Flask) -> None:
    """Let every resource answer ``OPTIONS``: 204 with ``Allow``, whatever the state of the service.

    A rule of its own costs other methods nothing, and no hook of a blueprint stands before it.
    """
    for path in sorted({rule.rule for rule in app.url_map.iter_rules() if rule.endpoint != "static"}):
        app.add_url_rule(path, "options", _options, methods=["OPTIONS"])


def _options(**values: str) -> Response:
    answer = Response(status=204)
    del answer.headers["Content-Type"]
    answer.headers["Allow"] = ", ".join(sorted(_adapter().allowed_methods()))
    return answer


# Why not flask-cors: it chooses resources by patterns and sets a dozen options by default, and a mistake in
# either opens a resource. Here an auditor reads one list and the lines below.
def _share_with_browsers(app: Flask, origins: frozenset[str]) -> None:
    """Let pages of these origins read the ``SHARED`` resources; credentials, which nothing needs, never."""

    def allow(answer: Response) -> Response:
        rule = request.url_rule or _refused_rule()
        if rule is None or rule.rule not in SHARED:
            return answer
        origin = "*" if "*" in origins else request.headers.get("Origin", "")
        if origin != "*":
            answer.vary.add("Origin")
            if origin not in origins:
                return answer
        answer.headers["Access-Control-Allow-Origin"] = origin
        if request.method == "OPTIONS":
            answer.headers["Access-Control-Allow-Methods"] = answer.headers["Allow"]
            answer.headers["Access-Control-Allow-Headers"] = "Content-Type, If-None-Match, X-Request-Id"
            answer.headers["Access-Control-Max-Age"] = "7200"
        else:
            answer.headers["Access-Control-Expose-Headers"] = (
                "Content-Digest, ETag, Retry-After, X-Request-Id"
            )
        return answer

    app.after_request(allow)


def _refused_rule() -> Rule | None:
    """The rule of a resource that does not take the method asked for."""
    if not isinstance(request.routing_exception, MethodNotAllowed):
        return None
    return _adapter().match(method="OPTIONS", return_rule=True)[0]


def _adapter() -> MapAdapter:
    return cast(MapAdapter, request_ctx.url_adapter)  # None outside of requests only


def json_readers_only(blueprint: Blueprint) -> None:
    """Refuse whoever can read no JSON at all resources of a blueprint."""
    blueprint.before_request(lambda: require_json_reader(request.environ))


def require_json_reader(environ: WSGIEnvironment) -> None:
    """Raise ``Problem`` (406) where the caller's ``Accept`` leaves no room for JSON."""
    accept = environ.get("HTTP_ACCEPT", "")
    if not _reads_json(accept):
        raise Problem("not-acceptable", f"this resource answers in JSON; got Accept: {accept[:100]}")


_FORMS: Final = (JSON, NDJSON, PROBLEM_JSON)


@lru_cache(maxsize=64)  # clients send few different ones, and parsing costs as much as a hand
def _reads_json(accept: str) -> bool:
    # A parameter such as charset makes it no other type.
    wanted = [(type.partition(";")[0].strip(), quality) for type, quality in parse_accept_header(accept)]
    if not wanted:
        return True
    return MIMEAccept(wanted).best_match(_FORMS) is not None
