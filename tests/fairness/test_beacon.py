"""Beacons: a public random value enters the shuffle by a rule that anybody can follow."""

import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from service.fairness.deal import Beacon, SeedDeal
from service.game.cards import card_codes

Document = dict[str, Any]
SEED = "00ffa5c3" * 8
SOURCE, VALUE = "drand quicknet, round 1234567", "C0FFEE" * 10
suite = settings(max_examples=100, derandomize=True, deadline=None, database=None)


def body(beacon: Any = None, **deal: Any) -> Document:
    if beacon is not None:
        deal["beacon"] = beacon
    return {
        "ruleset": "casino-1",
        "deal": {"server_seed": SEED, "client_seed": "lucky", "nonce": 7, **deal},
        "boxes": [{"box": 1, "ante": 100}],
        "actions": [{"box": 1, "action": "fold"}],
    }


def settled(client: FlaskClient, request: Document) -> Document:
    answer = client.post("/v1/rounds/settle", json=request)
    assert answer.status_code == 200, answer.text
    document = answer.get_json()
    assert isinstance(document, dict)
    return document


# The rule and the shuffle once more, from their descriptions and by other means.


def bound(source: str, value: str, client_seed: str) -> str:
    text = b"\x00".join(
        [b"russian-poker/beacon/v1", source.encode(), value.lower().encode(), client_seed.encode()]
    )
    return "beacon/1:" + hashlib.sha256(text).hexdigest()


def deck_of(server_seed: bytes, client_seed: str, nonce: int) -> list[str]:
    key, value = bytes(32), b"\x01" * 32

    def mac(key: bytes, text: bytes) -> bytes:
        return hmac.digest(key, text, "sha256")

    material = server_seed + nonce.to_bytes(8, "big") + b"russian-poker/deal/v1\x00" + client_seed.encode()
    for mark in (b"\x00", b"\x01"):
        key = mac(key, value + mark + material)
        value = mac(key, value)

    def stream() -> Iterator[int]:
        nonlocal key, value
        while True:
            for _ in range(4):
                value = mac(key, value)
                yield from value
            key = mac(key, value + b"\x00")
            value = mac(key, value)

    taken = stream()
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    for i in range(51, 0, -1):
        n = i + 1
        byte = next(byte for byte in taken if byte < 256 - 256 % n)
        deck[i], deck[byte % n] = deck[byte % n], deck[i]
    return deck


sources = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=100)
values = st.text("0123456789abcdef", min_size=32, max_size=128)
client_seeds = st.text(st.characters(exclude_categories=["Cs"]), max_size=32)


@given(sources, values, client_seeds)
@suite
def test_the_client_seed_is_bound_by_the_rule(source: str, value: str, client_seed: str) -> None:
    assert Beacon(source, value).bind(client_seed) == bound(source, value, client_seed)


@given(sources, values, client_seeds, st.integers(0, 2**53 - 1), st.binary(min_size=32, max_size=32))
@suite
def test_the_deck_is_that_of_the_bound_seed(
    source: str, value: str, client_seed: str, nonce: int, server_seed: bytes
) -> None:
    deal = SeedDeal(server_seed, client_seed, nonce, beacon=Beacon(source, value))
    assert card_codes(deal.deck()) == deck_of(server_seed, bound(source, value, client_seed), nonce)


def test_no_two_inputs_are_bound_alike() -> None:
    """Not even those that would run together without the zero bytes between."""
    inputs = [
        ("a", "b" * 32, "c"),
        ("ab", "b" * 32, "c"),
        ("a", "b" * 33, "c"),
        ("a", "b" * 32, "bc"),
        ("a", "b" * 32, ""),
        ("a" + "b" * 32, "b" * 32, "c"),
        ("a", "b" * 32, "b" * 32 + "\x00c"),
        ("a", "b" * 64, "c"),
        ("A", "b" * 32, "c"),
    ]
    assert len({Beacon(source, value).bind(client_seed) for source, value, client_seed in inputs}) == len(
        inputs
    )


def test_an_outcome_shows_beacon_and_bound_seed_and_plays_that_deck(client: FlaskClient) -> None:
    deal = settled(client, body({"source": SOURCE, "value": VALUE}))["deal"]
    assert deal["beacon"] == {"source": SOURCE, "value": VALUE.lower()}
    assert deal["shuffle_seed"] == bound(SOURCE, VALUE, "lucky")
    assert (deal["client_seed"], deal["nonce"], deal["server_seed"]) == ("lucky", 7, SEED)
    assert deal["commitment"] == hashlib.sha256(bytes.fromhex(SEED)).hexdigest()
    assert deal["deck"] == deck_of(bytes.fromhex(SEED), deal["shuffle_seed"], 7)


def test_a_round_without_beacon_shows_none(client: FlaskClient) -> None:
    deal = settled(client, body())["deal"]
    assert not {"beacon", "shuffle_seed"} & deal.keys()
    assert deal["deck"] == deck_of(bytes.fromhex(SEED), "lucky", 7)


def test_the_deck_can_be_had_from_the_bound_seed_as_well(client: FlaskClient) -> None:
    deal = settled(client, body({"source": SOURCE, "value": VALUE}))["deal"]
    shown = {"server_seed": SEED, "client_seed": deal["shuffle_seed"], "nonce": 7}
    answer = client.post("/v1/fairness/deck", json=shown).get_json()
    assert answer["deck"] == deal["deck"]


def test_the_case_of_the_value_makes_no_difference(client: FlaskClient) -> None:
    one, other = (
        settled(client, body({"source": SOURCE, "value": v})) for v in (VALUE.upper(), VALUE.lower())
    )
    assert one == other


