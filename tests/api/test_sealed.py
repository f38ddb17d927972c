"""Sealed seeds over HTTP: a frontend keeps the seed of a round under way and sees no card of it."""

import base64
import hashlib
import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.game.cards import CODES
from service.keys import development_keys, new_keys, read_keys, revoked_keys, rotated_keys
from tests.support.http import ask, client_with

Document = dict[str, Any]
SEEDS = "/v1/fairness/seeds"
SETTLE, VOID, STEP, VERIFY = (f"/v1/rounds/{verb}" for verb in ("settle", "void", "step", "verify"))
URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
SEED = bytes(range(32))


def folded(**deal: Any) -> Document:
    return {
        "ruleset": "casino-1",
        "deal": deal,
        "boxes": [{"box": 1, "ante": 100}],
        "actions": [{"box": 1, "action": "fold"}],
    }


def sealed(seed: bytes = SEED, key_file: Document | None = None) -> str:
    return read_keys(key_file or development_keys()).sealer.seal(seed)


def is_refused(answer: TestResponse, slug: str, pointer: str) -> Document:
    document = answer.get_json()
    assert (answer.status_code, document["type"]) == (422, f"/problems/{slug}"), answer.text
    assert [error["pointer"] for error in document["errors"]] == [pointer]
    assert isinstance(document, dict)
    return document


# New seeds.


def test_a_sealed_seed_comes_without_the_seed(client: FlaskClient) -> None:
    answer = client.post(SEEDS, json={"sealed": True})
    document = answer.get_json()
    assert set(document) == {"sealed_seed", "commitment"}
    seed = read_keys(development_keys()).sealer.open(document["sealed_seed"])
    assert document["commitment"] == hashlib.sha256(seed).hexdigest()
    assert seed.hex() not in answer.text
    assert base64.urlsafe_b64encode(seed)[:40].decode() not in answer.text
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("body", [{}, {"sealed": False}], ids=repr)
def test_a_seed_in_the_clear_comes_without_a_seal(client: FlaskClient, body: Document) -> None:
    document = ask(client, SEEDS, body)
    assert set(document) == {"server_seed", "commitment"}
    assert document["commitment"] == hashlib.sha256(bytes.fromhex(document["server_seed"])).hexdigest()


@pytest.mark.parametrize("value", ["true", 1, None, []], ids=repr)
def test_the_wish_is_true_or_false(client: FlaskClient, value: Any) -> None:
    is_refused(client.post(SEEDS, json={"sealed": value}), "invalid-request", "/sealed")


def test_no_two_seeds_are_equal(client: FlaskClient) -> None:
    answers = [ask(client, SEEDS, {"sealed": True}) for _ in range(20)]
    assert len({answer["commitment"] for answer in answers}) == 20
    assert len({answer["sealed_seed"].split(".")[2] for answer in answers}) == 20
    assert len({answer["sealed_seed"].split(".")[3] for answer in answers}) == 20


# A round from a sealed seed.


def test_a_round_is_played_and_settled_under_one_seal(client: FlaskClient) -> None:
    new = ask(client, SEEDS, {"sealed": True})
    deal = {**new, "client_seed": "lucky", "nonce": 3}
    request = folded(**deal)
    view = client.post(STEP, json={**request, "actions": []})
    outcome = ask(client, SETTLE, request)
    seed = outcome["deal"]["server_seed"]
    assert (
        hashlib.sha256(bytes.fromhex(seed)).hexdigest() == new["commitment"] == outcome["deal"]["commitment"]
    )
    assert seed not in view.text
    assert len(view.get_json()["boxes"][0]["dealt"]) == 5
    assert view.get_json()["boxes"][0]["dealt"] == outcome["boxes"][0]["dealt"]
    assert "sealed_seed" not in outcome["deal"]
    assert ask(client, VERIFY, {"outcome": outcome})["valid"]


