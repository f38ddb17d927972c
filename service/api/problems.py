"""Every refusal: one shape (RFC 9457), one table of types, each type with a page that explains it."""

import logging
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from service.api.answers import NO_STORE, PROBLEM_JSON, Answer
from service.fairness.deal import CommitmentMismatch
from service.fairness.sealing import RefusedSeal
from service.fields import error_at, summary
from service.game.documents import legal_document
from service.game.round import IllegalAction, LegalAction
from service.game.settlement import UnfinishedRound
from service.game.stakes import OutsideLimits, RefusedStakes
from service.rounds import UnknownRuleset
from service.schemas import MAX_ERRORS, InvalidRequest
from service.strict_json import MalformedJson


class ProblemType(NamedTuple):
    """One kind of refusal as its page explains it."""

    status: int
    title: str
    meaning: str
    cause: str
    cure: str
    retry_after: int | None = None
    """Seconds after which asking again may help, where time can cure it."""


PROBLEM_TYPES: Final[Mapping[str, ProblemType]] = {
    slug: ProblemType(**texts)
    for slug, texts in tomllib.loads(
        Path(__file__).with_name("problems.toml").read_text(encoding="utf-8")
    ).items()
}
"""All types by slug, in the order of their status."""


class Problem(Exception):
    """A refusal on its way to the caller. ``members`` stand beside the usual ones in the answer."""

    def __init__(self, slug: str, detail: str, errors: Iterable[dict[str, str]] = (), **members: Any) -> None:
        super().__init__(detail)
        self.slug = slug
        self.type = PROBLEM_TYPES[slug]
        self.detail = detail
        self.errors = list(errors)
        self.members = members

    def within(self, pointer: str) -> "Problem":
        """The same problem of a document that is the part of the body at ``pointer``."""
        errors = [{**error, "pointer": pointer + error["pointer"]} for error in self.errors]
        return Problem(self.slug, self.detail, errors, **self.members)

    def document(self) -> dict[str, Any]:
        """The problem as ``application/problem+json`` shows it."""
        return {
            "type": f"/problems/{self.slug}",
            "title": self.type.title,
            "status": self.type.status,
            "detail": self.detail,
            "errors": self.errors,
            **self.members,
        }

    def answer(self) -> Answer:
        """The problem as it is sent."""
        headers = [("Content-Type", PROBLEM_JSON), ("Cache-Control", NO_STORE)]
        if self.type.retry_after is not None:
            headers.append(("Retry-After", str(self.type.retry_after)))
        return Answer(orjson.dumps(self.document()), headers, self.type.status, problem=self.slug)


def as_problem(error: Exception) -> Problem:
    """The problem that tells a caller of an error of the domain; an unexpected error is raised again."""
    match error:
        case Problem():
            return error
        case MalformedJson():
            return Problem("malformed-json", str(error))
        case InvalidRequest():
            return Problem("invalid-request", str(error), error.errors)
        case RefusedStakes():
            faults = error.faults[:MAX_ERRORS]
            errors = [error_at("/" + "/".join(map(str, path)), code, text) for path, code, text in faults]
            slug = "limits" if isinstance(error, OutsideLimits) else "invalid-request"
            return Problem(slug, summary(errors), errors)
        case IllegalAction():
            at = f"/actions/{error.index}"
            return Problem(
                "illegal-action",
                f"action {error.index}: {error}; {_legal_words(error.box, error.legal)}",
                [error_at(at, "illegal-action", str(error))],
                index=error.index,
                **_next_decision(error.box, error.legal),
            )
        case UnfinishedRound():
            state = error.state
            box, legal = state.boxes[state.turn].stake.number, state.legal_actions()
            detail = f"the round is not over: {_legal_words(box, legal)}"
            return Problem(
                "round-incomplete",
                detail,
                [error_at("/actions", "round-incomplete", detail)],
                phase=state.phase,
                **_next_decision(box, legal),
            )
        case UnknownRuleset():
            return Problem(
                "unknown-ruleset", str(error), [error_at("/ruleset", "unknown-ruleset", str(error))]
            )
        case RefusedSeal():
            return Problem(
                "sealed-seed", str(error), [error_at("/deal/sealed_seed", "sealed-seed", str(error))]
            )
        case CommitmentMismatch():
            at = "/deal/commitment"
            return Problem(
                "commitment-mismatch", str(error), [error_at(at, "commitment-mismatch", str(error))]
            )
    raise error


def register_problems(app: Flask) -> None:
    """Let every error leave the app as a problem."""
    for domain_error in REFUSALS:
        app.register_error_handler(domain_error, lambda error: _answer(as_problem(error)))
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, lambda error: _answer(unexpected(error, g.request_id)))


REFUSALS: Final = (
    Problem,
    MalformedJson,
    InvalidRequest,
    RefusedStakes,
    IllegalAction,
    UnfinishedRound,
    UnknownRuleset,
    CommitmentMismatch,
    RefusedSeal,
)
"""Every error that stands for a refusal; any other one is a fault of the service."""
_HTTP_SLUGS: Final = {404: "not-found", 405: "method-not-allowed"}


def _answer(problem: Problem) -> Response:
    g.problem = problem.slug
    return problem.answer().response()


def _http_error(error: HTTPException) -> Response:
    """An error of routing or of reading the request, with the headers that belong to it, such as Allow."""
    slug = _HTTP_SLUGS.get(error.code or 500, "bad-request")
    allowed = sorted(error.valid_methods or ()) if isinstance(error, MethodNotAllowed) else []
    useful = " or ".join(method for method in allowed if method not in ("HEAD", "OPTIONS"))
    detail = {
        "not-found": "no resource has this path; /openapi.yaml lists them and /docs explains them",
        "method-not-allowed": f"{request.method} is not possible here; use {useful}",
    }.get(slug, "the request could not be read; its Host header may be no name of a host")
    response = _answer(Problem(slug, detail))
    if allowed:
        response.headers["Allow"] = ", ".join(allowed)
    return response


def unexpected(error: Exception, request_id: str) -> Problem:
    """The problem that a caller is told of when the service fails; what failed is logged."""
    _LOG.error("unexpected error", exc_info=error, extra={"request_id": request_id})
    return Problem("internal-error", "the service failed; report the X-Request-Id of this answer")


_LOG: Final = logging.getLogger("service.api")


def _next_decision(box: int | None, legal: Sequence[LegalAction]) -> dict[str, Any]:
    return {"box": box, "legal": [legal_document(one) for one in legal]}


def _legal_words(box: int | None, legal: Sequence[LegalAction]) -> str:
    return f"box {box} may {', '.join(one.name for one in legal)}" if legal else "nothing is left to decide"
