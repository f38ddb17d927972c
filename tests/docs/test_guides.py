"""The guides tell the truth: every block in them is run, every answer and every table is compared."""

import ast
import json
import re
import sys
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from service.api.guides import BOOKS, GUIDES
from service.api.verification import MAX_DIFFERENCES
from service.certificate.canonical import digest
from service.certificate.jws import KeyStatus, certify
from service.game.cards import CODES
from service.game.hands import KINDS
from service.keys import configured_keys, new_keys, read_keys
from service.registry import configured_rulesets
from service.rounds import canonical_request, settle_request, void_request
from service.schemas import ROUND, VOID, load
from tests.docs.guides import ROOT, Workshop, agrees, check, examples, guide, missing_tools, table, tools

CERTIFICATES = guide("certificates.md")
SEED = {"server_seed": "5e" * 32}
BEACON = {"source": "example-beacon/1", "value": "5D" * 16}
LIMITS = {"min_stake": 10, "max_stake": 500, "max_payout": 900}


@pytest.fixture(scope="module", autouse=True)
def _development_keys() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("KEYS", "KEYS_FILE", "PRODUCTION", "RULESETS_DIR"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="module")
def make_workshop(
    _development_keys: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Path], Workshop]]:
    with tools(tmp_path_factory.mktemp("programs")) as make:
        yield make


SHORT = [f"guides/{name}.md" for name in GUIDES]


@pytest.mark.parametrize("name", ["audit.md", "certificates.md", "fairness.md", "conformance.md", *SHORT])
def test_every_block_of_a_guide_does_what_it_shows(
    name: str, make_workshop: Callable[[Path], Workshop], tmp_path: Path
) -> None:
    blocks = examples(guide(name))
    assert len(blocks) > 3
    if missing := missing_tools(blocks):
        pytest.skip(f"docs/{name} calls {', '.join(missing)}")
    bench = make_workshop(tmp_path)
    for block in blocks:
        try:
            check(block, bench)
        except Exception as error:
            raise AssertionError(f"docs/{name}, line {block.line}: {error}") from error


WRONG = {
    "another answer": '```js\nconsole.log("a b");\n```\n```text\na c\n```\n',
    "another document": '```js\nconsole.log(`{"a": ${1 + 1}}`);\n```\n```json\n{"a": 1}\n```\n',
    "an answer that is not shown": "```js\nconsole.log(1);\n```\n",
    "an error": '```js\nthrow new Error("x");\n```\n',
    "a warning": '```js\nconsole.warn("x");\n```\n',
    "a name that no block gives": "```js\nconst a = 1;\n```\n```js\nconsole.log(b);\n```\n",
}
RIGHT = """\
```js
const a = 1;
console.log(a);
```
```text
1
```
```js
const { status } = await fetch("http://127.0.0.1:8080/livez");
console.log(a + 1, status);
```
```text
2 200
```
"""


def test_blocks_of_javascript_follow_each_other(
    make_workshop: Callable[[Path], Workshop], tmp_path: Path
) -> None:
    if missing_tools(examples(RIGHT)):
        pytest.skip("node is not installed")
    bench = make_workshop(tmp_path)
    for block in examples(RIGHT):
        check(block, bench)


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_wrong_block_of_javascript_is_found(
    text: str, make_workshop: Callable[[Path], Workshop], tmp_path: Path
) -> None:
    *before, last = examples(text)
    if missing_tools([last]):
        pytest.skip("node is not installed")
    bench = make_workshop(tmp_path)
    for block in before:
        check(block, bench)
    with pytest.raises(AssertionError):
        check(last, bench)


def test_the_guides_are_those_that_are_served() -> None:
    folder = ROOT / "docs"
    assert sorted(f"guides/{path.name}" for path in (folder / "guides").glob("*")) == sorted(SHORT)
    assert sorted(path.stem for path in folder.glob("*.md")) == sorted(BOOKS)


