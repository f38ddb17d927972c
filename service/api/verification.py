"""What an outcome or a certificate that somebody shows is worth: signature, recomputation, differences."""

from collections.abc import Mapping
from typing import Any, Final

from service.api.problems import Problem, as_problem
from service.api.schemas import CERTIFICATE, CLAIM, ROUND, load
from service.certificate.differences import ABSENT, Difference, differences
from service.certificate.jws import RefusedCertificate, VerificationKey, open_certificate
from service.game.documents import Document
from service.keys import DEVELOPMENT_NOTICE, Keys
from service.registry import Registry
from service.rounds import (
    Check,
    RoundRequest,
    UnknownRuleset,
    canonical_request,
    compare_outcome,
    restated_void,
    settle_request,
    unsealed,
    void_request,
)

MAX_DIFFERENCES: Final = 20
"""Most differences that a verdict lists."""


def verify_shown(body: Any, registry: Registry, keys: Keys) -> Document:
    """The verdict on what a body shows: a certificate, or an outcome with or without the request behind it.

    The round is recomputed from the request, or else from what the outcome says of it. A certificate within
    an outcome has to vouch for that very outcome. Raises ``Problem`` for a body of another shape and for a
    request that cannot be settled.
    """
    if isinstance(body, dict) and "certificate" in body:
        shown = load(CERTIFICATE, body)
        try:
            outcome, key = open_certificate(shown["certificate"], keys.verifying)
        except RefusedCertificate as error:
            return _verdict([Check("signature", error.code, str(error))], [])
        signature = [Check("signature", None, _signed_by(key))]
    else:
        shown = load(CLAIM, body)
        outcome = {name: value for name, value in shown["outcome"].items() if name != "certificate"}
        certificate = shown["outcome"].get("certificate")
        signature = [] if certificate is None else [_vouches(certificate, outcome, keys.verifying)]
    if "request" in shown:
        checks, found = _compared_with(shown["request"], outcome, registry, keys)
    else:
        checks, found = _recomputed(outcome, shown.get("server_seed"), bool(signature), registry)
    return _verdict([*signature, *checks], found)


def _compared_with(
    request: RoundRequest, outcome: Document, registry: Registry, keys: Keys
) -> tuple[list[Check], list[Difference]]:
    """Compare an outcome with what a request comes to."""
    try:
        request = unsealed(request, keys.sealer)
        if outcome.get("status") == "void":
            computed = void_request(request, str(outcome.get("reason")), registry)
        else:
            computed = settle_request(request, registry)
    except (ValueError, LookupError) as error:
        raise as_problem(error).within("/request") from error
    return compare_outcome(outcome, computed)


def _recomputed(
    outcome: Document, server_seed: str | None, signed: bool, registry: Registry
) -> tuple[list[Check], list[Difference]]:
    """Recompute an outcome from what it says of its own request."""
    try:
        if outcome["status"] == "void":
            return _void(outcome, server_seed, signed, registry)
        deal = outcome["deal"]
        if deal["source"] == "seed" and "server_seed" not in deal and server_seed is None:
            needed = "the outcome does not reveal its server seed; give it as server_seed"
            return [Check("deal", "seed-needed", needed)], []
        computed = settle_request(load(ROUND, _request(outcome, server_seed)), registry)
    except UnknownRuleset as error:
        return [Check("ruleset", "other-ruleset", str(error))], []
    except (Problem, ValueError) as error:
        detail = f"what the outcome says of its round cannot be settled: {error}"
    except (LookupError, TypeError, AttributeError):
        detail = "what the outcome says of its round is not what an outcome of this service says"
    else:
        return compare_outcome(outcome, computed)
    return [Check("request", "not-settled", detail)], []


def _void(
    outcome: Document, server_seed: str | None, signed: bool, registry: Registry
) -> tuple[list[Check], list[Difference]]:
    """Check a void outcome: without its seed it shows no cards, and a signature has to vouch for it."""
    if server_seed is not None and outcome["deal"]["source"] == "seed":
        request = _request(outcome, server_seed)
        reason = request.pop("reason")
        return compare_outcome(outcome, void_request(load(ROUND, request), reason, registry))
    if not signed:
        detail = "a void outcome proves nothing by itself; show its certificate, or the request behind it"
        return [Check("signature", "no-certificate", detail)], []
    checks, found = compare_outcome(outcome, restated_void(outcome, registry))
    return [check for check in checks if check.name != "deal"], found  # nothing to compute the deal from


def _request(outcome: Document, server_seed: str | None) -> Document:
    """The request that an outcome answers, as much revealed as there."""
    deal = outcome["deal"]
    if deal["source"] == "deck":
        return canonical_request(outcome, {"deck": deal["deck"]})
    request = canonical_request(outcome, {"server_seed": deal.get("server_seed", server_seed)})
    return {**request, "deal": {**request["deal"], "reveal": "server_seed" in deal}}


def _vouches(certificate: Any, claimed: Document, keys: Mapping[str, VerificationKey]) -> Check:
    """Whether a certificate within an outcome is genuine and vouches for that very outcome."""
    try:
        signed, key = open_certificate(str(certificate), keys)
    except RefusedCertificate as error:
        return Check("signature", error.code, str(error))
    first = next(differences(claimed, signed), None)
    if first is not None:
        detail = f"the certificate vouches for another outcome than the one shown: see {first.pointer}"
        return Check("signature", "altered-outcome", detail)
    return Check("signature", None, _signed_by(key))


def _signed_by(key: VerificationKey) -> str:
    if key.development:
        return DEVELOPMENT_NOTICE
    return f"signed with key {key.kid}, which is {key.status}"


def _verdict(checks: list[Check], found: list[Difference]) -> Document:
    return {
        "valid": all(check.code is None for check in checks),
        "checks": [_check(check) for check in checks],
        "differences": [
            {name: value for name, value in difference._asdict().items() if value is not ABSENT}
            for difference in found[:MAX_DIFFERENCES]
        ],
    }


def _check(check: Check) -> Document:
    document: Document = {"name": check.name, "passed": check.code is None}
    if check.code is not None:
        document["code"] = check.code
    return {**document, "detail": check.detail}
