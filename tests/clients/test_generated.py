"""Generated clients play whole rounds: with the service, through a proxy that judges both, with a mock."""

import json
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, get_args

import pytest
from werkzeug import Response

from service.game.round import ActionName
from service.game.settlement import Result
from service.registry import Registry
from tests.api.servers import Server, serving_here
from tests.clients.conftest import Client, proxying
from tests.clients.plans import MOCKED, MOCKED_SUMMARY, ROUNDS, truth
from tests.conftest import Tally
from tests.contract.document import CONTRACT_DOCUMENT
from tests.docs.guides import Workshop

SCHEMAS = CONTRACT_DOCUMENT["components"]["schemas"]


def test_the_rounds_have_everything_in_them(registry: Registry) -> None:
    truths = [truth(plan, registry) for plan in ROUNDS]
    assert {plan["ruleset"] for plan in ROUNDS} == set(registry)
    assert {name for plan in ROUNDS for name in plan["deal"]} >= {
        *("server_seed", "sealed_seed", "deck", "beacon", "commitment", "reveal"),
    }
    assert {action["action"] for one in truths for action in one["actions"]} == set(get_args(ActionName))
    assert {result for one in truths for result in one["results"]} == set(get_args(Result))
    assert max(one["net"] for one in truths) > 2**31


def test_the_guide_shows_what_the_program_says(client: Client) -> None:
    client.run_as_shown()


def test_rounds_end_as_in_the_engine(
    client: Client, service: Server, registry: Registry, tally: Tally
) -> None:
    assert client.play(f"127.0.0.1:{service.port}", ROUNDS) == [truth(plan, registry) for plan in ROUNDS]
    tally("clients: rounds played by generated clients", len(ROUNDS))


def test_a_proxy_finds_nothing_against_the_contract(
    clients: Callable[[str], Client], proxy: str, registry: Registry
) -> None:
    assert clients("TypeScript").play(proxy, ROUNDS) == [truth(plan, registry) for plan in ROUNDS]


def test_a_mock_serves_as_well(client: Client, mock: str) -> None:
    assert client.play(mock, MOCKED) == [MOCKED_SUMMARY] * len(MOCKED)


def test_types_bear_the_names_of_the_contract(clients: Callable[[str], Client], bench: Workshop) -> None:
    named = {name for name, schema in SCHEMAS.items() if schema.keys() & {"properties", "oneOf", "enum"}}
    for language, models in (
        ("Python", "russian_poker_client/models/*.py"),
        ("Java", "main/**/model/*.java"),
    ):
        clients(language)
        files = {path.stem for path in (bench.folder / language.lower()).rglob(models)}
        types = {name.replace("_", "").lower() for name in files - {"__init__", "AbstractOpenApiSchema"}}
        assert types == {name.lower() for name in named}, language


@pytest.mark.parametrize(("language", "program"), [("TypeScript", "sample.ts"), ("Python", "sample.py")])
def test_a_member_that_does_not_exist_is_found(
    language: str, program: str, clients: Callable[[str], Client], bench: Workshop
) -> None:
    client, path = clients(language), bench.folder / program
    text = path.read_text(encoding="utf-8")
    assert "refusal.index" in text
    path.write_text(text.replace("refusal.index", "refusal.place"), encoding="utf-8")
    try:
        with pytest.raises(AssertionError, match="place"):
            client.check_types()
    finally:
        path.write_text(text, encoding="utf-8")


def test_the_mock_refuses_what_the_contract_does_not_allow(mock: str) -> None:
    body = {name: value for name, value in MOCKED[0].items() if name not in ("wishes", "answers")}
    for name, expected in (("bet", 200), ("raise", 422)):
        status, _ = ask(mock, "/v1/rounds/step", {**body, "actions": [{"box": 1, "action": name}]})
        assert status == expected


def test_the_proxy_stops_answers_that_break_the_contract(npm: Path, bench: Workshop, tmp_path: Path) -> None:
    lie = Response('{"status": "undead"}', content_type="application/json")
    with serving_here(lie) as port, proxying(port, bench, tmp_path / "log") as proxy:
        status, problem = ask(proxy, "/livez")
    assert status == 500
    assert ["response", "body", "status"] in [one["location"] for one in problem["validation"]]


def ask(address: str, path: str, body: Any = None) -> tuple[int, Any]:
    """The status and the document of an answer."""
    with closing(HTTPConnection(address, timeout=60)) as connection:
        if body is None:
            connection.request("GET", path)
        else:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.load(answer)
