"""The contract and the code say the same: nothing is promised in vain, nothing is there unpromised."""

import ast
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from copy import deepcopy
from hashlib import sha256
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import pytest
import rfc8785
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import service
from service import schemas
from service.api import create_app
from service.api.bodies import MAX_BATCH_BODY, MAX_BODY
from service.api.guides import BOOKS, GUIDES
from service.api.problems import PROBLEM_TYPES
from service.api.rules_in_words import WORDS
from service.api.verification import MAX_DIFFERENCES
from service.certificate import jws
from service.fairness import SHUFFLE
from service.fairness.deal import SeedDeal
from service.fairness.shuffle import MAX_CLIENT_SEED_BYTES
from service.game.hands import KINDS
from service.game.round import ActionName, BetName, Phase
from service.game.settlement import Result
from service.game.stakes import BoxStake, Table
from service.registry import _ID, _PAIRS, _RULESET, BUILT_IN, Registry
from service.rounds import _PARTS
from service.strict_json import MAX_DEPTH
from tests.conftest import Tally
from tests.contract.code import demanded_bodies, demanded_file, stated
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
from tests.contract.examples import BATCH, CALLS, HIDDEN, SEALED, VERIFY, damaged, decoded, sent
from tests.contract.seen import Seen, observe

SCHEMAS = CONTRACT_DOCUMENT["components"]["schemas"]
DESCRIPTION = CONTRACT_DOCUMENT["info"]["description"]
BODIES = {
    "settleRound": (schemas.ROUND,),
    "settleBatch": (schemas.BATCH,),
    "stepRound": (schemas.ROUND,),
    "voidRound": (schemas.VOID,),
    "verifyRound": (schemas.CERTIFICATE, schemas.CLAIM),
    "evaluateHand": (schemas.EVALUATE,),
    "createSeed": (schemas.NEW_SEED,),
    "shuffleDeck": (schemas.DECK,),
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
    # Style sheets and scripts belong to the pages, not to the contract; Flask answers HEAD for every GET, and
    # OPTIONS everywhere, which the contract says once for all.
    served = {
        (method.lower(), re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule))
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.endpoint not in ("static", "pages.reference_file")
    }
    assert served == {(one.method, one.path) for one in OPERATIONS}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_statuses_that_go_for_every_operation_of_a_kind(operation: Operation) -> None:
    statuses = {status for status, _ in operation.responses()}
    common = {"200", "405", "500"}
    if operation.path.startswith("/v1/rounds/") or operation.id == "getReadiness":
        common.add("503")
    assert common <= statuses
    if operation.path.startswith(("/v1/rounds/", "/v1/hands/", "/v1/fairness/", "/v1/rulesets")):
        common.add("406")
    if operation.method == "post":
        assert statuses == common | {"400", "411", "413", "415", "422"}
    else:
        assert statuses - common <= {"304", "404"}
        assert ("304" in statuses) == ("ETag" in operation.value["responses"]["200"]["headers"])
        assert ("404" in statuses) == ("{" in operation.path)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_headers_of_answers(operation: Operation, client: FlaskClient) -> None:
    path = operation.example_path
    answers = [client.open(path, method="TRACE")]
    if operation.method == "get":
        answers.append(client.get(path))
    else:
        for content in operation.value["requestBody"]["content"].values():
            answers += [sent(client, path, resolve(one)["value"]) for one in content["examples"].values()]
    for answer in answers:
        assert_headers(operation, answer)


def test_headers_of_an_answer_without_a_body(client: FlaskClient) -> None:
    kept = [one for one in OPERATIONS if "304" in one.value["responses"]]
    for one in kept:
        answer = client.get(one.example_path, headers={"If-None-Match": "*"})
        assert (answer.status_code, answer.data) == (304, b"")
        assert_headers(one, answer)
    assert len(kept) > 5


def assert_headers(operation: Operation, answer: TestResponse) -> None:
    usual = {"Content-Type", "Content-Length", "Date"}
    response = resolve(operation.value["responses"][str(answer.status_code)])
    headers = {name: resolve(header) for name, header in response["headers"].items()}
    always = {name for name, header in headers.items() if header.get("required")}
    assert always <= set(answer.headers.keys()) - usual <= set(headers)
    for name in headers.keys() & set(answer.headers.keys()):
        assert validator(headers[name]["schema"]).is_valid(answer.headers[name]), name
    assert answer.mimetype in response.get("content", [answer.mimetype])


