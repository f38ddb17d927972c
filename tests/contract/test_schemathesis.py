"""Requests that schemathesis makes up from the contract: examples, boundaries, random ones, chains of links.

The settings are those of ``schemathesis.toml``, which ``make contract`` takes over the wire; here it is fewer
examples and no socket. No seed is drawn. Only what Python has loaded by then makes a difference, since
Hypothesis picks up constants from there.
"""

import base64
import json
import tomllib
from collections import Counter
from itertools import pairwise
from typing import Any, Final, NamedTuple

import pytest
import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from schemathesis.schemas import BaseSchema

from service.api import create_app
from tests.api.servers import ROOT
from tests.conftest import Tally
from tests.contract.document import OPERATIONS, load_contract
from tests.contract.live import LEAST, WAY, Tried, tried

PHASES: Final = ("examples", "coverage", "fuzzing", "stateful")


@pytest.fixture(scope="module")
def schema() -> BaseSchema:
    """The contract for schemathesis, with its own settings but for the number of examples."""
    chosen = tomllib.loads((ROOT / "schemathesis.toml").read_text(encoding="utf-8"))
    chosen["generation"]["max-examples"] = 15
    chosen["phases"]["stateful"]["generation"]["max-examples"] = 25
    config = SchemathesisConfig.from_dict(chosen)
    schema = schemathesis.openapi.from_dict(load_contract(), config=config)
    schema.app = create_app()
    return schema


class Run(NamedTuple):
    """What came of a run: requests by phase, operation and status; everything that went wrong."""

    sent: Counter[tuple[str, str, int]]
    checks: Counter[str]
    wrong: list[str]


@pytest.fixture(scope="module")
def run(schema: BaseSchema) -> Run:
    done = Run(Counter(), Counter(), [])
    for event in from_schema(schema).execute():
        match event:
            case events.ScenarioFinished():
                recorder = event.recorder
                for id, node in recorder.cases.items():
                    if interaction := recorder.interactions.get(id):
                        status = interaction.response.status_code if interaction.response else 0
                        done.sent[event.phase.value, node.value.operation.label, status] += 1
                for checks in recorder.checks.values():
                    for check in checks:
                        done.checks[check.name] += 1
                        if check.status != Status.SUCCESS:
                            done.wrong.append(f"{recorder.label}: {check.failure_info}")
            case events.NonFatalError():
                done.wrong.append(f"{event.label}: {event.value!r}")
            case events.FatalError():
                raise event.exception
    return done


def test_nothing_went_wrong(run: Run, tally: Tally) -> None:
    assert run.wrong == []
    for phase in PHASES:
        number = sum(count for (where, _, _), count in run.sent.items() if where == phase)
        tally(f"schemathesis: requests in phase {phase}", number)


def test_every_phase_tried_what_it_should(run: Run) -> None:
    tried = {(phase, label) for phase, label, _ in run.sent}
    for one in OPERATIONS:
        label = f"{one.method.upper()} {one.path}"
        assert ("coverage", label) in tried
        assert ("fuzzing", label) in tried
        assert ("examples", label) in tried or not one.request_schema


def test_all_checks_were_made(run: Run) -> None:
    # A limit on the time of an answer is no business of a contract.
    assert set(run.checks) == set(CHECKS.get_all_names()) - {"max_response_time"}
    assert {"right_shape_is_never_invalid", "wrong_shape_is_refused"} <= set(run.checks)


def test_links_were_followed(run: Run) -> None:
    for label in (
        "POST /v1/rounds/step",
        "POST /v1/rounds/settle",
        "POST /v1/rounds/void",
        "POST /v1/rounds/verify",
        "POST /v1/fairness/deck",
        "GET /v1/rulesets/{id}",
    ):
        assert run.sent["stateful", label, 200], label


# The report of the long run.


def event(statuses: list[int], applied: bool = True, valid: bool = True, way: tuple[str, ...] = WAY) -> str:
    """A scenario of one chain of requests as schemathesis reports it, in JSON."""
    answer = base64.b64encode(json.dumps({"valid": valid}).encode()).decode()
    cases, interactions = {}, {}
    for place, (path, status) in enumerate(zip(way, statuses, strict=True)):
        case: dict[str, Any] = {"value": {"path": path}, "is_transition_applied": applied and place > 0}
        cases[str(place)] = case | ({"parent_id": str(place - 1)} if place else {})
        interactions[str(place)] = {
            "response": {"status_code": status, "content": {"$base64": answer}},
        }
    recorder = {"cases": cases, "interactions": interactions, "checks": {"0": [{"name": "right"}]}}
    return json.dumps({"ScenarioFinished": {"phase": "stateful", "recorder": recorder}})


def test_a_way_is_counted_only_if_it_was_gone_to_its_end() -> None:
    whole = event([200] * 4)
    others = [
        event([200, 200, 200, 422]),
        event([200, 422, 200, 200]),
        event([200] * 4, applied=False),
        event([200] * 4, valid=False),
        event([200] * 3, way=WAY[1:]),
        event([200] * 3, way=WAY[:3]),
        json.dumps({"ScenarioFinished": {"phase": "stateful", "recorder": {"label": "nothing"}}}),
        json.dumps({"EngineFinished": {}}),
    ]
    for other in others:
        assert tried([other]).ways == 0, other
    found = tried([whole, *others, whole])
    assert (found.ways, found.examples["stateful"], found.checks["right"]) == (2, 30, 8)
    assert found.paths[WAY[0]] == 7
    assert "       2  seeds → step → settle → verify" in str(found)


def test_what_falls_short_is_told() -> None:
    enough = Tried(Counter(dict.fromkeys(PHASES, LEAST // 4)), Counter(), Counter(), 1)
    assert list(enough.shortcomings()) == []
    assert len(list(enough._replace(ways=0).shortcomings())) == 1
    assert len(list(tried([]).shortcomings())) == 6


def test_the_way_is_one_of_links() -> None:
    """The contract itself leads from each operation of the way to the next."""
    contract = load_contract()
    ids = {one.path: one.id for one in OPERATIONS}
    for path, following in pairwise(WAY):
        links = contract["paths"][path]["post"]["responses"]["200"]["links"].values()
        assert ids[following] in {link["operationId"] for link in links}
