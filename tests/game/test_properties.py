"""What holds for every legal round: thousands of random ones, all rulesets, blind boxes and tables."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import get_args

import pytest
from treys import Card, Evaluator

from service.certificate.canonical import canonical_bytes
from service.game.cards import card_codes
from service.game.documents import Document, view_document
from service.game.round import Action, ActionName, Box, IllegalAction, LegalAction, Round, apply, replay
from service.game.ruleset import MAX_AMOUNT, MAX_OUTCOME, Ruleset
from service.game.settlement import UnfinishedRound, settle
from service.registry import load_rulesets
from tests.conftest import Tally
from tests.support import oracle
from tests.support.random_rounds import Played, random_rounds
from tests.support.rounds import settled_document
from tests.support.rulesets import CARIBBEAN, LUNAR, OASIS, write

HOUSES = ["trainer-1", "online-1", "casino-1", "caribbean-1", "oasis-2", "lunar-1"]
ROUNDS = 500
TREYS = Evaluator()


@cache
def rulesets() -> dict[str, Ruleset]:
    with TemporaryDirectory() as folder:
        for house in (CARIBBEAN, OASIS, LUNAR):
            write(Path(folder), house)
        return {id: published.ruleset for id, published in load_rulesets(Path(folder)).items()}


@cache
def played(house: str) -> list[Played]:
    return list(random_rounds(rulesets()[house], ROUNDS))


def states(house: str) -> Iterator[tuple[Played, int, Round]]:
    for one in played(house):
        for index, state in enumerate(one.states):
            yield one, index, state


pytestmark = pytest.mark.parametrize("house", HOUSES)


def test_every_kind_of_round_occurs(house: str, tally: Tally) -> None:
    """The other tests are worth what their rounds are worth."""
    happened: Counter[str] = Counter()
    for one in played(house):
        end = one.states[-1]
        happened.update({action.name for action in one.actions})
        happened.update({box["result"] for box in settled_document(end)["boxes"]})
        happened.update({f"{len(end.draws)} draws", f"{len(end.boxes)} boxes"})
        happened["blind"] += any(box.stake.blind for box in end.boxes)
        happened["capped"] += "capped" in str(settled_document(end))
        happened["hidden sixth"] += any(box.bonus_won and len(box.hand) == 6 for box in end.boxes)
    terms = one.ruleset
    expected = {"bet", "win", "lose", "no_game", "0 draws", "1 boxes", "2 boxes", "3 boxes"}
    expected |= {"capped"} if house != "caribbean-1" else set()
    if terms.exchange:
        expected.add("exchange")
    if terms.sixth_card:
        expected.add("buy_sixth")
    if terms.insurance:
        expected.add("insure")
    if terms.game_purchase:
        expected |= {"take_ante", "buy_game", "1 draws"}
        expected |= {"2 draws"} if terms.game_purchase.redraw_same_rank else set()
    if terms.open_boxes != "all":
        expected.add("blind")
    if terms.blind_sixth:
        expected.add("hidden sixth")
    assert expected <= {what for what, count in happened.items() if count}
    tally("random rounds played to the end", ROUNDS)


def test_D1_cards_used_are_the_decks_top_each_used_once(house: str) -> None:
    for one in played(house):
        end = one.states[-1]
        used = [card for box in end.boxes for card in {*box.dealt, *box.hand}]
        used += [*end.dealer, *(draw.drawn for draw in end.draws)]
        exchanged = [card for action in one.actions for card in action.discard]
        assert sorted(used) == sorted(one.deck[: end.cards_used])
        assert not {card for box in end.boxes for card in box.hand} & set(exchanged)
        assert end.cards_used <= one.ruleset.cards_needed <= 52


def test_D3_cards_come_in_the_order_of_the_actions(house: str) -> None:
    for one in played(house):
        taken: list[int] = []
        for before, action, after in zip(one.states, one.actions, one.states[1:], strict=False):
            if action.name in {"exchange", "buy_sixth"}:
                had, got = before.boxes[before.turn].hand, after.boxes[before.turn].hand
                kept = [card for card in had if card not in action.discard]
                assert list(got[: len(kept)]) == kept
                taken += got[len(kept) :]
        taken += [draw.drawn for draw in one.states[-1].draws]
        dealt = 5 * (len(one.stakes) + 1)
        assert taken == list(one.deck[dealt : dealt + len(taken)])
        assert one.states[-1].cards_used == dealt + len(taken)


def test_the_same_round_has_the_same_bytes(house: str) -> None:
    for one in played(house):
        again = replay(one.ruleset, one.stakes, one.deck, one.actions, one.table)
        assert again == one.states[-1]
        assert canonical_bytes(settled_document(again)) == canonical_bytes(settled_document(one.states[-1]))


def test_money_adds_up(house: str) -> None:
    for one in played(house):
        document = settled_document(one.states[-1])
        for box in document["boxes"]:
            for bet in box["bets"]:
                assert bet["net"] == bet["returned"] - bet["stake"]
                assert bet["stake"] > 0 <= bet["returned"] <= MAX_OUTCOME
            for name in ("returned", "net"):
                assert box[name] == sum(bet[name] for bet in box["bets"])
            assert box["staked"] == sum(bet["stake"] for bet in box["bets"])
            names = [bet["name"] for bet in box["bets"]]
            order = ["ante", "bet", "bonus", "insurance", "purchase", "game_purchase"]
            assert names == sorted(names, key=order.index)
        for name in ("staked", "returned", "net"):
            assert document["totals"][name] == sum(box[name] for box in document["boxes"])
            assert abs(document["totals"][name]) <= MAX_OUTCOME


def test_the_stakes_of_the_views_lead_to_the_settlement(house: str) -> None:
    for one in played(house):
        views = [view_document(state) for state in one.states]
        for before, action, after in zip(views, one.actions, views[1:], strict=False):
            offer = next(offer for offer in before["legal"] if offer["action"] == action.name)
            price = offer.get("price", action.amount)
            for was, now in zip(before["boxes"], after["boxes"], strict=True):
                assert now["staked"] == was["staked"] + (price if now["box"] == action.box else 0)
        settled = settled_document(one.states[-1])
        for view, box in zip(views[-1]["boxes"], settled["boxes"], strict=True):
            assert view["stakes"] == {bet["name"]: bet["stake"] for bet in box["bets"]}
            assert view["staked"] == box["staked"]
            assert (view["hand"], view["hidden_cards"]) == (box["hand"], 0)


def test_A7_only_the_end_can_be_settled(house: str) -> None:
    for one, index, state in states(house):
        assert (state.phase == "settled") == (index == len(one.actions))
        if index < len(one.actions):
            assert state.legal_actions()
            with pytest.raises(UnfinishedRound):
                settle(state)
        else:
            assert (state.legal_actions(), state.turn) == ((), -1)


def attempts(state: Round, random: Random) -> Iterator[Action]:
    """Legal and illegal actions: each name for each box, and all around the bounds of the box in turn."""
    names: tuple[ActionName, ...] = get_args(ActionName)
    number = state.boxes[state.turn].stake.number
    for box in range(state.ruleset.max_boxes + 2):
        for name in names:
            if box != number:
                yield Action(box, name)
    hand = state.boxes[state.turn].hand if state.turn >= 0 else ()
    for count in range(len(hand) + 1):
        yield Action(number, "exchange", tuple(random.sample(hand, count)))
    if hand:
        foreign = random.choice([card for card in range(52) if card not in hand])
        yield Action(number, "exchange", (foreign,))
        yield Action(number, "exchange", (*hand[:2], foreign))
        yield Action(number, "exchange", (hand[0], hand[1], hand[0]))
    bounds = [edge for offer in state.legal_actions() for edge in offer.amounts or ()]
    for edge in {1, 10, MAX_AMOUNT, *bounds}:
        for amount in (edge - 1, edge, edge + 1):
            yield Action(number, "insure", amount=amount)
    for name in names:
        if name not in {"exchange", "insure"}:
            yield Action(number, name)


def is_offered(state: Round, action: Action) -> bool:
    """Whether ``legal_actions`` promises that this action is taken."""
    if state.turn < 0 or action.box != state.boxes[state.turn].stake.number:
        return False
    offer: LegalAction | None = next((one for one in state.legal_actions() if one.name == action.name), None)
    if offer is None:
        return False
    if offer.cards:
        least, most = offer.cards
        chosen = set(action.discard)
        return (
            chosen <= set(state.boxes[state.turn].hand)
            and len(chosen) == len(action.discard)
            and least <= len(chosen) <= most
        )
    return offer.amounts is None or offer.amounts[0] <= action.amount <= offer.amounts[1]


def test_A7_what_is_offered_is_accepted_and_everything_else_refused_in_its_place(
    house: str, tally: Tally
) -> None:
    random = Random(house)
    accepted = refused = 0
    for one in played(house)[:150]:
        for index, state in enumerate(one.states):
            for action in attempts(state, random):
                if is_offered(state, action):
                    apply(state, action, index)
                    accepted += 1
                    continue
                with pytest.raises(IllegalAction) as refusal:
                    apply(state, action, index)
                assert (refusal.value.index, refusal.value.legal) == (index, state.legal_actions())
                refused += 1
            wrong = random.choice([one for one in attempts(state, random) if not is_offered(state, one)])
            with pytest.raises(IllegalAction) as refusal:
                replay(
                    one.ruleset,
                    one.stakes,
                    one.deck,
                    [*one.actions[:index], wrong, *one.actions[index:]],
                    one.table,
                )
            assert refusal.value.index == index
    assert accepted > 500
    assert refused > 5_000
    tally("illegal actions refused", refused)


# What is hidden


def visible(state: Round) -> set[int]:
    """Cards that have been shown, by the letter of A10 and A6."""
    boxes = state.boxes
    if state.phase != "decisions":
        shown = [card for box in boxes for card in (*box.dealt, *box.hand)]
        return {*shown, *state.dealer, *(draw.drawn for draw in state.draws)}
    seen = {state.dealer[-1]}
    for place, box in enumerate(boxes):
        won = bonus_lies_open(state, place)
        if won:
            seen.update(box.dealt)
        elif place <= state.turn and not box.stake.blind:
            seen.update(box.dealt + box.hand)
    return seen


def bonus_lies_open(state: Round, place: int) -> bool:
    terms, box = state.ruleset, state.boxes[place]
    if not (terms.blind_sixth and terms.bonus and box.stake.bonus):
        return False
    return oracle.result(card_codes(box.dealt))[0] in terms.bonus.dealt


def shown(view: Document) -> list[str]:
    """Card codes that a view holds, each card of a box once."""
    codes = [code for box in view["boxes"] for code in {*box["dealt"], *box["hand"]}]
    dealer = view["dealer"]
    drawn = [draw["drawn"] for draw in dealer.get("draws", ())]
    return codes + (dealer["dealt"] + drawn if "dealt" in dealer else [dealer["up_card"]])


def test_A10_a_view_shows_each_visible_card_once_and_no_other(house: str) -> None:
    for one, index, state in states(house):
        exchanged = {card for action in one.actions[:index] for card in action.discard}
        codes = shown(view_document(state))
        assert len(set(codes)) == len(codes)
        assert set(codes) == set(card_codes(sorted(visible(state))))
        assert exchanged <= visible(state)


def test_A10_a_view_says_nothing_of_hidden_cards(house: str, tally: Tally) -> None:
    """Decks that differ only in what is hidden give the same view, whatever was decided before."""
    random = Random(house)
    compared = 0
    for one, index, state in states(house):
        seen = visible(state)
        places = [place for place, card in enumerate(one.deck) if card not in seen]
        hidden = [one.deck[place] for place in places]
        other = list(one.deck)
        for place, card in zip(places, random.sample(hidden, len(hidden)), strict=True):
            other[place] = card
        again = _replayed(one, tuple(other), index)
        if again is None:
            continue
        assert view_document(again) == view_document(state)
        compared += 1
    assert compared > 3 * ROUNDS / 2
    tally("views compared on decks that differ in hidden cards", compared)


def _replayed(one: Played, deck: tuple[int, ...], index: int) -> Round | None:
    """The same decisions on another deck; None where another box's bonus lies open, which all may see."""
    again = replay(one.ruleset, one.stakes, deck, (), one.table)
    start = one.states[0]
    if [box.bonus_won for box in again.boxes] != [box.bonus_won for box in start.boxes]:
        return None
    return replay(one.ruleset, one.stakes, deck, one.actions[:index], one.table)


