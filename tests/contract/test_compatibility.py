"""What was promised stays promised: released contracts against today's. Planted changes prove it."""

from pathlib import Path

import pytest

from tests.conftest import Tally
from tests.contract.compatibility import RULES, breaches
from tests.contract.document import CONTRACT, CONTRACT_DOCUMENT, nodes
from tests.contract.planted import (
    Change,
    breaking,
    changed,
    gone,
    harmless,
    operations_of,
    schemas_of_answers,
    with_members,
)
from tests.contract.released import keep, released
from tests.docs.guides import guide, table

RELEASED = released()
VERSION = CONTRACT_DOCUMENT["info"]["version"]
SCHEMAS = "#/components/schemas"
SETTLE = "#/paths/~1v1~1rounds~1settle/post"


@pytest.mark.parametrize("version", RELEASED)
def test_no_promise_is_broken(version: str) -> None:
    assert RELEASED[version]["info"]["version"] == version
    assert breaches(RELEASED[version], CONTRACT_DOCUMENT) == []


def test_a_released_version_gets_no_additions() -> None:
    """What is new in today's contract is missing in the one of the same version that was released."""
    added = breaches(CONTRACT_DOCUMENT, RELEASED.get(VERSION, CONTRACT_DOCUMENT))
    assert added == [], "raise info.version; before its release, python -m tests.contract.released --again"


def test_something_is_kept() -> None:
    assert RELEASED


# Planted changes: where, what, the rule that it breaks, and where that shows.

PLANTED: dict[str, tuple[str, Change, str, str]] = {
    "an operation less": ("#/paths/~1v1~1rounds~1void", gone, "operation", "#/paths/~1v1~1rounds~1void/post"),
    "another name of an operation": (
        f"{SETTLE}/operationId",
        lambda id: "settle",
        "operation",
        f"{SETTLE}/operationId",
    ),
    "credentials": (SETTLE, with_members(security=[{"token": []}]), "security", SETTLE),
    "a parameter less": (f"{SETTLE}/parameters/0", gone, "parameter", f"{SETTLE}/parameters/0"),
    "a refusal less": (f"{SETTLE}/responses/422", gone, "status", f"{SETTLE}/responses/422"),
    "another success": (
        f"{SETTLE}/responses",
        with_members(**{"202": {"description": "later"}}),
        "status",
        f"{SETTLE}/responses",
    ),
    "a link less": (
        f"{SETTLE}/responses/200/links/verify-claim",
        gone,
        "link",
        f"{SETTLE}/responses/200/links/verify-claim",
    ),
    "a header less": (
        f"{SETTLE}/responses/200/headers/Content-Digest",
        gone,
        "header",
        f"{SETTLE}/responses/200/headers/Content-Digest",
    ),
    "a member of a request less": (
        f"{SCHEMAS}/Table/properties/max_payout",
        gone,
        "member",
        f"{SCHEMAS}/Table/properties/max_payout",
    ),
    "a member of an answer less": (
        f"{SCHEMAS}/SettledBet/properties/odds",
        gone,
        "member",
        f"{SCHEMAS}/SettledBet/properties/odds",
    ),
    "a member required": (
        f"{SCHEMAS}/SeedDeal/required",
        lambda required: [*required, "nonce"],
        "member-required",
        f"{SCHEMAS}/SeedDeal",
    ),
    "a member that may be missing": (
        f"{SCHEMAS}/Totals/required",
        lambda required: required[1:],
        "member-optional",
        f"{SCHEMAS}/Totals",
    ),
    "an action less": (
        f"{SCHEMAS}/PlainActionName/enum",
        lambda actions: actions[1:],
        "value-removed",
        f"{SCHEMAS}/PlainActionName",
    ),
    "a problem type less": (
        f"{SCHEMAS}/Problem/properties/type/enum",
        lambda types: types[1:],
        "value-removed",
        f"{SCHEMAS}/Problem/properties/type",
    ),
    "a result more": (
        f"{SCHEMAS}/SettledBox/properties/result/enum",
        lambda results: [*results, "jackpot"],
        "value-added",
        f"{SCHEMAS}/SettledBox/properties/result",
    ),
    "a deal less": (
        f"{SCHEMAS}/Deal/oneOf",
        lambda shapes: shapes[:2],
        "shape-removed",
        f"{SCHEMAS}/Deal/oneOf/2",
    ),
    "a smaller ante": (
        f"{SCHEMAS}/BoxStake/properties/ante/maximum",
        lambda bound: bound - 1,
        "narrowed",
        f"{SCHEMAS}/BoxStake/properties/ante",
    ),
    "longer names": (
        f"{SCHEMAS}/SettledBox/properties/player/maxLength",
        lambda bound: bound + 1,
        "widened",
        f"{SCHEMAS}/SettledBox/properties/player",
    ),
    "null for a number": (
        f"{SCHEMAS}/SettledBox/properties/odds/type",
        lambda type: [type, "null"],
        "widened",
        f"{SCHEMAS}/SettledBox/properties/odds",
    ),
    "another default": (
        f"{SCHEMAS}/SealedDeal/properties/reveal/default",
        lambda reveal: False,
        "default",
        f"{SCHEMAS}/SealedDeal/properties/reveal",
    ),
    "a context of certain names only": (
        f"{SCHEMAS}/Context/additionalProperties",
        lambda values: False,
        "closed",
        f"{SCHEMAS}/Context",
    ),
    "totals with anything in them": (
        f"{SCHEMAS}/Totals/additionalProperties",
        gone,
        "opened",
        f"{SCHEMAS}/Totals",
    ),
}


