"""Clause C5 read literally, on card codes: every subset of a hand that is a core, and what follows from it.

Shares no code with the service and no way of thinking either: nothing is looked up, nothing is summed.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, prod

RANKS = "23456789TJQKA"
SUITS = "cdhs"
STRAIGHTS = ("A2345", *(RANKS[low : low + 5] for low in range(9)))
ORDER = (
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
)

Hand = Sequence[str]
Core = frozenset[str]


@cache
def names(ranks: str, suited: bool) -> tuple[str, ...]:
    """The kinds whose core such cards are, all of them: a royal flush is a straight too."""
    shape = sorted(Counter(ranks).values())
    straight = any(sorted(ranks) == sorted(line) for line in STRAIGHTS)
    flush = suited and len(ranks) == 5
    is_core = {
        "ace_king": sorted(ranks) == ["A", "K"],
        "pair": shape == [2],
        "two_pair": shape == [2, 2],
        "three_of_a_kind": shape == [3],
        "straight": straight,
        "flush": flush,
        "full_house": shape == [2, 3],
        "four_of_a_kind": shape == [4],
        "straight_flush": straight and flush,
        "royal_flush": flush and sorted(ranks) == sorted("TJQKA"),
    }
    return tuple(kind for kind, holds in is_core.items() if holds)


def cores(hand: Hand) -> list[tuple[str, Core]]:
    """Every core in the hand with every kind that it makes."""
    return [
        (kind, frozenset(subset))
        for size in (2, 3, 4, 5)
        for subset in combinations(hand, size)
        for kind in names("".join(card[0] for card in subset), len({card[1] for card in subset}) == 1)
    ]


def value(core: Core) -> tuple[int, ...]:
    """Order of two cores of the same kind: the most frequent rank first, then the highest."""
    ranks = [card[0] for card in core]
    if sorted(ranks) == sorted("A2345"):
        return (5,)
    return tuple(
        RANKS.index(rank) + 2
        for rank in sorted(set(ranks), key=lambda one: (ranks.count(one), RANKS.index(one)), reverse=True)
    )


def main_cores(held: Sequence[tuple[str, Core]]) -> tuple[str, list[Core]]:
    """The kind of the highest combination and every core that makes it equally high."""
    kind = max((kind for kind, _ in held), key=ORDER.index)
    of_kind = [core for other, core in held if other == kind]
    best = max(map(value, of_kind))
    return kind, [core for core in of_kind if value(core) == best]


def second_kind(held: Sequence[tuple[str, Core]], main: Core) -> str | None:
    """The highest kind with a core that neither lies within the main core nor contains it."""
    apart = [kind for kind, core in held if not core <= main and not core >= main]
    return max(apart, key=ORDER.index, default=None)


def reading(hand: Hand) -> tuple[str, str | None, int]:
    """Main and second kind, and how many cores the main one may be; fails where the second depends on it."""
    held = cores(hand)
    if not held:
        return "none", None, 0
    kind, mains = main_cores(held)
    seconds = {second_kind(held, main) for main in mains}
    assert len(seconds) == 1, f"{hand}: {seconds}"
    return kind, seconds.pop(), len(mains)


def result(hand: Hand) -> tuple[str, str | None]:
    """Main and second kind."""
    return reading(hand)[:2]


# Hands up to the names of their suits: all with the same ranks and no flush are alike, and so are all with
# the same ranks in and beside the flush. The classes of a size cover all its hands once.


def classes_without_flush(size: int) -> Iterator[tuple[list[str], int]]:
    """One hand for each set of ranks, and how many hands without a flush have these ranks."""
    flushes = {(5, 5): 4, (6, 6): 4 + 4 * 6 * 3, (6, 5): 4 * 3}
    for ranks in combinations_with_replacement(RANKS, size):
        counts = Counter(ranks)
        if max(counts.values()) <= 4:
            hands = prod(comb(4, count) for count in counts.values())
            hand = [rank + SUITS[place % 4] for place, rank in enumerate(ranks)]
            yield hand, hands - flushes.get((size, len(counts)), 0)


def classes_with_flush(size: int) -> Iterator[tuple[list[str], int]]:
    """One hand for each way to have five or six cards of one suit, and how many hands are like it."""
    for ranks in combinations(RANKS, size):
        yield [rank + "h" for rank in ranks], 4
    if size == 6:
        for ranks in combinations(RANKS, 5):
            for rank in RANKS:
                yield [*(one + "h" for one in ranks), rank + "d"], 12
