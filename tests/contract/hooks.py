"""What schemathesis is told beside ``schemathesis.toml``, in ``make contract`` as in ``make test``.

It needs nothing of the service, so that an integrator can run it against any deployment.
"""

from typing import Any, Final

import schemathesis
from schemathesis.core.transport import Response
from schemathesis.generation import GenerationMode

from tests.contract.beyond import is_beyond_schemas

RULESETS: Final = ("casino-1", "online-1", "trainer-1", "casino")


@schemathesis.hook
def before_load_schema(ctx: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Let links hand on whole bodies; schemathesis would fill in wrong ones only to replace them.

    It also takes a body with expressions within it for a link's ``requestBody``. OpenAPI, to the letter, does
    not: hence their place aside.
    """
    for item in raw_schema["paths"].values():
        for operation in item.values():
            for response in operation["responses"].values():
                for link in response.get("links", {}).values():
                    link["x-schemathesis"] = {"merge_body": False}
                    if "x-request-body" in link:
                        link["requestBody"] = link["x-request-body"]


@schemathesis.hook
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