ABOVE: dict[str, tuple[str, Change, str, str]] = {
    "credentials everywhere": (
        "#",
        with_members(security=[{"token": []}]),
        "security",
        "",  # at each operation
    ),
    "a parameter of a whole path": (
        "#/paths/~1v1~1rounds~1void",
        with_members(parameters=[{"name": "X-New", "in": "header", "required": True}]),
        "keyword",
        "#/paths/~1v1~1rounds~1void",
    ),
    "another server for a path": (
        "#/paths/~1v1~1rounds~1void",
        with_members(servers=[{"url": "/new"}]),
        "keyword",
        "#/paths/~1v1~1rounds~1void",
    ),
    "another server for an operation": (
        SETTLE,
        with_members(servers=[{"url": "/new"}]),
        "keyword",
        SETTLE,
    ),
    "something new above all": ("#", with_members(jsonSchemaDialect="other"), "keyword", "#"),
}
"""Changes around the operations, or of what no rule reads."""


@pytest.mark.parametrize("name", [*PLANTED, *ABOVE])
def test_a_planted_change_is_found_where_it_is_and_nothing_else(name: str) -> None:
    pointer, change, rule, place = {**PLANTED, **ABOVE}[name]
    found = breaches(CONTRACT_DOCUMENT, changed(CONTRACT_DOCUMENT, pointer, change))
    places = {place} if place else {pointer for pointer, _ in operations_of(CONTRACT_DOCUMENT)}
    assert {(breach.rule, breach.pointer) for breach in found} == {(rule, place) for place in places}
    assert len(found[0].sentence) > 10


def within(pointer: str, place: str) -> bool:
    return f"{pointer}/".startswith(f"{place}/")


def test_whatever_can_be_broken_anywhere_is_found(tally: Tally) -> None:
    proven = set()
    for plant in breaking(CONTRACT_DOCUMENT):
        place = plant.seen_at or plant.pointer
        found = breaches(CONTRACT_DOCUMENT, plant.into(CONTRACT_DOCUMENT))
        near = [one for one in found if within(one.pointer, place) or within(place, one.pointer)]
        assert plant.rule in {breach.rule for breach in near}, (plant.what, plant.pointer, found)
        proven.add(plant.rule)
        tally("compatibility: planted changes that break a promise, all found", 1)
    assert proven == set(RULES)


def test_whatever_may_be_changed_anywhere_is_let_pass(tally: Tally) -> None:
    for plant in harmless(CONTRACT_DOCUMENT):
        found = breaches(CONTRACT_DOCUMENT, plant.into(CONTRACT_DOCUMENT))
        assert found == [], (plant.what, plant.pointer)
        tally("compatibility: planted changes that break none, all let pass", 1)


