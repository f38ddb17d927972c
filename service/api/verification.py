"""Verdicts: what an outcome or a certificate that somebody shows is worth, as callers read it."""

from typing import Any, Final

from service.api.problems import as_problem
from service.certificate.differences import ABSENT
from service.game.documents import Document
from service.keys import Keys
from service.registry import Registry
from service.rounds import Check
from service.verification import RefusedRequest, verify

MAX_DIFFERENCES: Final = 20
"""Most differences that a verdict lists."""


def verify_shown(body: Any, registry: Registry, keys: Keys) -> Document:
    """The verdict on what a body shows: a certificate, or an outcome with or without the request behind it.

    Raises ``InvalidRequest`` for a body of another shape and ``Problem`` for a request that cannot be
    settled.
    """
    try:
        verified = verify(body, registry, keys.verifying, keys.sealer)
    except RefusedRequest as refused:
        raise as_problem(refused.error).within("/request") from refused
    return {
        "valid": all(check.code is None for check in verified.checks),
        "checks": [_check(check) for check in verified.checks],
        "differences": [
            {name: value for name, value in difference._asdict().items() if value is not ABSENT}
            for difference in verified.differences[:MAX_DIFFERENCES]
        ],
    }


def _check(check: Check) -> Document:
    document: Document = {"name": check.name, "passed": check.code is None}
    if check.code is not None:
        document["code"] = check.code
    return {**document, "detail": check.detail}
