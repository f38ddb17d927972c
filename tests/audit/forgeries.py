"""Rounds that nobody may settle: by other rules, against the rules, with stakes or seeds out of bounds."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import astuple, replace
from random import Random
from typing import Any

from service.fairness.deal import SeedDeal
from service.game.round import Action, ActionName, Round
from service.game.ruleset import Bonus, GamePurchase, Insurance, Limits, MalformedRuleset, Ruleset
from service.game.stakes import BoxStake, Table


def other_rules(ruleset: Ruleset) -> Iterator[Ruleset]:
    """The same ruleset by its name, with something else in it."""
    bonus, insurance, game, limits = ruleset.bonus, ruleset.insurance, ruleset.game_purchase, ruleset.limits
    changes: list[dict[str, Any]] = [
        {"max_boxes": ruleset.max_boxes + 1},
        *({"open_boxes": which} for which in ("all", "one", "one_per_player")),
        *({"deal_order": order} for order in ("one_by_one", "five_at_a_time")),
        *({"exchange": bounds} for bounds in (None, (1, 5), (1, 1), (2, 5), (3, 3))),
        {"sixth_card": not ruleset.sixth_card},
        {"blind_sixth": not ruleset.blind_sixth},
        {"combinations": 3 - ruleset.combinations, "own_rows": {}},
        *({"ante_on_win": what} for what in ("returned", "paid")),
        *({"bet_odds": {**ruleset.bet_odds, kind: 9}} for kind in ("ace_king", "pair", "two_pair")),
        {"own_rows": {("pair", "ace_king"): 9, ("two_pair", "ace_king"): 9}},
        *(
            {"bonus": other}
            for other in (None, Bonus({"pair": 1, "none": 2}), Bonus({"pair": 3}, {"pair": 4}))
        ),
        {"insurance": None},
        {"insurance": Insurance("ace_king", "min_stake", "win", "lose")},
        {"game_purchase": None},
        *(
            {"game_purchase": GamePurchase("one_more_ante", which, again, what)}
            for which in ("highest", "lowest")
            for again in (True, False)
            for what in ("paid", "returned")
        ),
        {"game_purchase": GamePurchase("the_ante", "highest", False, "lost")},
        *(
            {"limits": other}
            for other in (Limits(1), Limits(limits.min_stake), Limits(limits.min_stake, None, 77))
        ),
    ]
    if bonus:
        changes.append({"bonus": replace(bonus, with_sixth=None if bonus.with_sixth else bonus.dealt)})
    if insurance:
        others: dict[str, Any] = {
            "threshold": "none",
            "minimum": "ante",
            "maximum": "win",
            "on_tie": "return",
        }
        changes += ({"insurance": replace(insurance, **{name: value})} for name, value in others.items())
    if game:
        changes.append({"game_purchase": replace(game, redraw_same_rank=not game.redraw_same_rank)})
    for change in changes:
        with suppress(MalformedRuleset):
            yield replace(ruleset, **change)


def daring_action(state: Round, random: Random) -> Action:
    """What a box may well not do now, although it could be done."""
    box, ante = state.boxes[state.turn], state.boxes[state.turn].stake.ante
    number = random.choice([box.stake.number] * 9 + [random.choice(state.boxes).stake.number])
    if state.phase == "dealer_game":
        return Action(number, random.choice(["take_ante", "buy_game", "fold", "bet"]))
    name: ActionName = random.choice(["exchange", "buy_sixth", "insure", "insure", "fold", "bet"])
    if name == "exchange":
        discard = random.sample(box.hand, random.randint(1, 5))
        more = random.choice([[], [], discard[:1], [random.randrange(52)]])
        return Action(number, name, (*discard, *more)[:5])
    if name == "insure":
        wins = [ante * state.ruleset.hand(hand).odds for hand in (state.seen_hand(box), box.hand)]
        most = state.limits.max_payout or 1
        bounds = [state.limits.min_stake, ante, *wins, 2 * wins[0], 2 * wins[1], most, most, 10**12, 10**12]
        return Action(number, name, amount=max(1, random.choice(bounds) + random.choice([-1, 0, 1])))
    return Action(number, name)


def spoilt(
    stakes: tuple[BoxStake, ...], table: Table, deal: SeedDeal, random: Random
) -> tuple[Any, Table, SeedDeal]:
    """The beginning of a round with something changed that nobody may ask for."""
    place = random.randrange(len(stakes))
    box = stakes[place]
    changes: list[dict[str, Any]] = [
        *({"ante": amount} for amount in (0, 1, 4, 9, 501, 2001, 10**12, 10**12 + 1)),
        *({"bonus": amount} for amount in (1, 4, 9, 501, 2001, 10**12, 10**12 + 1)),
        *({"number": number} for number in (0, 1, 2, 4, 5, 8, 9, 10)),
        *({"blind": not box.blind, "player": player} for player in (None, "ann", "bob")),
        *({"player": player} for player in ("", "a" * 65, "ann", "bob", "\x7f", "ö")),
    ]
    limits = [{name: limit} for name in Table._fields for limit in (0, 1, 10**12, 10**12 + 1)]
    deals: list[dict[str, Any]] = [{"client_seed": "a" * 129}, {"nonce": 2**53}]
    match random.randrange(6):
        case 0:
            return stakes, table._replace(**random.choice(limits)), deal
        case 1:
            return stakes, table, deal._replace(**random.choice(deals))
        case 2:
            return tuple(each._replace(blind=False, player="ann") for each in stakes), table, deal
    return (*stakes[:place], box._replace(**random.choice(changes)), *stakes[place + 1 :]), table, deal


def any_limits(ruleset: Ruleset, table: Table) -> Limits:
    """The limits in force, whatever they are."""
    own = astuple(ruleset.limits)
    return Limits(*(ours if given is None else given for ours, given in zip(own, table, strict=True)))
