"""Requests that schemathesis makes up from the contract: examples, boundaries, random ones, chains of links.

All its checks are on, and one of our own. Nothing is left to chance, so a run is the same everywhere.
"""

from collections import Counter
from typing import Any, Final, NamedTuple

import pytest
import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.config import SchemathesisConfig
from schemathesis.core.transport import Response
from schemathesis.engine import Status, events, from_schema
from schemathesis.generation import GenerationMode
from schemathesis.schemas import BaseSchema

from service.api import create_app
from tests.conftest import Tally
from tests.contract.document import OPERATIONS, load_contract
from tests.contract.test_mutation import is_beyond_schemas

# What a schemathesis.toml would say.
SETTINGS: Final[dict[str, Any]] = {
    "seed": 1,
    "generation": {"mode": "all", "max-examples": 15, "deterministic": True, "database": "none"},
    "checks": {
        # A body can have the right shape and still describe a round that the rules do not allow.
        "positive_data_acceptance": {"expected-statuses": ["2xx", "304", "404", "422"]},
    },
    # Links hand on whole bodies; schemathesis would fill in wrong ones only to replace them.
    "phases": {"stateful": {"generation": {"mode": "positive", "max-examples": 60}}},
}
PHASES: Final = ("examples", "coverage", "fuzzing", "stateful")
RULESETS: Final = ("casino-1", "online-1", "trainer-1", "casino")


@pytest.fixture(scope="module")
def schema() -> BaseSchema:
    """The contract for schemathesis, which takes more for a link's body than OpenAPI does, to the letter."""
    document = load_contract()
    for operation in OPERATIONS:
        for response in document["paths"][operation.path][operation.method]["responses"].values():
            for link in response.get("links", {}).values():
                link["x-schemathesis"] = {"merge_body": False}
                if "x-request-body" in link:
                    link["requestBody"] = link["x-request-body"]
    schema = schemathesis.openapi.from_dict(document, config=SchemathesisConfig.from_dict(SETTINGS))
    schema.app = create_app()
    schema.hook(map_body)
    return schema


def map_body(ctx: schemathesis.HookContext, body: Any) -> Any:
    """Name a ruleset that exists, or nothing would get further than ``unknown-ruleset``."""
    if isinstance(body, dict):
        one = body.get("request", body)
        ruleset = one.get("ruleset") if isinstance(one, dict) else None
        if isinstance(ruleset, str) and 0 < len(ruleset) <= 100:
            one["ruleset"] = RULESETS[len(ruleset) % len(RULESETS)]
    return body


@schemathesis.check
def right_shape_is_never_invalid(
    ctx: schemathesis.CheckContext, response: Response, case: schemathesis.Case[Any]
) -> None:
    """What the contract allows is not ``invalid-request``, but for the rules that no schema can state."""
    if response.status_code == 422 and case.meta and case.meta.generation.mode == GenerationMode.POSITIVE:
        problem = response.json()
        if problem["type"] == "/problems/invalid-request":
            assert all(is_beyond_schemas(error) for error in problem["errors"])


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
    for operation in OPERATIONS:
        label = f"{operation.method.upper()} {operation.path}"
        assert ("coverage", label) in tried
        assert ("fuzzing", label) in tried
        assert ("examples", label) in tried or not operation.request_schema


def test_all_checks_were_made(run: Run) -> None:
    # A limit on the time of an answer is no business of a contract.
    assert set(run.checks) == set(CHECKS.get_all_names()) - {"max_response_time"}
    assert "right_shape_is_never_invalid" in run.checks


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
