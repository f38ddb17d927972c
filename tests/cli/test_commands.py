"""What each command of ``russian-poker`` prints: the same as the API, told to people where it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.api import create_app
from tests.api.house import FLUSH, house_ruleset
from tests.api.servers import ROOT
from tests.cli.conftest import Command
from tests.support.vectors import load, settle_body

SEED = "00ffa5c3" * 8
ROUND: dict[str, Any] = {
    "ruleset": "casino-1",
    "deal": {"server_seed": SEED, "client_seed": "Zoë 🂡", "nonce": 7},
    "boxes": [{"box": 1, "ante": 100, "player": "Игрок"}],
    "actions": [{"box": 1, "action": "fold"}],
    "context": {"round_id": "A-1", "ü": ["🂡", None]},
}


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    return create_app().test_client()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "round.json"
    path.write_text(json.dumps(ROUND), encoding="utf-8")
    return path


# settle


def test_settle_prints_what_the_api_answers(run: Command, file: Path, client: FlaskClient) -> None:
    done = run("settle", str(file))
    assert (done.status, done.err) == (0, "")
    answer = client.post("/v1/rounds/settle", json=ROUND)
    assert list(json.loads(done.out).items()) == list(answer.get_json().items())
    assert done.out.endswith("}\n")
    assert "🂡" in done.out, "text as it is, in UTF-8"
    assert len(done.out.splitlines()) > 30, "for people to read"


def test_settle_reads_standard_input(run: Command, file: Path) -> None:
    assert run("settle", "-", stdin=file.read_bytes()) == run("settle", str(file))


def test_settle_agrees_with_the_api_on_vectors(run: Command, client: FlaskClient) -> None:
    for vector in (load("rounds.jsonl") + load("rigged.jsonl"))[::40]:
        body = settle_body(vector)
        done = run("settle", "-", stdin=json.dumps(body).encode())
        assert json.loads(done.out) == client.post("/v1/rounds/settle", json=body).get_json()


REFUSED: dict[str, tuple[Any, list[str]]] = {
    "invalid-request": (
        ROUND | {"boxes": [{"box": 1, "ante": "5"}]},
        ["/boxes/0/ante: must be a whole number; got a text; drop the quotes"],
    ),
    "several faults": (
        ROUND | {"deal": {"server_seed": "0x" + SEED}, "boxes": [{"box": 1}], "x": 1},
        ["/deal/server_seed: ", "drop the 0x", "/boxes/0/ante: is required", "/x: 'x' is not known"],
    ),
    "no object": ([], ["must be an object; got an array"]),
    "unknown-ruleset": (ROUND | {"ruleset": "casino"}, ["/ruleset: ", "casino-1, online-1, trainer-1"]),
    "limits": (ROUND | {"table": {"min_stake": 500}}, ["/boxes/0/ante: ", "below the minimum stake 500"]),
    "illegal-action": (
        ROUND | {"actions": [{"box": 1, "action": "take_ante"}]},
        ["/actions/0: ", "has not shown"],
    ),
    "round-incomplete": (ROUND | {"actions": []}, ["/actions: ", "box 1 may exchange, buy_sixth, bet, fold"]),
    "commitment-mismatch": (
        ROUND | {"deal": {"server_seed": SEED, "commitment": "0" * 64}},
        ["/deal/commitment: ", "not of their hex digits"],
    ),
}


@pytest.mark.parametrize(("body", "told"), REFUSED.values(), ids=REFUSED)
def test_settle_tells_what_is_wrong_and_where(body: Any, told: list[str], run: Command) -> None:
    done = run("settle", "-", stdin=json.dumps(body).encode())
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("russian-poker: ")
    assert all(text in done.err for text in told)
    assert "Traceback" not in done.err


def test_a_refusal_has_the_texts_of_the_api(run: Command, client: FlaskClient) -> None:
    for body, _ in REFUSED.values():
        done = run("settle", "-", stdin=json.dumps(body).encode())
        problem = client.post("/v1/rounds/settle", json=body).get_json()
        assert problem["title"] in done.err
        assert all(error["detail"] in done.err for error in problem["errors"])


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "empty"),
        (b"{", "line 1, column 2"),
        (b'{"a": 1,\n "a": 2}', "'a' stands twice"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": 1e400}', "1e400"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        (b'{"a": "\\udc00"}', "surrogate"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (json.dumps(ROUND).encode("utf-16"), "not UTF-8"),
        (b"[" * 5000, "32 deep"),
    ],
)
def test_settle_reads_as_strictly_as_the_api(data: bytes, told: str, run: Command, tmp_path: Path) -> None:
    path = tmp_path / "round.json"
    path.write_bytes(data)
    for done in (run("settle", str(path)), run("settle", "-", stdin=data)):
        assert (done.status, done.out) == (1, "")
        assert told in done.err
        assert "Traceback" not in done.err


def test_settle_names_a_file_that_it_cannot_read(run: Command, tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none.json", "No such file"), (tmp_path, "Is a directory")):
        done = run("settle", str(path))
        assert (done.status, done.out) == (1, "")
        assert done.err.startswith("russian-poker: ")
        assert reason in done.err
        assert str(path) in done.err


# deck


def test_deck_prints_what_the_api_answers(run: Command, client: FlaskClient) -> None:
    seeds = {"server_seed": SEED, "client_seed": "Zoë 🂡", "nonce": 2**53 - 1}
    done = run("deck", SEED.upper(), "--client-seed", "Zoë 🂡", "--nonce", str(2**53 - 1))
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out) == client.post("/v1/fairness/deck", json=seeds).get_json()
    plain = run("deck", SEED)
    assert json.loads(plain.out) == client.post("/v1/fairness/deck", json={"server_seed": SEED}).get_json()


def test_deck_knows_the_vectors(run: Command) -> None:
    for vector in load("decks.json"):
        done = run(
            "deck",
            vector["server_seed"],
            f"--client-seed={vector['client_seed']}",
            "--nonce",
            str(vector["nonce"]),
        )
        answer = json.loads(done.out)
        assert " ".join(answer["deck"]) == vector["deck"]
        assert answer["commitment"] == vector["commitment"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["0x" + SEED], "/server_seed: must be 64 hex digits; got 66 characters – drop the 0x"),
        ([SEED[:32]], "/server_seed: must be 64 hex digits; got 32"),
        ([""], "/server_seed: "),
        ([SEED, "--nonce", "-1"], "/nonce: must be from 0"),
        ([SEED, "--nonce", str(2**53)], "/nonce: must be from 0"),
        ([SEED, "--client-seed", "é" * 65], "/client_seed: must be at most 128 bytes"),
        # What the shell hands over when bytes are no UTF-8.
        ([SEED, "--client-seed", "caf\udce9"], "/client_seed: "),
    ],
)
def test_deck_tells_what_is_wrong_and_where(arguments: list[str], told: str, run: Command) -> None:
    done = run("deck", *arguments)
    assert (done.status, done.out) == (1, "")
    assert told in done.err
    assert "Traceback" not in done.err


# evaluate


@pytest.mark.parametrize("ruleset", ["casino-1", "online-1", "trainer-1"])
@pytest.mark.parametrize("cards", ["Ah Kd Td 8c 8s", "As Ad Ks Kd Qs Qd", "2c 4d 6h 8s Tc"])
def test_evaluate_prints_what_the_api_answers(
    ruleset: str, cards: str, run: Command, client: FlaskClient
) -> None:
    done = run("evaluate", ruleset, *cards.split())
    assert (done.status, done.err) == (0, "")
    body = {"ruleset": ruleset, "cards": cards.split()}
    assert json.loads(done.out) == client.post("/v1/hands/evaluate", json=body).get_json()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["casino", "Ah", "Kd", "Td", "8c", "8s"], "there is no ruleset 'casino'"),
        (["", "Ah", "Kd", "Td", "8c", "8s"], "/ruleset: "),
        (["casino-1", "Ah", "Kd", "Td", "8c"], "/cards: must hold 5 to 6 cards; got 4"),
        (["casino-1", "Ah", "Kd", "10d", "8c", "8s"], "/cards/2: '10d' is no card; did you mean Td?"),
        (["casino-1", "Ah", "Kd", "Td", "8c", "Ah"], "/cards/4: Ah stands twice"),
        (["casino-1", "Ah", "Kd", "Td", "8c", "\udce9"], "/cards/4: "),
        (["\udce9", "Ah", "Kd", "Td", "8c", "8s"], "there is no ruleset"),
    ],
)
def test_evaluate_tells_what_is_wrong_and_where(arguments: list[str], told: str, run: Command) -> None:
    done = run("evaluate", *arguments)
    assert (done.status, done.out) == (1, "")
    assert told in done.err


# rulesets


def test_rulesets_lists_and_shows_what_the_api_answers(run: Command, client: FlaskClient) -> None:
    done = run("rulesets")
    assert (done.status, done.err) == (0, "")
    index = client.get("/v1/rulesets").get_json()["rulesets"]
    assert json.loads(done.out) == {one["id"]: one["title"] for one in index}
    for one in index:
        shown = run("rulesets", one["id"])
        assert (shown.status, shown.err) == (0, "")
        assert json.loads(shown.out) == client.get(f"/v1/rulesets/{one['id']}").get_json()


def test_rulesets_names_the_known_ones(run: Command) -> None:
    done = run("rulesets", "casino")
    assert (done.status, done.out) == (1, "")
    assert "casino-1, online-1, trainer-1" in done.err


def test_every_command_knows_the_rulesets_of_the_house(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house_ruleset(tmp_path)
    monkeypatch.setenv("RULESETS_DIR", str(tmp_path))
    assert list(json.loads(run("rulesets").out)) == ["casino-1", "online-1", "trainer-1", "house-1"]
    assert json.loads(run("rulesets", "house-1").out)["id"] == "house-1"
    assert json.loads(run("evaluate", "house-1", *FLUSH).out)["odds"] == 6
    settled = run("settle", "-", stdin=json.dumps(ROUND | {"ruleset": "house-1"}).encode())
    assert json.loads(settled.out)["ruleset"]["id"] == "house-1"


@pytest.mark.parametrize("name", ["WEB_CONCURRENCY", "SENDER_TIMEOUT"])
@pytest.mark.parametrize("text", ["two", "0", "-1", "1.5", ""])
def test_serve_gives_up_for_a_number_that_is_none(
    name: str, text: str, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, text)
    told = f"russian-poker: {name} must be a whole number from 1; got {text!r}\n"
    assert run("serve") == (1, "", told)


def test_an_interrupted_command_says_so(run: Command, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("service.cli.settle_request", interrupted)
    assert run("settle", str(file)) == (130, "", "russian-poker: interrupted\n")


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    # The reader is gone before anything is written.
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "service.cli", "rulesets", "casino-1"],
        cwd=ROOT,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_evaluate_takes_cards_in_one_argument_too(run: Command) -> None:
    cards = ["Ah", "Kd", "Td", "8c", "8s"]
    assert run("evaluate", "casino-1", " ".join(cards)) == run("evaluate", "casino-1", *cards)
    assert "there is no ruleset 'Ah'" in run("evaluate", *cards).err


def test_serve_gives_up_for_an_origin_that_is_none(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORS_ORIGINS", "play.example")
    done = run("serve")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("russian-poker: CORS_ORIGINS: 'play.example' is no origin")


@pytest.fixture(params=["serve", "rulesets", "evaluate", "settle"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command that reads the rulesets; serve must give up before it becomes gunicorn."""

    def run(prog: str) -> None:
        raise AssertionError("it serves")

    monkeypatch.setattr("gunicorn.app.wsgiapp.run", run)
    monkeypatch.setenv("HOST", "127.0.0.1")
    monkeypatch.setenv("PORT", "0")
    more = {"evaluate": ["casino-1", *FLUSH], "settle": ["-"]}
    return [request.param, *more.get(request.param, [])]


