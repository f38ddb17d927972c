"""Answers: documents as bytes with their digest, and what caches may keep."""

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson
from flask import Response, request

from service.certificate.canonical import content_digest

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
PROBLEM_JSON: Final = "application/problem+json"
NO_STORE: Final = "no-store"


class Answer(NamedTuple):
    """What is sent: a body, its headers and the status.

    ``ruleset`` is the id of that under which a round was played, ``problem`` the short name of a refusal.
    """

    body: bytes
    headers: list[tuple[str, str]]
    status: int = 200
    ruleset: str | None = None
    problem: str | None = None

    def response(self) -> Response:
        """The answer as Flask sends it."""
        return Response(self.body, self.status, self.headers)


def json_answer(document: Any, ruleset: str | None = None) -> Answer:
    """A document as the body of a 200 answer with its digest (RFC 9530); equal documents give equal bytes.

    No cache may keep it.
    """
    try:
        body = orjson.dumps(document)
    except TypeError:  # orjson knows 64 bits, and a claimed outcome that is quoted may hold longer numbers
        body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return _computed(body, JSON, ruleset)


def lines_answer(documents: Iterable[Any]) -> Answer:
    """Documents as the lines of a 200 answer with its digest; orjson has to know all their numbers."""
    lines = [orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE) for document in documents]
    return _computed(b"".join(lines), NDJSON)


def _computed(body: bytes, content_type: str, ruleset: str | None = None) -> Answer:
    headers = [
        ("Content-Type", content_type),
        ("Content-Digest", content_digest(body)),
        ("Cache-Control", NO_STORE),
    ]
    return Answer(body, headers, ruleset=ruleset)


def json_response(document: Any) -> Response:
    """A document as Flask sends it; a cache may keep it only where ``with_etag`` says so."""
    return json_answer(document).response()


def digested(answer: Response) -> Response:
    """The answer with the digest of its body's bytes."""
    answer.headers["Content-Digest"] = content_digest(answer.get_data())
    return answer


def immutable(answer: Response, digest: str) -> Response:
    """The answer of a resource that never changes, under its digest as entity tag."""
    return with_etag(answer, "public, max-age=86400, immutable", digest)


def with_etag(answer: Response, cache_control: str = "no-cache", etag: str | None = None) -> Response:
    """The answer under its entity tag, for caches to keep; 304 without a body where the caller has it.

    The tag is the SHA-256 of the body unless another is given. ``no-cache`` lets a cache keep the answer, but
    ask each time whether it is still the current one.
    """
    etag = etag or sha256(answer.get_data()).hexdigest()
    answer.set_etag(etag)
    answer.headers["Cache-Control"] = cache_control
    if request.if_none_match.contains_weak(etag):
        answer.status_code = 304
        answer.set_data(b"")
        answer.headers.pop("Content-Digest", None)
    return answer
