"""A round as a state machine (clauses D1 to D4, A1 to A7).

``start`` deals, ``Round.legal_actions`` tells what may come next and at what price, ``apply`` takes one
action to the next state and ``replay`` takes them all. Settlement is in ``service.game.settlement``.

A state that was handed out never changes: ``apply`` goes on with a copy. Only the state that ``replay`` makes
for itself is changed in place, which takes a third of the time.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, TypeAlias

from service.game.cards import CODES, rank
from service.game.hands import GAME_FLOOR, STRENGTH_FLOORS, evaluate
from service.game.ruleset import MAX_AMOUNT, Limits, Ruleset
from service.game.stakes import BoxStake, Table, check_stakes, effective_limits

Phase: TypeAlias = Literal["decisions", "dealer_game", "settled"]
ActionName: TypeAlias = Literal["exchange", "buy_sixth", "insure", "bet", "fold", "take_ante", "buy_game"]
BetName: TypeAlias = Literal["ante", "bet", "bonus", "insurance", "purchase", "game_purchase"]


class Action(NamedTuple):
    """One decision of a box. ``discard`` belongs to ``exchange``, ``amount`` (minor units) to ``insure``."""

    box: int
    name: ActionName
    discard: tuple[int, ...] = ()
    amount: int = 0


class LegalAction(NamedTuple):
    """An action that is legal now. ``price`` is what it adds to the box's stakes, in minor units.

    ``cards`` bounds an exchange, ``amounts`` an insurance; the price of an insurance is its amount, so
    ``price`` is None there.
    """

    name: ActionName
    price: int | None
    cards: tuple[int, int] | None = None
    amounts: tuple[int, int] | None = None


class DealerDraw(NamedTuple):
    """One card that the dealer exchanged (A5)."""

    discarded: int
    drawn: int


class IllegalAction(ValueError):
    """An action that the rules do not allow where it stands (A7).

    ``index`` is its place in the list of actions, ``box`` the number of the box in turn (None after the
    end) and ``legal`` what that box might have done.
    """

    def __init__(self, reason: str, index: int, box: int | None, legal: Sequence[LegalAction]) -> None:
        super().__init__(reason)
        self.index = index
        self.box = box
        self.legal = tuple(legal)


@dataclass(slots=True)
class Box:
    """A box in play: its stakes, its cards and what it has decided.

    A sixth card is the last of ``hand``. ``bonus_won`` tells that its dealt cards lie open for a won bonus
    (A6). ``insurance`` is in minor units, 0 for none.
    """

    stake: BoxStake
    dealt: tuple[int, ...]
    hand: tuple[int, ...]
    bonus_won: bool
    purchase: Literal["exchange", "buy_sixth"] | None = None
    insurance: int = 0
    choice: Literal["bet", "fold"] | None = None
    dealer_choice: Literal["take_ante", "buy_game"] | None = None


@dataclass(slots=True)
class Round:
    """One state of a round.

    ``turn`` is the place in ``boxes`` of the box to decide next, -1 when the round is over. ``dealer`` are
    the cards first shown, ``draws`` and ``dealer_final`` what a game purchase made of them.
    """

    ruleset: Ruleset
    limits: Limits
    deck: tuple[int, ...]
    cards_used: int
    boxes: tuple[Box, ...]
    dealer: tuple[int, ...]
    dealer_final: tuple[int, ...]
    phase: Phase = "decisions"
    turn: int = -1
    draws: tuple[DealerDraw, ...] = ()

    def legal_actions(self) -> tuple[LegalAction, ...]:
        """What the box in turn may do (A1 to A4, A6); nothing when the round is over."""
        if self.turn < 0:
            return ()
        box = self.boxes[self.turn]
        offers = ((name, offer(self, box)) for name, offer in _OFFERS[self.phase].items())
        return tuple(LegalAction(name, *terms) for name, terms in offers if terms)

    def seen_hand(self, box: Box) -> tuple[int, ...]:
        """A box's cards without a blind sixth card, which stays unseen until the dealer shows (A6)."""
        return box.hand[:5] if box.bonus_won and self.phase == "decisions" else box.hand

    def is_open(self, place: int) -> bool:
        """Whether the cards of the box at this place may be seen now (A10)."""
        box = self.boxes[place]
        return self.phase != "decisions" or box.bonus_won or (place <= self.turn and not box.stake.blind)

    def stakes(self, box: Box) -> dict[BetName, int]:
        """What a box has staked so far by name, in minor units and in the order of settlement."""
        ante = box.stake.ante
        staked: dict[BetName, int] = {"ante": ante}
        if box.choice == "bet":
            staked["bet"] = 2 * ante
        if box.stake.bonus:
            staked["bonus"] = box.stake.bonus
        if box.insurance:
            staked["insurance"] = box.insurance
        if box.purchase:
            staked["purchase"] = ante
        if box.dealer_choice == "buy_game" and (price := self.ruleset.game_price(ante)):
            staked["game_purchase"] = price
        return staked

    def copy(self) -> "Round":
        """A state of its own, equal to this one."""
        return replace(self, boxes=tuple(map(replace, self.boxes)))


