"""The contract's examples are what the service answers today, and keep the contract's own schemas."""

import json
import re
from hashlib import sha256
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.api import create_app
from service.api.problems import PROBLEM_TYPES
from tests.contract.document import (
    CONTRACT,
    CONTRACT_DOCUMENT,
    JSON_TYPES,
    OPERATIONS,
    Operation,
    resolve,
    validator,
)
from tests.contract.examples import (
    DECK,
    RANDOM,
    SEEDS,
    SETTLE,
    STEP,
    current_examples,
    differing,
    with_examples,
)

STORED = CONTRACT_DOCUMENT["components"]["examples"]


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


def test_the_one_random_example_is_a_seed_with_its_commitment(current: dict[str, Any]) -> None:
    for examples in (STORED, current):
        seed = examples[f"{RANDOM}-answer"]["value"]
        assert seed["commitment"] == sha256(bytes.fromhex(seed["server_seed"])).hexdigest()
    assert STORED[f"{RANDOM}-answer"] != current[f"{RANDOM}-answer"]


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


def test_every_type_of_problem_has_an_example() -> None:
    shown = {one["value"]["type"] for name, one in STORED.items() if name.startswith("problem-")}
    assert shown == {f"/problems/{slug}" for slug in PROBLEM_TYPES}


def test_the_first_round_of_the_description_can_be_settled(client: FlaskClient) -> None:
    (body,) = re.findall(r"-d '(.*?)'", CONTRACT_DOCUMENT["info"]["description"], re.DOTALL)
    response = client.post(SETTLE, json=json.loads(body))
    assert response.status_code == 200
    assert response.get_json()["totals"] == {"staked": 100, "returned": 0, "net": -100}


def test_links_lead_on_with_the_examples(client: FlaskClient) -> None:
    seed = client.post(SEEDS, json={}).get_json()
    links = CONTRACT_DOCUMENT["paths"][SEEDS]["post"]["responses"]["200"]["links"]
    for name, path in {"deck": DECK, "step": STEP, "settle": SETTLE}.items():
        body = json.dumps(links[name]["requestBody"])
        for member, value in seed.items():
            body = body.replace(f"$response.body#/{member}", value)
        assert client.post(path, data=body, content_type="application/json").status_code == 200