@pytest.mark.parametrize("name", SHORT)
def test_a_short_guide_has_examples_in_three_languages_that_need_no_package(name: str) -> None:
    blocks = examples(guide(name))
    in_language = {
        language: "\n".join(block.text for block in blocks if block.language == language)
        for language in ("sh", "python", "js")
    }
    assert "curl " in in_language["sh"]
    imported = set(re.findall(r"^(?:import|from) (\w+)", in_language["python"], re.MULTILINE))
    assert {"json", "urllib"} <= imported <= sys.stdlib_module_names
    modules = re.findall(r"^import .* from \"(.*)\";$", in_language["js"], re.MULTILINE)
    assert "fetch(" in in_language["js"]
    assert all(module.startswith("node:") for module in modules)
    assert len(re.findall(r"^import ", in_language["js"], re.MULTILINE)) == len(modules)
    assert all(block.answer for block in blocks if block.language != "sh")


@pytest.mark.parametrize(
    ("shown", "told", "agree"),
    [
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1, "…": "…"}, {"a": 1, "b": 2}, True),
        ({"b": 1, "…": "…"}, {"a": 1}, False),
        ([1, "…"], [1, 2, 3], True),
        ([1, 2], [1, 2, 3], False),
        ("sha256:…", "sha256:1f", True),
        ("sha256:…", "sha512:1f", False),
        (1, True, False),
        (1, 2, False),
        ("1", 1, False),
    ],
)
def test_what_an_answer_shown_agrees_with(shown: Any, told: Any, agree: bool) -> None:
    assert agrees(shown, told) is agree


def test_the_rulesets_differ_as_the_guide_says() -> None:
    ids = ("trainer-1", "online-1", "casino-1")
    columns = zip(*table(guide("guides/rulesets.md"), "what", *(f"`{id}`" for id in ids)), strict=True)
    _, *told = columns
    opens = {"all": "all open", "one": "one of them open", "one_per_player": "one open for each player"}
    prices = {"one_more_ante": "one more ante", "the_ante": "the ante that lies there"}
    for id, column in zip(ids, told, strict=True):
        rules = configured_rulesets()[id].ruleset
        assert rules.bonus
        assert rules.game_purchase
        limits, failed = rules.limits, rules.game_purchase.failed_ante
        most = f"{limits.min_stake} to {limits.max_stake:,}" if limits.max_stake else None
        assert column == (
            f"{rules.max_boxes}, {opens[rules.open_boxes]}",
            str(rules.combinations),
            "yes" if rules.insurance else "no",
            prices[rules.game_purchase.price],
            "paid 1:1" if failed == "paid" else failed,
            next(kind for kind in KINDS if kind in rules.bonus.dealt).replace("_", "-"),
            most or f"at least {limits.min_stake}",
        )


def _rounds() -> dict[str, dict[str, Any]]:
    """Outcomes that between them have every member that an outcome can have."""
    rigged = ["Qc", "Kh", "Qd", "Jd", "Qh", "9s", "7s", "4c", "2c", "3d", "9h"]
    deck = [*rigged, *(code for code in CODES if code not in rigged)]
    box = {"box": 1, "ante": 100, "player": "anna"}
    insured = [
        {"box": 1, "action": "insure", "amount": 300},
        {"box": 1, "action": "bet"},
        {"box": 1, "action": "buy_game"},
    ]
    exchanged: list[dict[str, Any]] = [{"box": 1, "action": "exchange", "discard": ["7s"]}]
    named: dict[str, Any] = {"ruleset": "casino-1", "deal": {"deck": deck}, "boxes": [box]}
    seeded: dict[str, Any] = {
        "ruleset": "casino-1",
        "boxes": [{"box": 1, "ante": 100}],
        "actions": [{"box": 1, "action": "fold"}],
    }
    settled: dict[str, dict[str, Any]] = {
        "deck": {**named, "table": LIMITS, "context": {"id": "A-1"}, "actions": insured},
        "exchange": {**named, "actions": [*exchanged, {"box": 1, "action": "fold"}]},
        "seed": {**seeded, "deal": {**SEED, "nonce": 3, "beacon": BEACON}},
        "hidden": {**seeded, "deal": {**SEED, "client_seed": "anna", "reveal": False}},
    }
    registry = configured_rulesets()
    void: dict[str, dict[str, Any]] = {
        "void": {**named, "actions": exchanged, "reason": "power cut"},
        "seed void": {**seeded, "deal": SEED, "reason": "power cut"},
    }
    outcomes = {name: settle_request(load(ROUND, request), registry) for name, request in settled.items()}
    for name, request in void.items():
        round_request, reason = load(VOID, request)
        outcomes[name] = void_request(round_request, reason, registry)
    return outcomes


