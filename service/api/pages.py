"""Pages for people: what each type of problem means, its usual cause and its cure."""

from flask import Blueprint, Response, make_response, render_template

from service.api.answers import deployment, with_etag
from service.api.problems import PROBLEM_TYPES, Problem

blueprint = Blueprint("pages", __name__)

_CSP = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@blueprint.get("/problems")
def problems() -> Response:
    """All types of problem."""
    return _page("problems.html", types=PROBLEM_TYPES)


@blueprint.get("/problems/<slug>")
def problem(slug: str) -> Response:
    """One type of problem."""
    if slug not in PROBLEM_TYPES:
        raise Problem("not-found", f"there is no problem type {slug[:100]!r}; /problems lists them")
    return _page("problem.html", slug=slug, type=PROBLEM_TYPES[slug])


@blueprint.get("/verify")
def verify() -> Response:
    """The page with which a player recomputes a round in the browser."""
    body, policy = deployment().verifier
    answer = Response(body, content_type="text/html; charset=utf-8")
    answer.headers["Content-Security-Policy"] = f"{policy}; frame-ancestors 'none'"
    return with_etag(answer)


def _page(template: str, **values: object) -> Response:
    answer = make_response(render_template(template, **values))
    answer.headers["Content-Security-Policy"] = _CSP
    return with_etag(answer)
