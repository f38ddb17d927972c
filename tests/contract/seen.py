"""What answers really hold: objects, members, shapes and listed values, counted against the schemas."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from flask.testing import FlaskClient

from service.api import create_app
from service.certificate.canonical import canonical_bytes
from service.game.cards import CODES
from service.integrity import MANIFEST, Integrity
from service.keys import new_keys, read_keys, revoked_keys, rotated_keys
from tests.contract.document import NDJSON, Schema, at, component, operation, resolve, validator
from tests.contract.examples import (
    BEACON,
    CALLS,
    HIDDEN,
    KEYS,
    REFUSALS,
    Document,
    current_examples,
    decoded,
    encoded,
)
from tests.support.vectors import load, settle_body

_BODIES: Final = {
    "settleRound": "/v1/rounds/settle",
    "settleBatch": "/v1/rounds/settle-batch",
    "stepRound": "/v1/rounds/step",
    "voidRound": "/v1/rounds/void",
    "verifyRound": "/v1/rounds/verify",
    "evaluateHand": "/v1/hands/evaluate",
    "shuffleDeck": "/v1/fairness/deck",
}


_LINE: Final = component("BatchResult")


class Seen:
    """Walks answers along their schemas and keeps what it meets, by place in the contract."""

    def __init__(self) -> None:
        self.objects: Counter[str] = Counter()
        self.members: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.values: defaultdict[str, set[Any]] = defaultdict(set)
        self.shapes: defaultdict[str, set[Any]] = defaultdict(set)
        self.answers: Counter[str] = Counter()

    def answer(self, id: str, status: str, document: Any) -> None:
        """One JSON answer of an operation, or the text of its lines; it has to keep its schema."""
        content = resolve(operation(id).value["responses"][status])["content"]
        lines = isinstance(document, str)
        schema = _LINE if lines else next(content[one]["schema"] for one in content if one != NDJSON)
        for one in map(json.loads, document.splitlines()) if lines else (document,):
            validator(schema).validate(one)
            self.answers[id] += 1
            self._walk(schema, f"#/paths/{id}/{status}", one)

    def _walk(self, schema: Schema, place: str, value: Any) -> None:
        while "$ref" in schema:
            place = schema["$ref"]
            schema = at(place)
        if "oneOf" in schema:
            index = next(index for index, one in enumerate(schema["oneOf"]) if validator(one).is_valid(value))
            self.shapes[place].add(index)
            self._walk(schema["oneOf"][index], f"{place}/oneOf/{index}", value)
        elif "enum" in schema:
            self.values[place].add(value)
        elif isinstance(schema.get("type"), list):
            self.shapes[place].add("null" if value is None else "other")
        elif isinstance(value, dict) and "properties" in schema:
            self.objects[place] += 1
            self.members[place].update(value.keys())
            for name, inner in value.items():
                self._walk(schema["properties"][name], f"{place}/properties/{name}", inner)
        elif isinstance(value, list) and "items" in schema:
            for item in value:
                self._walk(schema["items"], f"{place}/items", item)


def observe(client: FlaskClient) -> Seen:
    """More than a thousand varied answers. The client's app has a ruleset house-1 without a bonus."""
    seen = Seen()

    def post(id: str, body: Any) -> Any:
        response = client.post(_BODIES[id], json=body)
        document = response.get_json()
        seen.answer(id, str(response.status_code), document)
        return document

    for index, vector in enumerate([*load("rounds.jsonl"), *load("rigged.jsonl")]):
        body = settle_body(vector)
        post("settleRound", body)
        if index % 4 == 0:
            for end in range(len(body["actions"]) + 1):
                under_way = {**body, "actions": body["actions"][:end]}
                post("stepRound", under_way)
                post("voidRound", {**under_way, "reason": f"after {end} actions"})
    for vector in load("hands.json"):
        for id in ("trainer-1", "online-1", "casino-1"):
            post("evaluateHand", {"ruleset": id, "cards": vector["cards"].split()})
    for vector in load("decks.json"):
        post("shuffleDeck", {name: vector[name] for name in ("server_seed", "client_seed", "nonce")})
    _observe_examples(seen, client)
    _observe_codes(post)
    _observe_verdicts(post)
    _observe_keys(seen)
    _observe_files(seen)
    return seen


def _observe_examples(seen: Seen, client: FlaskClient) -> None:
    ids = {
        **{path: id for id, path in _BODIES.items()},
        "/v1/fairness/seeds": "createSeed",
        "/v1/integrity": "checkIntegrity",
        "/.well-known/jwks.json": "getKeys",
        "/v1/conformance": "listKits",
        "/v1/rulesets": "listRulesets",
        "/v1/rulesets/trainer-1": "getRuleset",
        "/v1/version": "getVersion",
        "/livez": "getLiveness",
        "/readyz": "getReadiness",
    }
    seen.answer("getKit", "200", client.get("/v1/conformance/1").get_json())
    examples = current_examples(client)
    for call in CALLS:
        seen.answer(ids[call.path], "200", examples[f"{call.name}-answer"]["value"])
    for refusal in REFUSALS:
        problem = examples[f"problem-{refusal.name}"]["value"]
        id = {404: "getRuleset", 503: "getReadiness"}.get(problem["status"], "settleRound")
        seen.answer(id, str(problem["status"]), problem)