@pytest.mark.parametrize(
    "beacon",
    [{"source": SOURCE + " ", "value": VALUE}, {"source": SOURCE, "value": VALUE[:-1] + "1"}],
    ids=repr,
)
def test_another_beacon_is_another_deal_and_another_outcome(client: FlaskClient, beacon: Document) -> None:
    one = settled(client, body({"source": SOURCE, "value": VALUE}))
    other = settled(client, body(beacon))
    assert one["deal"]["deck"] != other["deal"]["deck"]
    assert one["outcome_id"] != other["outcome_id"]


def test_a_bound_seed_given_as_client_seed_is_another_round(client: FlaskClient) -> None:
    """The same cards, but the outcome does not claim a beacon."""
    one = settled(client, body({"source": SOURCE, "value": VALUE}))
    other = settled(client, body(client_seed=one["deal"]["shuffle_seed"]))
    assert one["deal"]["deck"] == other["deal"]["deck"]
    assert one["outcome_id"] != other["outcome_id"]


@pytest.mark.parametrize("reveal", [True, False])
def test_verification_recomputes_the_beacon(client: FlaskClient, reveal: bool) -> None:
    outcome = settled(client, body({"source": SOURCE, "value": VALUE}, reveal=reveal))
    for shown in ({"outcome": outcome}, {"certificate": outcome["certificate"]}):
        verdict = client.post("/v1/rounds/verify", json={**shown, "server_seed": SEED}).get_json()
        assert verdict["valid"], verdict
        assert [check["name"] for check in verdict["checks"]] == [
            "signature",
            "ruleset",
            "engine",
            "deal",
            "settlement",
        ]


@pytest.mark.parametrize(
    "members",
    [
        {"beacon": {"source": SOURCE, "value": "00" * 16}},
        {"beacon": {"source": "another", "value": VALUE.lower()}},
        {"shuffle_seed": "beacon/1:" + "0" * 64},
        {"shuffle_seed": "lucky"},
        {"client_seed": "unlucky"},
        {"beacon": None},
        {"beacon": {"source": SOURCE}},
        {"shuffle_seed": None},
    ],
    ids=repr,
)
def test_an_altered_beacon_is_found_without_a_certificate_too(client: FlaskClient, members: Document) -> None:
    outcome = settled(client, body({"source": SOURCE, "value": VALUE}))
    deal = {name: value for name, value in {**outcome["deal"], **members}.items() if value is not None}
    altered = {**outcome, "deal": deal}
    verdict = client.post("/v1/rounds/verify", json={"outcome": altered}).get_json()
    assert not verdict["valid"]
    assert verdict["checks"][0]["code"] == "altered-outcome"
    del altered["certificate"]
    verdict = client.post("/v1/rounds/verify", json={"outcome": altered}).get_json()
    assert not verdict["valid"]
    assert not any(check["name"] == "signature" for check in verdict["checks"])


def test_a_view_and_a_void_round_take_the_beacon_too(client: FlaskClient) -> None:
    request = body({"source": SOURCE, "value": VALUE})
    view = client.post("/v1/rounds/step", json={**request, "actions": []}).get_json()
    assert view["boxes"][0]["dealt"] == deck_of(bytes.fromhex(SEED), bound(SOURCE, VALUE, "lucky"), 7)[:10:2]
    void = client.post("/v1/rounds/void", json={**request, "reason": "power cut"}).get_json()
    assert void["deal"]["shuffle_seed"] == bound(SOURCE, VALUE, "lucky")


WRONG: list[tuple[Any, str]] = [
    ("drand", "/deal/beacon"),
    ([], "/deal/beacon"),
    ({}, "/deal/beacon/source"),
    ({}, "/deal/beacon/value"),
    ({"source": SOURCE}, "/deal/beacon/value"),
    ({"value": VALUE}, "/deal/beacon/source"),
    ({"source": "", "value": VALUE}, "/deal/beacon/source"),
    ({"source": "x" * 101, "value": VALUE}, "/deal/beacon/source"),
    ({"source": "маяк", "value": VALUE}, "/deal/beacon/source"),
    ({"source": "a\x00b", "value": VALUE}, "/deal/beacon/source"),
    ({"source": "a\nb", "value": VALUE}, "/deal/beacon/source"),
    ({"source": 5, "value": VALUE}, "/deal/beacon/source"),
    ({"source": SOURCE, "value": "0" * 31}, "/deal/beacon/value"),
    ({"source": SOURCE, "value": "0" * 129}, "/deal/beacon/value"),
    ({"source": SOURCE, "value": "0x" + "0" * 32}, "/deal/beacon/value"),
    ({"source": SOURCE, "value": "0" * 32 + "\n"}, "/deal/beacon/value"),
    ({"source": SOURCE, "value": "٣" * 32}, "/deal/beacon/value"),
    ({"source": SOURCE, "value": 10**31}, "/deal/beacon/value"),
    ({"source": SOURCE, "value": VALUE, "round": 5}, "/deal/beacon/round"),
]


@pytest.mark.parametrize(("beacon", "pointer"), WRONG, ids=repr)
def test_a_wrong_beacon_is_refused_by_name(client: FlaskClient, beacon: Any, pointer: str) -> None:
    answer = client.post("/v1/rounds/settle", json=body(beacon))
    assert (answer.status_code, answer.json and answer.json["type"]) == (422, "/problems/invalid-request")
    assert pointer in {error["pointer"] for error in answer.get_json()["errors"]}


def test_a_named_deck_takes_no_beacon(client: FlaskClient) -> None:
    request = {**body(), "deal": {"deck": settled(client, body())["deal"]["deck"]}}
    request["deal"]["beacon"] = {"source": SOURCE, "value": VALUE}
    answer = client.post("/v1/rounds/settle", json=request).get_json()
    assert [error["pointer"] for error in answer["errors"]] == ["/deal/beacon"]
