"""The contract's examples are what the service answers today, and keep the contract's own schemas.

They are compared to the last member. Only what changes with the code itself, be it by a comment, is compared
by what has to hold of it: the engine's digest stands in every place or in none, a certificate is genuine and
its payload is the outcome around it, a list of files holds no altered one. ``python -m
tests.contract.examples --write`` after ``make manifest`` lets them show the release's own digest.
"""

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.api import create_app
from service.api.problems import PROBLEM_TYPES
from service.certificate.canonical import canonical_bytes
from service.certificate.jws import open_certificate
from tests.contract.document import (
    CONTRACT,
    CONTRACT_DOCUMENT,
    JSON_TYPES,
    OPERATIONS,
    Operation,
    component,
    resolve,
    validator,
)
from tests.contract.examples import (
    CALLS,
    CERTIFICATE,
    DECK,
    KEYS,
    RANDOM,
    SEALED_SEED,
    SEEDS,
    SERVER_SEED,
    SETTLE,
    STEP,
    VERIFY,
    VOID,
    Document,
    current_examples,
    decoded,
    differing,
    is_genuine,
    outcomes,
    with_examples,
)

STORED = CONTRACT_DOCUMENT["components"]["examples"]
ALTERED = ("verify-tampered", "verify-forged")
"""Examples of what somebody has altered."""


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    return create_app().test_client()


@pytest.fixture(scope="module")
def current(client: FlaskClient) -> dict[str, Any]:
    return current_examples(client)


def test_every_stored_example_is_what_the_service_answers(current: dict[str, Any]) -> None:
    assert differing(STORED, current) == [], "run python -m tests.contract.examples --write"


def test_the_generated_section_is_as_the_tool_writes_it() -> None:
    text = CONTRACT.read_text(encoding="utf-8")
    assert with_examples(text, STORED) == text


def test_random_examples_are_seeds_with_their_commitments(current: dict[str, Any]) -> None:
    for name in RANDOM:
        for examples in (STORED, current):
            answer = examples[f"{name}-answer"]["value"]
            sealed = answer.get("sealed_seed")
            seed = KEYS.sealer.open(sealed) if sealed else bytes.fromhex(answer["server_seed"])
            assert answer["commitment"] == sha256(seed).hexdigest()
        assert STORED[f"{name}-answer"] != current[f"{name}-answer"]
    assert KEYS.sealer.open(SEALED_SEED).hex() == SERVER_SEED


# What changes with the code itself.


def test_one_engine_made_all_examples() -> None:
    engine = STORED["version-answer"]["value"]["engine"]
    text = json.dumps(STORED)
    assert set(re.findall(r'"engine": (\{.*?\})', text)) == {json.dumps(engine)}
    (manifest, *files) = STORED["integrity-answer"]["value"]["files"]
    assert f"sha256:{manifest['stated']}" == engine["digest"]
    assert [file["file"] for file in files] == sorted({file["file"] for file in files})


def test_certificates_are_genuine_and_vouch_for_the_outcomes_around_them() -> None:
    seen = 0
    for name, example in STORED.items():
        for outcome in outcomes(example):
            payload, key = open_certificate(outcome["certificate"], KEYS.verifying)
            bare = {member: value for member, value in outcome.items() if member != "certificate"}
            assert (payload == bare) == (name not in ALTERED), name
            assert key.development
            assert outcome["request_digest"] == payload["request_digest"]
            assert outcome["outcome_id"] == outcome["request_digest"][7:39]
            seen += 1
        for certificate in certificates(example):
            assert is_genuine(certificate) == (name != "verify-forged"), name
    assert seen > 10


def certificates(value: Any) -> Iterator[str]:
    """Every certificate that stands somewhere in an example."""
    if isinstance(value, str) and CERTIFICATE.fullmatch(value):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from certificates(inner)


def test_another_engine_digest_makes_no_difference() -> None:
    assert differing(STORED, another_engine(STORED)) == []


def test_any_other_change_of_a_certified_outcome_makes_a_difference() -> None:
    name = "settle-hidden-seed-answer"
    outcome = STORED[name]["value"]
    bare = {member: value for member, value in outcome.items() if member != "certificate"}
    other = KEYS.signer.sign(canonical_bytes({**bare, "reason": "x"}))
    header, payload, signature = outcome["certificate"].split(".")
    forged = f"{header}.{payload}.{signature[:-9]}AAAAAAAAA"
    for change in (
        {"certificate": other},
        {"certificate": forged},
        {"certificate": None},
        {"engine": {**outcome["engine"], "digest": f"sha256:{'0' * 64}"}},
        {"totals": {**outcome["totals"], "net": 0}},
    ):
        changed = {**STORED, name: {**STORED[name], "value": {**outcome, **change}}}
        assert differing(changed, STORED) == [name], change


def another_engine(examples: Mapping[str, Document]) -> dict[str, Document]:
    """The examples as an engine with other files would give them."""
    digest = examples["version-answer"]["value"]["engine"]["digest"][7:]

    def other(value: Any) -> Any:
        match value:
            case str() if CERTIFICATE.fullmatch(value):
                _, payload, signature = value.split(".")
                signed = KEYS.signer.sign(canonical_bytes(other(json.loads(decoded(payload)))))
                return signed if is_genuine(value) else f"{signed.rpartition('.')[0]}.{signature}"
            case str():
                return value.replace(digest, sha256(digest.encode()).hexdigest())
            case dict():
                return {name: other(inner) for name, inner in value.items()}
            case list():
                return [other(inner) for inner in value]
            case _:
                return value

    return {name: other(one) for name, one in examples.items()}


