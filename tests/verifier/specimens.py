"""What the service answers, for tests by hand: ``python -m tests.verifier.specimens``.

Outcomes of every sort, signed with keys of every status. They come over the HTTP interface; only the keys are
made as ``russian-poker keys`` makes them.
"""

import json
import os
from typing import Any, Final
from unittest.mock import patch

from flask.testing import FlaskClient

from service.api import create_app
from service.keys import new_keys, revoked_keys, rotated_keys
from tests.verifier.random_rounds import Json

SEED: Final = "53419178d713424656201fe66f85879d921867779c4733d70ab6f74f368ed9ea"
BEACON: Final = {"source": "example-beacon/4711", "value": "5D41402ABC4B2A76B9719D911017C592"}
DECK: Final = [rank + suit for rank in "A23456789TJQK" for suit in "hcsd"]
REQUEST: Final[Json] = {
    "ruleset": "casino-1",
    "deal": {"server_seed": SEED, "client_seed": "", "nonce": 7},
    "boxes": [
        {"box": 1, "ante": 100, "blind": True, "bonus": 25, "player": "<img src=x onerror=alert(1)>"},
        {"box": 2, "ante": 500, "bonus": 100},
        {"box": 3, "ante": 100},
        {"box": 4, "ante": 250, "blind": True},
    ],
    "actions": [
        {"box": 2, "action": "buy_sixth"},
        {"box": 2, "action": "bet"},
        {"box": 3, "action": "fold"},
        {"box": 1, "action": "buy_game"},
        {"box": 2, "action": "buy_game"},
        {"box": 4, "action": "take_ante"},
    ],
    "context": {"round_id": "</script><script>alert(1)</script>", "ё": [None, {"10": "\u2028", "9": -7}]},
}


def changed(members: Json, **deal: Any) -> Json:
    """The request with other members, and with other inputs of the deal."""
    return {**REQUEST, **members, "deal": {**REQUEST["deal"], **deal}}


FOLDED: Final = {"boxes": [{"box": 1, "ante": 100}], "actions": [{"box": 1, "action": "fold"}]}
REQUESTS: Final[dict[str, Json]] = {
    "plain": REQUEST,
    "other": changed({"context": {"round_id": "another"}}),
    "beacon": changed(FOLDED, beacon=BEACON),
    "hidden": changed({}, reveal=False),
    "deck": {**REQUEST, **FOLDED, "deal": {"deck": DECK}},
    "void": changed({"actions": REQUEST["actions"][:2], "reason": "power cut"}, beacon=BEACON),
    "void_deck": {**REQUEST, **FOLDED, "deal": {"deck": DECK}, "reason": "power cut"},
}
"""Requests to settle, and to void where there is a reason."""
REASON: Final = "the laptop was stolen"


def key_files() -> dict[str, Json]:
    """Key files by the status that the key which signs by them has in the file "active", which is in use."""
    revoked = new_keys()
    retired = rotated_keys(revoked)
    kid = next(key["kid"] for key in revoked["keys"] if (key["kty"], key["status"]) == ("OKP", "active"))
    published = revoked_keys(rotated_keys(retired), kid, REASON)
    return {"revoked": revoked, "retired": retired, "active": published, "next": rotated_keys(published)}


def client(keys: Json | None) -> FlaskClient:
    """The service with these keys, or with the development keys."""
    environment = {name: value for name, value in os.environ.items() if name not in _SETTINGS}
    if keys is not None:
        environment["KEYS"] = json.dumps(keys)
    with patch.dict(os.environ, environment, clear=True):
        return create_app().test_client()


_SETTINGS: Final = ("KEYS", "KEYS_FILE", "PRODUCTION", "RULESETS_DIR")


def answered(service: FlaskClient, request: Json) -> Json:
    """The outcome of a request to settle or, where it has a reason, to void."""
    answer = service.post(f"/v1/rounds/{'void' if 'reason' in request else 'settle'}", json=request)
    assert answer.status_code == 200, answer.text
    outcome: Json = answer.get_json()
    return outcome


def specimens() -> Json:
    """Outcomes by request under the active key, and of the plain request by the status of the key."""
    files = key_files()
    published, development = client(files["active"]), client(None)
    rulesets = {id: published.get(f"/v1/rulesets/{id}").get_json() for id in ("casino-1", "trainer-1")}
    elsewhere = {status: client(file) for status, file in files.items() if status != "active"}
    by_status = {status: answered(service, REQUEST) for status, service in elsewhere.items()}
    return {
        "requests": REQUESTS,
        "rulesets": rulesets,
        "keys": files["active"],
        "jwks": published.get("/.well-known/jwks.json").get_json(),
        "development_jwks": development.get("/.well-known/jwks.json").get_json(),
        "outcomes": {name: answered(published, request) for name, request in REQUESTS.items()},
        "by_status": {**by_status, "development": answered(development, REQUEST)},
        "void_development": answered(development, REQUESTS["void"]),
    }


if __name__ == "__main__":
    print(json.dumps(specimens()))  # noqa: T201