def test_every_answer_in_json_bears_the_digest_of_its_bytes(client: FlaskClient) -> None:
    for one in OPERATIONS:
        response = one.value["responses"]["200"]
        is_json = "application/json" in response["content"]
        assert ("Content-Digest" in response["headers"]) == is_json, one.id
    for call in CALLS:
        answer = sent(client, call.path, None if callable(call.body) else call.body)
        if answer.status_code == 200:
            digest = b64encode(sha256(answer.data).digest()).decode()
            assert answer.headers["Content-Digest"] == f"sha-256=:{digest}:"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_what_is_answered_without_integrity(operation: Operation) -> None:
    path = operation.example_path
    answer = damaged().open(path, method=operation.method, data=b"", content_type="application/json")
    promised = "503" in operation.value["responses"]
    assert (answer.status_code == 503) == promised
    if promised:
        validator(component("Problem")).validate(answer.get_json())
        assert answer.get_json()["type"] == "/problems/integrity-lost"


def test_the_page_that_verifies_loads_and_sends_nothing(client: FlaskClient) -> None:
    answer = client.get("/verify")
    directives = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
    assert directives["default-src"] == "'none'"
    assert set(directives) == {
        *("default-src", "script-src", "style-src", "img-src"),
        *("base-uri", "form-action", "frame-ancestors"),
    }
    for name in ("script-src", "style-src"):
        assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", directives[name])
    assert {directives[name] for name in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}


def test_version(client: FlaskClient) -> None:
    assert CONTRACT_DOCUMENT["info"]["version"] == service.__version__


# Requests.


def test_every_body_is_compared() -> None:
    assert set(BODIES) == {one.id for one in OPERATIONS if one.request_schema}


@pytest.mark.parametrize("id", BODIES)
def test_requests(id: str) -> None:
    assert stated(operation(id).request_schema) == demanded_bodies(BODIES[id])


def test_defaults() -> None:
    records: dict[str, Any] = {
        "SeedDeal": SeedDeal,
        "SealedDeal": SeedDeal,
        "DeckRequest": SeedDeal,
        "BoxStake": BoxStake,
        "Table": Table,
        "BatchRequest": schemas.Batch,
    }
    for name, record in records.items():
        for member, schema in SCHEMAS[name]["properties"].items():
            default = record._field_defaults.get(member)
            assert schema.get("default") == default, (name, member)
    wish = SCHEMAS["SeedRequest"]["properties"]
    assert {name: schema["default"] for name, schema in wish.items()} == {"sealed": schemas.NEW_SEED.read({})}


def test_size_depth_and_bytes_as_the_description_says(client: FlaskClient) -> None:
    def status(path: str, body: bytes) -> int:
        return client.post(path, data=body, content_type="application/json").status_code

    sizes = {one.path: 64 for one in OPERATIONS if one.method == "post"}
    for path, size in (sizes | {VERIFY: 256, BATCH: 1024}).items():
        assert ("1 MiB" if size == 1024 else f"{size} KiB") in DESCRIPTION
        assert status(path, b"{}".ljust(1024 * size)) in (200, 422)
        assert status(path, b"{}".ljust(1024 * size + 1)) == 413
    assert (MAX_BODY, MAX_BATCH_BODY) == (64 * 1024, 1024 * 1024)

    assert f"more than {MAX_DEPTH} deep" in DESCRIPTION
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


def test_limits_of_a_batch_as_the_description_says(client: FlaskClient) -> None:
    told = " ".join(operation("settleBatch").value["description"].split())
    assert f"A batch has 1 to {schemas.MAX_BATCH} rounds and at most 1 MiB" in told
    for number in (0, 1, schemas.MAX_BATCH, schemas.MAX_BATCH + 1):
        lines = f"{json.dumps(HIDDEN)}\n" * number + "\n"
        for body in ({"rounds": [HIDDEN] * number}, lines):
            status = sent(client, BATCH, body).status_code
            assert status == (200 if 1 <= number <= schemas.MAX_BATCH else 422)


def test_the_parameter_of_a_batch_is_its_member(client: FlaskClient) -> None:
    parameters = {one["name"]: one for one in map(resolve, operation("settleBatch").value["parameters"])}
    member = SCHEMAS["BatchRequest"]["properties"]["certificates"]
    assert parameters["certificates"]["schema"] == {name: member[name] for name in ("type", "default")}


def test_an_outcome_of_a_batch_differs_by_its_certificate_alone() -> None:
    outcome = deepcopy(SCHEMAS["Outcome"])
    del outcome["properties"]["certificate"]
    outcome["required"].remove("certificate")
    bare = SCHEMAS["UncertifiedOutcome"]
    assert {**outcome, "description": bare["description"]} == bare


