"""The contract as data: ``openapi.yaml`` read once, its references followed, its schemas compiled."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema_rs
import yaml

CONTRACT: Final = Path(__file__).parents[2] / "openapi.yaml"
METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
JSON_TYPES: Final = (JSON, NDJSON, "application/problem+json")

Schema = dict[str, Any]


def load_contract() -> dict[str, Any]:
    """The contract as the file holds it now."""
    document: dict[str, Any] = yaml.safe_load(CONTRACT.read_bytes())
    return document


CONTRACT_DOCUMENT: Final = load_contract()


def resolve(node: Any) -> Any:
    """What a reference leads to; anything else as it is. Members beside the reference are left out."""
    while isinstance(node, dict) and "$ref" in node:
        node = at(node["$ref"])
    return node


def at(reference: str) -> Any:
    """The part of the contract that a local reference names. Raises ``LookupError``."""
    node: Any = CONTRACT_DOCUMENT
    for step in reference.removeprefix("#/").split("/"):
        node = node[step.replace("~1", "/").replace("~0", "~")]
    return node


class Operation(NamedTuple):
    """One operation of the contract."""

    method: str
    path: str
    value: dict[str, Any]

    @property
    def id(self) -> str:
        id: str = self.value["operationId"]
        return id

    @property
    def example_path(self) -> str:
        """Its path with the first example of each parameter in place."""
        path = self.path
        for parameter in map(resolve, self.value.get("parameters", ())):
            if parameter["in"] == "path":
                example = next(iter(parameter["examples"].values()))["value"]
                path = path.replace(f"{{{parameter['name']}}}", str(example))
        return path

    @property
    def request_schema(self) -> Schema | None:
        """What a body in JSON has to be; None where there is no body."""
        if "requestBody" not in self.value:
            return None
        schema: Schema = self.value["requestBody"]["content"][JSON]["schema"]
        return schema

    def responses(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for status, response in self.value["responses"].items():
            yield status, resolve(response)


OPERATIONS: Final = tuple(
    Operation(method, path, value)
    for path, item in CONTRACT_DOCUMENT["paths"].items()
    for method, value in item.items()
    if method in METHODS
)


def operation(id: str) -> Operation:
    """The operation with this id."""
    return next(one for one in OPERATIONS if one.id == id)


def component(name: str) -> Schema:
    """A reference to a schema of the contract."""
    return {"$ref": f"#/components/schemas/{name}"}


def validator(schema: Schema) -> jsonschema_rs.Draft202012Validator:
    """A compiled schema of the contract."""
    reference = schema.get("$ref")
    return _validator(reference) if reference and len(schema) == 1 else _compiled(schema)


@cache
def _validator(reference: str) -> jsonschema_rs.Draft202012Validator:
    return _compiled({"$ref": reference})


def _compiled(schema: Schema) -> jsonschema_rs.Draft202012Validator:
    whole = {**schema, "components": {"schemas": CONTRACT_DOCUMENT["components"]["schemas"]}}
    return jsonschema_rs.Draft202012Validator(whole)


def pointer_to(pointer: str, name: str) -> str:
    """The JSON pointer of a part by the pointer of the whole."""
    return f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"


def nodes(node: Any, pointer: str = "#") -> Iterator[tuple[str, Any]]:
    """Every object within a part of the contract, with its place."""
    if isinstance(node, dict):
        yield pointer, node
        for name, inner in node.items():
            yield from nodes(inner, pointer_to(pointer, str(name)))
    elif isinstance(node, list):
        for index, inner in enumerate(node):
            yield from nodes(inner, f"{pointer}/{index}")
