"""What schemathesis is told beside ``schemathesis.toml``, in ``make contract`` as in ``make test``.

It needs nothing of the service, so that an integrator can run it against any deployment.
"""

import json
from typing import Any, Final

import schemathesis
from schemathesis.core.transport import Response
from schemathesis.generation import GenerationMode

from tests.contract.beyond import is_beyond_schemas, refusals
from tests.contract.document import JSON, NDJSON, component, validator

CARDS: Final = [rank + suit for suit in "cdhs" for rank in "23456789TJQKA"]
RULESETS: Final = ("casino-1", "online-1", "trainer-1", "casino")


@schemathesis.hook
def before_load_schema(ctx: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Let links hand on whole bodies; schemathesis would fill in wrong ones only to replace them.

    It also takes a body with expressions within it for a link's ``requestBody``. OpenAPI, to the letter, does
    not: hence their place aside. And it gives up where it must make up a list in which something is not
    exactly one of several shapes, or 52 different values of a type that has not as many: so the shapes of an
    action, which exclude one another, come as ``anyOf``, and a deck is one of a few.
    """
    for item in raw_schema["paths"].values():
        for operation in item.values():
            for response in operation["responses"].values():
                for link in response.get("links", {}).values():
                    link["x-schemathesis"] = {"merge_body": False}
                    if "x-request-body" in link:
                        link["requestBody"] = link["x-request-body"]
    schemas = raw_schema["components"]["schemas"]
    schemas["Action"]["anyOf"] = schemas["Action"].pop("oneOf")
    schemas["DeckDeal"]["properties"]["deck"] = {"enum": [CARDS, CARDS[::-1]]}


@schemathesis.hook
def map_body(ctx: schemathesis.HookContext, body: Any) -> Any:
    """Name rulesets most of which exist, or nothing would get further than ``unknown-ruleset``."""
    if isinstance(body, dict):
        rounds = body.get("rounds")
        for one in rounds if isinstance(rounds, list) else [body.get("request", body)]:
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
    """A round of a batch that the contract does not allow is refused in its place."""
    if response.status_code == 200 and case.path == "/v1/rounds/settle-batch" and case.media_type == JSON:
        body: Any = case.body
        for one, result in zip(body["rounds"], response.json()["results"], strict=True):
            refused = result.get("problem", {}).get("type") == "/problems/invalid-request"
            assert refused or validator(component("Round")).is_valid(one)


def problems(response: Response) -> list[Any]:
    """The problems of an answer, those of a batch among them."""
    is_json = response.headers.get("content-type") in ([JSON], ["application/problem+json"])
    return list(refusals(response.status_code, response.json())) if is_json else []


@schemathesis.serializer(NDJSON)
def as_text(ctx: schemathesis.SerializationContext, value: Any) -> Any:
    """A text of lines as it is, anything else as one line."""
    return (value if isinstance(value, str) else json.dumps(value)).encode()