# Settlement once more, by the letter


def strength(codes: list[str]) -> int:
    """A hand's place by treys, the highest best."""
    return -int(TREYS.evaluate([Card.new(code) for code in codes], []))


def expected_result(box: Document, choice: Box, dealer: Document) -> str:
    met = dealer["final"] if choice.dealer_choice == "buy_game" else dealer["dealt"]
    difference = strength(box["hand"]) - strength(met)
    if choice.choice == "fold":
        return "fold"
    if oracle.result(met)[0] == "none":
        return "no_game"
    return "win" if difference > 0 else "lose" if difference < 0 else "push"


def expected_odds(terms: Ruleset, hand: list[str]) -> int:
    main, second = oracle.result(hand)
    odds = {str(kind): value for kind, value in terms.bet_odds.items()} | {"none": 0}
    if second is None or terms.combinations == 1:
        return odds[main]
    own = {f"{one} {other}": value for (one, other), value in terms.own_rows.items()}
    return own.get(f"{main} {second}", odds[main] + odds[second])


def expected_bonus(terms: Ruleset, box: Document) -> int:
    """What one unit of bonus wins or loses."""
    assert terms.bonus
    second_column = terms.bonus.with_sixth is not None and len(box["hand"]) == 6
    table = terms.bonus.with_sixth if second_column else terms.bonus.dealt
    kind, _ = oracle.result(box["hand"] if second_column else box["dealt"])
    return {str(row): odds for row, odds in (table or {}).items()}.get(kind, -1)


