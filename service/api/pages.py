"""Pages for people: documentation, rules, what each type of problem means, and the verifier."""

from importlib.metadata import distribution
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, make_response, render_template

from service.api.answers import with_etag
from service.api.deployment import deployment
from service.api.guides import BOOKS, GUIDES, read_text
from service.api.problems import PROBLEM_TYPES, Problem
from service.api.rules_in_words import WORDS, rules_in_words

blueprint = Blueprint("pages", __name__)

_CSP: Final = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_REFERENCE_CSP: Final = f"{_CSP}; script-src 'self'; connect-src 'self'; img-src data:"
_SWAGGER_UI: Final = Path(str(distribution("flask-swagger-ui").locate_file("flask_swagger_ui/dist")))
_SWAGGER_UI_FILES: Final = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}


@blueprint.get("/docs")
def docs() -> Response:
    """The entrance to everything that is to be read here."""
    return _page(
        "docs.html",
        guides={name: read_text(f"guides/{name}") for name in GUIDES},
        books={name: read_text(name) for name in BOOKS},
        rulesets=[published.document for published in deployment().rulesets.values()],
        languages=WORDS,
        types=PROBLEM_TYPES,
    )


@blueprint.get("/docs/reference")
def reference() -> Response:
    """The contract, drawn by Swagger UI in the browser."""
    return _page("reference.html", policy=_REFERENCE_CSP)


@blueprint.get("/docs/reference/<file>")
def reference_file(file: str) -> Response:
    """A file of Swagger UI."""
    if file not in _SWAGGER_UI_FILES:
        raise Problem("not-found", f"the reference has no file {file[:100]!r}")
    return with_etag(Response((_SWAGGER_UI / file).read_bytes(), mimetype=_SWAGGER_UI_FILES[file]))


@blueprint.get("/docs/guides/<guide>")
def guide(guide: str) -> Response:
    """One guide."""
    if guide not in GUIDES:
        raise Problem("not-found", f"there is no guide {guide[:100]!r}; /docs lists them")
    return _page("text.html", text=read_text(f"guides/{guide}"))


@blueprint.get("/docs/<book>")
def book(book: str) -> Response:
    """One of the longer texts."""
    if book not in BOOKS:
        raise Problem("not-found", f"there is no text {book[:100]!r}; /docs lists them")
    return _page("text.html", text=read_text(book))


@blueprint.get("/docs/rulesets/<id>", defaults={"language": "en"})
@blueprint.get("/docs/rulesets/<id>/<language>")
def rules(id: str, language: str) -> Response:
    """The rules of a ruleset for players, in one language."""
    published = deployment().rulesets.get(id)
    if published is None or language not in WORDS:
        known = ", ".join(deployment().rulesets)
        raise Problem("not-found", f"there are rules for {known}, in {', '.join(WORDS)}")
    said = rules_in_words(published.document, language)
    return _page("rules.html", language, document=published.document, rules=said, languages=WORDS)


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


def _page(template: str, language: str = "en", policy: str = _CSP, **values: object) -> Response:
    answer = make_response(render_template(template, language=language, words=WORDS[language], **values))
    answer.headers["Content-Security-Policy"] = policy
    return with_etag(answer)
