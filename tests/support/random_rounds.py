"""Random legal rounds: any boxes, stakes, tables and decks that a ruleset takes, any decisions it offers.

Half of the decks are loaded, so that straights and better meet dealers without game often enough.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from service.game.cards import FRESH_DECK
from service.game.round import Action, LegalAction, Round, apply, start
from service.game.ruleset import MAX_AMOUNT, Ruleset
from service.game.stakes import BoxStake, Table
from tests.support import oracle

CODES = [rank + suit for rank in oracle.RANKS for suit in oracle.SUITS]


class Played(NamedTuple):
    """A finished round: all that a replay needs, and the states before and after every action."""

    ruleset: Ruleset
    stakes: tuple[BoxStake, ...]
    deck: tuple[int, ...]
    table: Table
    actions: tuple[Action, ...]
    states: tuple[Round, ...]


def random_rounds(ruleset: Ruleset, count: int) -> Iterator[Played]:
    """The same rounds in every run."""
    for number in range(count):
        yield random_round(ruleset, Random(f"{ruleset.id} {number}"))


def random_round(ruleset: Ruleset, random: Random, deck: tuple[int, ...] | None = None) -> Played:
    """A round from a random deck, unless one is given."""
    table = _table(ruleset, random)
    stakes = _stakes(ruleset, table, random)
    deck = deck or _deck(len(stakes) + 1, ruleset.deal_order, random)
    states, actions = [start(ruleset, stakes, deck, table)], list[Action]()
    while states[-1].phase != "settled":
        actions.append(random_action(states[-1], random))
        states.append(apply(states[-1], actions[-1], len(actions) - 1))
    return Played(ruleset, stakes, deck, table, tuple(actions), tuple(states))


def random_action(state: Round, random: Random) -> Action:
    """One of the actions that are legal now."""
    offer = random.choice(_weighted(state.legal_actions()))
    box = state.boxes[state.turn]
    discard: tuple[int, ...] = ()
    amount = 0
    if offer.cards:
        discard = tuple(random.sample(box.hand, random.randint(*offer.cards)))
    if offer.amounts:
        least, most = offer.amounts
        amount = random.choice([least, most, random.randint(least, most)])
    return Action(box.stake.number, offer.name, discard, amount)


def _weighted(offers: tuple[LegalAction, ...]) -> list[LegalAction]:
    """Folding ends the interesting part, so it is chosen more seldom."""
    return [offer for offer in offers for _ in range(1 if offer.name == "fold" else 3)]


def _table(ruleset: Ruleset, random: Random) -> Table:
    if random.random() < 0.5:
        return Table()
    least = random.choice([None, 1, 10, 25])
    if least is None and ruleset.limits.max_stake is not None:
        return Table(max_payout=random.randint(1, 2000))
    return Table(least, random.choice([1000, MAX_AMOUNT]), random.choice([None, 1, 100, 5000]))


def _stakes(ruleset: Ruleset, table: Table, random: Random) -> tuple[BoxStake, ...]:
    numbers = sorted(
        random.sample(range(1, ruleset.max_boxes + 1), random.randint(1, min(4, ruleset.max_boxes)))
    )
    least = table.min_stake or ruleset.limits.min_stake
    most = table.max_stake or ruleset.limits.max_stake or MAX_AMOUNT

    def stake() -> int:
        return random.choice([least, min(most, 100), min(most, 377), random.randint(least, most)])

    opened: dict[str, int] = {}
    only_open = random.choice([0, *numbers])
    boxes = []
    for number in numbers:
        player = random.choice([None, "ann", "bob"])
        blind = {
            "all": False,
            "one": number != only_open,
            "one_per_player": random.random() < 0.3 or (player is not None and player in opened),
        }[ruleset.open_boxes]
        if player and not blind:
            opened[player] = number
        bonus = stake() if ruleset.bonus and random.random() < 0.6 else 0
        boxes.append(BoxStake(number, stake(), bonus, blind, player))
    return tuple(boxes)


def _deck(hands: int, order: str, random: Random) -> tuple[int, ...]:
    deck = random.sample(FRESH_DECK, 52)
    if random.random() < 0.5:
        return tuple(deck)
    dealt: list[list[int]] = []
    for place in range(hands):
        make = _no_game if place == hands - 1 else random.choice([_any, *_STRONG])
        dealt.append(_unused(make, deck, random))
        deck = [card for card in deck if card not in dealt[-1]]
    rounds = dealt if order == "five_at_a_time" else zip(*dealt, strict=True)
    top = [card for cards in rounds for card in cards]
    return (*top, *deck)


def _unused(make: Callable[[Random], list[int]], deck: list[int], random: Random) -> list[int]:
    """A hand of cards that are still in the deck; any such hand where the wish cannot be met."""
    for _ in range(20):
        hand = make(random)
        if set(hand) <= set(deck):
            return random.sample(hand, 5)
    return random.sample(deck, 5)


def _any(random: Random) -> list[int]:
    return random.sample(FRESH_DECK, 5)


def _no_game(random: Random) -> list[int]:
    hand = _any(random)
    while oracle.cores([CODES[card] for card in hand]):
        hand = _any(random)
    return hand


def _straight(random: Random) -> list[int]:
    low = random.randint(-1, 8)
    return [4 * ((low + step) % 13) + random.randrange(4) for step in range(5)]


def _flush(random: Random) -> list[int]:
    suit = random.randrange(4)
    return [4 * rank + suit for rank in random.sample(range(13), 5)]


def _straight_flush(random: Random) -> list[int]:
    low, suit = random.randint(-1, 8), random.randrange(4)
    return [4 * ((low + step) % 13) + suit for step in range(5)]


def _alike(random: Random, first: int, second: int) -> list[int]:
    one, other = random.sample(range(13), 2)
    suits = random.sample(range(4), 4), random.sample(range(4), 4)
    return [4 * one + suit for suit in suits[0][:first]] + [4 * other + suit for suit in suits[1][:second]]


def _four(random: Random) -> list[int]:
    return _alike(random, 4, 1)


def _full_house(random: Random) -> list[int]:
    return _alike(random, 3, 2)


def _three_and_ace_king(random: Random) -> list[int]:
    rank = random.randrange(11)
    three = [4 * rank + suit for suit in random.sample(range(4), 3)]
    return [*three, 4 * 11 + random.randrange(4), 4 * 12 + random.randrange(4)]


_STRONG: list[Callable[[Random], list[int]]] = [
    _straight,
    _flush,
    _straight_flush,
    _four,
    _full_house,
    _three_and_ace_king,
]