# Examples and schemas.


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_examples_keep_the_schema_they_stand_under(operation: Operation) -> None:
    bodies = [(status, response.get("content", {})) for status, response in operation.responses()]
    bodies.append(("request", operation.value.get("requestBody", {}).get("content", {})))
    for status, content in bodies:
        for media_type in content.keys() & JSON_TYPES:
            schema = validator(content[media_type]["schema"])
            for name, example in content[media_type]["examples"].items():
                value = resolve(example)["value"]
                schema.validate(value)
                if media_type == "application/problem+json":
                    assert str(value["status"]) == status, (operation.id, name)


def test_examples_of_lines_keep_the_schemas_that_are_told_of_them() -> None:
    schemas = {"batch-lines": component("Round"), "batch-lines-answer": component("BatchResult")}
    texts = {name: one["value"] for name, one in STORED.items() if isinstance(one["value"], str)}
    assert set(texts) == set(schemas)
    *rounds, _ = texts["batch-lines"].splitlines()
    results = texts["batch-lines-answer"].splitlines()
    assert len(results) == len(rounds) + 1, "the last line is cut short, and answered all the same"
    for name, lines in (("batch-lines", rounds), ("batch-lines-answer", results)):
        for line in lines:
            validator(schemas[name]).validate(json.loads(line))


def test_every_type_of_problem_has_an_example() -> None:
    shown = {one["value"]["type"] for name, one in STORED.items() if name.startswith("problem-")}
    assert shown == {f"/problems/{slug}" for slug in PROBLEM_TYPES}


def test_the_first_round_of_the_description_can_be_settled(client: FlaskClient) -> None:
    (body,) = re.findall(r"-d '(.*?)'", CONTRACT_DOCUMENT["info"]["description"], re.DOTALL)
    response = client.post(SETTLE, json=json.loads(body))
    assert response.status_code == 200
    assert response.get_json()["totals"] == {"staked": 100, "returned": 0, "net": -100}


def test_links_of_a_new_seed_lead_on(client: FlaskClient) -> None:
    links = CONTRACT_DOCUMENT["paths"][SEEDS]["post"]["responses"]["200"]["links"]
    clear = {"deck": DECK, "step": STEP, "settle": SETTLE}
    sealed = {"step-sealed": STEP, "settle-sealed": SETTLE, "void-sealed": VOID}
    assert set(links) == {*clear, *sealed}
    for paths, wish in ((clear, {}), (sealed, {"sealed": True})):
        seed = client.post(SEEDS, json=wish).get_json()
        for name, path in paths.items():
            body = json.dumps(links[name]["x-request-body"])
            for member, value in seed.items():
                body = body.replace(f"$response.body#/{member}", value)
            assert client.post(path, data=body, content_type="application/json").status_code == 200


def test_a_first_decision_leads_to_a_settlement(client: FlaskClient) -> None:
    links = CONTRACT_DOCUMENT["paths"][STEP]["post"]["responses"]["200"]["links"]
    assert set(links) == {"settle", "settle-fold"}
    asked = STORED["step-may-insure"]["value"]
    body = {name: asked[name] for name in ("ruleset", "deal", "boxes")}
    assert links["settle-fold"]["x-request-body"] == {
        **{name: f"$request.body#/{name}" for name in body},
        "actions": [{"box": "$request.body#/boxes/0/box", "action": "fold"}],
    }
    fold = {"box": asked["boxes"][0]["box"], "action": "fold"}
    outcome = client.post(SETTLE, json={**body, "actions": [fold]}).get_json()
    assert outcome["boxes"][0]["result"] == "fold"


@pytest.mark.parametrize("path", [SETTLE, VOID])
def test_links_of_an_outcome_lead_to_its_verification(path: str, client: FlaskClient) -> None:
    links = CONTRACT_DOCUMENT["paths"][path]["post"]["responses"]["200"]["links"]
    bodies = [links[name]["x-request-body"] for name in links if name.startswith("verify-")]
    assert len(bodies) == (3 if path == SETTLE else 2)
    for call in (call for call in CALLS if call.path == path):
        outcome = STORED[f"{call.name}-answer"]["value"]
        values = {
            "$request.body": call.body,
            "$response.body": outcome,
            "$response.body#/certificate": outcome["certificate"],
        }
        for body in bodies:
            claim = {member: values[expression] for member, expression in body.items()}
            verdict = client.post(VERIFY, json=claim).get_json()
            codes = {check.get("code") for check in verdict["checks"]}
            hidden = outcome["status"] == "settled" and "server_seed" not in outcome["deal"]
            expected = "seed-needed" if hidden and outcome["deal"]["source"] == "seed" else None
            assert codes - {None} == ({expected} - {None} if "request" not in claim else set()), call.name


def test_the_recipe_for_the_beacon(client: FlaskClient) -> None:
    told = " ".join(CONTRACT_DOCUMENT["components"]["schemas"]["Beacon"]["description"].split())
    assert told.endswith(
        "the text `beacon/1:` and the hex SHA-256 of `russian-poker/beacon/v1`, the source, the value in"
        " lower case and the client seed given, with one zero byte between each two of them."
    )
    deal = STORED["settle-beacon-answer"]["value"]["deal"]
    given = STORED["settle-beacon"]["value"]["deal"]
    parts = (
        "russian-poker/beacon/v1",
        given["beacon"]["source"],
        given["beacon"]["value"].lower(),
        given["client_seed"],
    )
    assert deal["shuffle_seed"] == f"beacon/1:{sha256(chr(0).join(parts).encode()).hexdigest()}"
    seeds = {
        "server_seed": deal["server_seed"],
        "client_seed": deal["shuffle_seed"],
        "nonce": deal["nonce"],
    }
    assert client.post(DECK, json=seeds).get_json()["deck"] == deal["deck"]
