"""One hand of five cards, and one of six with its main and second combination, against other evaluators.

All get the same random hands, turned into their own kind of card beforehand. None but ours tells a second
combination.
"""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import pairwise, starmap
from random import Random
from statistics import median
from typing import Any, Final, NamedTuple

import phevaluator
import pokerkit
import treys

from service.game.cards import CODES, FRESH_DECK, card_codes
from service.game.hands import evaluate
from tests.benchmarks.measuring import Effort, Figure, Goal, Part, cpu_in_turns, ratios

Hand = tuple[int, ...]

_SAMPLE: Final = 500
_GOALS: Final = {("treys", 5): Goal("≥", 1.3), ("treys", 6): Goal("≥", 1.5)}


class Evaluator(NamedTuple):
    """A function with what it takes for a hand of ours; ``strength`` orders what it answers as ours.

    ``share`` is the part of the hands that it sees in a turn: slow ones need not see all.
    """

    evaluate: Callable[..., Any]
    arguments: Callable[[Hand], tuple[Any, ...]]
    strength: Callable[[Any], Any]
    share: int = 1


def evaluators(size: int) -> dict[str, Evaluator]:
    card_of_treys = [treys.Card.new(code) for code in CODES]
    card_of_pokerkit = [next(pokerkit.Card.parse(code)) for code in CODES]
    high_hand = pokerkit.StandardHighHand
    return {
        "ours": Evaluator(evaluate, lambda hand: (hand,), lambda told: told.strength),
        "treys": Evaluator(
            treys.Evaluator().evaluate,
            lambda hand: ([card_of_treys[card] for card in hand], []),
            lambda told: -told,
        ),
        "phevaluator": Evaluator(phevaluator.evaluate_cards, lambda hand: hand, lambda told: -told),
        "pokerkit": Evaluator(
            high_hand if size == 5 else high_hand.from_game,
            lambda hand: ([card_of_pokerkit[card] for card in hand],),
            lambda told: told,
            share=40,
        ),
    }


def hands(size: int, count: int) -> list[Hand]:
    """The same random hands in every run."""
    random = Random(f"{size} cards")
    return [tuple(random.sample(FRESH_DECK, size)) for _ in range(count)]


def check_agreement(size: int, evaluators: dict[str, Evaluator]) -> None:
    """Raise ``AssertionError`` where another evaluator orders two hands otherwise than ours."""
    for pair in pairwise(hands(size, _SAMPLE)):
        orders = {name: _order(one, *pair) for name, one in evaluators.items()}
        assert len(set(orders.values())) == 1, (orders, *map(card_codes, pair))


def _order(evaluator: Evaluator, *pair: Hand) -> tuple[bool, bool]:
    one, other = (evaluator.strength(evaluator.evaluate(*evaluator.arguments(hand))) for hand in pair)
    return one < other, one > other


def missing() -> str | None:
    return None


def run(effort: Effort) -> Part:
    return Part([figure for size in (5, 6) for figure in _figures(size, effort)])


def _figures(size: int, effort: Effort) -> Iterable[Figure]:
    known = evaluators(size)
    check_agreement(size, known)
    counts = {name: effort.hands // one.share for name, one in known.items()}
    passes = {name: _pass(one, hands(size, counts[name])) for name, one in known.items()}
    found = cpu_in_turns(passes, 1, effort.pairs)
    times = {name: [seconds / counts[name] for seconds in each] for name, each in found.items()}
    ours = times.pop("ours")
    for name, theirs in times.items():
        yield Figure(
            f"{'Five cards' if size == 5 else 'Six cards, main and second'}, against {name}",
            "× as fast",
            ratios(theirs, ours),
            _GOALS.get((name, size)),
            f"{1e6 * median(ours):.2f} µs against {1e6 * median(theirs):.2f} µs",
        )


def _pass(evaluator: Evaluator, hands: list[Hand]) -> Callable[[], object]:
    """Evaluates all these hands."""
    arguments = [evaluator.arguments(hand) for hand in hands]
    return lambda: deque(starmap(evaluator.evaluate, arguments), maxlen=0)
