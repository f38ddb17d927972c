"""Requests to the API in a few words, and what holds for every answer."""

import json
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.game.cards import card_codes
from service.keys import development_keys
from tests.support.cards import rig

SETTLE, BATCH, STEP, VERIFY, VOID = (
    f"/v1/rounds/{verb}" for verb in ("settle", "settle-batch", "step", "verify", "void")
)
ROUNDS = (SETTLE, BATCH, STEP, VERIFY, VOID)
EVALUATE, SEEDS, DECK = "/v1/hands/evaluate", "/v1/fairness/seeds", "/v1/fairness/deck"
POSTS = (*ROUNDS, EVALUATE, SEEDS, DECK)

SEED = "00ffa5c3" * 8
JSON, NDJSON = "application/json", "application/x-ndjson"
PROBLEM_JSON = "application/problem+json"
MEMBERS = ("type", "title", "status", "detail", "errors")

Document = dict[str, Any]


def round_body(ruleset: str = "casino-1", **members: Any) -> Document:
    """A round of one box that folds, with other members in place of these."""
    return {
        "ruleset": ruleset,
        "deal": {"server_seed": SEED},
        "boxes": [{"box": 1, "ante": 100}],
        "actions": [{"box": 1, "action": "fold"}],
        **members,
    }


def rigged(*hands: str, then: str = "") -> Document:
    """A deal from a deck that gives each box, and the dealer at last, these cards."""
    return {"deck": card_codes(rig(hands, then))}


def act(*actions: str) -> list[Document]:
    """``act("1 exchange 9c 2d", "1 insure 200", "1 bet")`` as a request writes it."""
    return [_action(*action.split()) for action in actions]


def _action(box: str, name: str, *rest: str) -> Document:
    action: Document = {"box": int(box), "action": name}
    if name == "exchange":
        action["discard"] = list(rest)
    elif name == "insure":
        action["amount"] = int(rest[0])
    return action


def without(document: Mapping[str, Any], *names: str) -> Document:
    return {name: value for name, value in document.items() if name not in names}


def leaves(document: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a document that is neither object nor array, with its JSON pointer."""
    if isinstance(document, dict | list):
        places = document.items() if isinstance(document, dict) else enumerate(document)
        for place, inner in places:
            yield from leaves(inner, f"{pointer}/{place}")
    else:
        yield pointer, document


def content_digest(body: bytes) -> str:
    """The header of RFC 9530 that goes with a body."""
    return f"sha-256=:{b64encode(sha256(body).digest()).decode()}:"


def certified(outcome: Mapping[str, Any]) -> bytes:
    """The payload of an outcome's certificate, which has to be genuine and vouch for this very outcome.

    Checked with a library for Ed25519 and one for RFC 8785, and with nothing of the service but its key.
    """
    assert list(outcome)[-1] == "certificate"
    signed, _, signature = outcome["certificate"].rpartition(".")
    header, payload = map(_decoded, signed.split("."))
    key = next(key for key in development_keys()["keys"] if key["kty"] == "OKP")
    assert json.loads(header) == {
        "alg": "Ed25519",
        "development": True,
        "kid": key["kid"],
        "typ": "russian-poker-outcome+jws",
    }
    assert header == rfc8785.dumps(json.loads(header))
    # Raises InvalidSignature for a forgery.
    Ed25519PublicKey.from_public_bytes(_decoded(key["x"])).verify(_decoded(signature), signed.encode())
    assert payload == rfc8785.dumps(plain(outcome))
    return payload


def _decoded(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def plain(outcome: Mapping[str, Any]) -> Document:
    """The outcome without its certificate."""
    return without(outcome, "certificate")


def is_problem(answer: TestResponse, slug: str) -> Document:
    """The document of an answer that has to be this problem, in the one shape that problems have."""
    document = answer.get_json(force=True)
    assert (answer.mimetype, document["type"]) == (PROBLEM_JSON, f"/problems/{slug}"), document
    assert tuple(document)[: len(MEMBERS)] == MEMBERS
    assert document["status"] == answer.status_code
    assert document["title"]
    assert len(document["detail"]) > 10, "a detail helps"
    for error in document["errors"]:
        assert set(error) == {"pointer", "code", "detail"}
        assert error["pointer"] == "" or error["pointer"][0] == "/"
        assert error["code"]
        assert error["detail"]
    assert answer.headers["X-Request-Id"]
    assert isinstance(document, dict)
    return document


class Api:
    """The service in this process, asked as a client would."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client

    def send(self, path: str, body: bytes | str, headers: Mapping[str, str] | None = None) -> TestResponse:
        """The answer to these very bytes."""
        data = body.encode() if isinstance(body, str) else body
        return self.client.post(
            path,
            data=data,
            headers={"Content-Type": JSON, **(headers or {})},
            environ_overrides={"CONTENT_LENGTH": str(len(data))},  # the test client leaves out a 0
        )

    def post(self, path: str, body: Any) -> TestResponse:
        return self.send(path, json.dumps(body, ensure_ascii=False).encode())

    def ask(self, path: str, body: Any) -> Document:
        """The document of an answer that has to be a success."""
        answer = self.post(path, body)
        document = answer.get_json()
        assert (answer.status_code, answer.mimetype) == (200, JSON), document
        assert answer.headers["Content-Digest"] == content_digest(answer.data)
        assert isinstance(document, dict)
        return document

    def settle(self, body: Any) -> Document:
        """The outcome, its certificate checked."""
        outcome = self.ask(SETTLE, body)
        certified(outcome)
        return outcome

    def void(self, body: Any) -> Document:
        """The void outcome, its certificate checked."""
        outcome = self.ask(VOID, body)
        certified(outcome)
        return outcome

    def step(self, body: Any) -> Document:
        return self.ask(STEP, body)

    def verify(self, request: Any, outcome: Any) -> Document:
        return self.ask(VERIFY, {"request": request, "outcome": outcome})

    def refused(self, path: str, body: Any, slug: str) -> Document:
        """The problem that a request has to meet."""
        return is_problem(self.post(path, body), slug)

    def faults(self, path: str, body: Any, slug: str = "invalid-request") -> dict[str, str]:
        """The details of a refusal by their pointers."""
        return {error["pointer"]: error["detail"] for error in self.refused(path, body, slug)["errors"]}
