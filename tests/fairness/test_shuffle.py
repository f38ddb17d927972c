from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain, repeat
from math import factorial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.fairness import SHUFFLE
from service.fairness.drbg import HmacDrbg
from service.fairness.shuffle import (
    MAX_CLIENT_SEED_BYTES,
    MAX_NONCE,
    SERVER_SEED_BYTES,
    Draw,
    MalformedSeed,
    commitment,
    shuffled_deck,
)
from service.game.cards import FRESH_DECK, card_codes
from tests.support import drbg as oracle

SEED = bytes(range(32))

client_seeds = st.text(max_size=32).filter(lambda text: not any("\ud800" <= one <= "\udfff" for one in text))


class Spy(HmacDrbg):
    """The real generator; what it is asked is written down."""

    instances: list["Spy"]

    def __init__(self, entropy_input: bytes, nonce: bytes, personalization_string: bytes = b"") -> None:
        super().__init__(entropy_input, nonce, personalization_string)
        self.inputs = entropy_input, nonce, personalization_string
        self.sizes: list[int] = []
        self.instances.append(self)

    def generate(self, size: int) -> bytes:
        self.sizes.append(size)
        return super().generate(size)


class Script:
    """A generator that hands out the bytes it was told to."""

    def __init__(self, told: Iterator[int]) -> None:
        self.told = told
        self.sizes: list[int] = []

    def __call__(self, *inputs: bytes) -> "Script":
        return self

    def generate(self, size: int) -> bytes:
        self.sizes.append(size)
        return bytes(next(self.told) for _ in range(size))


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> list[Spy]:
    Spy.instances = []
    monkeypatch.setattr("service.fairness.shuffle.HmacDrbg", Spy)
    return Spy.instances


def scripted(told: Iterator[int]) -> tuple[list[str], list[Draw], list[int]]:
    """Deck, draws and sizes of the Generate calls when the generator gives these bytes."""
    script, log = Script(told), list[Draw]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.fairness.shuffle.HmacDrbg", script)
        deck = shuffled_deck(SEED, log=log)
    return card_codes(deck), log, script.sizes


def test_R1_inputs_of_the_generator(spy: list[Spy]) -> None:
    shuffled_deck(SEED, "игрок", 258)
    assert [one.inputs for one in spy] == [
        (SEED, b"\0\0\0\0\0\0\1\2", b"russian-poker/deal/v1\0\xd0\xb8\xd0\xb3\xd1\x80\xd0\xbe\xd0\xba")
    ]


@given(st.binary(min_size=32, max_size=32), client_seeds, st.integers(0, MAX_NONCE))
def test_R1_R2_R3_R4_another_implementation_agrees(seed: bytes, client_seed: str, nonce: int) -> None:
    log: list[Draw] = []
    deck = shuffled_deck(seed, client_seed, nonce, log=log)
    codes, draws = oracle.shuffle(oracle.seed_bytes(seed, client_seed, nonce))
    assert card_codes(deck) == codes
    assert [(draw.i, list(draw.rejected), draw.byte, draw.j) for draw in log] == draws


def test_R1_every_input_counts() -> None:
    base = shuffled_deck(SEED, "player", 1)
    assert shuffled_deck(SEED, "player", 1) == base
    assert shuffled_deck(SEED[:31] + b"\x00", "player", 1) != base
    assert shuffled_deck(SEED, "player ", 1) != base
    assert shuffled_deck(SEED, "player", 2) != base
    assert shuffled_deck(SEED, "Player", 1) != base


def test_R1_the_client_seed_is_taken_as_given_without_normalisation() -> None:
    composed, decomposed = "Jos\u00e9", "Jose\u0301"
    assert shuffled_deck(SEED, composed) != shuffled_deck(SEED, decomposed)
    for text in (composed, decomposed, "\ufb01", "игрок-7", "🂡", "a\x00b", " "):
        assert card_codes(shuffled_deck(SEED, text)) == oracle.shuffle(oracle.seed_bytes(SEED, text, 0))[0]


def test_R2_one_generate_call_of_128_bytes_is_enough_as_a_rule(spy: list[Spy]) -> None:
    for nonce in range(200):
        shuffled_deck(SEED, "", nonce)
    assert [one.sizes for one in spy] == [[128]] * 200


def test_R2_bytes_are_used_in_order_across_calls_of_128() -> None:
    rejected = list(chain([255] * 100, repeat(254, 77)))
    deck, log, sizes = scripted(chain(rejected, range(51), repeat(0)))
    assert sizes == [128, 128]
    assert log[0] == Draw(51, tuple(rejected), 0, 0)
    assert [draw.byte for draw in log] == list(range(51))
    assert deck == oracle.shuffle(chain(rejected, range(51)))[0]


@pytest.mark.parametrize(("rejections", "calls"), [(0, 1), (77, 1), (78, 2), (205, 2), (206, 3)])
def test_R2_a_new_call_is_made_only_when_the_last_is_used_up(rejections: int, calls: int) -> None:
    """The 51 draws take 51 bytes and those rejected: 77 rejections use up 128 to the last byte."""
    _, log, sizes = scripted(chain(repeat(255, rejections), repeat(0)))
    assert sizes == [128] * calls
    assert sum(len(draw.rejected) for draw in log) == rejections


