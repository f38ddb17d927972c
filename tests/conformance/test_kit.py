"""The kit is what the tool makes of today's service, is described by its schema, and never changes again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from service.api.problems import PROBLEM_TYPES
from service.conformance.kits import MalformedKit, load_kit, published
from service.conformance.pointers import replaced
from service.game import ENGINE_VERSION
from service.game.hands import KINDS
from service.rounds import _PARTS
from tests.api.calls import PROBLEM_JSON, certified
from tests.conformance import kit as tool
from tests.conformance.kit import FILE, FOLDER, VERSION, changes, stored, text
from tests.conftest import Tally
from tests.contract.document import CONTRACT_DOCUMENT, OPERATIONS, Operation, resolve, validator
from tests.support.vectors import load, observed

Document = dict[str, Any]
DIGESTS = {
    "1": {
        "kit": "sha256:04f12c9a55f06a8e92aa845df806444dcb9ab942d3734bcbab09d29a737dd4f9",
        "schema": "sha256:53fc2bbc6519ee67ff8ed29ddc7964e2fbc5e26cb76cc145683fb9576cb4f870",
        "readme": "sha256:e73a0c91ad502a53af216d48745bae11c97a2035068de69307fa367374ac1a8d",
    },
}
"""The files of every version, as they are published. Another file is another version: see the tool."""
STORED = stored()
CASES: list[Document] = STORED["cases"]
SCHEMA: Document = json.loads((FOLDER / str(VERSION) / "schema.json").read_text(encoding="utf-8"))
WRITE = "python -m tests.conformance.kit --write"


def of_kind(*kinds: str) -> list[Document]:
    return [case for case in CASES if case["kind"] in kinds]


# A kit once published stays as it is.


def test_no_published_file_ever_changes() -> None:
    found = {
        version: {name: one.digest for name, one in files.items()} for version, files in published().items()
    }
    assert found == DIGESTS, "released kits never change: put the other one into another version"


def test_it_is_what_the_tool_makes_of_the_present_engine(tally: Tally) -> None:
    made = tool.build()
    found = [f"{one.pointer}: {one.claimed!r} became {one.computed!r}" for one in changes(STORED, made)]
    assert found == [], f"another result or another case needs another kit; then {WRITE}"
    assert STORED["engine"]["version"] == ENGINE_VERSION
    tally("conformance: cases of the kit", len(CASES))


def test_the_file_is_written_as_the_tool_writes_it() -> None:
    assert FILE.read_text(encoding="utf-8") == text(STORED)
    assert FILE.stat().st_size < 1_500_000
    assert 300 < len(CASES) < 1000


def test_the_tool_tells_what_changed_but_for_what_is_left_free() -> None:
    for kind, at, value, free in (
        ("round", "/answer/body/totals/net", 1, False),
        ("round", "/answer/body/boxes/0/bets/0/reason", "so", True),
        ("round", "/answer/body/engine/digest", "sha256:0", True),
        ("round", "/request/path", "/v2/rounds/settle", False),
        ("refusal", "/answer/body/type", "/problems/other", False),
        ("refusal", "/answer/body/detail", "so", True),
    ):
        case = of_kind(kind)[0]
        place = CASES.index(case)
        other = replaced(STORED, f"/cases/{place}{at}", value)
        found = [one.pointer for one in changes(STORED, other)]
        assert found == ([] if free else [f"{case['id']}: {at}"])
    fewer = {**STORED, "cases": CASES[1:]}
    assert [one.pointer for one in changes(STORED, fewer)] == ["/cases"]
    assert [one.pointer for one in changes(STORED, {**STORED, "kit": 2})] == ["/kit"]


def test_the_tool_writes_a_kit_and_compares_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "FILE", tmp_path / "kit.json")
    monkeypatch.setattr(tool, "build", lambda: STORED)
    for arguments, status, changed in (([], 1, True), (["--write"], 0, True), ([], 0, False)):
        monkeypatch.setattr("sys.argv", ["kit", *arguments])
        assert tool.main() == status
        assert (" 0 changes" not in capsys.readouterr().out) == changed
    assert (tmp_path / "kit.json").read_bytes() == FILE.read_bytes()


# Its schema, and the contract's.


def test_it_is_described_by_its_schema() -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    schema = jsonschema_rs.Draft202012Validator(SCHEMA)
    schema.validate(STORED)
    case, rules = CASES[0], STORED["kinds"]["round"]
    wrong: list[Document] = [
        {**STORED, "kit": 0},
        {**STORED, "more": 1},
        {name: value for name, value in STORED.items() if name != "keys"},
        {**STORED, "kinds": {"Round": rules}},
        {**STORED, "kinds": {"round": {**rules, "free": [{"at": "/a"}]}}},
        {**STORED, "kinds": {"round": {**rules, "telling": ["a"]}}},
    ]
    for change in (
        {"id": "Round/1"},
        {"clauses": ["X1"]},
        {"more": 1},
        {"request": {"method": "GET"}},
        {"request": {**case["request"], "body": {}, "text": ""}},
        {"request": {**case["request"], "repeat": 2}},
        {"request": {**case["request"], "put": [{"at": "/a", "value": 1}]}},
        {"request": {**case["request"], "body": {}, "put": [{"at": "/a"}]}},
        {"answer": {"status": 200}},
        {"certificate": "x"},
    ):
        wrong.append({**STORED, "cases": [{**case, **change}]})
    assert [number for number, kit in enumerate(wrong) if schema.is_valid(kit)] == []


def operation_of(case: Document) -> Operation | None:
    path, method = case["request"]["path"], case["request"]["method"].lower()
    for one in OPERATIONS:
        if one.method == method and one.path.replace("{id}", path.rpartition("/")[2]) == path:
            return one
    return None


def test_requests_and_answers_keep_the_contract() -> None:
    for case in CASES:
        operation, answer = operation_of(case), case["answer"]
        if operation is None or case["kind"] == "keys":
            assert case["kind"] == "keys" or answer["status"] in (404, 405), case["id"]
            continue
        request = case["request"]
        if "body" in request and "put" not in request and case["kind"] != "refusal":
            validator(operation.request_schema or {}).validate(request["body"])
        response = resolve(operation.value["responses"][str(answer["status"])])
        media_type = STORED["kinds"][case["kind"]]["media_type"]
        body = answer["body"]
        if STORED["kinds"][case["kind"]].get("certified"):
            body = {**body, "certificate": "e30.e30." + "A" * 86}
        validator(response["content"][media_type]["schema"]).validate(body)


# What another program computed.


def test_vectors_are_as_the_independent_program_computed_them(tally: Tally) -> None:
    rounds = {name: load(f"{name}.jsonl") for name in ("rounds", "rigged")}
    hands, decks = load("hands.json"), load("decks.json")
    cases = [case for case in CASES if "/vector/" in case["id"]]
    for case in cases:
        kind, _, name, *rest = case["id"].split("/")
        body = case["answer"]["body"]
        if kind == "round":
            source, number, *_ = name.split("-")
            vector = rounds[source][int(number) - 1]
            assert observed(body) == vector["expect"], case["id"]
            assert case["request"]["body"]["actions"] == vector["actions"]
            assert case["request"]["body"]["boxes"] == vector["boxes"]
        elif kind == "hand":
            vector, house = hands[int(name) - 1], rest[0].removesuffix("-1")
            second = None if house == "trainer" else vector["second"]
            expected = (vector["main"], second, vector["bet_odds"][house])
            assert (body["main"], body["second"], body["odds"]) == expected
            assert case["request"]["body"]["cards"] == vector["cards"].split()
        else:
            vector = decks[int(name) - 1]
            assert " ".join(body["deck"]) == vector["deck"]
            assert (body["commitment"], body["bytes_used"]) == (vector["commitment"], vector["bytes_used"])
            rejected = [[draw["i"], draw["rejected"]] for draw in body["draws"] if draw["rejected"]]
            assert rejected == vector["rejected"]
        tally("conformance: cases that an independent program computed too", 1)
    assert len(cases) > 200


def test_certificates_are_genuine_and_canonical() -> None:
    # Checked with libraries of others, and nothing of the service.
    for case in of_kind("certificate"):
        assert certified({**case["answer"]["body"], "certificate": case["certificate"]})


# What it covers.


def test_clauses_that_an_answer_can_show_are_all_exercised() -> None:
    last = {"C": 6, "D": 5, "A": 10, "S": 9, "R": 7}
    clauses = {f"{letter}{number}" for letter, end in last.items() for number in range(1, end + 1)}
    exercised = {clause for case in CASES for clause in case["clauses"]}
    assert clauses - exercised == {"C6", "R7"}
    assert exercised <= clauses
    readme = (FOLDER / str(VERSION) / "README.md").read_text(encoding="utf-8")
    assert "two that no answer shows: C6, which counts all hands, and R7" in readme


def test_every_operation_that_settles_or_explains_is_asked() -> None:
    answered = [operation_of(case) for case in CASES if case["answer"]["status"] == 200]
    assert {operation.id for operation in answered if operation} == {
        *("settleRound", "stepRound", "voidRound", "verifyRound"),
        *("evaluateHand", "createSeed", "shuffleDeck"),
        *("getRuleset", "getVersion", "getKeys", "getLiveness", "getReadiness"),
    }


def test_rounds_of_every_sort() -> None:
    bodies = [case["answer"]["body"] for case in of_kind("round")]
    for id, names in {
        "trainer-1": {"ante", "bet", "bonus", "purchase", "game_purchase"},
        "online-1": {"ante", "bet", "bonus", "purchase", "insurance"},
        "casino-1": {"ante", "bet", "bonus", "purchase", "insurance", "game_purchase"},
    }.items():
        own = [body for body in bodies if body["ruleset"]["id"] == id]
        boxes = [box for body in own for box in body["boxes"]]
        assert {bet["name"] for box in boxes for bet in box["bets"]} == names
        assert {box["result"] for box in boxes} == {"win", "lose", "push", "no_game", "fold"}
        assert {box["main"] for box in boxes} == set(KINDS), id
        assert {len(body["boxes"]) for body in own} == set(range(1, 4 if id == "online-1" else 5))
        assert {body["deal"]["source"] for body in own} == {"seed", "deck"}
        discards = {len(action.get("discard", ())) for body in own for action in body["actions"]}
        assert discards == set(range(6))
        assert any("capped" in bet["reason"] for box in boxes for bet in box["bets"])
        assert any(box["blind"] for box in boxes) == (id != "trainer-1")
        assert any(len(body["dealer"]["draws"]) > 1 for body in own) == (id == "casino-1")
    assert any("server_seed" not in body["deal"] for body in bodies if body["deal"]["source"] == "seed")


def test_hands_of_every_kind_and_every_pair_of_kinds() -> None:
    bodies = [case["answer"]["body"] for case in of_kind("hand")]
    assert {body["main"] for body in bodies} == set(KINDS)
    pairs = {(body["main"], body["second"]) for body in bodies if body["second"]}
    assert len(pairs) == 21, "clause C5 lists as many"
    wheel = ["5h", "4d", "3c", "2s", "Ah"]
    assert any(body["cards"] == wheel and body["main"] == "straight" for body in bodies)


def test_views_of_every_phase() -> None:
    views = [case["answer"]["body"] for case in of_kind("view")]
    assert {view["phase"] for view in views} == {"decisions", "dealer_game", "settled"}
    offered = {offer["action"] for view in views for offer in view["legal"]}
    assert offered == {"exchange", "buy_sixth", "insure", "bet", "fold", "take_ante", "buy_game"}
    assert any(box["hidden_cards"] == 1 for view in views for box in view["boxes"])
    assert any(box["blind"] and not box["hand"] for view in views for box in view["boxes"])


def test_problems_of_every_type_that_can_be_met() -> None:
    bodies = [case["answer"]["body"] for case in of_kind("refusal")]
    unmet = {"bad-request", "length-required", "internal-error", "integrity-lost"}
    assert {body["type"] for body in bodies} == {f"/problems/{slug}" for slug in PROBLEM_TYPES.keys() - unmet}
    assert STORED["kinds"]["refusal"]["media_type"] == PROBLEM_JSON
    readme = (FOLDER / str(VERSION) / "README.md").read_text(encoding="utf-8")
    assert all(f"`{slug}`" in readme for slug in unmet)
    codes = {error["code"] for body in bodies for error in body["errors"]}
    everywhere = set(CONTRACT_DOCUMENT["components"]["schemas"]["ErrorCode"]["enum"])
    assert everywhere - codes == {"no-bonus"}, "each built-in ruleset offers a bonus"


def test_verdicts_of_every_code_that_does_not_depend_on_keys() -> None:
    bodies = [case["answer"]["body"] for case in of_kind("verdict")]
    codes = {check["code"] for body in bodies for check in body["checks"] if "code" in check}
    everywhere = set(CONTRACT_DOCUMENT["components"]["schemas"]["CheckCode"]["enum"])
    assert everywhere - codes == {"bad-signature", "revoked-key", "not-canonical"}
    assert {name for name, *_ in _PARTS} <= {check["name"] for body in bodies for check in body["checks"]}
    assert {body["valid"] for body in bodies} == {True, False}


# What is no kit.


def malformed() -> Iterator[tuple[str, bytes, str]]:
    def changed(**members: Any) -> bytes:
        return json.dumps({**STORED, **members}).encode()

    case = CASES[0]
    signed = of_kind("certificate")[0]
    yield "no JSON", b"{", "unexpected end"
    yield "an array", b"[]", "no kit"
    yield "no cases", b'{"keys": [], "kinds": {}}', "cases"
    yield "a key without status", changed(keys=[{"kty": "OKP"}]), "status"
    yield "rules unknown", changed(kinds={"keys": {"rule": 1}}), "rule"
    unreadable = {"keys": {**STORED["kinds"]["keys"], "free": [{"at": "/a", "pattern": "(", "why": "x"}]}}
    yield "a pattern that is none", changed(kinds=unreadable), "unterminated"
    yield "of no kind", changed(cases=[{**case, "kind": "x"}]), case["id"]
    yield "twice", changed(cases=[case, case]), "twice"
    yield "no request", changed(cases=[{**case, "request": {}}]), "method"
    yield "no answer", changed(cases=[{name: case[name] for name in case if name != "answer"}]), "answer"
    source = {"at": "/a", "from": {"case": "later", "pointer": ""}}
    yield "from later", changed(cases=[{**case, "answer": {**case["answer"], "put": [source]}}]), "later"
    forged = {**signed, "certificate": f"{signed['certificate'][:-9]}AAAAAAAAA"}
    yield "forged", changed(cases=[forged]), "not genuine"
    other = {**signed, "answer": {**signed["answer"], "body": {**signed["answer"]["body"], "status": "x"}}}
    yield "vouching for another", changed(cases=[other]), "vouches for another outcome"


@pytest.mark.parametrize(("content", "told"), [pytest.param(*rest, id=name) for name, *rest in malformed()])
def test_what_is_no_kit_is_refused(content: bytes, told: str) -> None:
    with pytest.raises(MalformedKit, match=r"no kit|certificate|twice|later") as refusal:
        load_kit(content)
    assert told in str(refusal.value)