def test_limits_of_a_context_as_the_description_says(client: FlaskClient) -> None:
    def fault(context: dict[str, Any]) -> tuple[str, str] | None:
        validator(component("Context")).validate(context)
        answer = client.post("/v1/rounds/settle", json={**HIDDEN, "context": context})
        if answer.status_code == 200:
            return None
        (error,) = answer.get_json()["errors"]
        return error["code"], error["pointer"]

    def nested(opening: str, closing: str, levels: int) -> Any:
        return json.loads('{"n":' + opening * (levels - 1) + "1" + closing * (levels - 1) + "}")

    told = " ".join(SCHEMAS["Context"]["description"].split())
    size, depth = map(int, re.findall(r"at most (\d+) (?:KiB|deep)", told))
    assert 1024 * size == schemas.MAX_CONTEXT_BYTES
    assert depth == schemas.MAX_CONTEXT_DEPTH
    bare = len(rfc8785.dumps({"é": "", "n": -1}))
    assert fault({"n": -1, "é": "x" * (1024 * size - bare)}) is None
    assert fault({"n": -1, "é": "x" * (1024 * size - bare + 1)}) == ("length", "/context")
    for opening, closing in (('{"n":', "}"), ("[", "]")):
        assert fault(nested(opening, closing, depth)) is None
        code, pointer = fault(nested(opening, closing, depth + 1)) or ("", "")
        assert (code, pointer.count("/")) == ("context", depth + 1)
    assert "character beyond U+FFFF" in told
    assert fault({"a": [{"\uffff": 0}]}) is None
    assert fault({"a": [{"\U00010000": 0}]}) == ("context", "/context/a/0/\U00010000")


def test_a_certificate_as_long_as_they_come_can_be_verified(client: FlaskClient) -> None:
    body = {
        **HIDDEN,
        "deal": {"server_seed": "0" * 64, "client_seed": "\x01" * 128},
        "boxes": [
            {"box": box, "ante": 10**12, "bonus": 10**12, "player": f"{box}" + "\x01" * 63}
            for box in range(1, 5)
        ],
        "actions": [{"box": box, "action": "fold"} for box in range(1, 5)],
        "context": {"n": "\x01" * 2700},
    }
    outcome = client.post("/v1/rounds/settle", json=body).get_json()
    assert 25_000 < len(outcome["certificate"]) < SCHEMAS["Certificate"]["maxLength"] / 2
    assert SCHEMAS["Certificate"]["maxLength"] == schemas.MAX_CERTIFICATE
    for claim in (
        {"certificate": outcome["certificate"]},
        {"outcome": outcome},
        {"request": body, "outcome": outcome},
    ):
        assert client.post("/v1/rounds/verify", json=claim).get_json()["valid"]


def test_certificates_as_the_description_says(client: FlaskClient) -> None:
    outcome = client.post("/v1/rounds/settle", json=HIDDEN).get_json()
    header, payload, _ = map(decoded, outcome.pop("certificate").split("."))
    assert payload == rfc8785.dumps(outcome)
    told = json.loads(header)
    assert set(told) == {"alg", "kid", "typ", "development"}
    for name in ("alg", "typ"):
        assert f"`{name}`, which is `{told[name]}`" in " ".join(DESCRIPTION.split())
    (key,) = client.get("/.well-known/jwks.json").get_json()["keys"]
    assert (key["kid"], key["alg"], key["development"]) == (told["kid"], told["alg"], told["development"])


