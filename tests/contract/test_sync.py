"""The contract and the code say the same: nothing is promised in vain, nothing is there unpromised."""

import ast
import re
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import pytest
import rfc8785
from flask import Flask
from flask.testing import FlaskClient

import service
from service.api import create_app, schemas
from service.api.problems import PROBLEM_TYPES
from service.api.strict_json import MAX_BODY, MAX_DEPTH
from service.fairness import SHUFFLE
from service.fairness.deal import SeedDeal
from service.fairness.shuffle import MAX_CLIENT_SEED_BYTES
from service.game.hands import KINDS
from service.game.round import ActionName, BetName, Phase
from service.game.settlement import Result
from service.game.stakes import BoxStake, Table
from service.registry import _ID, _PAIRS, _RULESET, BUILT_IN, Registry
from tests.conftest import Tally
from tests.contract.code import demanded_body, stated
from tests.contract.document import (
    CONTRACT,
    CONTRACT_DOCUMENT,
    OPERATIONS,
    Operation,
    component,
    operation,
    resolve,
    validator,
)
from tests.contract.seen import Seen, observe

SCHEMAS = CONTRACT_DOCUMENT["components"]["schemas"]
DESCRIPTION = CONTRACT_DOCUMENT["info"]["description"]
BODIES = {
    "settleRound": schemas.ROUND,
    "stepRound": schemas.ROUND,
    "verifyRound": schemas.VERIFY,
    "evaluateHand": schemas.EVALUATE,
    "createSeed": schemas.NEW_SEED,
    "shuffleDeck": schemas.DECK,
}


@pytest.fixture(scope="module")
def app() -> Flask:
    return create_app()


