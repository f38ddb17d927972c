"""The contract by itself: a valid OpenAPI document, complete, closed, and readable without anything else."""

import re
from collections import Counter
from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.contract.document import (
    CONTRACT,
    CONTRACT_DOCUMENT,
    JSON_TYPES,
    NDJSON,
    OPERATIONS,
    Operation,
    Schema,
    at,
    component,
    nodes,
    resolve,
    validator,
)

COMPONENTS = CONTRACT_DOCUMENT["components"]
SCHEMAS: dict[str, Schema] = COMPONENTS["schemas"]
OPEN = {
    "#/Context": "the caller's own object",
    "#/ConformanceKit": "it has a schema of its own",
    "#/OutcomeClaim/properties/outcome": "what somebody claims may be anything",
}
PLACES = re.compile(r"#/\w+(/(properties|patternProperties|oneOf)/[^/]+|/(items|additionalProperties))*")
CLAUSES = {
    f"{letter}{number}"
    for letter, last in {"A": 10, "C": 6, "D": 5, "I": 23, "R": 7, "S": 9}.items()
    for number in range(1, last + 1)
}

each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
each_schema = pytest.mark.parametrize("name", SCHEMAS)


def schema_nodes(name: str) -> list[tuple[str, Schema]]:
    """Every schema within a component, itself included."""
    found = nodes(SCHEMAS[name], f"#/{name}")
    return [(pointer, node) for pointer, node in found if PLACES.fullmatch(pointer)]


def test_it_is_a_valid_openapi_document() -> None:
    validate(CONTRACT_DOCUMENT)
    assert CONTRACT_DOCUMENT["openapi"] == "3.1.0"


def test_references_lead_somewhere_and_every_component_is_used() -> None:
    references = Counter(node["$ref"] for _, node in nodes(CONTRACT_DOCUMENT) if "$ref" in node)
    for node in (node for _, node in nodes(SCHEMAS) if "discriminator" in node):
        references.update(node["discriminator"]["mapping"].values())
        assert set(node["discriminator"]["mapping"].values()) == {one["$ref"] for one in node["oneOf"]}
    for reference in references:
        assert reference.startswith("#/components/")
        at(reference)
    defined = {f"#/components/{kind}/{name}" for kind, named in COMPONENTS.items() for name in named}
    assert defined == set(references)


def test_operations_are_named_once_and_tags_are_explained() -> None:
    assert max(Counter(operation.id for operation in OPERATIONS).values()) == 1
    used = {tag for operation in OPERATIONS for tag in operation.value["tags"]}
    assert used == {tag["name"] for tag in CONTRACT_DOCUMENT["tags"] if tag["description"].strip()}


@each_operation
def test_an_operation_explains_itself(operation: Operation) -> None:
    assert operation.value["summary"].strip()
    assert len(operation.value["description"]) > len(operation.value["summary"])
    for parameter in map(resolve, operation.value.get("parameters", ())):
        assert parameter["description"].strip()
    for _, response in operation.responses():
        assert response["description"].strip()
        assert "X-Request-Id" in response["headers"]
        for header in map(resolve, response["headers"].values()):
            assert header["description"].strip()


@each_operation
def test_every_json_body_has_an_example(operation: Operation) -> None:
    bodies = [response.get("content", {}) for _, response in operation.responses()]
    bodies.append(operation.value.get("requestBody", {}).get("content", {}))
    for content in bodies:
        for media_type in content.keys() & JSON_TYPES:
            assert content[media_type]["examples"], (operation.id, media_type)


@each_schema
def test_schemas_compile_and_are_described(name: str) -> None:
    validator({"$ref": f"#/components/schemas/{name}"})
    for pointer, schema in schema_nodes(name):
        if "$ref" in schema and pointer.split("/")[-2] in ("oneOf", "patternProperties"):
            continue  # one of several shapes is described where it is defined
        if schema in ({"type": "null"}, {"$ref": schema.get("$ref")}):
            continue  # nothing to add
        assert schema["description"].strip(), pointer
    for member, schema in SCHEMAS[name].get("properties", {}).items():
        assert "description" in schema or SCHEMAS[name]["required"] == ["value", "basis"], (name, member)


@each_schema
def test_objects_are_flat_and_closed(name: str) -> None:
    for pointer, schema in schema_nodes(name):
        if "object" not in schema.get("type", ()) or pointer in OPEN:
            continue
        assert schema["additionalProperties"] is False or "propertyNames" in schema, pointer
        assert pointer == f"#/{name}", f"{pointer}: an object within an object deserves a name of its own"
        assert set(schema.get("required", ())) <= set(schema.get("properties", ())), pointer


def test_only_these_objects_are_open() -> None:
    found = {
        pointer
        for name in SCHEMAS
        for pointer, schema in schema_nodes(name)
        if "object" in schema.get("type", ())
        and schema.get("additionalProperties") is not False
        and "propertyNames" not in schema
    }
    assert found == set(OPEN)