def test_changes_of_shapes_are_judged_by_what_they_allow() -> None:
    """The same values under other names, in one shape for two or two for one, are the same promise or not."""

    def judged(old: object, new: object, way: str) -> set[str]:
        def contract(schema: object) -> dict[str, object]:
            content = {"content": {"application/json": {"schema": schema}}}
            post = (
                {"responses": {"200": content}}
                if way == "answer"
                else {"requestBody": content, "responses": {}}
            )
            schemas = {"Text": {"type": "string"}, "Number": {"type": "integer"}, "Tree": TREE}
            return {"paths": {"/": {"post": post}}, "components": {"schemas": schemas}}

        return {breach.rule for breach in breaches(contract(old), contract(new))}

    text, number, tree = ({"$ref": f"{SCHEMAS}/{name}"} for name in ("Text", "Number", "Tree"))
    null, string = {"type": "null"}, {"type": "string"}
    for way in ("request", "answer"):
        assert judged(text, string, way) == set()
        assert judged({"oneOf": [text, number]}, {"anyOf": [number, {"type": "string"}]}, way) == set()
        assert judged({"oneOf": [text, null]}, {"oneOf": [number, null]}, way) & {"shape-removed"}
        assert judged(tree, tree, way) == set()
        assert judged({"allOf": [text]}, {"allOf": [text]}, way) == set()
        assert judged({"allOf": [text]}, {"allOf": [text, number]}, way) == {"keyword"}
        assert judged({"not": tree}, {"not": {"type": "object"}}, way) == {"keyword"}
        assert judged(True, False, way) == {"keyword"}
        assert judged(True, {}, way) == set()
        assert judged({"const": 1}, {"enum": [1]}, way) == set()
    assert judged(text, {"oneOf": [text, null]}, "request") == set()
    assert judged(text, {"oneOf": [text, null]}, "answer") == {"shape-added"}
    assert judged({"oneOf": [text, null]}, text, "request") == {"shape-removed"}
    assert judged({"type": "integer"}, {"type": "number"}, "request") == set()
    assert judged({"type": "integer"}, {"type": "number"}, "answer") == {"widened"}
    assert judged({"type": "integer", "enum": [1]}, {"type": "integer"}, "request") == set()
    assert judged({"type": "integer", "enum": [1]}, {"type": "integer"}, "answer") == {"value-added"}
    assert judged({"multipleOf": 2}, {"multipleOf": 4}, "request") == {"narrowed"}
    assert judged({"multipleOf": 4}, {"multipleOf": 2}, "request") == set()
    assert judged({}, {"additionalProperties": string}, "request") == {"narrowed"}
    assert judged({}, {"properties": {"new": string}}, "request") == {"narrowed"}


TREE = {"type": "object", "additionalProperties": {"$ref": f"{SCHEMAS}/Tree"}}


# Released contracts and the words about them.


def test_a_released_contract_is_never_replaced(tmp_path: Path) -> None:
    contract = CONTRACT.read_bytes()
    path = keep(contract, tmp_path)
    assert (path.name, path.read_bytes()) == (f"{VERSION}.yaml", contract)
    assert keep(contract, tmp_path) == path
    with pytest.raises(FileExistsError, match=path.name):
        keep(contract + b"# more\n", tmp_path)
    assert path.read_bytes() == contract
    keep(contract + b"# more\n", tmp_path, again=True)
    assert list(released(tmp_path)) == [VERSION]
    later = contract.replace(f"version: {VERSION}".encode(), b"version: 1.1.0", 1)
    keep(later, tmp_path)
    assert list(released(tmp_path)) == [VERSION, "1.1.0"]


def test_the_guide_names_every_rule() -> None:
    rows = table(guide("versioning.md"), "rule", "what is refused")
    assert {rule.strip("`"): told for rule, told in rows} == RULES


def test_only_lists_of_answers_are_marked_open() -> None:
    assert "is marked `x-open: true`" in " ".join(CONTRACT_DOCUMENT["info"]["description"].split())
    marked = {pointer: node for pointer, node in nodes(CONTRACT_DOCUMENT) if "x-open" in node}
    assert marked.keys() <= schemas_of_answers(CONTRACT_DOCUMENT).keys()
    assert all(node["x-open"] is True and {"enum", "oneOf"} & node.keys() for node in marked.values())
    assert len(marked) > 20