ODDS = "flush           = { value = 5,"
BROKEN: dict[str, tuple[str, str, list[str]]] = {
    "wrong value": (ODDS, ODDS.replace("5", "0"), ["bet.odds.flush.value: must be from 1 to 10000; got 0"]),
    "wrong type": (ODDS, ODDS.replace("5", '"5"'), ["bet.odds.flush.value", "drop the quotes"]),
    "missing key": ("[limits]", "[elsewhere]", ["limits", "elsewhere"]),
    "unknown key": ("[limits]\n", "[limits]\nmaximum = 5\n", ["limits.maximum"]),
    "another name": ('id = "house-1"', 'id = "other-1"', ["id: must be the file's name, house-1"]),
    "an id twice": ('id = "house-1"', 'id = "casino-1"', ["id: ", "casino-1"]),
    "no such decision": ('decision = "I2"', 'decision = "I99"', ["decisions: ", "I99"]),
    "no TOML": ("[limits]", "[limits", ["line "]),
    "no UTF-8": ("[limits]", "# \udcff\n[limits]", ["utf-8"]),
}


@pytest.mark.parametrize(("old", "new", "told"), BROKEN.values(), ids=BROKEN)
def test_a_broken_ruleset_is_told_by_file_and_key(
    old: str,
    new: str,
    told: list[str],
    reader: list[str],
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = house_ruleset(tmp_path, flush="5")
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode(errors="surrogateescape"))
    monkeypatch.setenv("RULESETS_DIR", str(tmp_path))
    done = run(*reader, stdin=json.dumps(ROUND).encode())
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("russian-poker: ")
    assert str(path) in done.err
    assert all(text in done.err for text in told)


def test_a_folder_of_rulesets_that_is_none_is_told(
    reader: list[str], run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULESETS_DIR", str(tmp_path / "none"))
    done = run(*reader, stdin=json.dumps(ROUND).encode())
    assert (done.status, done.out) == (1, "")
    assert done.err == f"russian-poker: RULESETS_DIR: {tmp_path / 'none'} is not a folder\n"


def test_deck_needs_no_rulesets(run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULESETS_DIR", str(tmp_path / "none"))
    assert run("deck", SEED).status == 0
