"""Perft: all legal sequences of actions of a round, counted.

Every subset of an exchange is a sequence of its own; an insurance counts at its minimum and at its maximum,
once where they are the same. An independent count follows from the cards alone: a box has one way for each
hand that it can hold (as dealt, 31 exchanges, a sixth card), times fold, bet and each insured bet; a bet
counts twice where the dealer's game is for sale; a box's purchases shift the cards of those after it.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import pytest

from service.game.cards import card_codes
from service.game.round import Action, LegalAction, Round, apply
from service.game.ruleset import Ruleset
from service.game.stakes import Table
from service.registry import Registry
from tests.conftest import Tally
from tests.support import oracle
from tests.support.rounds import Seat, deal, seat

ODDS = dict(zip(oracle.ORDER, (0, 1, 1, 2, 3, 4, 5, 7, 20, 50, 100), strict=True))

NO_GAME = "Qh Jd 9s 4c 2d"
GAME = "Qh Qd 9s 4c 2d"
NOTHING = "Jh 8d 6c 5s 3h"
THREE = "7h 7d 7s Kc 3d"
STRAIGHT = "5c 6d 7h 8s 9h"
BLIND = seat("Kd Ts 8h 6h 2s", number=3, blind=True)
THEN = "7c Ah Kh 3c Td As Ks 2c 9c Qc 6s 4s"


def perft(state: Round, depth: int = 99) -> int:
    """How many sequences of legal actions lead from this state to the end, or to this many actions."""
    if state.turn < 0 or depth == 0:
        return 1
    return sum(perft(apply(state, action), depth - 1) for action in each_action(state))


def each_action(state: Round) -> Iterator[Action]:
    box = state.boxes[state.turn]
    for offer in state.legal_actions():
        yield from _each(offer, box.stake.number, box.hand)


def _each(offer: LegalAction, number: int, hand: tuple[int, ...]) -> Iterator[Action]:
    if offer.cards:
        for count in range(offer.cards[0], offer.cards[1] + 1):
            for discard in combinations(hand, count):
                yield Action(number, offer.name, discard)
    elif offer.amounts:
        for amount in sorted(set(offer.amounts)):
            yield Action(number, offer.name, amount=amount)
    else:
        yield Action(number, offer.name)


def count_sequences(
    house: str,
    hands: list[list[str]],
    opened: list[bool],
    bonus: list[bool],
    further: list[str],
    *,
    buys: bool,
) -> int:
    """The same number from the cards of the boxes and those that follow the deal."""

    @cache
    def ways(place: int, taken: int) -> int:
        if place == len(hands):
            return 1
        per_bet = 2 if buys else 1
        if not opened[place]:
            return per_bet * ways(place + 1, taken)
        total = 0
        for seen, cost in held(place, taken):
            bets = 1 + insurances(house, seen)
            total += (1 + per_bet * bets) * ways(place + 1, taken + cost)
        return total

    def held(place: int, taken: int) -> Iterator[tuple[list[str], int]]:
        """Each hand that the box may hold when it insures, as far as it sees it, and the cards it took."""
        hand = hands[place]
        lies_open = bonus[place] and oracle.ORDER.index(oracle.result(hand)[0]) >= 5
        yield hand, 0
        yield hand if lies_open else [*hand, further[taken]], 1
        if not lies_open:
            for count in (1, 2, 3, 4, 5):
                for kept in combinations(hand, 5 - count):
                    yield [*kept, *further[taken : taken + count]], count

    return ways(0, 0)


def insurances(house: str, hand: list[str]) -> int:
    """How many insurances are counted: two on three of a kind or better, except in the trainer."""
    main, _ = oracle.result(hand)
    return 2 if house != "trainer-1" and ODDS[main] >= 3 else 0


CASES = [
    # one box: 33 hands to hold, fold or bet, and with a game for sale fold, take or buy
    ("trainer-1", [seat(NOTHING)], GAME, 66),
    ("trainer-1", [seat(NOTHING)], NO_GAME, 99),
    ("trainer-1", [seat(THREE)], NO_GAME, 99),
    ("trainer-1", [seat(NOTHING), seat(THREE, number=4)], GAME, 66**2),
    ("trainer-1", [seat(NOTHING), seat(THREE, number=4)], NO_GAME, 99**2),
    # blind boxes only choose at the end
    ("online-1", [BLIND], GAME, 1),
    ("online-1", [BLIND], NO_GAME, 2),
    ("online-1", [seat(NOTHING), BLIND], NO_GAME, 198),
    # 17 of the 33 hands are three sevens or better, for two more sequences each, four with a game for sale
    ("online-1", [seat(THREE)], GAME, 66 + 2 * 17),
    ("online-1", [seat(THREE)], NO_GAME, 99 + 4 * 17),
    ("online-1", [seat(THREE), BLIND], NO_GAME, 2 * (99 + 4 * 17)),
    ("casino-1", [seat(THREE)], GAME, 66 + 2 * 17),
    ("casino-1", [seat(THREE)], NO_GAME, 99 + 4 * 17),
    # the straight as dealt, with a sixth card, and with another seven for its own
    ("casino-1", [seat(STRAIGHT)], NO_GAME, 99 + 4 * 3),
    # a won bonus: as dealt or with the hidden sixth card, each to fold, bet or insure twice
    ("casino-1", [seat(STRAIGHT, bonus=5)], GAME, 2 * (1 + 3)),
    ("casino-1", [seat(STRAIGHT, bonus=5)], NO_GAME, 2 * (1 + 2 * 3)),
    ("casino-1", [seat(STRAIGHT, bonus=5), seat(NOTHING, number=2), BLIND], NO_GAME, 14 * 99 * 2),
    ("casino-1", [seat(THREE, bonus=5), seat(NOTHING, number=2)], GAME, 100 * 66),
    # the first box's purchases decide what the second may hold
    ("casino-1", [seat(NOTHING), seat(THREE, number=2)], NO_GAME, 11_925),
]


@pytest.mark.parametrize(("house", "seats", "dealer", "expected"), CASES)
def test_A1_A2_A3_A4_all_sequences_are_counted(
    registry: Registry, tally: Tally, house: str, seats: list[Seat], dealer: str, expected: int
) -> None:
    state = deal(registry[house].ruleset, seats, dealer, THEN)
    counted = perft(state)
    independent = count_sequences(
        house,
        [seat.cards.split() for seat in seats],
        [not seat.stake.blind for seat in seats],
        [house == "casino-1" and seat.stake.bonus > 0 for seat in seats],
        card_codes(state.deck[state.cards_used :]),
        buys=dealer == NO_GAME,
    )
    assert (counted, independent) == (expected, expected)
    tally("sequences of actions counted (perft)", counted)


@pytest.mark.parametrize(
    ("table", "insured"), [(Table(), 2), (Table(max_payout=1), 1), (Table(min_stake=2, max_payout=1), 0)]
)
def test_A3_an_insurance_of_one_amount_counts_once_and_an_impossible_one_never(
    casino: Ruleset, table: Table, insured: int
) -> None:
    assert perft(deal(casino, [seat(THREE)], GAME, THEN, table=table)) == 66 + insured * 17


def test_A1_sequences_by_their_length(casino: Ruleset) -> None:
    """First 31 exchanges, a sixth card, two insurances, bet and fold; the folded round is over, and so on."""
    state = deal(casino, [seat(THREE)], NO_GAME, THEN)
    first = 31 + 1 + 2 + 1 + 1
    assert [perft(state, depth) for depth in (0, 1, 2, 3, 4, 5)] == [1, first, 101, 135, 167, 167]
