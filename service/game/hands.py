"""Five- and six-card hands: strength, main and second combination (clauses C2 to C5).

``evaluate`` is what rounds use: a look-up by the sum of the cards' keys. ``combinations_held`` is the
rule itself, core by core; the second combinations in the tables come from it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar, get_args

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
T = TypeVar("T")
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
    if len(cards) == 5:
        a, b, c, d, e = cards
        whole = KEYS[a] + KEYS[b] + KEYS[c] + KEYS[d] + KEYS[e]
        ranks = whole & _RANK_MASK  # what follows is _place, without the call
        return OF_FIVE[ranks | FLUSH if whole >> RANK_BITS in FIVE_SUITED else ranks]
    a, b, c, d, e, f = cards
    whole = KEYS[a] + KEYS[b] + KEYS[c] + KEYS[d] + KEYS[e] + KEYS[f]
    if whole >> RANK_BITS in SIX_SUITED:
        return _evaluate_by_rule(cards)
    return OF_SIX[whole & _RANK_MASK]


def combinations_held(cards: Sequence[int]) -> Iterator[Combination]:
    """Every combination of five or six cards by kind and core, the strongest first (C5).

    Five cards are named under their highest kind only: a lower one would share or lie within that core.
    """
    return _held(cards, _strengths(cards))


def _held(cards: Sequence[int], strengths: Sequence[int]) -> Iterator[Combination]:
    by_rank: dict[int, list[int]] = {}
    for card in sorted(cards, reverse=True):
        by_rank.setdefault(card >> 2, []).append(card)
    of_five: dict[Kind, list[tuple[int, ...]]] = {}
    best = max(strengths)
    if best >= STRENGTH_FLOORS["straight"]:  # the least that takes all five cards
        for strength, five in sorted(zip(strengths, combinations(cards, 5), strict=True), reverse=True):
            of_five.setdefault(_KIND_OF[strength], []).append(five)
    for kind in _DOWN_FROM[_KIND_OF[best]]:
        for core in _SMALLER[kind](by_rank) if kind in _SMALLER else of_five.get(kind, ()):
            yield Combination(kind, core)


_DOWN_FROM: Final = {kind: KINDS[place::-1] for place, kind in enumerate(KINDS)}
_Ranks: TypeAlias = dict[int, list[int]]
"""The cards of a hand by their rank, the highest first."""


def _of_a_kind(ranks: _Ranks, count: int) -> Iterable[tuple[int, ...]]:
    return [core for same in ranks.values() if len(same) >= count for core in combinations(same, count)]


def _two_pairs(ranks: _Ranks) -> Iterable[tuple[int, ...]]:
    return [
        pair + other
        for high, low in combinations([same for same in ranks.values() if len(same) > 1], 2)
        for pair, other in product(combinations(high, 2), combinations(low, 2))
    ]


_SMALLER: Final[dict[Kind, Callable[[_Ranks], Iterable[tuple[int, ...]]]]] = {
    "four_of_a_kind": lambda ranks: _of_a_kind(ranks, 4),
    "three_of_a_kind": lambda ranks: _of_a_kind(ranks, 3),
    "two_pair": _two_pairs,
    "pair": lambda ranks: _of_a_kind(ranks, 2),
    "ace_king": lambda ranks: product(ranks.get(ACE, ()), ranks.get(KING, ())),
    "none": lambda ranks: (),
}
"""Cores of less than five cards, by kind (rule book, section 1)."""


def main_and_second(cards: Sequence[int]) -> tuple[Combination | None, Combination | None]:
    """The one or two combinations that may be paid (C5); (None, None) for a hand without any."""
    return _apart(combinations_held(cards))


def _apart(held: Iterator[Combination]) -> tuple[Combination | None, Combination | None]:
    """The strongest combination, and the strongest after it whose core neither shares nor contains it."""
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


# A card's key counts its rank in one of 13 base-5 digits and, above them, its suit in an octal digit: the sum
# over a hand tells how often each rank and each suit occurs. A hand's place in the tables is the sum of the
# ranks, with a mark where five cards make a flush. Six with a flush have none: which five it is matters.
RANK_BITS: Final = 31
_RANK_MASK: Final = (1 << RANK_BITS) - 1
FLUSH: Final = 1 << RANK_BITS
KEYS: Final = [5 ** rank(card) + (1 << RANK_BITS + 3 * suit(card)) for card in FRESH_DECK]
FIVE_SUITED: Final = {5 << 3 * flush for flush in range(4)}
SIX_SUITED: Final = {suits + (1 << 3 * other) for suits in FIVE_SUITED for other in range(4)}
_SHAPES: Final[dict[tuple[int, ...], Kind]] = {
    (4, 1): "four_of_a_kind",
    (3, 2): "full_house",
    (3, 1, 1): "three_of_a_kind",
    (2, 2, 1): "two_pair",
    (2, 1, 1, 1): "pair",
}
_WHEEL: Final = (ACE, 3, 2, 1, 0)


def _place(whole: int) -> int:
    """Where the tables have a hand whose keys have this sum, six cards with a flush left out."""
    ranks = whole & _RANK_MASK
    return ranks | FLUSH if whole >> RANK_BITS in FIVE_SUITED else ranks


def _strengths(cards: Sequence[int]) -> list[int]:
    """The strength of each five of the cards, in the order of ``combinations``."""
    keys = [KEYS[card] for card in cards]
    whole = sum(keys)
    left_out = reversed(keys) if len(keys) > 5 else (0,)
    return [_STRENGTHS[_place(whole - key)] for key in left_out]


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
    """Evaluate without the tables: what they follow from, and what the rare six cards with a flush need."""
    strengths = _strengths(cards)
    strength = max(strengths)
    _, second = _apart(_held(cards, strengths))
    return Evaluation(strength, _KIND_OF[strength], second.kind if second else None)


def _evaluate_by_pattern(cards: Sequence[int]) -> Evaluation:
    """Evaluate five cards, or six without a flush, given by ascending rank: each pattern once by the rule.

    The second combination goes by what each five of them make, how often each rank occurs, and which are
    aces and kings: which cores there are, and which lie in which, depends on nothing else.
    """
    strengths = _strengths(cards)
    strength = max(strengths)
    kinds = [_KIND_OF[each] for each in strengths]
    ranks = list(map(rank, cards))
    pattern = (*kinds, *map(ranks.count, ranks), KING in ranks, ACE in ranks)
    if pattern not in _SECONDS:
        _SECONDS[pattern] = _evaluate_by_rule(cards).second
    return Evaluation(strength, _KIND_OF[strength], _SECONDS[pattern])


def _hands_by_ranks(size: int) -> Iterator[tuple[int, ...]]:
    """One hand without a flush for each way to take ``size`` cards of the 13 ranks."""
    for ranks in combinations_with_replacement(range(13), size):
        if ranks[0] != ranks[4] and (size == 5 or ranks[1] != ranks[5]):
            yield tuple(4 * rank + place % 4 for place, rank in enumerate(ranks))


def _table(hands: Iterable[tuple[int, ...]], value: Callable[[Sequence[int]], T]) -> dict[int, T]:
    return {_place(sum([KEYS[card] for card in hand])): value(hand) for hand in hands}


_FIVES: Final = (*_hands_by_ranks(5), *combinations(FRESH_DECK[::4], 5))
"""One hand of five for each class: without a flush, and the flushes in clubs."""
_PLACES: Final = _table(_FIVES, _rank_five)
_ORDER: Final = {place: strength for strength, place in enumerate(sorted(set(_PLACES.values())))}
_STRENGTHS: Final = {key: _ORDER[place] for key, place in _PLACES.items()}
_KIND_OF: Final = tuple(KINDS[kind] for kind, _ in _ORDER)
STRENGTH_FLOORS: Final = {kind: _KIND_OF.index(kind) for kind in KINDS}
"""Strength of the weakest hand of each kind."""
GAME_FLOOR: Final = STRENGTH_FLOORS["ace_king"]
"""Strength from which the dealer has game (rule book, section 1)."""
_SECONDS: Final[dict[tuple[object, ...], Kind | None]] = {}
# Two tables, since the smaller one finds room in a processor's cache.
OF_FIVE: Final = _table(_FIVES, _evaluate_by_pattern)
OF_SIX: Final = _table(_hands_by_ranks(6), _evaluate_by_pattern)
