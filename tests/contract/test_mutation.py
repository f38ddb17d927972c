"""Contract and code agree on bodies that differ from a valid one in a single place.

Where the contract rejects, the service answers ``invalid-request`` with a code for the shape, at the place
that was changed. Where the contract accepts, it never does, but for the few rules that no schema can state.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.api import create_app
from tests.conftest import Tally
from tests.contract.beyond import BEYOND_SCHEMAS, is_beyond_schemas, refusals
from tests.contract.document import CONTRACT_DOCUMENT, Operation, operation, resolve, validator
from tests.contract.mutants import Mutant, mutants

SHAPE = {
    "required",
    "unknown-member",
    "type",
    "range",
    "length",
    "choice",
    "hex",
    "characters",
    "card",
    "context",
}
FULL: dict[str, Any] = {
    "ruleset": "casino-1",
    "deal": {
        "server_seed": "8c1f5a3e07d94b62E1A8C37F20D65B9438FE01A7C2964D0B7AE3158F6CD2B049",
        "client_seed": "игрок",
        "nonce": 13,
        "commitment": "91750ef81d8e5d72cba86efebc014b71baf332e38f341d0bdb03f6269115aec4",
        "reveal": False,
        "beacon": {"source": "example-beacon/4711", "value": "5D41402ABC4B2A76B9719D911017C592"},
    },
    "table": {"min_stake": 1, "max_stake": 1000, "max_payout": 5000},
    "boxes": [
        {"box": 1, "ante": 100, "bonus": 25, "blind": False, "player": "anna"},
        {"box": 2, "ante": 100, "blind": True, "player": "anna"},
        {"box": 4, "ante": 50, "player": "bo"},
    ],
    "actions": [
        {"box": 1, "action": "buy_sixth"},
        {"box": 1, "action": "insure", "amount": 10},
        {"box": 1, "action": "bet"},
        {"box": 4, "action": "exchange", "discard": ["2h", "3c"]},
        {"box": 4, "action": "fold"},
        {"box": 1, "action": "take_ante"},
        {"box": 2, "action": "buy_game"},
    ],
    "context": {"round": "A-1", "more": [1, {"deep": [None, True, -7]}], "": {}},
}
CLAIMED = {"status": "settled", "ruleset": {"version": 1}, "boxes": [{"dealt": ["As"], "net": 1.5}, None]}
CLAIM = {"request": FULL, "outcome": CLAIMED, "server_seed": FULL["deal"]["server_seed"]}
BROKEN_OFF = {**FULL, "actions": FULL["actions"][:-1], "reason": "power cut ~ table 4"}


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    return create_app().test_client()


def cases() -> Iterator[Any]:
    """Valid bodies of each operation: examples that differ in kind, and one that holds every member."""
    for id, names in {
        "settleRound": ("trainer-exchange", "push-on-named-deck", "insured", "sealed-seed"),
        "settleBatch": ("certified",),
        "stepRound": ("dealer-without-game",),
        "verifyRound": ("hidden-seed",),
        "evaluateHand": ("five-cards", "six-cards"),
        "createSeed": ("new-seed", "sealed-seed"),
        "shuffleDeck": ("with-client-seed",),
    }.items():
        examples = operation(id).value["requestBody"]["content"]["application/json"]["examples"]
        for name in names:
            yield pytest.param(operation(id), resolve(examples[name])["value"], id=f"{id}-{name}")
    yield pytest.param(operation("settleRound"), FULL, id="settleRound-full")
    yield pytest.param(operation("voidRound"), BROKEN_OFF, id="voidRound-full")
    yield pytest.param(operation("verifyRound"), CLAIM, id="verifyRound-full")


@pytest.mark.parametrize(("operation", "body"), list(cases()))
def test_one_change(operation: Operation, body: Any, client: FlaskClient, tally: Tally) -> None:
    schema = operation.request_schema
    assert schema is not None
    contract = validator(schema)
    contract.validate(body)
    answer = client.post(operation.path, json=body)
    assert list(refusals(answer.status_code, answer.get_json())) == []
    accepted = rejected = 0
    for mutant in mutants(body, schema):
        data = json.dumps(mutant.body, ensure_ascii=False).encode()
        answer = client.post(operation.path, data=data, content_type="application/json")
        told = f"{mutant.pointer} in {data.decode()[:600]}: {answer.get_data(as_text=True)}"
        if contract.is_valid(mutant.body):
            accepted += 1
            assert_no_fault_of_shape(answer, mutant, told)
        else:
            rejected += 1
            assert_fault_of_shape(answer, mutant, told)
    tally("contract: mutants that it accepts", accepted)
    tally("contract: mutants that it rejects", rejected)
    assert rejected > 10


def assert_no_fault_of_shape(answer: TestResponse, mutant: Mutant, told: str) -> None:
    for problem in refusals(answer.status_code, answer.get_json()):
        assert problem["status"] == 422, told
        if problem["type"] == "/problems/invalid-request":
            assert all(is_beyond_schemas(error) for error in problem["errors"]), told
            codes = {error["code"] for error in problem["errors"]}
            assert "context" not in codes or max(mutant.pointer) > "\uffff", told


def assert_fault_of_shape(answer: TestResponse, mutant: Mutant, told: str) -> None:
    problems = list(refusals(answer.status_code, answer.get_json()))
    assert problems, told
    for problem in problems:
        assert (problem["status"], problem["type"]) == (422, "/problems/invalid-request"), told
        assert {error["code"] for error in problem["errors"]} <= SHAPE, told
        assert problem["errors"], told
        assert all(mutant.explains(error["pointer"]) for error in problem["errors"]), told


def test_the_contract_tells_codes_of_the_shape_from_others() -> None:
    told = CONTRACT_DOCUMENT["components"]["schemas"]["ErrorCode"]["description"].split("\n\n")
    assert [code for code in SHAPE if f"`{code}`" not in told[1]] == []
    assert [code for code in BEYOND_SCHEMAS if f"`{code}`" not in told[2]] == []
