"""Faults in a body of the right shape: the rules that no schema can state."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

BEYOND_SCHEMAS: Final = {
    "bytes": "a schema counts characters, the rule counts bytes",
    "context": "no pattern says in every language that characters beyond U+FFFF are left out; nor how deep",
    "length": "of a context: a schema cannot measure the canonical form",
    "no-such-box": "how many boxes there are depends on the ruleset",
    "box-order": "a schema cannot compare one box with the next",
    "no-bonus": "whether there is a bonus depends on the ruleset",
    "no-blind-boxes": "whether there are blind boxes depends on the ruleset",
    "too-many-open-boxes": "how many boxes may be open depends on the ruleset",
}


def is_beyond_schemas(error: Mapping[str, str]) -> bool:
    """Whether a fault in a body that the contract accepts is of a kind that no schema can state."""
    if error["code"] in ("context", "length"):
        return bool(re.match(r"(/request|/rounds/\d+)?/context(/|$)", error["pointer"]))
    return error["code"] in BEYOND_SCHEMAS


def refusals(status: int, document: Any) -> Iterator[Any]:
    """The problem that an answer is, or those of a batch with pointers that start at its body."""
    if status != 200:
        yield document
        return
    for index, result in enumerate(document.get("results", ())):
        if problem := result.get("problem"):
            errors = [{**one, "pointer": f"/rounds/{index}{one['pointer']}"} for one in problem["errors"]]
            yield {**problem, "errors": errors}