def _members(document: Any, path: str = "") -> Iterator[str]:
    """Every member of an outcome as the guide writes it; what is in a context is the caller's."""
    if isinstance(document, dict) and path != "context":
        for name, inner in document.items():
            yield from _members(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(document, list):
        for inner in document:
            yield from _members(inner, f"{path}[]")
    else:
        yield path


def test_the_payload_has_the_members_of_the_table() -> None:
    stated = {member.strip("`"): where for member, where, _ in table(CERTIFICATES, "member", "in", "meaning")}
    found = {name: set(_members(outcome)) for name, outcome in _rounds().items()}
    assert set().union(*found.values()) == set(stated)
    for name, members in found.items():
        always = {"all", "void" if "void" in name else "settled"}
        assert {member for member, where in stated.items() if where in always} <= members, name
        if "void" in name:
            assert not {member for member, where in stated.items() if "settled" in where} & members
    of_seeds = {member for member, where in stated.items() if where == "seed"}
    for name in ("seed", "hidden", "seed void"):
        assert of_seeds <= found[name]
    for name in ("deck", "exchange", "void"):
        assert not of_seeds & found[name]
    assert "deal.server_seed" in found["seed"]
    assert "deal.server_seed" not in found["hidden"] | found["seed void"]


def test_the_canonical_request_has_the_members_of_the_table() -> None:
    stated = {name.strip("`") for name, _ in table(CERTIFICATES, "in the request", "value")}
    outcomes = _rounds()
    deck = {"deck": outcomes["deck"]["deal"]["deck"]}
    requests = {
        "deck": canonical_request(outcomes["deck"], deck),
        "seed": canonical_request(outcomes["seed"], SEED),
        "void": canonical_request(outcomes["void"], deck),
    }
    assert set().union(*requests.values()) == stated
    assert requests["deck"].keys() == stated - {"reason"}
    assert requests["void"].keys() == stated - {"context"}
    assert requests["seed"]["deal"] == {
        **SEED,
        "client_seed": "",
        "nonce": 3,
        "beacon": {**BEACON, "value": BEACON["value"].lower()},
    }
    assert requests["deck"]["deal"] == deck
    assert requests["deck"]["table"] == LIMITS
    assert requests["deck"]["boxes"] == [
        {"box": 1, "blind": False, "player": "anna", "ante": 100, "bonus": 0}
    ]
    for name, request in requests.items():
        assert digest(request) == outcomes[name]["request_digest"]
        assert outcomes[name]["outcome_id"] == digest(request)[len("sha256:") :][:32]


def test_the_header_has_the_members_of_the_table() -> None:
    stated = [name.strip("`") for name, _ in table(CERTIFICATES, "in the header", "value")]
    for keys, names in ((configured_keys(), stated), (read_keys(new_keys()), stated[:3])):
        header = certify({}, keys.signer)["certificate"].partition(".")[0]
        assert set(json.loads(urlsafe_b64decode(header + "=="))) == set(names)


def test_the_codes_of_a_verdict_are_those_of_the_table() -> None:
    codes = [code.strip("`") for _, code, _ in table(CERTIFICATES, "check", "code", "what is wrong")]
    assert len(codes) == len(set(codes))
    used = set()
    for name in ("certificate/jws.py", "verification.py", "rounds.py"):
        tree = ast.parse((ROOT / "service" / name).read_text(encoding="utf-8"))
        texts = {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        used |= {text for text in texts if re.fullmatch("malformed|[a-z]+-[a-z]+", text)}
    assert set(codes) == used
    assert f"the first {MAX_DIFFERENCES} places" in CERTIFICATES


def test_the_states_of_a_key_are_those_of_the_table() -> None:
    rows = table(CERTIFICATES, "`status`", "a signing key", "a sealing key")
    assert [status.strip("`") for status, *_ in rows] == list(get_args(KeyStatus))
