"""Cases of the kit that are no rounds: hands, decks, seeds, rulesets, verdicts, health."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from joserfc.jwk import OKPKey
from joserfc.util import urlsafe_b64encode

from service.certificate.canonical import canonical_bytes
from service.certificate.jws import VerificationKey, signer
from tests.api.calls import DECK, EVALUATE, SEED, SEEDS, VERIFY
from tests.certificate import golden
from tests.conformance.drafts import Document, Draft, taken
from tests.conformance.rounds import WRITTEN
from tests.contract.examples import decoded, encoded
from tests.support.vectors import load

RULESETS: Final = ("trainer-1", "online-1", "casino-1")
HANDS: Final = {
    "wheel": "5h 4d 3c 2s Ah",
    "steel-wheel": "5h 4h 3h 2h Ah",
    "no-wrap-around": "Kc Ad 2d 3d 4h",
    "low-cards": "2c 3d 4h 5s 7c",
    "ace-king": "As Kd 9h 5c 2d",
    "order-as-given": "2d As 9h Kd 5c",
    "flush-of-six": "2h 5h 7h 9h Jh Kh",
    "two-straights": "5c 6d 7h 8s 9c Td",
    "straight-with-a-pair": "8c 9d 9h Ts Jc Qd",
    "three-pairs": "Ac Ad Kc Kd Qh Qs",
    "ace-king-within-two-pair": "Ac Ad Kc Kd 5h",
    "ace-king-within-flush": "Ac Kc 9c 5c 2c",
    "ace-king-beside-flush": "Ac Kc 9c 5c 2c Kd",
    "royal-and-pair": "As Ks Qs Js Ts Ah",
    "royal-and-flush": "As Ks Qs Js Ts 2s",
    "royal-and-straight-flush": "As Ks Qs Js Ts 9s",
    "royal-and-straight": "As Ks Qs Js Ts 9d",
    "two-straight-flushes": "9h 8h 7h 6h 5h 4h",
    "straight-flush-and-flush": "9h 8h 7h 6h 5h Kh",
    "straight-flush-and-straight": "9s 8s 7s 6s 5s Td",
    "straight-flush-and-ace-king": "Ah 2h 3h 4h 5h Kd",
    "four-and-full-house": "7c 7d 7h 7s Kc Kd",
    "two-full-houses": "Kc Kd Kh Qc Qd Qh",
    "full-house-and-ace-king": "Ac Ad Ah Kc Kd 2s",
    "flush-and-straight": "2h 3h 4h 5h 9h 6d",
    "two-pair-and-ace-king": "Ac Kd 8s Kh 8d",
    "flush-and-pair": "2h 5h 7h 9h Jh Jd",
    "three-and-ace-king": "Ad Ks 8s Kd Kh",
    "two-pair-twice": "9s 9d 5s 5h Jh Jc",
}


def keys() -> Iterator[Draft]:
    """What later cases are checked with, so it comes first."""
    yield Draft("keys/published", "keys", "/.well-known/jwks.json", method="GET")


def operations() -> Iterator[Draft]:
    for path in ("/livez", "/readyz"):
        yield Draft(f"health{path}", "health", path, method="GET")
    yield Draft("version/engine-and-rulesets", "version", "/v1/version", method="GET")


def rulesets() -> Iterator[Draft]:
    for id in RULESETS:
        etag = {"ETag": [f'"{golden.registry()[id].ruleset.digest}"']}
        yield Draft(f"ruleset/{id}", "ruleset", f"/v1/rulesets/{id}", method="GET", answer={"headers": etag})


def hands() -> Iterator[Draft]:
    hands = {f"vector/{number}": vector["cards"] for number, vector in enumerate(load("hands.json"), 1)}
    for name, cards in {**hands, **HANDS}.items():
        for id in RULESETS:
            body = {"ruleset": id, "cards": cards.split()}
            clauses = ("C2", "C4", "C5") if len(cards.split()) == 6 else ("C2", "C5")
            yield Draft(f"hand/{name}/{id}", "hand", EVALUATE, body, clauses)


def decks() -> Iterator[Draft]:
    vectors = {
        f"vector/{number}": {name: vector[name] for name in ("server_seed", "client_seed", "nonce")}
        for number, vector in enumerate(load("decks.json"), 1)
    }
    written: dict[str, Document] = {
        "defaults": {"server_seed": SEED},
        "upper-case-seed": {"server_seed": SEED.upper()},
        "longest-client-seed": {"server_seed": SEED, "client_seed": "🂡" * 32},
        "largest-nonce": {"server_seed": "f" * 64, "nonce": 2**53 - 1},
    }
    for name, body in {**vectors, **written}.items():
        yield Draft(f"deck/{name}", "deck", DECK, body, ("R1", "R2", "R3", "R4", "R5"))


def seeds() -> Iterator[Draft]:
    yield Draft("seed/new", "seed", SEEDS, {}, ("R5", "R6"))
    yield Draft("seed/sealed", "seed", SEEDS, {"sealed": True}, ("R5",))


# Verdicts on the deployment's own outcomes, whoever signed them and whatever its engine is called.

ROUND, HIDDEN, NAMED = "round/insured", "round/hidden-seed", "round/four-boxes-use-49-cards"
BROKEN_OFF: Final = "void/two-players/3"
ALTERED: Final[dict[str, Any]] = {
    "/outcome_id": "0" * 32,
    "/ruleset/version": 2,
    "/ruleset/digest": "sha256:" + "0" * 64,
    "/engine/shuffle": "hmac-drbg-sha256/2",
    "/deal/commitment": "0" * 64,
    "/deal/client_seed": "Player",
    "/deal/deck/51": "2c",
    "/deal/cards_used": 11,
    "/table/max_payout": 5_000_001,
    "/actions/0/amount": 401,
    "/dealer/dealt/4": "As",
    "/dealer/qualifies": True,
    "/dealer/final_kind": None,
    "/boxes/0/hand/0": "2c",
    "/boxes/0/main": "straight",
    "/boxes/0/second": None,
    "/boxes/0/odds": 3,
    "/boxes/0/result": "win",
    "/boxes/0/bets/2/returned": 801,
    "/boxes/0/bets/2/clause": "S8",
    "/boxes/0/net": "500",
    "/totals/net": 0,
    "/totals/tips": 1,
    "/more": {"a": 1},
}
"""Places of the outcome of ``round/insured`` and what stands there in a claim."""


def verdicts() -> Iterator[Draft]:
    seed = WRITTEN["hidden-seed"]["deal"]["server_seed"]
    hidden = taken("/certificate", HIDDEN, "/certificate")
    yield _verdict("certificate-and-seed", {"certificate": "", "server_seed": seed}, hidden)
    yield _verdict("seed-needed", {"certificate": ""}, hidden)
    unsigned = ("/outcome/certificate", None)
    for case in (ROUND, NAMED, BROKEN_OFF):
        name, certificate = case.split("/")[1], taken("/certificate", case, "/certificate")
        yield _verdict(f"{name}/certificate", {"certificate": ""}, certificate)
        yield _verdict(f"{name}/outcome", {"outcome": {}}, taken("/outcome", case))
        yield _verdict(f"{name}/bare", {"outcome": {}}, taken("/outcome", case), unsigned)
    request, outcome = WRITTEN["insured"], taken("/outcome", ROUND)
    claim = {"request": request, "outcome": {}}
    yield _verdict("claim", claim, outcome)
    yield _verdict("hidden-seed", {**claim, "request": WRITTEN["hidden-seed"]}, taken("/outcome", HIDDEN))
    another = {**request, "context": {"id": "B-2"}}
    yield _verdict("claim-of-another-request", {**claim, "request": another}, outcome, unsigned)
    for number, (at, altered) in enumerate(ALTERED.items()):
        puts = [outcome, unsigned] if number % 2 else [outcome]
        name = at[1:].replace("/", "-").replace("_", "-")
        yield _verdict(f"altered/{name}", claim, *puts, (f"/outcome{at}", altered))
    engine = ("/outcome/engine/version", "0")
    yield _verdict("altered/engine-version", claim, outcome, engine, free="/differences/*/computed")
    foreign = taken("/outcome/certificate", NAMED, "/certificate")
    yield _verdict("altered/certificate-of-another", {"outcome": {}}, outcome, foreign)
    for name, useless in _refused_certificates().items():
        yield _verdict(f"refused/{name}", {"certificate": useless})
    yield _verdict("not-settled", {"outcome": {"status": "settled"}})
    yield _verdict("nothing-claimed", {"outcome": {}})


def _verdict(name: str, body: Document, *puts: Document | tuple[str, Any], free: str | None = None) -> Draft:
    put = [one if isinstance(one, dict) else {"at": one[0], "value": one[1]} for one in puts]
    own = [{"at": free, "pattern": ".+", "why": "the deployment's own engine"}] if free else []
    return Draft(
        f"verdict/{name}",
        "verdict",
        VERIFY,
        body,
        request={"put": put} if put else {},
        answer={"free": own} if own else {},
    )


def _refused_certificates() -> dict[str, str]:
    """Certificates that prove nothing to any deployment."""
    private = Ed25519PrivateKey.from_private_bytes(sha256(b"a key that nobody publishes").digest())
    public = urlsafe_b64encode(private.public_key().public_bytes_raw()).decode()
    key = VerificationKey(OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": public}), "active")
    signed = signer(private, key).sign(canonical_bytes({"status": "settled"}))
    header, payload, signature = signed.split(".")
    changes = {
        "wrong-algorithm": (b'"Ed25519"', b'"HS256"'),
        "no-algorithm": (b'"Ed25519"', b'"none"'),
        "wrong-type": (b"-outcome+jws", b"-seed+jwe"),
    }
    altered = {name: encoded(decoded(header).replace(*change)) for name, change in changes.items()}
    return {
        "malformed": "x",
        "two-parts": f"{header}.{payload}",
        "unknown-key": signed,
        **{name: f"{other}.{payload}.{signature}" for name, other in altered.items()},
    }