def expected_insurance(terms: Ruleset, box: Document, dealer: Document) -> int:
    """What one unit of insurance wins or loses."""
    assert terms.insurance
    difference = strength(box["hand"]) - strength(dealer["dealt"])
    if oracle.result(dealer["dealt"])[0] == "none":
        return 1
    return -1 if difference > 0 or (difference == 0 and terms.insurance.on_tie == "lose") else 0


def expected_nets(end: Round, box: Document, dealer: Document) -> tuple[str, dict[str, int]]:
    """Result and net of each stake of a box, from its cards and decisions (S1 to S9)."""
    terms = end.ruleset
    choice = next(other for other in end.boxes if other.stake.number == box["box"])
    ante, bonus = choice.stake.ante, choice.stake.bonus
    result = expected_result(box, choice, dealer)
    won = min(2 * ante * expected_odds(terms, box["hand"]), end.limits.max_payout or MAX_OUTCOME)

    won_ante = ante if terms.ante_on_win == "paid" else 0
    nets = {"ante": {"fold": -ante, "no_game": ante, "win": won_ante, "push": 0, "lose": -ante}[result]}
    if choice.choice == "bet":
        nets["bet"] = {"no_game": 0, "win": won, "push": 0, "lose": -2 * ante}[result]
    if choice.dealer_choice == "buy_game" and terms.game_purchase:
        if result == "no_game":
            nets["ante"] = {"paid": ante, "returned": 0, "lost": -ante}[terms.game_purchase.failed_ante]
        if terms.game_purchase.price == "the_ante":
            nets["ante"] = -ante
        else:
            nets["game_purchase"] = -ante
    if choice.purchase:
        nets["purchase"] = -ante
    if bonus:
        nets["bonus"] = bonus * expected_bonus(terms, box)
    if choice.insurance:
        nets["insurance"] = choice.insurance * expected_insurance(terms, box, dealer)
    return result, nets


