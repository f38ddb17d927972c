"""The apps that are compared do the same: equal answers to the same rounds, refusals of the same bodies."""

import asyncio
from collections.abc import Callable, Iterator, MutableMapping
from itertools import islice
from typing import Any

import orjson
import pytest
from flask.testing import FlaskClient

from service.api import create_app
from service.game.cards import CODES
from tests.api.calls import JSON, SETTLE
from tests.benchmarks.baseline import create_baseline
from tests.benchmarks.fastapi_app import app as fastapi
from tests.benchmarks.in_process import caller
from tests.benchmarks.nested_app import create_nested
from tests.benchmarks.specimens import Document, full_round, random_bodies, settled

Asked = Callable[[bytes], tuple[int, bytes]]
ROUND = full_round()


def wsgi(client: FlaskClient) -> Asked:
    def ask(data: bytes) -> tuple[int, bytes]:
        answer = client.post(SETTLE, data=data, content_type=JSON)
        return answer.status_code, answer.data

    return ask


def asgi(data: bytes) -> tuple[int, bytes]:
    """What the FastAPI app answers, asked as uvicorn asks it."""
    told: list[MutableMapping[str, Any]] = []

    async def receive() -> Document:
        return {"type": "http.request", "body": data}

    async def send(message: MutableMapping[str, Any]) -> None:
        told.append(message)

    headers = [(b"content-type", JSON.encode()), (b"content-length", b"%d" % len(data))]
    scope = {"type": "http", "method": "POST", "path": SETTLE, "query_string": b"", "headers": headers}
    asyncio.run(fastapi(scope, receive, send))
    return told[0]["status"], b"".join(message["body"] for message in told[1:])


@pytest.fixture(scope="module")
def ours() -> Asked:
    return wsgi(create_app().test_client())


@pytest.fixture(scope="module", params=["nested marshmallow", "FastAPI"])
def theirs(request: pytest.FixtureRequest) -> Asked:
    return asgi if request.param == "FastAPI" else wsgi(create_nested().test_client())


def rounds() -> Iterator[Document]:
    for boxes in (1, 2, 3, 4):
        yield full_round(boxes)
        yield from islice(random_bodies(boxes), 12)
    deck = settled(ROUND)["deal"]["deck"]
    yield {**ROUND, "deal": {"deck": deck}}
    yield {**ROUND, "table": {"max_payout": 300}, "context": {"round_id": "A-1"}}
    beacon = {"source": "beacon/1", "value": "AB" * 16}
    folds = [{"box": 1, "action": "fold"}]
    yield {
        **ROUND,
        "deal": {"server_seed": "AB" * 32, "beacon": beacon, "reveal": False},
        "boxes": [{"box": 1, "ante": 100, "player": "ann"}],
        "actions": folds,
    }


def test_all_answer_the_same_bytes(ours: Asked, theirs: Asked) -> None:
    for body in rounds():
        data = orjson.dumps(body)
        status, answer = ours(data)
        assert (status, theirs(data)) == (200, (200, answer)), body


def changed(**members: Any) -> Document:
    return {**ROUND, **members}


def changed_first(name: str, **members: Any) -> Document:
    first, *rest = ROUND[name]
    return {**ROUND, name: [{**first, **members}, *rest]}


WRONG: dict[str, Document] = {
    "an unknown member": changed(more=1),
    "no boxes": {name: value for name, value in ROUND.items() if name != "boxes"},
    "an unknown ruleset": changed(ruleset="no-1"),
    "a ruleset that is no text": changed(ruleset=1),
    "a deal of nothing": changed(deal={}),
    "a short seed": changed(deal={"server_seed": "0f" * 31}),
    "a nonce in quotes": changed(deal={**ROUND["deal"], "nonce": "7"}),
    "a seed and a deck": changed(deal={**ROUND["deal"], "deck": CODES}),
    "a short deck": changed(deal={"deck": CODES[1:]}),
    "another commitment": changed(deal={**ROUND["deal"], "commitment": "0f" * 32}),
    "a seal that is none": changed(deal={"sealed_seed": "nonsense"}),
    "a limit of 0": changed(table={"max_payout": 0}),
    "an empty list of boxes": changed(boxes=[]),
    "an ante of 0": changed_first("boxes", ante=0),
    "an ante in quotes": changed_first("boxes", ante="100"),
    "a bonus below 0": changed_first("boxes", bonus=-1),
    "a fifth box": changed_first("boxes", box=5),
    "a flag that is a text": changed_first("boxes", blind="no"),
    "an unknown member of a box": changed_first("boxes", stake=1),
    "an unfinished round": changed(actions=ROUND["actions"][:-1]),
    "a card twice": changed_first("actions", discard=["Ac", "Ac"]),
    "no card": changed_first("actions", discard=[]),
    "an amount to exchange": changed_first("actions", amount=1),
    "an unknown action": changed_first("actions", action="raise"),
    "an insurance of nothing": changed(actions=[{"box": 1, "action": "insure"}]),
}


@pytest.mark.parametrize("what", WRONG)
def test_all_refuse_the_same_bodies(ours: Asked, theirs: Asked, what: str) -> None:
    data = orjson.dumps(WRONG[what])
    assert ours(data)[0] == 422
    assert theirs(data)[0] == 422


def test_the_baseline_answers_a_constant_of_the_same_content(ours: Asked) -> None:
    data = orjson.dumps(ROUND)
    answer = orjson.loads(ours(data)[1])
    assert orjson.loads(caller(create_baseline(answer), SETTLE, data)()) == answer
    with pytest.raises(AssertionError):
        caller(create_baseline(answer), SETTLE, b"no JSON")()