def test_order_of_checks(client: FlaskClient) -> None:
    told = " ".join(DESCRIPTION.split()).partition("Checks come in this order: ")[2]
    assert told.startswith(
        "the path, the method, for rounds the integrity of the software (503), the Accept header (406),"
        " the media type, the length, the JSON (400), the shape of the body, the sealed seed, the ruleset,"
        " the deal's commitment, the table's limits, the boxes, the stakes, the actions,"
        " whether any is missing (all these 422)."
    )

    fold = {"box": 1, "action": "fold"}
    body: dict[str, Any] = {
        "ruleset": 5,
        "deal": {"sealed_seed": "x", "commitment": "0" * 64},
        "table": {"min_stake": 3, "max_stake": 2},
        "boxes": [{"box": 1, "ante": 1}, {"box": 1, "ante": 1}],
        "actions": [fold, fold],
    }

    def problem(**change: Any) -> str:
        body.update(change)
        return str(client.post("/v1/rounds/settle", json=body).get_json()["type"])

    def sent(path: str = "/v1/rounds/settle", to: FlaskClient = client, **kwargs: Any) -> str:
        answer = to.open(path, **{"method": "POST", "content_type": "application/json", **kwargs})
        return str(answer.get_json()["type"])

    chunked: dict[str, Any] = {
        "input_stream": BytesIO(b"{"),
        "headers": {"Transfer-Encoding": "chunked"},
    }
    blind = {
        **chunked,
        "headers": {**chunked["headers"], "Accept": "text/html"},
        "content_type": "text/plain",
    }
    assert [
        sent("/rounds/settle", damaged(), method="GET", **blind),
        sent(to=damaged(), method="GET", **blind),
        sent(to=damaged(), **blind),
        sent(**blind),
        sent(content_type="text/plain", **chunked),
        sent(**chunked),
        sent(data=b"{".ljust(MAX_BODY + 1)),
        sent(data=b"{"),
        problem(),
        problem(ruleset="casino"),
        problem(deal={**SEALED["deal"], "commitment": "0" * 64}),
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
            "integrity-lost",
            "not-acceptable",
            "unsupported-media-type",
            "length-required",
            "body-too-large",
            "malformed-json",
            "invalid-request",
            "sealed-seed",
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


def test_every_shape_of_answers(seen: Seen) -> None:
    for place, met in seen.shapes.items():
        if not place.startswith("#/paths/") and not _is_of_a_ruleset(place):
            schema = resolve({"$ref": place})
            shapes = set(range(len(schema["oneOf"]))) if "oneOf" in schema else {"null", "other"}
            assert met == shapes, place
    assert len(seen.shapes) > 10


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
    of_file = demanded_file(_RULESET)
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
    names = own_rows["propertyNames"]
    assert {name for name in pairs if validator(names).is_valid(name)} == set(_PAIRS)
    assert all(own_rows["additionalProperties"] == row for row in pairs.values())


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
    assert SCHEMAS["BetName"]["enum"] == list(get_args(BetName))
    assert list(SCHEMAS["Stakes"]["properties"]) == list(get_args(BetName))
    for union in ("Action", "LegalAction"):
        names = [resolve(resolve(one)["properties"]["action"])["enum"] for one in SCHEMAS[union]["oneOf"]]
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


def test_names_of_pages() -> None:
    names = {"getGuide": GUIDES, "getBook": BOOKS, "getRulesIn": tuple(WORDS)}
    for id, known in names.items():
        parameters = map(resolve, operation(id).value["parameters"])
        (listed,) = (one["schema"]["enum"] for one in parameters if "enum" in one["schema"])
        assert tuple(listed) == known


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
    assert set(_codes_in_the_code()) == set(listed)
    for code in listed:
        assert f"`{code}`" in SCHEMAS["ErrorCode"]["description"]
    assert seen.values["#/components/schemas/ErrorCode"] == set(listed)


def _codes_in_the_code() -> Iterator[str]:
    """Every code that a refusal of a request can bear, from the calls that make one."""
    makers = {"wrong": 0, "Wrong": 0, "Fault": 1, "error_at": 1}
    yield from _constants(makers, "fields.py", "game/stakes.py", "schemas.py", "api/problems.py")


def test_names_and_codes_of_checks(seen: Seen) -> None:
    listed = SCHEMAS["CheckCode"]["enum"]
    told = SCHEMAS["CheckCode"]["description"]
    codes = {*_constants({"Check": 1}, "verification.py"), *(code for _, _, code, *_ in _PARTS)}
    codes |= set(_constants({"RefusedCertificate": 0}, "certificate/jws.py"))
    assert codes == set(listed)
    assert [code for code in listed if f"`{code}`" not in told] == []
    assert seen.values["#/components/schemas/CheckCode"] == set(listed)
    names = {*_constants({"Check": 0}, "verification.py"), *(part for part, *_ in _PARTS)}
    assert set(SCHEMAS["Check"]["properties"]["name"]["enum"]) == names
    assert [name for name in names if f"`{name}`: `" not in told] == []
    assert SCHEMAS["Verdict"]["properties"]["differences"]["maxItems"] == MAX_DIFFERENCES


def test_words_of_keys_and_certificates() -> None:
    key = SCHEMAS["Key"]["properties"]
    assert key["status"]["enum"] == list(get_args(jws.KeyStatus))
    assert key["alg"]["enum"] == [jws.ALGORITHM]
    for status in get_args(jws.KeyStatus):
        assert f"`{status}`:" in key["status"]["description"]


def _constants(makers: dict[str, int], *names: str) -> Iterator[str]:
    """The texts that stand at a fixed place of certain calls in certain files of the service."""
    for name in names:
        for call in ast.walk(ast.parse((Path(service.__file__).parent / name).read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in makers:
                constant = call.args[makers[call.func.id]]
                if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                    yield constant.value