@pytest.fixture(scope="module")
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Answers of a deployment that has one more ruleset, which offers no bonus."""
    text = (BUILT_IN / "trainer-1.toml").read_text(encoding="utf-8")
    text = re.sub(r"\[bonus\.\w+\]\n(?:.+\n)*", "", text.replace('id = "trainer-1"', 'id = "house-1"'))
    folder = tmp_path_factory.mktemp("rulesets")
    (folder / "house-1.toml").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RULESETS_DIR", str(folder))
        return observe(create_app().test_client())


# Routes, statuses and headers.


def test_routes(app: Flask) -> None:
    # Style sheets belong to the pages, not to the contract; Flask answers HEAD for every GET, and OPTIONS
    # everywhere, which the contract says once for all.
    served = {
        (method.lower(), re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule))
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.endpoint != "static"
    }
    assert served == {(one.method, one.path) for one in OPERATIONS}


def test_head_and_options_as_the_description_says(client: FlaskClient) -> None:
    for one in OPERATIONS:
        path = one.path.replace("{id}", "casino-1").replace("{slug}", "limits")
        assert "OPTIONS" in client.options(path).headers["Allow"]
        assert client.head(path).status_code == (200 if one.method == "get" else 405)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_statuses_that_go_for_every_operation_of_a_kind(operation: Operation) -> None:
    statuses = {status for status, _ in operation.responses()}
    common = {"200", "405", "500"}
    if operation.method == "post":
        assert statuses == common | {"400", "411", "413", "415", "422"}
    else:
        assert statuses - common <= {"304", "404"}
        assert ("304" in statuses) == ("ETag" in operation.value["responses"]["200"]["headers"])
        assert ("404" in statuses) == ("{" in operation.path)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_headers_of_answers(operation: Operation, client: FlaskClient) -> None:
    path = operation.path.replace("{id}", "casino-1").replace("{slug}", "limits")
    usual = {"Content-Type", "Content-Length", "Date"}
    answers = [client.open(path, method="TRACE")]
    if operation.method == "get":
        answers.append(client.get(path))
        if "304" in operation.value["responses"]:
            answers.append(client.get(path, headers={"If-None-Match": "*"}))
            assert answers[-1].status_code == 304
    elif operation.id == "createSeed":
        answers.append(client.post(path, json={}))
    for answer in answers:
        response = resolve(operation.value["responses"][str(answer.status_code)])
        headers = {name: resolve(header) for name, header in response["headers"].items()}
        assert set(answer.headers.keys()) - usual == set(headers)
        for name, header in headers.items():
            assert validator(header["schema"]).is_valid(answer.headers[name]), name
        assert [answer.mimetype] == list(response.get("content", [answer.mimetype]))


def test_version(client: FlaskClient) -> None:
    assert CONTRACT_DOCUMENT["info"]["version"] == service.__version__


# Requests.


def test_every_body_is_compared() -> None:
    assert set(BODIES) == {one.id for one in OPERATIONS if one.request_schema}


@pytest.mark.parametrize("id", BODIES)
def test_requests(id: str) -> None:
    assert stated(operation(id).request_schema) == demanded_body(BODIES[id])


def test_defaults() -> None:
    records: dict[str, tuple[str, Any]] = {
        "SeedDeal": ("SeedDeal", SeedDeal),
        "DeckRequest": ("DeckRequest", SeedDeal),
        "BoxStake": ("BoxStake", BoxStake),
        "Table": ("Table", Table),
    }
    for name, record in records.values():
        for member, schema in SCHEMAS[name]["properties"].items():
            default = record._field_defaults.get(member)
            assert schema.get("default") == default, (name, member)


def test_size_depth_and_bytes_as_the_description_says(client: FlaskClient) -> None:
    def status(path: str, body: bytes) -> int:
        return client.post(path, data=body, content_type="application/json").status_code

    sizes = {one.path: 64 for one in OPERATIONS if one.method == "post"} | {"/v1/rounds/verify": 256}
    for path, size in sizes.items():
        assert f"{size} KiB" in DESCRIPTION
        assert status(path, b"{}".ljust(1024 * size)) in (200, 422)
        assert status(path, b"{}".ljust(1024 * size + 1)) == 413
    assert MAX_BODY == 64 * 1024

    assert f"more than {MAX_DEPTH} deep" in DESCRIPTION
    assert f"at most {MAX_DEPTH} deep" in SCHEMAS["Context"]["description"]
    for depth in (MAX_DEPTH, MAX_DEPTH + 1):
        nested = b'{"n":' * (depth - 1) + b"{}" + b"}" * (depth - 1)
        assert status("/v1/fairness/seeds", nested) == (422 if depth == MAX_DEPTH else 400)

    for name in ("SeedDeal", "DeckRequest"):
        told = SCHEMAS[name]["properties"]["client_seed"]["description"]
        assert f"at most {MAX_CLIENT_SEED_BYTES} *bytes*" in told
    for size in (MAX_CLIENT_SEED_BYTES, MAX_CLIENT_SEED_BYTES + 1):
        body = {"server_seed": "0" * 64, "client_seed": "é" * (size // 2) + "e" * (size % 2)}
        answer = client.post("/v1/fairness/deck", json=body)
        assert answer.status_code == (200 if size == MAX_CLIENT_SEED_BYTES else 422)


def test_order_of_checks(client: FlaskClient) -> None:
    told = " ".join(DESCRIPTION.split()).partition("Checks come in this order: ")[2]
    assert told.startswith(
        "the path, the method, the media type, the length, the JSON (400),"
        " the shape of the body, the ruleset, the deal's commitment, the table's limits, the boxes,"
        " the stakes, the actions, whether any is missing (all these 422)."
    )

    fold = {"box": 1, "action": "fold"}
    body: dict[str, Any] = {
        "ruleset": 5,
        "deal": {"server_seed": "0" * 64, "commitment": "0" * 64},
        "table": {"min_stake": 3, "max_stake": 2},
        "boxes": [{"box": 1, "ante": 1}, {"box": 1, "ante": 1}],
        "actions": [fold, fold],
    }

    def problem(**change: Any) -> str:
        body.update(change)
        return str(client.post("/v1/rounds/settle", json=body).get_json()["type"])

    def sent(path: str = "/v1/rounds/settle", **kwargs: Any) -> str:
        answer = client.open(path, **{"method": "POST", "content_type": "application/json", **kwargs})
        return str(answer.get_json()["type"])

    chunked: dict[str, Any] = {
        "input_stream": BytesIO(b"{"),
        "headers": {"Transfer-Encoding": "chunked"},
    }
    assert [
        sent("/rounds/settle", method="GET", content_type="text/plain", **chunked),
        sent(method="GET", content_type="text/plain", **chunked),
        sent(content_type="text/plain", **chunked),
        sent(**chunked),
        sent(data=b"{".ljust(MAX_BODY + 1)),
        sent(data=b"{"),
        problem(),
        problem(ruleset="casino"),
        problem(ruleset="casino-1"),
        problem(deal={"server_seed": "0" * 64}),
        problem(table={"min_stake": 2}),
        problem(boxes=body["boxes"][:1]),
        problem(table={}),
        problem(actions=[]),
    ] == [
        f"/problems/{slug}"
        for slug in (
            "not-found",
            "method-not-allowed",
            "unsupported-media-type",
            "length-required",
            "body-too-large",
            "malformed-json",
            "invalid-request",
            "unknown-ruleset",
            "commitment-mismatch",
            "limits",
            "invalid-request",
            "limits",
            "illegal-action",
            "round-incomplete",
        )
    ]


# Answers.


def test_members_of_answers(seen: Seen, tally: Tally) -> None:
    tally("contract: answers held against the contract", seen.answers.total())
    assert seen.answers.total() > 1000
    for place, met in seen.objects.items():
        schema = resolve({"$ref": place})
        members = seen.members[place]
        if not _is_of_a_ruleset(place):
            assert set(members) == set(schema["properties"]), place
            assert {name for name, count in members.items() if count == met} == set(schema["required"]), place


def test_every_object_of_an_answer_was_seen(seen: Seen) -> None:
    for name in _components_of_answers():
        if "properties" in SCHEMAS[name] and not _is_of_a_ruleset(f"/{name}"):
            assert seen.objects[f"#/components/schemas/{name}"], name


def test_listed_values_of_answers(seen: Seen) -> None:
    for place, values in seen.values.items():
        if not _is_of_a_ruleset(place):
            assert values == set(resolve({"$ref": place})["enum"]), place
    assert sum(not _is_of_a_ruleset(place) for place in seen.values) > 20


def _components_of_answers() -> set[str]:
    """Names of all schemas that an answer can consist of."""
    found: set[str] = set()

    def collect(node: Any) -> None:
        if isinstance(node, dict):
            reference = node.get("$ref", "")
            name = reference.rpartition("/")[2]
            if reference.startswith("#/components/schemas/") and name not in found:
                found.add(name)
                collect(SCHEMAS[name])
            for inner in node.values():
                collect(inner)
        elif isinstance(node, list):
            for inner in node:
                collect(inner)

    for one in OPERATIONS:
        for _, response in one.responses():
            collect(response.get("content"))
    return found


def _is_of_a_ruleset(place: str) -> bool:
    """Whether a place belongs to a whole ruleset, which is held against the ruleset files' own schema."""
    name = place.removeprefix("#/components/schemas/").strip("/").split("/")[0]
    return name.endswith(("Row", "Rules", "Odds")) or name in ("Ruleset", "Basis")


