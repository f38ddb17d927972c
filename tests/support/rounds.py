"""Rounds in a few words: seats with their cards, the dealer's cards, and actions as ``"1 bet, 2 fold"``."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from service.game.documents import Document
from service.game.documents import settled_document as settled
from service.game.round import Action, ActionName, IllegalAction, Round, apply, replay, start
from service.game.ruleset import Ruleset
from service.game.stakes import BoxStake, Table
from tests.support.cards import cards, rig

NO_TABLE = Table()


class Seat(NamedTuple):
    """A box with the five cards that the rigged deck deals to it."""

    stake: BoxStake
    cards: str


def seat(
    codes: str,
    ante: int = 100,
    bonus: int = 0,
    *,
    number: int = 1,
    blind: bool = False,
    player: str | None = None,
) -> Seat:
    return Seat(BoxStake(number, ante, bonus, blind, player), codes)


def parse_actions(text: str) -> tuple[Action, ...]:
    """``"1 exchange 9c 2d, 1 insure 200, 1 bet"`` as actions."""
    return tuple(_action(*line.split()) for line in text.split(",") if line.strip())


def _action(box: str, name: str, *rest: str) -> Action:
    discard = cards(" ".join(rest)) if name == "exchange" else ()
    amount = int(rest[0]) if name == "insure" else 0
    return Action(int(box), cast("ActionName", name), discard, amount)


def deal(
    ruleset: Ruleset, seats: Sequence[Seat], dealer: str, then: str = "", *, table: Table = NO_TABLE
) -> Round:
    """The round just dealt from a deck rigged for these seats."""
    deck = rig([*(seat.cards for seat in seats), dealer], then, order=ruleset.deal_order)
    return start(ruleset, [seat.stake for seat in seats], deck, table)


def play(
    ruleset: Ruleset,
    seats: Sequence[Seat],
    dealer: str,
    then: str = "",
    actions: str = "",
    *,
    table: Table = NO_TABLE,
) -> Round:
    """The round after these actions."""
    deck = rig([*(seat.cards for seat in seats), dealer], then, order=ruleset.deal_order)
    return replay(ruleset, [seat.stake for seat in seats], deck, parse_actions(actions), table)


def act(state: Round, actions: str) -> Round:
    """The state after some more actions."""
    for index, action in enumerate(parse_actions(actions)):
        state = apply(state, action, index)
    return state


def refused(state: Round, action: Action | str, index: int = 0) -> IllegalAction:
    """The error that an illegal action meets; fails where the action is legal."""
    one = parse_actions(action)[0] if isinstance(action, str) else action
    try:
        apply(state, one, index)
    except IllegalAction as error:
        return error
    raise AssertionError(f"{one} was accepted")


def outcome(
    ruleset: Ruleset,
    seats: Sequence[Seat],
    dealer: str,
    then: str = "",
    actions: str = "",
    *,
    table: Table = NO_TABLE,
) -> Document:
    """The outcome of a whole round on a rigged deck."""
    state = play(ruleset, seats, dealer, then, actions, table=table)
    return settled_document(state)


def settled_document(state: Round) -> Document:
    """What a finished round came to, with the number of cards that it used."""
    return {**settled(state), "cards_used": state.cards_used}


def box_of(document: Document, number: int = 1) -> Document:
    """One box of an outcome or of a view."""
    return next(box for box in document["boxes"] if box["box"] == number)


def nets(document: Document, number: int = 1) -> dict[str, int]:
    """What a box gained or lost on each of its stakes, in the outcome's order."""
    return {bet["name"]: bet["net"] for bet in box_of(document, number)["bets"]}


def clauses(document: Document, number: int = 1) -> dict[str, str]:
    """The clause that settled each stake of a box."""
    return {bet["name"]: bet["clause"] for bet in box_of(document, number)["bets"]}


def legal(state: Round) -> list[str]:
    """Names of the actions that are legal now."""
    return [offer.name for offer in state.legal_actions()]
