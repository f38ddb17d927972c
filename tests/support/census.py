"""All 2,598,960 five-card and 20,358,520 six-card hands through the real ``evaluate``, on every core.

Processes are spawned, so what they run stands at the top of this module.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations, repeat
from multiprocessing import get_context
from typing import TypeVar

from treys import Card, Evaluator

from service.game.cards import CODES, FRESH_DECK
from service.game.hands import Evaluation, evaluate

T = TypeVar("T")
Census = Counter[T]


def five_cards() -> Census[tuple[Evaluation, int]]:
    """How many five-card hands have each evaluation and treys's rank, 1 for a royal flush to 7462."""
    return _counted(_five_cards_from)


def six_cards() -> Census[Evaluation]:
    """How many six-card hands have each evaluation."""
    return _counted(_six_cards_from)


def _counted(part: Callable[[int], Census[T]]) -> Census[T]:
    whole: Census[T] = Counter()
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for counted in pool.map(part, FRESH_DECK):
            whole.update(counted)
    return whole


def _five_cards_from(first: int) -> Census[tuple[Evaluation, int]]:
    codes = [Card.new(code) for code in CODES]
    ours = map(evaluate, _hands_from(first, FRESH_DECK, 5))
    theirs = map(Evaluator().evaluate, _hands_from(codes[first], codes, 5), repeat(()))
    return Counter(zip(ours, theirs, strict=False))


def _six_cards_from(first: int) -> Census[Evaluation]:
    return Counter(map(evaluate, _hands_from(first, FRESH_DECK, 6)))


def _hands_from(first: T, deck: tuple[T, ...] | list[T], size: int) -> Iterator[tuple[T, ...]]:
    """The hands whose first card in deck order is ``first``."""
    return ((first, *rest) for rest in combinations(deck[deck.index(first) + 1 :], size - 1))