def has_game(hand: Sequence[int]) -> bool:
    """Whether a dealer's hand qualifies: ace-king or any combination (rule book, section 1)."""
    return evaluate(hand).strength >= GAME_FLOOR


def start(ruleset: Ruleset, stakes: Sequence[BoxStake], deck: Sequence[int], table: Table) -> Round:
    """Deal a round from the top of the deck (D1, D2).

    Raises ``IllegalBoxes`` or ``OutsideLimits`` for what the ruleset or the table does not take.
    """
    limits = effective_limits(ruleset, table)
    check_stakes(ruleset, limits, stakes)
    places = len(stakes) + 1
    cards_used = 5 * places
    if ruleset.deal_order == "one_by_one":
        hands = [tuple(deck[place:cards_used:places]) for place in range(places)]
    else:
        hands = [tuple(deck[first : first + 5]) for first in range(0, cards_used, 5)]
    opening_kinds = ruleset.bonus.dealt if ruleset.blind_sixth and ruleset.bonus else ()
    boxes = tuple(
        Box(
            stake,
            hand,
            hand,
            bonus_won=stake.bonus > 0 and evaluate(hand).main in opening_kinds,
            choice="bet" if stake.blind else None,
        )
        for stake, hand in zip(stakes, hands, strict=False)
    )
    dealer = hands[-1]
    state = Round(ruleset, limits, tuple(deck), cards_used, boxes, dealer, dealer)
    _pass_turn(state, 0)
    return state


def apply(state: Round, action: Action, index: int = 0) -> Round:
    """The state after one action. Raises ``IllegalAction`` where the rules do not allow it (A7)."""
    after = state.copy()
    _take(after, action, index)
    return after


def replay(
    ruleset: Ruleset, stakes: Sequence[BoxStake], deck: Sequence[int], actions: Iterable[Action], table: Table
) -> Round:
    """The state after all actions. Raises what ``start`` and ``apply`` raise, with the action's index."""
    state = start(ruleset, stakes, deck, table)
    for index, action in enumerate(actions):
        _take(state, action, index)
    return state


def _take(state: Round, action: Action, index: int) -> None:
    if fault := _fault(state, action):
        box = state.boxes[state.turn].stake.number if state.turn >= 0 else None
        raise IllegalAction(fault, index, box, state.legal_actions())
    _EFFECTS[action.name](state, state.boxes[state.turn], action)


# What a box is offered: one function an action, None where the action is not legal.

_Terms: TypeAlias = tuple[int | None, tuple[int, int] | None, tuple[int, int] | None]
"""The members of a ``LegalAction`` but its name."""


