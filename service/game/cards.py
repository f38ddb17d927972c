"""The 52-card deck (clause C1).

A card is an integer 0-51 in fresh-deck order (R3): rank first, then suit, so ``2c`` is 0, ``2d`` is 1
and ``As`` is 51. Its code, rank then suit, is what callers write and read.
"""

from collections.abc import Iterable, Sequence
from typing import Final

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
CODES: Final = tuple(rank + suit for rank in RANKS for suit in SUITS)
FRESH_DECK: Final = tuple(range(52))
ACE: Final = RANKS.index("A")
KING: Final = RANKS.index("K")

_CODE_OF: Final = list(CODES).__getitem__
_CARDS: Final = {code: card for card, code in enumerate(CODES)}


class MalformedCard(ValueError):
    """A text that is no card code, or a card named twice; ``index`` is its place in the list."""

    def __init__(self, detail: str, index: int) -> None:
        super().__init__(detail)
        self.index = index


def rank(card: int) -> int:
    """Rank of a card: 0 for a two up to 12 for an ace."""
    return card >> 2


def suit(card: int) -> int:
    """Suit of a card as its place in ``cdhs``. Suits never decide (C2)."""
    return card & 3


def parse_cards(codes: Iterable[object]) -> tuple[int, ...]:
    """Cards named by their codes (C1).

    Raises ``MalformedCard`` for a text that is no code and for a card that is named twice.
    """
    codes = tuple(codes)
    try:
        cards = tuple(map(_CARDS.__getitem__, codes))  # type: ignore[arg-type]
    except (KeyError, TypeError):
        raise _malformed(codes) from None
    if len(set(cards)) < len(cards):
        raise _malformed(codes)
    return cards


def card_codes(cards: Sequence[int]) -> list[str]:
    """Codes of the cards, in the same order."""
    return list(map(_CODE_OF, cards))


def _malformed(codes: Sequence[object]) -> MalformedCard:
    """The first fault of a list that has one."""
    index = next(index for index, code in enumerate(codes) if not _is_code(code) or code in codes[:index])
    if _is_code(codes[index]):
        return MalformedCard(f"{codes[index]} stands twice; the deck has one of each card", index)
    return MalformedCard(f"{codes[index]!r} is no card; {_cure(codes[index])}", index)


def _is_code(code: object) -> bool:
    return isinstance(code, str) and code in _CARDS


def _cure(code: object) -> str:
    """What to write in place of a wrong code."""
    if isinstance(code, str):
        spelling = code.strip().replace("10", "T")
        for pair in (spelling, spelling[::-1]):
            likely = pair[:1].upper() + pair[1:].lower()
            if likely in _CARDS:
                return f"did you mean {likely}?"
    return "write a rank of 23456789TJQKA and a suit of cdhs, such as Td"
