"""What every stake of a finished round gets back, and why (clauses S1 to S9). Minor units throughout."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from service.game.hands import GAME_FLOOR, KINDS, Evaluation, Kind, evaluate
from service.game.round import BetName, Box, Round
from service.game.ruleset import GamePurchase, Hand, Ruleset

Result: TypeAlias = Literal["win", "lose", "push", "no_game", "fold"]


SettledBet: TypeAlias = dict[str, Any]
"""One stake as an outcome shows it: ``name``, ``stake``, what is ``returned``, the ``net`` that the player
gained or, where negative, lost; ``odds`` where a table of odds paid; ``clause`` and ``reason``.
"""


class SettledBox(NamedTuple):
    """One box: its final hand as the ruleset pays it, its result (S9), its stakes in order and their sums."""

    box: Box
    hand: Hand
    result: Result
    bets: list[SettledBet]
    staked: int
    returned: int


class UnfinishedRound(ValueError):
    """A round that cannot be settled because decisions are missing (A7); ``state`` tells which come next."""

    def __init__(self, state: Round) -> None:
        super().__init__("decisions are missing (A7)")
        self.state = state


class Meeting(NamedTuple):
    """A box facing the dealer. ``purchase`` are the terms on which it bought his game, None if it did not."""

    ruleset: Ruleset
    max_payout: int | None
    box: Box
    hand: Hand
    shown: Evaluation
    purchase: GamePurchase | None
    result: Result


_Return: TypeAlias = tuple[int, int | None, str, str]
"""What comes back, the odds where a table of odds paid, the clause and the reason."""


def settle(state: Round) -> tuple[SettledBox, ...]:
    """Settle every box of a finished round. Raises ``UnfinishedRound`` before its end."""
    if state.phase != "settled":
        raise UnfinishedRound(state)
    shown = evaluate(state.dealer)
    final = evaluate(state.dealer_final) if state.draws else shown
    return tuple(_settle_box(state, box, shown, final) for box in state.boxes)


def _settle_box(state: Round, box: Box, shown: Evaluation, final: Evaluation) -> SettledBox:
    ruleset = state.ruleset
    hand = ruleset.hand(box.hand)
    purchase = ruleset.game_purchase if box.dealer_choice == "buy_game" else None
    result = _result(box, hand, final if purchase else shown)
    meeting = Meeting(ruleset, state.limits.max_payout, box, hand, shown, purchase, result)
    bets: list[SettledBet] = []
    staked = returned = 0
    for name, stake in state.stakes(box).items():
        bet = settled_bet(name, stake, meeting)
        bets.append(bet)
        staked += stake
        returned += bet["returned"]
    return SettledBox(box, hand, result, bets, staked, returned)


def settled_bet(name: BetName, stake: int, meeting: Meeting) -> SettledBet:
    """One stake of a box, settled."""
    returned, odds, clause, reason = _RETURNS[name](stake, meeting)
    bet: SettledBet = {"name": name, "stake": stake, "returned": returned, "net": returned - stake}
    if odds is not None:
        bet["odds"] = odds
    bet["clause"] = clause
    bet["reason"] = reason
    return bet


def _result(box: Box, hand: Hand, dealer: Evaluation) -> Result:
    """Result of a box against the dealer's hand that it met (S9, C3)."""
    if box.choice == "fold":
        return "fold"
    if dealer.strength < GAME_FLOOR:
        return "no_game"
    if hand.strength == dealer.strength:
        return "push"
    return "win" if hand.strength > dealer.strength else "lose"


def _ante(stake: int, meeting: Meeting) -> _Return:
    ante, purchase, result = f"ante {stake}", meeting.purchase, meeting.result
    if purchase and purchase.price == "the_ante":
        return 0, None, "S6", f"{ante} is lost: it was the price of the dealer's card"
    if result == "no_game" and purchase:
        if purchase.failed_ante == "paid":
            return 2 * stake, None, "S6", f"{ante} × 1: still no game after the purchase"
        return stake, None, "S6", f"{ante} returns unpaid: still no game after the purchase"
    if result == "win" and meeting.ruleset.ante_on_win == "paid":
        return 2 * stake, None, "S4", f"{ante} × 1: the player's hand is higher"
    multiple, clause, reason = _ANTES[result]
    return multiple * stake, None, clause, f"{ante} {reason}"