def _offer_exchange(state: Round, box: Box) -> _Terms | None:
    if box.purchase or box.insurance or box.bonus_won or not state.ruleset.exchange:
        return None
    return box.stake.ante, state.ruleset.exchange, None


def _offer_sixth(state: Round, box: Box) -> _Terms | None:
    if box.purchase or box.insurance or not state.ruleset.sixth_card:
        return None
    return box.stake.ante, None, None


def _offer_insurance(state: Round, box: Box) -> _Terms | None:
    terms = state.ruleset.insurance
    if box.insurance or terms is None:
        return None
    hand = state.ruleset.hand(state.seen_hand(box))
    if hand.strength < STRENGTH_FLOORS[terms.threshold]:
        return None
    ante = box.stake.ante
    win = (2 if terms.maximum == "win" else 1) * ante * hand.odds
    least = state.limits.min_stake if terms.minimum == "min_stake" else ante
    most = min(win, MAX_AMOUNT, state.limits.max_payout or MAX_AMOUNT)
    return (None, None, (least, most)) if least <= most else None


def _offer_bet(state: Round, box: Box) -> _Terms:
    return 2 * box.stake.ante, None, None


def _offer_fold(state: Round, box: Box) -> _Terms | None:
    return None if box.insurance else (0, None, None)


def _offer_ante(state: Round, box: Box) -> _Terms:
    return 0, None, None


def _offer_game(state: Round, box: Box) -> _Terms:
    return state.ruleset.game_price(box.stake.ante), None, None


_OFFERS: Final[dict[Phase, dict[ActionName, Callable[[Round, Box], _Terms | None]]]] = {
    "decisions": {
        "exchange": _offer_exchange,
        "buy_sixth": _offer_sixth,
        "insure": _offer_insurance,
        "bet": _offer_bet,
        "fold": _offer_fold,
    },
    "dealer_game": {"take_ante": _offer_ante, "buy_game": _offer_game},
}


# What an action does to the round, once it is legal.


def _exchange(state: Round, box: Box, action: Action) -> None:
    box.purchase = "exchange"
    kept = tuple(card for card in box.hand if card not in action.discard)
    box.hand = kept + _draw(state, len(action.discard))


def _buy_sixth(state: Round, box: Box, action: Action) -> None:
    box.purchase = "buy_sixth"
    box.hand += _draw(state, 1)


def _draw(state: Round, count: int) -> tuple[int, ...]:
    """The next cards of the deck (D3)."""
    first = state.cards_used
    state.cards_used += count
    return state.deck[first : state.cards_used]


def _insure(state: Round, box: Box, action: Action) -> None:
    box.insurance = action.amount


def _choose(state: Round, box: Box, action: Action) -> None:
    box.choice = "bet" if action.name == "bet" else "fold"
    _pass_turn(state, state.turn + 1)


def _choose_dealer_game(state: Round, box: Box, action: Action) -> None:
    box.dealer_choice = "buy_game" if action.name == "buy_game" else "take_ante"
    _pass_turn(state, state.turn + 1)


_EFFECTS: Final[dict[ActionName, Callable[[Round, Box, Action], None]]] = {
    "exchange": _exchange,
    "buy_sixth": _buy_sixth,
    "insure": _insure,
    "bet": _choose,
    "fold": _choose,
    "take_ante": _choose_dealer_game,
    "buy_game": _choose_dealer_game,
}


def _pass_turn(state: Round, place: int) -> None:
    """Turn to the first box from ``place`` on that has to decide, or to what follows the last (A1, A4)."""
    if state.phase == "decisions":
        for turn in range(place, len(state.boxes)):
            if state.boxes[turn].choice is None:
                state.turn = turn
                return
        if has_game(state.dealer) or state.ruleset.game_purchase is None:
            state.phase, state.turn = "settled", -1
            return
        state.phase, place = "dealer_game", 0
    for turn in range(place, len(state.boxes)):
        if state.boxes[turn].choice == "bet":
            state.turn = turn
            return
    _draw_for_dealer(state)
    state.phase, state.turn = "settled", -1


