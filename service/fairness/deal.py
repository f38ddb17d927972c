"""Where a round's deck comes from: seeds, or a deck that is named (clauses D5, R5)."""

from hashlib import sha256
from typing import Any, NamedTuple

from service.fairness import SHUFFLE
from service.fairness.shuffle import Draw, commitment, shuffled_deck
from service.game.cards import card_codes


class CommitmentMismatch(ValueError):
    """The server seed is not the one that was committed to (R5)."""


class Beacon(NamedTuple):
    """A public random value that nobody at the table could choose: who published it, and the value in hex."""

    source: str
    value: str

    def bind(self, client_seed: str) -> str:
        """The client seed that the shuffle takes in place of the one given.

        ``beacon/1:`` and the hex SHA-256 of ``russian-poker/beacon/v1``, the source, the value in lower case
        and the client seed given, with a zero byte between each two of them.
        """
        parts = ("russian-poker/beacon/v1", self.source, self.value, client_seed)
        return "beacon/1:" + sha256("\0".join(parts).encode()).hexdigest()


class SeedDeal(NamedTuple):
    """A deal from seeds. ``commitment``, hex in lower case, is checked where given; ``reveal`` False keeps
    the server seed and the cards still in the deck out of the outcome; ``beacon`` is bound into the client
    seed.
    """

    server_seed: bytes
    client_seed: str = ""
    nonce: int = 0
    commitment: str | None = None
    reveal: bool = True
    beacon: Beacon | None = None

    @property
    def shuffle_seed(self) -> str:
        """The client seed as the shuffle takes it."""
        return self.beacon.bind(self.client_seed) if self.beacon else self.client_seed

    def deck(self) -> tuple[int, ...]:
        """The deck, its top card first. Raises ``CommitmentMismatch`` and ``MalformedSeed``."""
        if self.commitment is not None:
            actual = commitment(self.server_seed)
            if actual != self.commitment:
                raise CommitmentMismatch(
                    f"the server seed's commitment is {actual}, the request names {self.commitment};"
                    " a commitment is the SHA-256 of the 32 raw seed bytes, not of their hex digits (R5)"
                )
        return shuffled_deck(self.server_seed, self.shuffle_seed, self.nonce)

    def secret(self) -> dict[str, Any]:
        """The member of a request's ``deal`` from which the deck follows."""
        return {"server_seed": self.server_seed.hex()}

    def document(self) -> dict[str, Any]:
        """What may be said of the deal before its end: everything but the seed and the cards."""
        document: dict[str, Any] = {
            "source": "seed",
            "commitment": commitment(self.server_seed),
            "client_seed": self.client_seed,
            "nonce": self.nonce,
        }
        if self.beacon:
            document["beacon"] = self.beacon._asdict()
            document["shuffle_seed"] = self.shuffle_seed
        return document

    def revealed(self, deck: tuple[int, ...], cards_used: int) -> dict[str, Any]:
        """What an outcome says of the deal: as ``reveal`` allows, the seed and the whole deck."""
        seed = {"server_seed": self.server_seed.hex()} if self.reveal else {}
        cards = card_codes(deck if self.reveal else deck[:cards_used])
        return {**self.document(), **seed, "deck": cards, "cards_used": cards_used}


class DeckDeal(NamedTuple):
    """A deal from a deck that the request names, its top card first (D5)."""

    cards: tuple[int, ...]

    def deck(self) -> tuple[int, ...]:
        """The deck as named."""
        return self.cards

    def secret(self) -> dict[str, Any]:
        """The member of a request's ``deal`` from which the deck follows."""
        return {"deck": card_codes(self.cards)}

    def document(self) -> dict[str, Any]:
        """What may be said of the deal before its end; such a deal has no commitment."""
        return {"source": "deck"}

    def revealed(self, deck: tuple[int, ...], cards_used: int) -> dict[str, Any]:
        """What an outcome says of the deal."""
        return {**self.document(), "deck": card_codes(deck), "cards_used": cards_used}


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
