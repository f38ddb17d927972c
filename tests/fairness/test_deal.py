from hashlib import sha256

import pytest

from service.fairness.deal import CommitmentMismatch, DeckDeal, SeedDeal
from service.fairness.shuffle import MalformedSeed, shuffled_deck
from service.game.cards import FRESH_DECK, card_codes

SEED = bytes(range(32))
COMMITMENT = sha256(SEED).hexdigest()


@pytest.mark.parametrize("given", [None, COMMITMENT])
def test_R5_a_seed_deals_the_deck_of_its_seeds(given: str | None) -> None:
    deal = SeedDeal(SEED, "player", 7, given)
    assert deal.deck() == shuffled_deck(SEED, "player", 7)


@pytest.mark.parametrize(
    "other",
    [
        sha256(SEED.hex().encode()).hexdigest(),
        COMMITMENT[:-1] + ("0" if COMMITMENT[-1] != "0" else "1"),
        COMMITMENT[:-1],
        "",
    ],
)
def test_R5_a_seed_that_was_not_committed_to_is_refused(other: str) -> None:
    with pytest.raises(CommitmentMismatch, match=COMMITMENT):
        SeedDeal(SEED, commitment=other).deck()


def test_R6_a_malformed_seed_is_refused_before_a_card_is_dealt() -> None:
    with pytest.raises(MalformedSeed):
        SeedDeal(SEED[:16]).deck()
    short = sha256(SEED[:16]).hexdigest()
    with pytest.raises(MalformedSeed):
        SeedDeal(SEED[:16], commitment=short).deck()


def test_R5_the_outcome_reveals_seed_and_deck() -> None:
    deal = SeedDeal(SEED, "игрок", 7)
    deck = deal.deck()
    assert deal.revealed(deck, 12) == {
        "source": "seed",
        "commitment": COMMITMENT,
        "server_seed": SEED.hex(),
        "client_seed": "игрок",
        "nonce": 7,
        "deck": card_codes(deck),
        "cards_used": 12,
    }


def test_R5_without_reveal_neither_the_seed_nor_an_undealt_card_leaves() -> None:
    deal = SeedDeal(SEED, "player", 7, reveal=False)
    deck = deal.deck()
    assert deck == SeedDeal(SEED, "player", 7).deck()
    assert deal.revealed(deck, 12) == {
        "source": "seed",
        "commitment": COMMITMENT,
        "client_seed": "player",
        "nonce": 7,
        "deck": card_codes(deck[:12]),
        "cards_used": 12,
    }


def test_D5_a_named_deck_is_dealt_as_it_is_and_has_no_commitment() -> None:
    cards = FRESH_DECK[::-1]
    deal = DeckDeal(cards)
    assert deal.deck() == cards
    assert deal.revealed(cards, 10) == {"source": "deck", "deck": card_codes(cards), "cards_used": 10}