def _draw_for_dealer(state: Round) -> None:
    """Exchange the dealer's card where any box bought his game, once for the table (A5)."""
    terms = state.ruleset.game_purchase
    if terms is None or not any(box.dealer_choice == "buy_game" for box in state.boxes):
        return
    discarded = (max if terms.dealer_discards == "highest" else min)(state.dealer, key=rank)
    place = state.dealer.index(discarded)
    hand, draws = list(state.dealer), []
    while True:
        (drawn,) = _draw(state, 1)
        hand[place] = drawn
        draws.append(DealerDraw(discarded, drawn))
        if not terms.redraw_same_rank or rank(drawn) != rank(discarded) or has_game(hand):
            state.dealer_final, state.draws = tuple(hand), tuple(draws)
            return
        discarded = drawn


# Why an action is illegal, in words for whoever sent it.


def _fault(state: Round, action: Action) -> str | None:
    """What is wrong with an action, None where it is legal (A7)."""
    if state.turn < 0:
        return "the round is over and takes no more actions; leave it out"
    box = state.boxes[state.turn]
    if action.box != box.stake.number:
        return _wrong_box(state, action.box)
    offer = _OFFERS[state.phase].get(action.name)
    terms = offer(state, box) if offer else None
    if terms is None:
        return f"box {action.box} may not {action.name} here: {_why_not_offered(state, box, action.name)}"
    _, cards, amounts = terms
    if cards:
        return _exchange_fault(box, action.discard, *cards)
    if amounts and not amounts[0] <= action.amount <= amounts[1]:
        least, most = amounts
        return f"box {action.box} may insure for {least} to {most} minor units; got {action.amount} (A3)"
    return None


def _exchange_fault(box: Box, discard: Sequence[int], least: int, most: int) -> str | None:
    if not least <= len(discard) <= most:
        return f"an exchange takes {least} to {most} cards; got {len(discard)} (A2)"
    for place, card in enumerate(discard):
        if card not in box.hand:
            return f"box {box.stake.number} does not hold {CODES[card]} (A2)"
        if card in discard[:place]:
            return f"{CODES[card]} cannot be discarded twice (A2)"
    return None


def _wrong_box(state: Round, number: int) -> str:
    turn = f"it is box {state.boxes[state.turn].stake.number}'s turn"
    target = next((box for box in state.boxes if box.stake.number == number), None)
    if target is None:
        return f"the round has no box {number}; {turn}"
    if state.phase == "decisions" and target.stake.blind:
        return f"box {number} is blind and decides nothing before the dealer shows (A1); {turn}"
    if state.phase == "dealer_game" and target.choice == "fold":
        return f"box {number} has folded (A4); {turn}"
    return f"{turn}, not box {number}'s: boxes decide in ascending order (A1)"


def _why_not_offered(state: Round, box: Box, name: ActionName) -> str:
    if name not in _OFFERS[state.phase]:
        if state.phase == "decisions":
            return "the dealer has not shown his cards yet (A4)"
        return "the dealer has shown; the box takes its ante or buys the dealer's game (A4)"
    if box.insurance:
        return "after the insurance only bet is legal (A3)"
    if name == "insure":
        terms = state.ruleset.insurance
        if terms is None:
            return f"{state.ruleset.id} has no insurance"
        if state.ruleset.hand(state.seen_hand(box)).strength < STRENGTH_FLOORS[terms.threshold]:
            return f"it needs {terms.threshold} or better (A3)"
        return "the most that may be insured is less than the least (A3)"
    if box.purchase:
        return f"it has made its one purchase, {box.purchase} (A1, A2)"
    if box.bonus_won and name == "exchange":
        return "its bonus has won on the dealt cards, which leaves the sixth card only (A6)"
    return f"{state.ruleset.id} does not offer it"