def _bet(stake: int, meeting: Meeting) -> _Return:
    if meeting.result == "win":
        return _won_bet(stake, meeting.hand, meeting.max_payout)
    if meeting.result == "no_game" and meeting.purchase:
        return stake, None, "S6", f"bet {stake} returns: still no game after the purchase"
    multiple, clause, reason = _BETS[meeting.result]
    return multiple * stake, None, clause, f"bet {stake} {reason}"


def _won_bet(stake: int, hand: Hand, max_payout: int | None) -> _Return:
    """The bet pays the odds on both combinations, up to the maximum payout (S4)."""
    win = stake * hand.odds
    reason = f"bet {stake} × {hand.odds}: {_WORDS[hand.main]}"
    if hand.second:
        reason += f" + {_WORDS[hand.second]}"
    if max_payout is not None and win > max_payout:
        reason += f"; {win} capped at the maximum payout {max_payout}"
        win = max_payout
    return stake + win, hand.odds, "S4", reason


def _bonus(stake: int, meeting: Meeting) -> _Return:
    """The bonus goes by the main combination of the box's own cards, whatever the dealer has (S8)."""
    box, terms = meeting.box, meeting.ruleset.bonus
    table: Mapping[Kind, int] = terms.dealt if terms else {}
    cards, which = box.dealt, "dealt cards"
    if terms and terms.with_sixth is not None and box.purchase == "buy_sixth":
        table, cards, which = terms.with_sixth, box.hand, "best five of six"
    main = evaluate(cards).main
    odds = table.get(main)
    if odds is None:
        why = (
            f"no combination on the {which}"
            if main == "none"
            else f"{_WORDS[main]} on the {which} pays nothing"
        )
        return 0, None, "S8", f"bonus {stake} is lost: {why}"
    return stake * (1 + odds), odds, "S8", f"bonus {stake} × {odds}: {_WORDS[main]} on the {which}"


def _insurance(stake: int, meeting: Meeting) -> _Return:
    """The insurance goes by the dealer's hand first shown against the box's final hand (S7)."""
    insurance, shown, terms = f"insurance {stake}", meeting.shown.strength, meeting.ruleset.insurance
    if shown < GAME_FLOOR:
        return 2 * stake, None, "S7", f"{insurance} × 1: the dealer first showed no game"
    if shown > meeting.hand.strength:
        return stake, None, "S7", f"{insurance} returns: the dealer's hand is higher"
    if shown < meeting.hand.strength:
        return 0, None, "S7", f"{insurance} is lost: the dealer has game and the player's hand is higher"
    if terms and terms.on_tie == "return":
        return stake, None, "S7", f"{insurance} returns: the hands are equal"
    return 0, None, "S7", f"{insurance} is lost: the dealer has game and the hands are equal"


def _purchase(stake: int, meeting: Meeting) -> _Return:
    what = "exchange" if meeting.box.purchase == "exchange" else "sixth card"
    return 0, None, "S1", f"the price of the {what}, {stake}, goes to the house in every outcome"


def _game_purchase(stake: int, meeting: Meeting) -> _Return:
    return 0, None, "S6", f"the price of the dealer's card, {stake}, goes to the house in every outcome"


_RETURNS: Final[dict[BetName, Callable[[int, Meeting], _Return]]] = {
    "ante": _ante,
    "bet": _bet,
    "bonus": _bonus,
    "insurance": _insurance,
    "purchase": _purchase,
    "game_purchase": _game_purchase,
}
_ANTES: Final[dict[Result, tuple[int, str, str]]] = {
    "fold": (0, "S2", "is lost: the box folded"),
    "no_game": (2, "S3", "× 1: the dealer has no game"),
    "win": (1, "S4", "returns unpaid: the player's hand is higher"),
    "push": (1, "S5", "returns: the hands are equal"),
    "lose": (0, "S5", "is lost: the dealer's hand is higher"),
}
_BETS: Final[dict[Result, tuple[int, str, str]]] = {
    "no_game": (1, "S3", "returns: the dealer has no game"),
    "push": (1, "S5", "returns: the hands are equal"),
    "lose": (0, "S5", "is lost: the dealer's hand is higher"),
}
_WORDS: Final[dict[Kind, str]] = {
    kind: "ace-king" if kind == "ace_king" else kind.replace("_", " ") for kind in KINDS
}
