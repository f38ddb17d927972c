"""Certificates once given stay true: as long as the engine keeps its version, it keeps every outcome."""

import json
from pathlib import Path

import pytest

from service.api.verification import verify_shown
from service.certificate.jws import open_certificate
from service.game import ENGINE_VERSION
from service.keys import DEVELOPMENT_NOTICE
from tests.certificate import golden
from tests.certificate.golden import Document, Golden

PRESENT = golden.golden_file()
WRITE = "python -m tests.certificate.golden --write"


@pytest.fixture(scope="module")
def present() -> list[Golden]:
    return golden.read(PRESENT)


def payload(certificate: str) -> Document:
    document, _ = open_certificate(certificate, golden.keys().verifying)
    return document


def test_the_present_version_has_its_golden_certificates() -> None:
    assert PRESENT in golden.golden_files(), f"engine {ENGINE_VERSION} has none yet: {WRITE}"


def test_no_outcome_changes_while_the_version_stays(present: list[Golden]) -> None:
    changed = {line: next(golden.changes(one), None) for line, one in enumerate(present, 1)}
    found = {line: change for line, change in changed.items() if change}
    assert not found, f"other outcomes need another ENGINE_VERSION than {ENGINE_VERSION}; then {WRITE}"


@pytest.mark.parametrize("path", golden.golden_files(), ids=lambda path: path.stem)
def test_certificates_of_every_version_stay_genuine(path: Path) -> None:
    version = path.stem.removeprefix("certificates-")
    for one in golden.read(path):
        document, key = open_certificate(one.certificate, golden.keys().verifying)
        assert key.development
        assert document["engine"]["version"] == version


def test_each_is_verified_by_recomputation(present: list[Golden]) -> None:
    for line, one in enumerate(present, 1):
        shown = {"certificate": one.certificate}
        if "server_seed" in one.request["deal"]:
            shown["server_seed"] = one.request["deal"]["server_seed"]
        verdict = verify_shown(shown, golden.registry(), golden.keys())
        assert verdict["valid"], (line, verdict)
        assert verdict["checks"][0] == {"name": "signature", "passed": True, "detail": DEVELOPMENT_NOTICE}


def test_they_are_rounds_of_every_kind(present: list[Golden]) -> None:
    outcomes = [payload(one.certificate) for one in present]
    boxes = [box for outcome in outcomes for box in outcome["boxes"]]
    actions = [action for outcome in outcomes for action in outcome["actions"]]
    assert len({outcome["outcome_id"] for outcome in outcomes}) == len(outcomes) >= 150
    assert {outcome["ruleset"]["id"] for outcome in outcomes} == set(golden.registry())
    assert {outcome["status"] for outcome in outcomes} == {"settled", "void"}
    assert {outcome["deal"]["source"] for outcome in outcomes} == {"seed", "deck"}
    assert {box["result"] for box in boxes if "result" in box} == {"win", "lose", "push", "no_game", "fold"}
    assert {bet["name"] for box in boxes for bet in box["bets"]} == {
        "ante",
        "bet",
        "bonus",
        "insurance",
        "purchase",
        "game_purchase",
    }
    assert {len(action.get("discard", ())) for action in actions} == set(range(6))
    assert len({box["main"] for box in boxes if "main" in box}) == 11
    assert any("capped" in bet["reason"] for box in boxes for bet in box["bets"])
    assert any("beacon" in outcome["deal"] for outcome in outcomes)
    assert any("context" in outcome for outcome in outcomes)
    assert any("player" in box for box in boxes)
    assert any(box["blind"] for box in boxes)
    assert any(
        outcome["deal"]["source"] == "seed" and "server_seed" not in outcome["deal"]
        for outcome in outcomes
        if outcome["status"] == "settled"
    )


def test_the_tool_writes_what_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = golden.read(PRESENT)
    monkeypatch.setattr(golden, "DATA", tmp_path)
    requests = tmp_path / "requests.jsonl"
    requests.write_text("".join(json.dumps(one.request) + "\n" for one in before), encoding="utf-8")
    assert golden.write([requests]) == f"{PRESENT.name}: {len(before)} rounds"
    first = (tmp_path / PRESENT.name).read_bytes()
    golden.write([])
    assert (tmp_path / PRESENT.name).read_bytes() == first
    assert [one.request for one in golden.read(tmp_path / PRESENT.name)] == [one.request for one in before]
    assert golden.compare() == "no outcome has changed"


def test_the_tool_tells_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *_ = golden.read(PRESENT)
    monkeypatch.setattr(golden, "DATA", tmp_path)
    swapped = Golden(first.request, second.certificate)
    (tmp_path / PRESENT.name).write_text(json.dumps(swapped._asdict()) + "\n", encoding="utf-8")
    assert f"{PRESENT.name}:1: /outcome_id: " in golden.compare()


def test_versions_are_sorted_as_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "DATA", tmp_path)
    for version in ("1.10.0", "1.9.0", "2.0.0", "1.9.12"):
        golden.golden_file(version).touch()
    names = [path.stem.removeprefix("certificates-") for path in golden.golden_files()]
    assert names == ["1.9.0", "1.9.12", "1.10.0", "2.0.0"]
