"""Every vector through the engine; each is a fact of the rule book that another program computed."""

import pytest

from service.fairness.shuffle import Draw, commitment, shuffled_deck
from service.game.cards import card_codes
from service.game.documents import hand_document
from service.registry import Registry
from service.rounds import settle_request
from tests.conftest import Tally
from tests.support.cards import cards
from tests.support.vectors import load, observed, round_request, settle_body


def test_decks(tally: Tally) -> None:
    vectors = load("decks.json")
    for vector in vectors:
        log: list[Draw] = []
        seed = bytes.fromhex(vector["server_seed"])
        deck = shuffled_deck(seed, vector["client_seed"], vector["nonce"], log=log)
        assert " ".join(card_codes(deck)) == vector["deck"]
        assert commitment(seed) == vector["commitment"]
        assert [[draw.i, list(draw.rejected)] for draw in log if draw.rejected] == vector["rejected"]
        assert sum(1 + len(draw.rejected) for draw in log) == vector["bytes_used"]
    tally("vectors: decks", len(vectors))
    assert len(vectors) == 12


def test_hands(registry: Registry, tally: Tally) -> None:
    vectors = load("hands.json")
    for vector in vectors:
        for name, odds in vector["bet_odds"].items():
            ruleset = registry[f"{name}-1"].ruleset
            hand = hand_document(ruleset, cards(vector["cards"]))
            second = vector["second"] if ruleset.combinations == 2 else None
            assert (hand["main"], hand["second"], hand["odds"]) == (vector["main"], second, odds)
    tally("vectors: hands", len(vectors))
    assert len(vectors) == 36


@pytest.mark.parametrize(("name", "count"), [("rounds.jsonl", 360), ("rigged.jsonl", 330)])
def test_rounds(name: str, count: int, registry: Registry, tally: Tally) -> None:
    vectors = load(name)
    for vector in vectors:
        outcome = settle_request(round_request(settle_body(vector)), registry)
        assert observed(outcome) == vector["expect"], vector
    tally(f"vectors: {name} through the engine", len(vectors))
    assert len(vectors) == count
