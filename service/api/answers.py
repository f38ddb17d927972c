"""Answers in JSON, and what the views of an app share."""

import json
import logging
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple, cast

import orjson
from flask import Flask, Response, current_app, request

from service import __version__
from service.api import verify
from service.api.problems import Problem
from service.api.strict_json import JSON, NDJSON
from service.certificate.canonical import content_digest
from service.integrity import FileCheck, Integrity
from service.keys import Keys, configured_keys
from service.observability import metrics
from service.registry import Registry, configured_rulesets


class Deployment(NamedTuple):
    """What one deployment has: its rulesets, its keys, the state of its files and the page made of them.

    ``verifier`` is the player's page with the policy that it is served with.
    """

    rulesets: Registry
    keys: Keys
    integrity: Integrity
    verifier: tuple[bytes, str]


NO_STORE: Final = "no-store"


def deploy(app: Flask) -> None:
    """Give an app what its environment configures. Raises ``MalformedRuleset`` and ``MalformedKeys``."""
    rulesets, keys = configured_rulesets(), configured_keys()
    documents = {id: published.document for id, published in rulesets.items()}
    app.extensions["deployment"] = Deployment(
        rulesets, keys, Integrity(_report), verify.page(documents, keys.jwks())
    )


def _report(altered: Sequence[FileCheck]) -> None:
    metrics.publish_altered_files(__version__, len(altered))
    for check in altered:
        _LOG.error("integrity lost: %s is not that of the release", check.file)


_LOG: Final = logging.getLogger("service.integrity")


def json_answer(document: Any) -> Response:
    """A document as the body of a 200 answer with its digest (RFC 9530); equal documents give equal bytes.

    No cache may keep it, unless ``with_etag`` says otherwise.
    """
    try:
        body = orjson.dumps(document)
    except TypeError:  # orjson knows 64 bits, and a claimed outcome that is quoted may hold longer numbers
        body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return _computed(body, JSON)


def lines_answer(documents: Iterable[Any]) -> Response:
    """Documents as the lines of a 200 answer with its digest; orjson has to know all their numbers."""
    lines = [orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE) for document in documents]
    return _computed(b"".join(lines), NDJSON)


def _computed(body: bytes, content_type: str) -> Response:
    headers = {
        "Content-Type": content_type,
        "Content-Digest": content_digest(body),
        "Cache-Control": NO_STORE,
    }
    return Response(body, headers=headers)


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


def require_integrity() -> None:
    """Raise ``Problem`` (503) where a file that decides outcomes is not that of the release."""
    if not deployment().integrity.intact:
        detail = "files that decide outcomes are not those of the release: see /v1/integrity"
        raise Problem("integrity-lost", detail)


def deployment() -> Deployment:
    """What the app that serves this request has."""
    return cast(Deployment, current_app.extensions["deployment"])