def test_rulesets() -> None:
    of_file = demanded_body(_RULESET)
    contract = stated(component("Ruleset"))
    digest = contract["properties"].pop("digest")
    assert digest == stated(component("Digest"))
    contract["required"].remove("digest")
    own_rows = contract["properties"]["bet"]["properties"].pop("own_rows")
    pairs = of_file["properties"]["bet"]["properties"].pop("own_rows")["properties"]
    id = contract["properties"].pop("id")
    del of_file["properties"]["id"]
    assert contract == of_file

    pattern = _ID.pattern.replace("(?P<version>", "").replace(")", "")
    assert id == {"type": "string", "pattern": f"^{pattern}$", "minLength": 3, "maxLength": 55}
    ((names, odds),) = own_rows["patternProperties"].items()
    assert {name for name in pairs if re.fullmatch(names, name)} == set(_PAIRS)
    assert all(odds == row for row in pairs.values())


def test_published_rulesets_keep_the_contract(client: FlaskClient, registry: Registry) -> None:
    for id in registry:
        answer = client.get(f"/v1/rulesets/{id}")
        document = answer.get_json()
        validator(component("Ruleset")).validate(document)
        digest = document.pop("digest")
        assert digest == f"sha256:{sha256(rfc8785.dumps(document)).hexdigest()}"
        assert answer.headers["ETag"] == f'"{digest}"'