def test_S1_S2_S3_S4_S5_S6_S7_S8_S9_every_stake_by_the_letter(house: str) -> None:
    for one in played(house):
        document = settled_document(one.states[-1])
        for box in document["boxes"]:
            nets = {bet["name"]: bet["net"] for bet in box["bets"]}
            assert (box["result"], nets) == expected_nets(one.states[-1], box, document["dealer"])


def test_A5_the_dealers_draws_by_the_letter(house: str) -> None:
    for one in played(house):
        end = one.states[-1]
        terms = one.ruleset.game_purchase
        bought = any(box.dealer_choice == "buy_game" for box in end.boxes)
        dealer = settled_document(end)["dealer"]
        hand = list(dealer["dealt"])
        draws = []
        if bought and terms:
            further = iter(card_codes(one.deck[end.cards_used - len(end.draws) :]))
            pick = max if terms.dealer_discards == "highest" else min
            out = pick(hand, key=lambda code: oracle.RANKS.index(code[0]))
            place = hand.index(out)
            while True:
                hand[place] = next(further)
                draws.append({"discarded": out, "drawn": hand[place]})
                repeated = hand[place][0] == out[0] and not oracle.cores(hand)
                if not (repeated and terms.redraw_same_rank):
                    break
                out = hand[place]
        assert (dealer["draws"], dealer["final"]) == (draws, hand)
