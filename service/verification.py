"""What an outcome or a certificate that somebody shows is worth: signature, recomputation, differences."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from service.certificate.differences import Difference, differences
from service.certificate.jws import RefusedCertificate, VerificationKey, open_certificate
from service.fairness.sealing import Sealer
from service.fields import Wrong
from service.game.documents import Document
from service.keys import DEVELOPMENT_NOTICE
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
from service.schemas import CERTIFICATE, CLAIM, ROUND, InvalidRequest, load


class Verification(NamedTuple):
    """The outcome shown, what was computed in its place, the checks of it and every difference.

    ``outcome`` is None where a certificate was refused, ``computed`` where nothing could be computed.
    """

    outcome: Document | None
    computed: Document | None
    checks: list[Check]
    differences: list[Difference]


class RefusedRequest(ValueError):
    """The request behind a claim cannot be settled; ``error`` is what settling it raised."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def claim_of(shown: Any) -> Any:
    """What somebody shows as ``verify`` takes it: an outcome may come alone."""
    return {"outcome": shown} if _is_bare(shown) else shown


def _is_bare(shown: Any) -> bool:
    """Whether it is an outcome that comes alone."""
    return isinstance(shown, dict) and "status" in shown and "outcome" not in shown


def verify(
    shown: Any, registry: Registry, keys: Mapping[str, VerificationKey], sealer: Sealer
) -> Verification:
    """Verify what somebody shows: a certificate, or an outcome with or without the request behind it.

    The round is recomputed from the request, or else from what the outcome says of it. A certificate within
    an outcome has to vouch for that very outcome. Raises ``InvalidRequest`` for a document of another shape
    and ``RefusedRequest``.
    """
    if _is_bare(shown):
        raise InvalidRequest({"outcome": [Wrong("required", 'wrap the outcome, as {"outcome": …}')]})
    if isinstance(shown, dict) and "certificate" in shown:
        claim = load(CERTIFICATE, shown)
        try:
            outcome, key = open_certificate(claim["certificate"], keys)
        except RefusedCertificate as error:
            return Verification(None, None, [Check("signature", error.code, str(error))], [])
        signature = [Check("signature", None, _signed_by(key))]
    else:
        claim = load(CLAIM, shown)
        outcome = {name: value for name, value in claim["outcome"].items() if name != "certificate"}
        certificate = claim["outcome"].get("certificate")
        signature = [] if certificate is None else [_vouches(certificate, outcome, keys)]
    if "request" in claim:
        found = _compared_with(claim["request"], outcome, registry, sealer)
    else:
        found = _recomputed(outcome, claim.get("server_seed"), bool(signature), registry)
    return found._replace(checks=[*signature, *found.checks])


def _compared_with(
    request: RoundRequest, outcome: Document, registry: Registry, sealer: Sealer
) -> Verification:
    """Compare an outcome with what a request comes to."""
    try:
        request = unsealed(request, sealer)
        if outcome.get("status") == "void":
            computed = void_request(request, str(outcome.get("reason")), registry)
        else:
            computed = settle_request(request, registry)
    except (ValueError, LookupError) as error:
        raise RefusedRequest(error) from error
    return Verification(outcome, computed, *compare_outcome(outcome, computed))


def _recomputed(outcome: Document, server_seed: str | None, signed: bool, registry: Registry) -> Verification:
    """Recompute an outcome from what it says of its own request."""
    try:
        if outcome["status"] == "void":
            return _void(outcome, server_seed, signed, registry)
        deal = outcome["deal"]
        if deal["source"] == "seed" and "server_seed" not in deal and server_seed is None:
            needed = "the outcome does not reveal its server seed; give it as server_seed"
            return _without(outcome, Check("deal", "seed-needed", needed))
        computed = settle_request(load(ROUND, request_of(outcome, server_seed)), registry)
    except UnknownRuleset as error:
        return _without(outcome, Check("ruleset", "other-ruleset", str(error)))
    except ValueError as error:
        detail = f"what the outcome says of its round cannot be settled: {error}"
    except (LookupError, TypeError, AttributeError):
        detail = "what the outcome says of its round is not what an outcome of this service says"
    else:
        return Verification(outcome, computed, *compare_outcome(outcome, computed))
    return _without(outcome, Check("request", "not-settled", detail))


def _void(outcome: Document, server_seed: str | None, signed: bool, registry: Registry) -> Verification:
    """Check a void outcome: without its seed it shows no cards, and a signature has to vouch for it."""
    if server_seed is not None and outcome["deal"]["source"] == "seed":
        request = request_of(outcome, server_seed)
        reason = request.pop("reason")
        computed = void_request(load(ROUND, request), reason, registry)
        return Verification(outcome, computed, *compare_outcome(outcome, computed))
    if not signed:
        detail = "a void outcome proves nothing by itself; show its certificate, or the request behind it"
        return _without(outcome, Check("signature", "no-certificate", detail))
    computed = restated_void(outcome, registry)
    checks, found = compare_outcome(outcome, computed)
    checks = [check for check in checks if check.name != "deal"]  # nothing to compute the deal from
    return Verification(outcome, computed, checks, found)


def _without(outcome: Document, check: Check) -> Verification:
    """What is left to say of an outcome that cannot be recomputed."""
    return Verification(outcome, None, [check], [])


def request_of(outcome: Document, server_seed: str | None = None) -> Document:
    """The request that an outcome answers, as much revealed as there.

    Raises ``LookupError``, ``TypeError`` or ``AttributeError`` for what is no outcome.
    """
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
