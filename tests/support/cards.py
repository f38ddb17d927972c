"""Cards by their codes and decks rigged from them."""

from collections.abc import Sequence

from service.game.cards import FRESH_DECK, parse_cards


def cards(codes: str) -> tuple[int, ...]:
    """Cards written as ``"Ah Kd"``."""
    return parse_cards(codes.split())


def rig(hands: Sequence[str], then: str = "", *, order: str = "one_by_one") -> tuple[int, ...]:
    """A deck that deals ``hands``, the dealer's last, and then the cards of ``then``.

    The rest of the deck follows in fresh order.
    """
    dealt = [cards(hand) for hand in hands]
    assert all(len(hand) == 5 for hand in dealt), "a hand is dealt five cards"
    if order == "one_by_one":
        top = [hand[turn] for turn in range(5) for hand in dealt]
    else:
        top = [card for hand in dealt for card in hand]
    top += cards(then)
    assert len(set(top)) == len(top), "a card stands twice in the rigged deck"
    return (*top, *(card for card in FRESH_DECK if card not in set(top)))
