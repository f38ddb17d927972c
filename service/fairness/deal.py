"""Where a round's deck comes from: seeds, or a deck that is named (clauses D5, R5)."""

from hmac import compare_digest
from typing import Any, NamedTuple

from service.fairness import SHUFFLE
from service.fairness.shuffle import Draw, commitment, shuffled_deck
from service.game.cards import card_codes


class CommitmentMismatch(ValueError):
    """The server seed is not the one that was committed to (R5)."""


class SeedDeal(NamedTuple):
    """A deal from seeds. ``commitment``, hex in lower case, is checked where given; ``reveal`` False keeps
    the server seed and the cards still in the deck out of the outcome.
    """

    server_seed: bytes
    client_seed: str = ""
    nonce: int = 0
    commitment: str | None = None
    reveal: bool = True

    def deck(self) -> tuple[int, ...]:
        """The deck, its top card first. Raises ``CommitmentMismatch`` and ``MalformedSeed``."""
        if self.commitment is not None:
            actual = commitment(self.server_seed)
            if not compare_digest(actual, self.commitment):
                raise CommitmentMismatch(
                    f"the server seed's commitment is {actual}, the request names {self.commitment};"
                    " a commitment is the SHA-256 of the 32 raw seed bytes, not of their hex digits (R5)"
                )
        return shuffled_deck(self.server_seed, self.client_seed, self.nonce)

    def document(self, deck: tuple[int, ...], cards_used: int) -> dict[str, Any]:
        """What an outcome says of the deal."""
        revealed = {"server_seed": self.server_seed.hex()} if self.reveal else {}
        return {
            "source": "seed",
            "commitment": commitment(self.server_seed),
            **revealed,
            "client_seed": self.client_seed,
            "nonce": self.nonce,
            "deck": card_codes(deck if self.reveal else deck[:cards_used]),
            "cards_used": cards_used,
        }


class DeckDeal(NamedTuple):
    """A deal from a deck that the request names, its top card first (D5)."""

    cards: tuple[int, ...]

    def deck(self) -> tuple[int, ...]:
        """The deck as named."""
        return self.cards

    def document(self, deck: tuple[int, ...], cards_used: int) -> dict[str, Any]:
        """What an outcome says of the deal; such a deal has no commitment."""
        return {"source": "deck", "deck": card_codes(deck), "cards_used": cards_used}


def deck_document(deal: SeedDeal) -> dict[str, Any]:
    """A deck with every draw that made it, for whoever checks the shuffle by hand (R4)."""
    log: list[Draw] = []
    deck = shuffled_deck(deal.server_seed, deal.client_seed, deal.nonce, log=log)
    return {
        "shuffle": SHUFFLE,
        "commitment": commitment(deal.server_seed),
        "server_seed": deal.server_seed.hex(),
        "client_seed": deal.client_seed,
        "nonce": deal.nonce,
        "deck": card_codes(deck),
        "bytes_used": sum(len(draw.rejected) + 1 for draw in log),
        "draws": [draw._asdict() for draw in log],
    }
