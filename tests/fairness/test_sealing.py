"""Sealed seeds: they hide the seed, open to the same seed, and bear no alteration."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc import jwe
from joserfc.jwk import OctKey

from service.fairness.sealing import TYPE, RefusedSeal, SealedDeal, Sealer

SEED = bytes(range(32))
URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
suite = settings(max_examples=100, derandomize=True, deadline=None, database=None)


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def a_key(secret: int) -> OctKey:
    return OctKey.import_key({"kty": "oct", "k": b64(bytes([secret]) * 32)})


def a_sealer(*secrets: int) -> Sealer:
    """A sealer whose first key seals; the others only open."""
    keys = {key.thumbprint(): key for key in map(a_key, secrets)}
    return Sealer(next(iter(keys)), keys)


SEALER = a_sealer(1)
SEALED = SEALER.seal(SEED)


def refusal(sealed_seed: str, sealer: Sealer = SEALER) -> str:
    with pytest.raises(RefusedSeal) as caught:
        sealer.open(sealed_seed)
    assert str(caught.value), "a refusal is explained"
    return str(caught.value)


def with_header(header: bytes) -> str:
    return ".".join([b64(header), *SEALED.split(".")[1:]])


def encrypted(header: Mapping[str, Any], content: bytes) -> str:
    """A JWE that the right key made."""
    full = {"alg": "dir", "enc": "A256GCM", "kid": SEALER.active, "typ": TYPE, **header}
    return jwe.encrypt_compact(full, content, a_key(1), algorithms=["dir", "A256GCM", "DEF"])


@given(st.binary(min_size=32, max_size=32))
@suite
def test_what_was_sealed_opens_to_the_same_seed(seed: bytes) -> None:
    assert SEALER.open(SEALER.seal(seed)) == seed


def test_a_seal_is_a_compact_jwe() -> None:
    header, key, iv, content, tag = SEALED.split(".")
    assert json.loads(unb64(header)) == {"alg": "dir", "enc": "A256GCM", "kid": SEALER.active, "typ": TYPE}
    assert [len(unb64(part)) for part in (key, iv, content, tag)] == [0, 12, 32, 16]
    assert jwe.decrypt_compact(SEALED, a_key(1), algorithms=["dir", "A256GCM"]).plaintext == SEED


def test_a_seal_shows_nothing_of_the_seed() -> None:
    seen = SEALED.encode() + b"".join(map(unb64, SEALED.split(".")))
    assert not any(SEED[place : place + 4] in seen for place in range(29))
    assert SEED.hex() not in SEALED


def test_no_two_seals_are_equal() -> None:
    """Else equal seeds would be seen, and a repeated nonce gives the key stream away."""
    seals = [SEALER.seal(SEED) for _ in range(200)]
    assert len({seal.split(".")[2] for seal in seals}) == 200
    assert len({seal.split(".")[3] for seal in seals}) == 200
    assert all(SEALER.open(seal) == SEED for seal in seals)


def test_every_character_counts() -> None:
    for place, character in enumerate(SEALED):
        for bit in (1, 2, 4, 8, 16, 32):
            other = URL_SAFE[bit if character == "." else URL_SAFE.index(character) ^ bit]
            refusal(SEALED[:place] + other + SEALED[place + 1 :])


def test_nothing_may_be_added_or_cut_off() -> None:
    for place in range(len(SEALED) + 1):
        for added in ("A", ".", "=", "!", " ", "\n", "é", "\ud800"):
            refusal(SEALED[:place] + added + SEALED[place:])
        if place < len(SEALED):
            refusal(SEALED[:place])
            refusal(SEALED[:place] + SEALED[place + 1 :])


def test_parts_of_two_seals_do_not_mix() -> None:
    other = SEALER.seal(bytes(32)).split(".")
    for place in (2, 3, 4):
        parts = SEALED.split(".")
        parts[place] = other[place]
        refusal(".".join(parts))


@pytest.mark.parametrize("place", range(5))
def test_no_part_may_be_empty_or_of_another_length(place: int) -> None:
    for part in ("", "AA", "AAAA", "AAAA" * 20):
        parts = SEALED.split(".")
        if part != parts[place]:
            parts[place] = part
            refusal(".".join(parts))


@given(st.text(max_size=60) | st.lists(st.text(URL_SAFE, max_size=40), min_size=5, max_size=5).map(".".join))
@suite
def test_whatever_is_sent_meets_a_refusal_and_no_other_error(text: str) -> None:
    refusal(text)


FOREIGN: dict[str, list[Any]] = {
    "kid": ["x", "", None, 5, [], {}],
    "alg": ["none", "RSA1_5", "A256KW", 5, [], None],
    "enc": ["A128GCM", "A256CBC-HS512", 5, [], None],
    "zip": ["DEF", 5],
    "crit": [["exp"], 5],
}
RIGHT = {"alg": "dir", "enc": "A256GCM", "kid": SEALER.active}
HEADERS: list[Any] = [
    *([], None, 1, "x", {}, {"alg": "dir"}, {"alg": "dir", "enc": "A256GCM"}),
    *({**RIGHT, name: value} for name, values in FOREIGN.items() for value in values),
    {**RIGHT, "alg": "PBES2-HS256+A128KW", "p2c": 10**9, "p2s": "AA"},
]


@pytest.mark.parametrize("header", HEADERS, ids=repr)
def test_another_header_is_refused(header: Any) -> None:
    refusal(with_header(json.dumps(header).encode()))


@pytest.mark.parametrize("depth", [100, 300, 900, 20_000])
def test_a_deeply_nested_header_is_refused(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    for header in (deep, f'{{"alg":{deep}}}', f'{{"alg":"dir","enc":"A256GCM","kid":{deep}}}'):
        refusal(with_header(header.encode()))


@given(st.binary(max_size=80))
@suite
def test_a_header_that_is_no_json_is_refused(header: bytes) -> None:
    refusal(with_header(header))


@pytest.mark.parametrize("size", [0, 1, 16, 31, 33, 64])
def test_a_content_that_is_no_seed_is_refused_though_the_right_key_sealed_it(size: int) -> None:
    refusal(encrypted({}, bytes(size)))
    assert SEALER.open(encrypted({}, SEED)) == SEED


def test_a_bomb_is_not_unpacked() -> None:
    refusal(encrypted({"zip": "DEF"}, bytes(10**7)))


def test_a_key_that_seals_no_more_still_opens() -> None:
    turned = a_sealer(2, 1)
    assert turned.open(SEALED) == SEED
    assert json.loads(unb64(turned.seal(SEED).split(".")[0]))["kid"] == a_key(2).thumbprint()


def test_a_key_that_was_removed_is_named() -> None:
    detail = refusal(SEALED, a_sealer(2))
    assert a_key(1).thumbprint() in detail
    assert "rotated away" in detail


def test_another_secret_under_the_same_id_opens_nothing() -> None:
    refusal(SEALED, Sealer(SEALER.active, {SEALER.active: a_key(2)}))


def test_a_sealed_deal_opens_to_the_deal_in_the_clear() -> None:
    members = {"client_seed": "lucky", "nonce": 7, "reveal": False}
    deal = SealedDeal(SEALED, members).open(SEALER)
    assert (deal.server_seed, deal.client_seed, deal.nonce, deal.reveal) == (SEED, "lucky", 7, False)