@pytest.mark.parametrize("reveal", [True, False])
@pytest.mark.parametrize("path", [SETTLE, STEP, VOID])
def test_the_answer_is_that_of_the_seed_in_the_clear(client: FlaskClient, path: str, reveal: bool) -> None:
    """To the last byte, certificate included."""
    members = {"client_seed": "lucky", "nonce": 3, "reveal": reveal}
    extra = {"reason": "power cut"} if path == VOID else {}
    clear = client.post(path, json={**folded(server_seed=SEED.hex(), **members), **extra})
    for seal in (sealed(), sealed()):
        assert client.post(path, json={**folded(sealed_seed=seal, **members), **extra}).data == clear.data


@pytest.mark.parametrize("actions", [[], [{"box": 1, "action": "fold"}]], ids=["under way", "over"])
@pytest.mark.parametrize("reveal", [True, False])
def test_a_step_never_tells_the_seed(client: FlaskClient, actions: list[Document], reveal: bool) -> None:
    answer = client.post(STEP, json={**folded(sealed_seed=sealed(), reveal=reveal), "actions": actions})
    assert answer.status_code == 200
    assert SEED.hex() not in answer.text
    assert not {"server_seed", "deck", "deal"} & answer.get_json().keys()


def test_reveal_false_keeps_the_seed_and_the_rest_of_the_deck(client: FlaskClient) -> None:
    answer = client.post(SETTLE, json=folded(sealed_seed=sealed(), reveal=False))
    outcome = answer.get_json()
    assert "server_seed" not in outcome["deal"]
    assert len(outcome["deal"]["deck"]) == outcome["deal"]["cards_used"] == 10
    payload = base64.urlsafe_b64decode(outcome["certificate"].split(".")[1] + "==")
    assert SEED.hex() not in answer.text
    assert SEED.hex().encode() not in payload
    assert ask(client, VERIFY, {"outcome": outcome, "server_seed": SEED.hex()})["valid"]


@pytest.mark.parametrize(
    ("first", "other"), [("sealed_seed", "server_seed"), ("deck", "server_seed"), ("deck", "sealed_seed")]
)
def test_one_of_two_sources_has_to_go(first: str, other: str, client: FlaskClient) -> None:
    sources = {"sealed_seed": sealed(), "server_seed": "0" * 64, "deck": list(CODES)}
    body = folded(sealed_seed=sealed())
    body["deal"] = {name: sources[name] for name in (other, first)}
    problem = is_refused(client.post(SETTLE, json=body), "invalid-request", f"/deal/{other}")
    assert f"give {first} or {other}, not both" in problem["detail"]


def test_a_claim_may_show_its_request_with_the_sealed_seed(client: FlaskClient) -> None:
    outcome = ask(client, SETTLE, folded(sealed_seed=sealed()))
    assert ask(client, VERIFY, {"request": folded(sealed_seed=sealed()), "outcome": outcome})["valid"]
    other = folded(sealed_seed=sealed(bytes(32)))
    assert not ask(client, VERIFY, {"request": other, "outcome": outcome})["valid"]


@pytest.mark.parametrize("path", [SETTLE, STEP, VOID])
def test_the_commitment_of_a_sealed_seed_is_checked(client: FlaskClient, path: str) -> None:
    extra = {"reason": "power cut"} if path == VOID else {}
    right = hashlib.sha256(SEED).hexdigest()
    for commitment in (right, right.upper()):
        request = folded(sealed_seed=sealed(), commitment=commitment)
        assert client.post(path, json={**request, **extra}).status_code == 200
    wrong = folded(sealed_seed=sealed(), commitment="0" * 64)
    answer = client.post(path, json={**wrong, **extra})
    is_refused(answer, "commitment-mismatch", "/deal/commitment")
    assert SEED.hex() not in answer.text


# Seals and keys over time.


