"""Five- and six-card hands: strength, main and second combination (clauses C2 to C5).

``evaluate`` is what rounds use: a look-up by the sum of the cards' keys. ``combinations_held`` is the
rule itself, core by core; the second combinations in the tables come from it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from service.game.cards import ACE, FRESH_DECK, KING, rank, suit

Kind: TypeAlias = Literal[
    "none",
    "ace_king",
    "pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""Kinds of combination, weakest first (C2)."""


class Evaluation(NamedTuple):
    """What a hand of five or six cards is worth.

    ``strength`` orders hands by their best five cards, from 0 to 7461 for a royal flush; only identical
    ranks are equal (C3, C4). ``main`` is the kind of the best five, ``second`` that of the second
    combination or None (C5).
    """

    strength: int
    main: Kind
    second: Kind | None


class Combination(NamedTuple):
    """A combination that a hand holds, with the cards of its core (rule book, section 1)."""

    kind: Kind
    core: tuple[int, ...]


def evaluate(cards: Sequence[int]) -> Evaluation:
    """Evaluate five or six distinct cards, given in any order (C2 to C5)."""
    return _EVALUATIONS.get(_table_key(cards)) or _evaluate_by_rule(cards)


def combinations_held(cards: Sequence[int]) -> Iterator[Combination]:
    """Every combination of five or six cards by kind and core, the strongest first (C5).

    Five cards are named under their highest kind only: a lower one would share or lie within that core.
    """
    by_rank: dict[int, list[int]] = {}
    for card in sorted(cards, reverse=True):
        by_rank.setdefault(card >> 2, []).append(card)
    same_rank = [same for same in by_rank.values() if len(same) > 1]
    smaller: dict[Kind, Iterable[tuple[int, ...]]] = {
        "four_of_a_kind": (core for same in same_rank for core in combinations(same, 4)),
        "three_of_a_kind": (core for same in same_rank for core in combinations(same, 3)),
        "two_pair": (
            pair + other
            for high, low in combinations(same_rank, 2)
            for pair, other in product(combinations(high, 2), combinations(low, 2))
        ),
        "pair": (core for same in same_rank for core in combinations(same, 2)),
        "ace_king": product(by_rank.get(ACE, ()), by_rank.get(KING, ())),
        "none": (),
    }
    of_five: dict[Kind, list[tuple[int, ...]]] = {}
    for strength, five in sorted(_fives(cards), reverse=True):
        of_five.setdefault(_KIND_OF[strength], []).append(five)
    for kind in reversed(KINDS):
        for core in smaller[kind] if kind in smaller else of_five.get(kind, ()):
            yield Combination(kind, core)


def main_and_second(cards: Sequence[int]) -> tuple[Combination | None, Combination | None]:
    """The one or two combinations that may be paid (C5); (None, None) for a hand without any."""
    held = combinations_held(cards)
    main = next(held, None)
    if main is None:
        return None, None
    core = frozenset(main.core)
    apart = (other for other in held if not (core.issubset(other.core) or core.issuperset(other.core)))
    return main, next(apart, None)


def kickers(cards: Sequence[int], main: Combination | None) -> tuple[int, ...]:
    """The cards of the best five outside the main core, the highest first (C3, C4)."""
    core = main.core if main else ()
    others = sorted((card for card in cards if card not in core), key=rank, reverse=True)
    return tuple(others[: 5 - len(core)])


# A card's key counts its rank in one of 13 base-5 digits and, above them, its suit in an octal digit:
# the sum over a hand tells how often each rank and each suit occurs.
_RANK_BITS: Final = 31
_RANK_MASK: Final = (1 << _RANK_BITS) - 1
_KEY_OF: Final = tuple(
    5 ** rank(card) + (1 << _RANK_BITS + 3 * suit(card)) for card in FRESH_DECK
).__getitem__
_FLUSH_SUITS: Final = {
    (5 << 3 * flush) + (others << 3 * other) for flush in range(4) for other in range(4) for others in (0, 1)
}
_SHAPES: Final[dict[tuple[int, ...], Kind]] = {
    (4, 1): "four_of_a_kind",
    (3, 2): "full_house",
    (3, 1, 1): "three_of_a_kind",
    (2, 2, 1): "two_pair",
    (2, 1, 1, 1): "pair",
}
_WHEEL: Final = (ACE, 3, 2, 1, 0)


def _table_key(cards: Sequence[int]) -> int:
    """Sum of the cards' keys; without the suits where they make no flush."""
    key: int = sum(map(_KEY_OF, cards))
    return key if key >> _RANK_BITS in _FLUSH_SUITS else key & _RANK_MASK


def _fives(cards: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Each five of the cards, behind its strength."""
    return [(_STRENGTHS[_table_key(five)], five) for five in combinations(cards, 5)]


def _rank_five(cards: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """Place of five cards in the order of C2 and C3: their kind, then their ranks, core first."""
    groups = sorted(((count, rank) for rank, count in Counter(map(rank, cards)).items()), reverse=True)
    ranks = tuple(rank for _, rank in groups)
    kind = _SHAPES.get(tuple(count for count, _ in groups), "none")
    if len(ranks) == 5:
        if ranks == _WHEEL:
            ranks = (3, 2, 1, 0, -1)
        straight = ranks[0] - ranks[4] == 4
        if len(set(map(suit, cards))) == 1:
            kind = ("royal_flush" if ranks[0] == ACE else "straight_flush") if straight else "flush"
        elif straight:
            kind = "straight"
        elif ranks[:2] == (ACE, KING):
            kind = "ace_king"
    return KINDS.index(kind), ranks


def _evaluate_by_rule(cards: Sequence[int]) -> Evaluation:
    """Evaluate without the table: what fills it, and what the rare six cards with a flush need."""
    strength, _ = max(_fives(cards))
    _, second = main_and_second(cards)
    return Evaluation(strength, _KIND_OF[strength], second.kind if second else None)


def _hands_by_ranks(size: int) -> Iterator[tuple[int, ...]]:
    """One hand without a flush for each way to take ``size`` cards of the 13 ranks."""
    for ranks in combinations_with_replacement(range(13), size):
        if ranks[0] != ranks[4] and (size == 5 or ranks[1] != ranks[5]):
            yield tuple(4 * rank + place % 4 for place, rank in enumerate(ranks))


_ALL_FIVES: Final = (
    *_hands_by_ranks(5),
    *(five for s in range(4) for five in combinations(FRESH_DECK[s::4], 5)),
)
_PLACES: Final = {_table_key(five): _rank_five(five) for five in _ALL_FIVES}
_ORDER: Final = {place: strength for strength, place in enumerate(sorted(set(_PLACES.values())))}
_STRENGTHS: Final = {key: _ORDER[place] for key, place in _PLACES.items()}
_KIND_OF: Final = tuple(KINDS[kind] for kind, _ in _ORDER)
STRENGTH_FLOORS: Final = {kind: _KIND_OF.index(kind) for kind in KINDS}
"""Strength of the weakest hand of each kind."""
GAME_FLOOR: Final = STRENGTH_FLOORS["ace_king"]
"""Strength from which the dealer has game (rule book, section 1)."""
_EVALUATIONS: Final = {
    _table_key(hand): _evaluate_by_rule(hand) for hand in (*_ALL_FIVES, *_hands_by_ranks(6))
}