def _observe_codes(post: Any) -> None:
    """Requests for the codes and values that neither vectors nor examples show."""
    box = {"box": 1, "ante": 100}
    body = {
        "ruleset": "casino-1",
        "deal": {"deck": list(CODES)},
        "boxes": [box],
        "actions": [{"box": 1, "action": "fold"}],
    }
    changes: tuple[dict[str, Any], ...] = (
        {"boxes": [{**box, "player": "x" * 65}]},
        {"boxes": [{**box, "ante": 0}]},
        {"boxes": [{**box, "bonus": 1}], "ruleset": "house-1"},
        {"boxes": [{**box, "player": "a"}, {"box": 2, "ante": 1, "player": "a"}]},
        {"context": {"n": 0.5}},
        {"deal": {"server_seed": "0" * 64, "client_seed": "é" * 65}},
        {"deal": {"sealed_seed": "a.b.c.d.e"}},
        {"deal": {"server_seed": "0" * 64, "beacon": {"source": "\t", "value": "0" * 32}}},
        {"table": {"min_stake": 2, "max_stake": 1}},
        {"table": {"min_stake": 101}},
        {"table": {"max_stake": 99}},
        {"actions": []},
    )
    for change in changes:
        post("settleRound", {**body, **change})
    post("settleBatch", {"rounds": [{**body, **change} for change in changes]})
    outcome = post("settleRound", body)
    for name in outcome:
        post("verifyRound", {"request": body, "outcome": {**outcome, name: None, "more": 0}})
    for cards in _RARE_HANDS:
        post("evaluateHand", {"ruleset": "casino-1", "cards": cards.split()})


def _observe_verdicts(post: Any) -> None:
    """Claims for every code that a failed check can have."""
    settled = post("settleRound", {**BEACON, "context": {"id": 1}})
    void = post("voidRound", {**BEACON, "reason": "for a test", "context": {"id": 1}})
    hidden = post("settleRound", HIDDEN)
    for certificate in (settled["certificate"], *_refused_certificates(settled)):
        post("verifyRound", {"certificate": certificate})
        post("verifyRound", {"outcome": {**settled, "certificate": certificate}})
    for outcome in (settled, void):
        bare = {name: value for name, value in outcome.items() if name != "certificate"}
        for name in bare:
            changed = deepcopy(bare)
            changed[name] = {**bare[name], "version": "0"} if isinstance(bare[name], dict) else "x"
            missing = {other: value for other, value in bare.items() if other != name}
            for other in (changed, missing):
                post("verifyRound", {"outcome": {**other, "certificate": outcome["certificate"]}})
                post("verifyRound", {"outcome": other})
                post("verifyRound", {"request": BEACON, "outcome": other})
                post("verifyRound", {"certificate": KEYS.signer.sign(canonical_bytes(other))})
        other = {**bare, "ruleset": {**bare["ruleset"], "id": "casino-2"}}
        post("verifyRound", {"outcome": other, "server_seed": "0" * 64})
    post("verifyRound", {"outcome": {**hidden, "certificate": None}})
    post("verifyRound", {"outcome": hidden, "server_seed": "0" * 64})


def _refused_certificates(outcome: Document) -> Iterator[str]:
    """What is no certificate for one reason or another."""
    header, payload, signature = outcome["certificate"].split(".")
    yield "x"
    for old, new in (
        (b'"Ed25519"', b'"HS256"'),
        (b"-outcome+jws", b"-seed+jwe"),
        (b'"kid":"', b'"kid":"x'),
        (b'"development":true,', b""),
    ):
        yield f"{encoded(decoded(header).replace(old, new))}.{payload}.{signature}"
    yield f"{header}.{encoded(decoded(payload).replace(b'fold', b'hold'))}.{signature}"
    yield KEYS.signer.sign(b'{"status": "settled"}')


def _observe_keys(seen: Seen) -> None:
    """Deployments with keys of their own: before and after a rotation, and after a revocation."""
    first = new_keys()
    rotated = rotated_keys(first)
    kid = first["keys"][0]["kid"]
    signed = read_keys(first).signer.sign(b"{}")
    for file in (first, rotated, revoked_keys(rotated, kid, "for a test")):
        app = create_app()
        app.extensions["deployment"] = app.extensions["deployment"]._replace(keys=read_keys(file))
        client = app.test_client()
        seen.answer("getKeys", "200", client.get("/.well-known/jwks.json").get_json())
        verdict = client.post("/v1/rounds/verify", json={"certificate": signed}).get_json()
        seen.answer("verifyRound", "200", verdict)


def _observe_files(seen: Seen) -> None:
    """Deployments with other files than their release: one added, one unreadable, all others missing."""
    app = create_app()
    for manifest in (MANIFEST.read_bytes(), b"garbage\n"):
        with TemporaryDirectory() as folder:
            (Path(folder) / MANIFEST.name).write_bytes(manifest)
            (Path(folder) / "added.py").touch()
            (Path(folder) / "unreadable.py").mkdir()
            app.extensions["deployment"] = app.extensions["deployment"]._replace(
                integrity=Integrity(lambda altered: None, Path(folder))
            )
            seen.answer("checkIntegrity", "200", app.test_client().get("/v1/integrity").get_json())


_RARE_HANDS: Final = (
    "As Ks Qs Js Ts 9s",
    "As Ks Qs Js Ts 2s",
    "As Ks Qs Js Ts Td",
    "9s 8s 7s 6s 5s Td",
    "9s 8s 7s 6s 5s 2s",
    "Ac Ad Ah As Kc Kd",
    "Ac Kc 9c 5c 2c 9d",
)