def test_R3_the_fresh_deck_is_in_order_of_rank_then_suit() -> None:
    assert " ".join(card_codes(FRESH_DECK)) == (
        "2c 2d 2h 2s 3c 3d 3h 3s 4c 4d 4h 4s 5c 5d 5h 5s 6c 6d 6h 6s 7c 7d 7h 7s 8c 8d 8h 8s"
        " 9c 9d 9h 9s Tc Td Th Ts Jc Jd Jh Js Qc Qd Qh Qs Kc Kd Kh Ks Ac Ad Ah As"
    )
    unmoved, _, _ = scripted(iter([*range(51, 0, -1), *repeat(0, 77)]))
    assert unmoved == card_codes(FRESH_DECK)


def test_R3_places_i_and_j_are_swapped_from_the_last_place_down() -> None:
    """All zeros put the last card of each step on top: the deck turns by one place."""
    deck, log, _ = scripted(repeat(0))
    assert [draw.i for draw in log] == list(range(51, 0, -1))
    assert deck == card_codes([*FRESH_DECK[1:], FRESH_DECK[0]])


@pytest.mark.parametrize("n", range(2, 53))
def test_R3_every_place_has_the_same_number_of_bytes_and_the_rest_are_rejected(n: int) -> None:
    """Each of the 256 bytes is offered to the draw among n places; the bytes before it are 0."""
    before = 52 - n
    accepted: Counter[int] = Counter()
    for byte in range(256):
        _, log, _ = scripted(chain(repeat(0, before), [byte], repeat(0)))
        draw = log[before]
        assert draw.i == n - 1
        if draw.rejected:
            assert draw == Draw(n - 1, (byte,), 0, 0)
            assert byte >= 256 - 256 % n
        else:
            assert draw == Draw(n - 1, (), byte, byte % n)
            accepted[draw.j] += 1
    assert accepted == dict.fromkeys(range(n), 256 // n)


@given(st.permutations(FRESH_DECK))
@example(list(FRESH_DECK))
@example(list(FRESH_DECK)[::-1])
def test_R3_R6_every_order_comes_from_exactly_one_sequence_of_places(order: list[int]) -> None:
    """The places that lead to a deck can be read from it; there are 52! sequences and 52! decks.

    With the test before, each sequence is as likely as any other, so each order is.
    """
    deck, places = list(FRESH_DECK), []
    for i in range(51, 0, -1):
        j = deck.index(order[i])
        deck[i], deck[j] = deck[j], deck[i]
        places.append(j)
    assert scripted(chain(places, repeat(0)))[0] == card_codes(order)


def test_R4_every_draw_is_shown_and_leads_to_the_deck() -> None:
    rejections = 0
    for nonce in range(300):
        log: list[Draw] = []
        deck = shuffled_deck(SEED, "show", nonce, log=log)
        replayed = list(FRESH_DECK)
        for draw in log:
            n = draw.i + 1
            assert draw.j == draw.byte % n
            assert draw.byte < 256 - 256 % n <= min(draw.rejected, default=256)
            replayed[draw.i], replayed[draw.j] = replayed[draw.j], replayed[draw.i]
            rejections += len(draw.rejected)
        assert [draw.i for draw in log] == list(range(51, 0, -1))
        assert tuple(replayed) == deck == shuffled_deck(SEED, "show", nonce)
    assert rejections > 300


def test_R5_the_commitment_is_the_sha256_of_the_raw_bytes() -> None:
    # head -c 32 /dev/zero | sha256sum
    zeros = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
    # printf 'Russian poker, thirty-two bytes.' | sha256sum
    text = "7a63ec23341591df3b1854362030a512f3eb98a133409ae0cf5d801fb73cefcb"
    assert commitment(bytes(32)) == zeros
    assert commitment(b"Russian poker, thirty-two bytes.") == text
    assert commitment(SEED) == sha256(SEED).hexdigest() != sha256(SEED.hex().encode()).hexdigest()


def test_R6_256_bits_can_reach_every_order() -> None:
    assert SERVER_SEED_BYTES == 32
    assert 2 ** (8 * SERVER_SEED_BYTES) > factorial(52) > 2**225


@pytest.mark.parametrize("size", [0, 1, 16, 28, 31, 33, 64])
def test_R6_a_server_seed_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(MalformedSeed, match=f"must be 32 bytes; got {size}"):
        shuffled_deck(bytes(size))


@pytest.mark.parametrize("text", ["a" * 128, "я" * 64, "🂡" * 32])
def test_R1_a_client_seed_of_128_bytes_is_the_longest(text: str) -> None:
    assert len(text.encode()) == MAX_CLIENT_SEED_BYTES == 128
    assert sorted(shuffled_deck(SEED, text)) == list(FRESH_DECK)
    with pytest.raises(MalformedSeed, match="at most 128 bytes of UTF-8; got 129"):
        shuffled_deck(SEED, text + "a")


def test_R1_nonces_go_from_0_to_2_53_less_1() -> None:
    assert MAX_NONCE == 2**53 - 1
    assert sorted(shuffled_deck(SEED, "", MAX_NONCE)) == list(FRESH_DECK)
    for nonce in (-1, 2**53, 2**64):
        with pytest.raises(MalformedSeed, match=f"from 0 to {2**53 - 1}; got {nonce}"):
            shuffled_deck(SEED, "", nonce)


def test_the_shuffle_has_a_name() -> None:
    assert SHUFFLE == "hmac-drbg-sha256/1"
