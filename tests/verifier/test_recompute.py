"""The verifier under Node against the service: rounds, alterations, refused requests, certificates, hands."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from tests.verifier.altered_outcomes import write_altered
from tests.verifier.conftest import HERE, ROUNDS
from tests.verifier.mutated_requests import write_mutated
from tests.verifier.random_rounds import Json, unsigned
from tests.verifier.specimens import client, specimens

Node = Callable[..., Any]
Tell = Callable[[str], None]

# The counts of C5 and C6.
_SECOND_OF_SIX = {
    "royal_flush+straight_flush": 4, "royal_flush+flush": 28, "royal_flush+straight": 72,
    "straight_flush+straight_flush": 32, "straight_flush+flush": 220, "straight_flush+straight": 744,
    "straight_flush+ace_king": 12, "four_of_a_kind+full_house": 936, "four_of_a_kind+ace_king": 528,
    "full_house+full_house": 1_248, "full_house+ace_king": 4_224, "flush+flush": 6_580,
    "flush+straight": 4_152, "flush+pair": 76_620, "flush+ace_king": 7_704, "straight+straight": 112_380,
    "straight+ace_king": 4_020, "three_of_a_kind+ace_king": 56_320, "two_pair+two_pair": 61_776,
    "two_pair+ace_king": 158_400, "pair+ace_king": 1_249_680,
}  # fmt: skip
_MAIN_OF_SIX = {
    "royal_flush": 84, "straight_flush": 648, "four_of_a_kind": 13_200, "full_house": 160_512,
    "flush": 110_736, "straight": 245_220, "three_of_a_kind": 675_840, "two_pair": 2_312_640,
    "pair": 8_481_060, "ace_king": 1_290_420, "none": 5_322_480,
}  # fmt: skip
_SECOND_OF_FIVE = {
    "four_of_a_kind+ace_king": 8, "three_of_a_kind+ace_king": 2_112, "two_pair+ace_king": 3_168,
    "pair+ace_king": 84_480,
}  # fmt: skip
_KINDS_OF_FIVE = {
    "royal_flush": 4, "straight_flush": 36, "four_of_a_kind": 624, "full_house": 3_744, "flush": 5_108,
    "straight": 10_200, "three_of_a_kind": 54_912, "two_pair": 123_552, "pair": 1_098_240,
}  # fmt: skip


def test_recomputes_random_rounds_to_the_last_field(rounds: Path, node: Node, tell: Tell) -> None:
    report = node("recompute.mjs", rounds)
    tell(f"{report['rounds']} signed rounds recomputed, {report['compared']} comparisons")
    tell(f"{report['rulesets']}, {report['signers']}, {report['deals']}")
    assert report["failures"] == []
    assert report["failed"] == 0
    assert report["rounds"] == ROUNDS
    assert len(report["rulesets"]) == 7
    assert report["signers"].keys() == {"active", "retired", "development"}
    assert report["deals"].keys() == {"beacon", "context", "deck", "hidden", "void"}
    assert min(report["deals"].values()) > 1_000
    assert {"1", "2", "3"} <= set(report["draws"])
    rare = ("ante S4 1", "ante S6 1", "ante S6 0", "ante S6 -1", "insurance S7 1", "insurance S7 0")
    assert set(report["bets"]) >= {*rare, "insurance S7 -1"}
    assert len([kinds for kinds in report["mains"] if "+" in kinds]) >= 18


def test_finds_every_alteration_first(rounds: Path, node: Node, tell: Tell) -> None:
    write_altered(rounds, 30)
    report = node("alterations.mjs", rounds)
    tell(f"altered: {report['output']} computed places, {report['input']} given ones")
    assert report["missed"] == []
    assert report["service"] == []
    assert report["output"] > 2_000
    assert report["input"] > 1_000


def test_refuses_the_requests_that_the_service_refuses(rounds: Path, node: Node, tell: Tell) -> None:
    write_mutated(rounds, 3_000)
    report = node("mutated.mjs", rounds)
    tell(f"changed requests: {report['refused']} refused, {report['accepted']} settled")
    assert report["disagreements"] == []
    assert min(report["refused"], report["accepted"]) > 500


def test_agrees_with_the_service_on_every_certificate(node: Node) -> None:
    made = specimens()
    outcomes = made["outcomes"]
    forged = node("forged.mjs", given=json.dumps(outcomes["plain"]))
    others = [outcomes[name]["certificate"] for name in ("other", "hidden")]
    beside = [{**outcomes["plain"], "certificate": certificate} for certificate in others]
    signed = [*outcomes.values(), *made["by_status"].values(), made["void_development"]]
    shown = [
        *(outcome["certificate"] for outcome in signed),
        *forged["certificates"].values(),
        *map(json.dumps, (*signed, *beside, *map(unsigned, outcomes.values()))),
    ]
    service = client({"keys": [*made["keys"]["keys"], *forged["jwks"]["keys"]]})
    keys = service.get("/.well-known/jwks.json").get_json()
    given = {"rulesets": made["rulesets"], "jwks": keys, "shown": shown}
    for text, (verdict, fault) in zip(shown, node("verdicts.mjs", given=json.dumps(given)), strict=True):
        body = {"outcome": json.loads(text)} if text.startswith("{") else {"certificate": text}
        answer = service.post("/v1/rounds/verify", json=body).get_json()
        codes = {check["code"] for check in answer["checks"] if not check["passed"]}
        is_worthless = '"status": "void"' in text and '"certificate"' not in text
        if is_worthless or codes == {"seed-needed"}:
            assert not answer["valid"]
            assert verdict == ("unproven" if is_worthless else "partial"), (answer, fault)
        else:
            assert answer["valid"] == (verdict in ("good", "void", "unproven")), (answer, fault)


def test_census_of_five_cards(node: Node) -> None:
    counts: dict[str, int] = node("census.mjs", 5)
    assert {kinds: count for kinds, count in counts.items() if "+" in kinds} == _SECOND_OF_FIVE
    for kind, expected in _KINDS_OF_FIVE.items():
        assert sum(count for kinds, count in counts.items() if kinds.split("+")[0] == kind) == expected
    assert sum(counts.values()) - counts["none"] == 1_463_700
    assert sum(counts.values()) == 2_598_960


def test_census_of_six_cards(node: Node) -> None:
    counts = node("census.mjs", 6)
    assert counts == {**_SECOND_OF_SIX, **_MAIN_OF_SIX}


def test_digests_are_those_of_another_implementation(rulesets: Json, rounds: Path, node: Node) -> None:
    lines = (rounds / "rounds.ndjson").read_text(encoding="utf-8").split("\n")[:40]
    strange = {"\ue000": 1, "\U0001f0a1": 2, "a": "\u2028\x7f<\\/'"}
    values = [*rulesets.values(), *map(json.loads, lines), strange]
    report = node("digests.mjs", given=json.dumps(values))
    assert report == ["sha256:" + hashlib.sha256(rfc8785.dumps(value)).hexdigest() for value in values]


@pytest.mark.usefixtures("node")
def test_units() -> None:
    command = ["node", "--test", *(str(HERE / f"{name}.test.mjs") for name in ("units", "verdicts"))]
    environment = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
