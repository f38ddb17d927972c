"""``/v1/fairness``: new seeds, and decks that anybody can draw again."""

import hashlib
import hmac
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.api.calls import DECK, SEED, SEEDS, Api, round_body, without

# Section 7 of the rule book, written a second time.

FRESH = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]


def mac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def generated(seed_material: bytes) -> Iterator[int]:
    """HMAC_DRBG with SHA-256, 128 bytes a call."""
    key, value = bytes(32), b"\x01" * 32
    for separator in (b"\x00", b"\x01"):
        key = mac(key, value + separator + seed_material)
        value = mac(key, value)
    while True:
        for _ in range(4):
            value = mac(key, value)
            yield from value
        key = mac(key, value + b"\x00")
        value = mac(key, value)


def drawn(server_seed: bytes, client_seed: str, nonce: int) -> tuple[list[str], list[dict[str, Any]]]:
    """The deck and its draws."""
    personal = b"russian-poker/deal/v1\x00" + client_seed.encode()
    stream = generated(server_seed + nonce.to_bytes(8, "big") + personal)
    deck, draws = FRESH.copy(), []
    for i in range(51, 0, -1):
        rejected = []
        while (byte := next(stream)) >= 256 - 256 % (i + 1):
            rejected.append(byte)
        j = byte % (i + 1)
        deck[i], deck[j] = deck[j], deck[i]
        draws.append({"i": i, "rejected": rejected, "byte": byte, "j": j})
    return deck, draws


def test_every_deck_can_be_drawn_again(api: Api) -> None:
    random = Random("decks")
    for client_seed in ("", "player", "é", "🂡" * 32, "\x00", "x" * 128, "Игрок"):
        for nonce in (0, 1, 255, 256, 2**32, 2**53 - 1, random.randrange(2**53)):
            seed = random.randbytes(32)
            answer = api.ask(DECK, {"server_seed": seed.hex(), "client_seed": client_seed, "nonce": nonce})
            deck, draws = drawn(seed, client_seed, nonce)
            assert answer == {
                "shuffle": "hmac-drbg-sha256/1",
                "commitment": hashlib.sha256(seed).hexdigest(),
                "server_seed": seed.hex(),
                "client_seed": client_seed,
                "nonce": nonce,
                "deck": deck,
                "bytes_used": sum(1 + len(draw["rejected"]) for draw in draws),
                "draws": draws,
            }


def test_more_than_one_call_of_the_generator_is_needed_at_times(api: Api) -> None:
    used = [api.ask(DECK, {"server_seed": SEED, "nonce": nonce})["bytes_used"] for nonce in range(200)]
    assert min(used) >= 51
    assert max(used) < 128 * 2


def test_what_is_left_out_has_its_default(api: Api) -> None:
    plain = api.post(DECK, {"server_seed": SEED}).data
    assert api.post(DECK, {"server_seed": SEED.upper(), "client_seed": "", "nonce": 0}).data == plain


def test_each_input_matters(api: Api) -> None:
    bodies: list[dict[str, Any]] = [
        {"server_seed": SEED},
        {"server_seed": "0" * 64},
        {"server_seed": SEED, "client_seed": "x"},
        {"server_seed": SEED, "client_seed": "X"},
        {"server_seed": SEED, "nonce": 1},
        {"server_seed": SEED, "nonce": 1 << 40},
    ]
    assert len({tuple(api.ask(DECK, body)["deck"]) for body in bodies}) == len(bodies)


@pytest.mark.parametrize(
    ("body", "pointer", "told"),
    [
        ({}, "/server_seed", "is required"),
        ({"server_seed": "0x" + SEED}, "/server_seed", "drop the 0x"),
        ({"server_seed": SEED[:32]}, "/server_seed", "got 32"),
        ({"server_seed": None}, "/server_seed", "null"),
        ({"server_seed": SEED, "nonce": "7"}, "/nonce", "drop the quotes"),
        ({"server_seed": SEED, "nonce": 2**53}, "/nonce", "to 9007199254740991"),
        ({"server_seed": SEED, "client_seed": "é" * 65}, "/client_seed", "got 130"),
        ({"server_seed": SEED, "client_seed": 5}, "/client_seed", "must be a text; got a number"),
        ({"server_seed": SEED, "seed": 5}, "/seed", "not known"),
        ({"server_seed": SEED, "commitment": "0" * 64}, "/commitment", "not known"),
    ],
)
def test_wrong_seeds_are_refused(body: dict[str, Any], pointer: str, told: str, api: Api) -> None:
    faults = api.faults(DECK, body)
    assert list(faults) == [pointer]
    assert told in faults[pointer]


def test_a_new_seed_comes_with_its_commitment(api: Api) -> None:
    answer = api.post(SEEDS, {})
    document = answer.get_json()
    seed = bytes.fromhex(document["server_seed"])
    assert len(seed) == 32
    assert document["commitment"] == hashlib.sha256(seed).hexdigest()
    assert document["server_seed"] == seed.hex(), "in lower case"


def test_a_new_seed_is_never_kept_by_a_cache(api: Api) -> None:
    assert api.post(SEEDS, {}).headers["Cache-Control"] == "no-store"


def test_no_seed_comes_twice(api: Api) -> None:
    seeds = {api.ask(SEEDS, {})["server_seed"] for _ in range(100)}
    assert len(seeds) == 100


def test_nothing_about_a_new_seed_can_be_chosen(api: Api) -> None:
    assert list(api.faults(SEEDS, {"server_seed": SEED})) == ["/server_seed"]


def test_a_new_seed_deals_the_round_that_it_committed_to(api: Api) -> None:
    deal = api.ask(SEEDS, {})
    outcome = api.settle(round_body(deal={**deal, "client_seed": "player"}))
    shown = api.ask(DECK, {"server_seed": deal["server_seed"], "client_seed": "player"})
    assert outcome["deal"]["commitment"] == shown["commitment"] == deal["commitment"]
    assert without(outcome["deal"], "source", "cards_used") == without(
        shown, "shuffle", "bytes_used", "draws"
    )