def test_contract_is_served_as_it_is(client: FlaskClient) -> None:
    answer = client.get("/openapi.yaml")
    assert answer.data == CONTRACT.read_bytes()
    assert answer.headers["ETag"] == f'"{sha256(answer.data).hexdigest()}"'


# Words that the code and the contract share.


def test_kinds_phases_results_and_names() -> None:
    assert SCHEMAS["Kind"]["enum"] == list(KINDS)
    assert SCHEMAS["View"]["properties"]["phase"]["enum"] == list(get_args(Phase))
    assert set(SCHEMAS["SettledBox"]["properties"]["result"]["enum"]) == set(get_args(Result))
    assert SCHEMAS["SettledBet"]["properties"]["name"]["enum"] == list(get_args(BetName))
    assert list(SCHEMAS["Stakes"]["properties"]) == list(get_args(BetName))
    for union in ("Action", "LegalAction"):
        names = [resolve(one)["properties"]["action"]["enum"] for one in SCHEMAS[union]["oneOf"]]
        assert sorted(chain(*names)) == sorted(get_args(ActionName))
    for name in ("Engine", "Deck"):
        assert SCHEMAS[name]["properties"]["shuffle"]["enum"] == [SHUFFLE]


def test_problem_types() -> None:
    of_their_own = ("IllegalActionProblem", "RoundIncompleteProblem")
    types = [*SCHEMAS["Problem"]["properties"]["type"]["enum"]]
    types += [SCHEMAS[name]["properties"]["type"]["enum"][0] for name in of_their_own]
    assert sorted(types) == sorted(f"/problems/{slug}" for slug in PROBLEM_TYPES)
    (slug,) = (one for one in operation("getProblem").value["parameters"] if one.get("name") == "slug")
    assert sorted(slug["schema"]["enum"]) == sorted(PROBLEM_TYPES)
    assert set(SCHEMAS["Problem"]["properties"]["status"]["enum"]) == {
        type.status for type in PROBLEM_TYPES.values()
    }


def test_every_problem_type_is_told_where_it_can_occur() -> None:
    for slug, type in PROBLEM_TYPES.items():
        told = [
            one.id
            for one in OPERATIONS
            for status, response in one.responses()
            if status == str(type.status) and f"`{slug}`" in response["description"]
        ]
        assert told, slug


def test_error_codes(seen: Seen) -> None:
    listed = SCHEMAS["ErrorCode"]["enum"]
    # A text that UTF-8 cannot write comes from a command line only; in JSON it is refused before.
    assert set(_codes_in_the_code()) - {"characters"} == set(listed)
    for code in listed:
        assert f"`{code}`" in SCHEMAS["ErrorCode"]["description"]
    assert seen.values["#/components/schemas/ErrorCode"] == set(listed)


def _codes_in_the_code() -> Iterator[str]:
    """Every code that a refusal of a request can bear, from the calls that make one."""
    makers = {"wrong": 0, "Wrong": 0, "Fault": 1, "_error": 1}
    folder = Path(service.__file__).parent
    for name in ("fields.py", "game/stakes.py", "api/schemas.py", "api/problems.py"):
        for call in ast.walk(ast.parse((folder / name).read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in makers:
                code = call.args[makers[call.func.id]]
                if isinstance(code, ast.Constant):
                    yield str(code.value)