@each_schema
def test_numbers_have_bounds_and_patterns_cover_the_whole_text(name: str) -> None:
    for pointer, schema in schema_nodes(name):
        if "integer" in schema.get("type", ()) and "enum" not in schema:
            assert "minimum" in schema, pointer
            assert "maximum" in schema or pointer == "#/Deck/properties/bytes_used", pointer
        if "pattern" in schema:
            assert schema["pattern"].startswith("^"), pointer
            assert schema["pattern"].endswith("$"), pointer
            assert "maxLength" in schema, pointer


# What code generators need, or stumble over.


@each_schema
def test_integers_beyond_32_bits_say_so(name: str) -> None:
    for pointer, schema in schema_nodes(name):
        if "integer" in schema.get("type", ()):
            wide = max(abs(schema.get(bound, 0)) for bound in ("minimum", "maximum")) >= 2**31
            assert (schema.get("format") == "int64") == wide, pointer


@each_operation
def test_bodies_have_names_for_generated_types(operation: Operation) -> None:
    bodies = [response.get("content", {}) for _, response in operation.responses()]
    bodies.append(operation.value.get("requestBody", {}).get("content", {}))
    for content in bodies:
        for media_type in content.keys() & set(JSON_TYPES) - {NDJSON}:  # of lines there is no type
            assert set(content[media_type]["schema"]) == {"$ref"}, (operation.id, media_type)


@each_schema
def test_a_truth_value_is_not_one_of_a_list(name: str) -> None:
    # Generated Python compares with the words 'true' and 'false'.
    for pointer, schema in schema_nodes(name):
        assert "boolean" not in schema.get("type", ()) or "enum" not in schema, pointer


def test_bodies_of_links_are_expressions_or_kept_aside() -> None:
    # To the letter of OpenAPI an expression is a whole value, and swagger-parser refuses any other.
    for operation in OPERATIONS:
        for _, response in operation.responses():
            for name, link in response.get("links", {}).items():
                assert isinstance(link.get("requestBody", ""), str), (operation.id, name)
                assert ("requestBody" in link) + ("x-request-body" in link) + ("parameters" in link) == 1


DEALER = {
    **{"up_card": "7d", "dealt": ["2c", "3c", "4c", "5c", "7d"], "kind": "none", "qualifies": False},
    **{"draws": [], "final": ["2c", "3c", "4c", "5c", "7d"], "final_kind": "none", "final_qualifies": False},
}
SEED = {"commitment": "0" * 64, "server_seed": "0" * 64}
PASSED = {"name": "deal", "passed": True, "detail": "x"}
FAILED = {"name": "request", "passed": False, "code": "not-settled", "detail": "x"}


@pytest.mark.parametrize(
    ("name", "whole", "broken"),
    [
        ("DealerView", {"up_card": "7d"}, [{}, {"up_card": "7d", "draws": []}]),
        ("DealerView", DEALER, [{name: DEALER[name] for name in DEALER if name != less} for less in DEALER]),
        (
            "Seed",
            SEED,
            [{"commitment": "0" * 64}, SEED | {"sealed_seed": f"x..{'x' * 16}.{'x' * 43}.{'x' * 22}"}],
        ),
        ("Check", PASSED, [PASSED | {"code": "other-deal"}, PASSED | {"name": "request"}]),
        ("Check", FAILED, [PASSED | {"passed": False}, FAILED | {"passed": True}]),
    ],
)
def test_one_object_of_several_shapes(name: str, whole: dict[str, Any], broken: list[dict[str, Any]]) -> None:
    # Generated code cannot tell these shapes apart, so rules on one object do what oneOf would.
    shape = validator(component(name))
    assert shape.is_valid(whole)
    assert [other for other in broken if shape.is_valid(other)] == []


def test_texts_of_one_length_leave_no_room_for_a_trailing_newline() -> None:
    # In some languages $ also matches before a newline at the end; a fixed length settles it there too.
    for name in ("Card", "AnyHex256", "Hex256", "Digest", "OutcomeId", "KeyId", "ShuffleSeed"):
        assert SCHEMAS[name]["minLength"] == SCHEMAS[name]["maxLength"]


def test_clauses_that_are_cited_exist() -> None:
    text = CONTRACT.read_text(encoding="utf-8").split("\n  examples:\n")[0]
    cited = set(re.findall(r"\b[ACDIRS][1-9][0-9]?\b", text))
    assert len(cited) > 30
    assert cited <= CLAUSES


def test_it_stands_alone() -> None:
    text = CONTRACT.read_text(encoding="utf-8")
    hosts = set(re.findall(r"https?://([^/\s:]+)", text))
    assert hosts <= {"127.0.0.1"}
    assert not re.search(r"/(work|home|root|tmp|Users)/", text)
