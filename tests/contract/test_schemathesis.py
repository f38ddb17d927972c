"""Requests that schemathesis makes up from the contract: examples, boundaries, random ones, chains of links.

All its checks are on, and one of our own. Nothing is left to chance, so a run is the same everywhere.
"""

import json
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
from tests.contract.document import JSON, NDJSON, OPERATIONS, component, load_contract, validator
from tests.contract.examples import BATCH
from tests.contract.test_mutation import is_beyond_schemas, refusals

# What a schemathesis.toml would say.
SETTINGS: Final[dict[str, Any]] = {
    "seed": 1,
    "generation": {"mode": "all", "max-examples": 15, "deterministic": True, "database": "none"},
    "checks": {
        # A body can have the right shape and still describe a round that the rules do not allow.
        "positive_data_acceptance": {"expected-statuses": ["2xx", "304", "404", "422"]},
    },
    # Links hand on whole bodies; schemathesis would fill in wrong ones only to replace them.
    # A batch is answered with 200 though a round of it is refused; ``wrong_shape_is_refused`` looks into it.
    # No link leads to one or from one, so chains would only have fewer steps for the others.
    "operations": [
        {
            "include-operation-id": "settleBatch",
            "checks": {"negative_data_rejection": {"expected-statuses": ["200", "400", "411", "415", "422"]}},
            "phases": {"stateful": {"enabled": False}},
        }
    ],
    "phases": {"stateful": {"generation": {"mode": "positive", "max-examples": 60}}},
}
PHASES: Final = ("examples", "coverage", "fuzzing", "stateful")
RULESETS: Final = ("casino-1", "online-1", "trainer-1", "casino")


@pytest.fixture(scope="module")
def schema() -> BaseSchema:
    """The contract for schemathesis, its links told to replace what they fill in."""
    document = load_contract()
    for one in OPERATIONS:
        for response in document["paths"][one.path][one.method]["responses"].values():
            for link in response.get("links", {}).values():
                link["x-schemathesis"] = {"merge_body": False}
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
    """What the contract allows is not ``invalid-request``, but for the rules that no schema can state.

    Of a text of lines the contract says in words what it allows.
    """
    if case.media_type != NDJSON and case.meta and case.meta.generation.mode == GenerationMode.POSITIVE:
        for problem in problems(response):
            if problem["type"] == "/problems/invalid-request":
                assert all(is_beyond_schemas(error) for error in problem["errors"])


@schemathesis.check
def wrong_shape_is_refused(
    ctx: schemathesis.CheckContext, response: Response, case: schemathesis.Case[Any]
) -> None:
    """A round that the contract does not allow is refused in its place, or its batch as a whole."""
    if response.status_code == 200 and case.path == BATCH and case.media_type == JSON:
        assert validator(component("BatchRequest")).is_valid(case.body) or problems(response)


def problems(response: Response) -> list[Any]:
    """The problems of an answer, those of a batch among them."""
    is_json = response.headers.get("content-type") in ([JSON], ["application/problem+json"])
    return list(refusals(response.status_code, response.json())) if is_json else []


@schemathesis.serializer(NDJSON)
def as_text(ctx: schemathesis.SerializationContext, value: Any) -> Any:
    """A text of lines as it is, anything else as one line."""
    return (value if isinstance(value, str) else json.dumps(value)).encode()


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