def test_a_seal_outlives_rotations_until_its_key_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    file = new_keys()
    new = ask(client_with(monkeypatch, file), SEEDS, {"sealed": True})
    kid = json.loads(base64.urlsafe_b64decode(new["sealed_seed"].split(".")[0] + "=="))["kid"]
    for _ in range(3):
        client = client_with(monkeypatch, file)
        assert ask(client, SETTLE, folded(**new))["deal"]["commitment"] == new["commitment"]
        file = rotated_keys(file)
    newer = ask(client_with(monkeypatch, file), SEEDS, {"sealed": True})
    assert json.loads(base64.urlsafe_b64decode(newer["sealed_seed"].split(".")[0] + "=="))["kid"] != kid
    gone = {"keys": [key for key in file["keys"] if key["kid"] != kid]}
    for later in (gone, revoked_keys(file, kid, "stolen")):
        client = client_with(monkeypatch, later)
        for path, extra in ((SETTLE, {}), (STEP, {}), (VOID, {"reason": "power cut"})):
            answer = client.post(path, json={**folded(**new), **extra})
            problem = is_refused(answer, "sealed-seed", "/deal/sealed_seed")
            assert kid in problem["detail"]
            assert "rotated away" in problem["detail"]
        assert ask(client, SETTLE, folded(**newer))["status"] == "settled"


def test_a_seal_of_another_house_is_refused(client: FlaskClient) -> None:
    seal = sealed(key_file=new_keys())
    is_refused(client.post(SETTLE, json=folded(sealed_seed=seal)), "sealed-seed", "/deal/sealed_seed")


# Whatever is sent as a seal.


def test_every_altered_character_is_refused(client: FlaskClient) -> None:
    seal = sealed()
    for place, character in enumerate(seal):
        other = "A" if character == "." else URL_SAFE[URL_SAFE.index(character) ^ 1]
        answer = client.post(SETTLE, json=folded(sealed_seed=seal[:place] + other + seal[place + 1 :]))
        is_refused(answer, "sealed-seed", "/deal/sealed_seed")
        if place:
            answer = client.post(STEP, json=folded(sealed_seed=seal[:place]))
            is_refused(answer, "sealed-seed", "/deal/sealed_seed")


def deep_header(depth: int) -> str:
    header = base64.urlsafe_b64encode(b"[" * depth + b"]" * depth).rstrip(b"=").decode()
    return ".".join([header, *sealed().split(".")[1:]])


def test_what_is_no_seal_is_a_problem_and_no_failure(client: FlaskClient) -> None:
    foreign = ("x", "....", "a.b.c.d.e", "ё.ё.ё.ё.ё", SEED.hex(), deep_header(300))
    for seal in (*foreign, sealed() + ".", "." + sealed(), sealed() + "\n", " " + sealed()):
        for path in (SETTLE, STEP):
            answer = client.post(path, json=folded(sealed_seed=seal))
            assert is_refused(answer, "sealed-seed", "/deal/sealed_seed")["detail"]


@pytest.mark.parametrize("seal", ["", "x" * 1025, 5, None, [], {}, True], ids=lambda seal: repr(seal)[:12])
def test_what_cannot_be_a_seal_is_refused_by_its_shape(client: FlaskClient, seal: Any) -> None:
    is_refused(client.post(SETTLE, json=folded(sealed_seed=seal)), "invalid-request", "/deal/sealed_seed")


def test_a_deal_has_one_seed(client: FlaskClient) -> None:
    both = folded(sealed_seed=sealed(), server_seed=SEED.hex())
    is_refused(client.post(SETTLE, json=both), "invalid-request", "/deal/server_seed")
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    is_refused(
        client.post(SETTLE, json=folded(sealed_seed=sealed(), deck=deck)),
        "invalid-request",
        "/deal/sealed_seed",
    )


def test_the_problem_has_its_page(client: FlaskClient) -> None:
    page = client.get("/problems/sealed-seed")
    assert page.status_code == 200
    assert "retired sealing keys" in page.text
