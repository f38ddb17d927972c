"""Other houses' games, written as ruleset files into a folder and played by them: no code knows them."""

from pathlib import Path
from typing import Any

import pytest

from service.game.cards import CODES, FRESH_DECK, card_codes
from service.game.documents import view_document
from service.game.round import LegalAction, start
from service.game.ruleset import Ruleset
from service.game.stakes import BoxStake, IllegalBoxes, OutsideLimits, Table
from service.registry import load_rulesets
from tests.support.rounds import (
    NO_TABLE,
    act,
    box_of,
    clauses,
    deal,
    legal,
    nets,
    outcome,
    play,
    refused,
    seat,
)
from tests.support.rulesets import CARIBBEAN, DROP, LUNAR, OASIS, document, ruleset, write

NO_GAME = "Qh Jd 9s 4c 2d"
NOTHING = "Jh 8d 7c 4s 3h"
EIGHTS = "8h 8d 7c 4s 3h"
FIVES = "5h 5d Ts 6c 2d"
STRAIGHT = "5c 6d 7h 8s 9h"


@pytest.fixture
def caribbean(tmp_path: Path) -> Ruleset:
    return _from_folder(tmp_path, CARIBBEAN)


@pytest.fixture
def oasis(tmp_path: Path) -> Ruleset:
    return _from_folder(tmp_path, OASIS)


@pytest.fixture
def lunar(tmp_path: Path) -> Ruleset:
    return _from_folder(tmp_path, LUNAR)


def _from_folder(folder: Path, house: dict[str, Any]) -> Ruleset:
    write(folder, house)
    return load_rulesets(folder)[house["id"]].ruleset


# Caribbean Stud: nothing to buy


def test_no_purchase_no_bonus_no_insurance(caribbean: Ruleset) -> None:
    state = deal(caribbean, [seat("8h 8d 8c 4s 3h")], FIVES)
    assert legal(state) == ["bet", "fold"]
    for action in ("1 exchange 3h", "1 buy_sixth"):
        assert "caribbean-1 does not offer it" in str(refused(state, action))
    assert "caribbean-1 has no insurance" in str(refused(state, "1 insure 10"))
    with pytest.raises(IllegalBoxes, match="offers no bonus"):
        deal(caribbean, [seat(NOTHING, bonus=10)], FIVES)


def test_A4_without_a_game_purchase_no_game_ends_the_round(caribbean: Ruleset) -> None:
    state = play(caribbean, [seat(NOTHING)], NO_GAME, "", "1 bet")
    assert (state.phase, state.draws, legal(state)) == ("settled", (), [])
    assert "the round is over" in str(refused(state, "1 take_ante"))
    document = outcome(caribbean, [seat(NOTHING)], NO_GAME, "", "1 bet")
    assert (nets(document), box_of(document)["result"]) == ({"ante": 100, "bet": 0}, "no_game")


def test_S4_a_won_ante_is_paid_where_the_ruleset_says_so(caribbean: Ruleset) -> None:
    document = outcome(caribbean, [seat(EIGHTS)], FIVES, "", "1 bet")
    assert nets(document) == {"ante": 100, "bet": 200}
    assert clauses(document) == {"ante": "S4", "bet": "S4"}
    lost = outcome(caribbean, [seat(NOTHING)], FIVES, "", "1 bet")
    assert nets(lost) == {"ante": -100, "bet": -200}
    equal = outcome(caribbean, [seat("5c 5s Th 6d 2h")], FIVES, "", "1 bet")
    assert nets(equal) == {"ante": 0, "bet": 0}


def test_D2_five_cards_at_a_time_to_seven_boxes(caribbean: Ruleset) -> None:
    state = start(caribbean, [BoxStake(number, 5) for number in range(1, 8)], FRESH_DECK, NO_TABLE)
    assert [box.dealt[0] for box in state.boxes] == [0, 5, 10, 15, 20, 25, 30]
    assert state.dealer == (35, 36, 37, 38, 39)
    assert view_document(state)["dealer"]["up_card"] == CODES[39]
    with pytest.raises(IllegalBoxes, match="boxes 1 to 7"):
        start(caribbean, [BoxStake(8, 5)], FRESH_DECK, NO_TABLE)


def test_A8_a_rulesets_own_maximum_stake_and_payout(caribbean: Ruleset) -> None:
    with pytest.raises(OutsideLimits, match="above the maximum stake 500"):
        deal(caribbean, [seat(NOTHING, ante=501)], FIVES)
    document = outcome(caribbean, [seat("Ah Kh Qh Jh Th", ante=500)], "5c 5d Ts 6c 2d", "", "1 bet")
    assert nets(document) == {"ante": 500, "bet": 10_000}
    other = outcome(
        caribbean,
        [seat("Ah Kh Qh Jh Th", ante=500)],
        "5c 5d Ts 6c 2d",
        "",
        "1 bet",
        table=Table(max_payout=20_000),
    )
    assert nets(other)["bet"] == 20_000


# Oasis: an exchange and nothing else


def test_an_exchange_but_no_sixth_card(oasis: Ruleset) -> None:
    state = deal(oasis, [seat(NOTHING)], FIVES, "2c 9d")
    assert state.legal_actions() == (
        LegalAction("exchange", 100, cards=(1, 5)),
        LegalAction("bet", 200),
        LegalAction("fold", 0),
    )
    assert "does not offer it" in str(refused(state, "1 buy_sixth"))
    state = act(state, "1 exchange Jh 8d, 1 bet")
    assert card_codes(state.boxes[0].hand) == ["7c", "4s", "3h", "2c", "9d"]
    assert state.phase == "settled"


def test_S8_only_the_rows_of_its_bonus_pay(oasis: Ruleset) -> None:
    dealer = "Qd Qs 9s 4s 2d"
    for hand, net in (("2c 5c 7c 9c Kc", 500), ("5c 6c 7c 8c 9c", -10), ("Tc Jc Qc Kc Ac", 10_000)):
        assert nets(outcome(oasis, [seat(hand, bonus=10)], dealer, "", "1 bet"))["bonus"] == net


# Lunar: other terms everywhere


def test_A2_an_exchange_of_at_least_two_cards(lunar: Ruleset) -> None:
    state = deal(lunar, [seat(NOTHING)], FIVES)
    assert state.legal_actions()[0] == LegalAction("exchange", 100, cards=(2, 5))
    assert "takes 2 to 5 cards; got 1" in str(refused(state, "1 exchange 3h"))
    assert len(act(state, "1 exchange 3h 4s").boxes[0].hand) == 5
    assert legal(state) == ["exchange", "buy_sixth", "bet", "fold"]


def test_A3_another_threshold_minimum_and_maximum_of_insurance(lunar: Ruleset) -> None:
    three = deal(lunar, [seat("8h 8d 8c 4s 3h")], FIVES)
    assert "insure" not in legal(three)
    assert "it needs straight or better" in str(refused(three, "1 insure 100"))
    state = deal(lunar, [seat(STRAIGHT)], "5h 5d Ts 6c 2d", table=Table(min_stake=7))
    assert LegalAction("insure", None, amounts=(100, 400)) in state.legal_actions()
    weakest = deal(lunar, [seat("Ac 2c 3h 4s 5s")], "5h 5d Ts 6c 2d")
    assert LegalAction("insure", None, amounts=(100, 400)) in weakest.legal_actions()
    low = deal(lunar, [seat(STRAIGHT)], "5h 5d Ts 6c 2d", table=Table(max_payout=99))
    assert "insure" not in legal(low)


def test_S7_insurance_that_returns_on_a_tie(lunar: Ruleset) -> None:
    tie = outcome(lunar, [seat(STRAIGHT)], "5h 6c 7d 8d 9s", "", "1 insure 100, 1 bet")
    assert nets(tie) == {"ante": 0, "bet": 0, "insurance": 0}
    higher = outcome(lunar, [seat(STRAIGHT)], "4h 6c 7d 8d 5s", "", "1 insure 100, 1 bet")
    assert nets(higher)["insurance"] == -100


def test_A5_the_dealers_lowest_card_goes_and_repeats(lunar: Ruleset) -> None:
    state = play(lunar, [seat(NOTHING)], NO_GAME, "2c 2s Kd", "1 bet, 1 buy_game")
    assert [(CODES[draw.discarded], CODES[draw.drawn]) for draw in state.draws] == [
        ("2d", "2c"),
        ("2c", "2s"),
        ("2s", "Kd"),
    ]
    assert card_codes(state.dealer_final) == ["Qh", "Jd", "9s", "4c", "Kd"]


def test_S6_a_failed_purchase_that_pays_the_ante(lunar: Ruleset) -> None:
    document = outcome(lunar, [seat(NOTHING)], NO_GAME, "Kd", "1 bet, 1 buy_game")
    assert nets(document) == {"ante": 100, "bet": 0, "game_purchase": -100}
    assert clauses(document)["ante"] == "S6"


def test_S4_its_own_row_replaces_the_sum(lunar: Ruleset) -> None:
    document = outcome(lunar, [seat("8h 8d 8c 7s 7c")], FIVES, "7d", "1 buy_sixth, 1 bet")
    assert nets(document)["bet"] == 200 * 30
    sixes = outcome(lunar, [seat("8h 8d 7c 7s 3h")], FIVES, "3d", "1 buy_sixth, 1 bet")
    assert nets(sixes)["bet"] == 200 * 4


# One parameter changed in a built-in file


@pytest.mark.parametrize("open_boxes", ["all", "one", "one_per_player"])
def test_A9_the_number_of_open_boxes_is_a_parameter(tmp_path: Path, open_boxes: str) -> None:
    house = ruleset(tmp_path, document(), {"boxes.open.value": open_boxes})
    two_open = [BoxStake(1, 10), BoxStake(2, 10)]
    one_open = [BoxStake(1, 10), BoxStake(2, 10, blind=True)]
    refusing = {"all": one_open, "one": two_open}.get(open_boxes)
    for boxes in (two_open, one_open):
        if boxes is refusing:
            with pytest.raises(IllegalBoxes):
                start(house, boxes, FRESH_DECK, NO_TABLE)
        else:
            assert len(start(house, boxes, FRESH_DECK, NO_TABLE).boxes) == 2


@pytest.mark.parametrize("maximum", [1, 2, 3])
def test_D2_the_number_of_boxes_is_a_parameter(tmp_path: Path, maximum: int) -> None:
    house = ruleset(tmp_path, document("trainer-1"), {"boxes.maximum.value": maximum})
    assert len(start(house, [BoxStake(maximum, 10)], FRESH_DECK, NO_TABLE).boxes) == 1
    with pytest.raises(IllegalBoxes, match=f"boxes 1 to {maximum}; got {maximum + 1}"):
        start(house, [BoxStake(maximum + 1, 10)], FRESH_DECK, NO_TABLE)


def test_A6_without_the_blind_sixth_a_won_bonus_changes_nothing(tmp_path: Path) -> None:
    house = ruleset(tmp_path, document(), {"purchase.blind_sixth.value": False})
    state = deal(house, [seat(STRAIGHT, bonus=10)], FIVES.replace("5h", "5s"), "Td")
    assert legal(state) == ["exchange", "buy_sixth", "insure", "bet", "fold"]
    assert box_of(view_document(act(state, "1 buy_sixth")))["hidden_cards"] == 0


def test_C5_one_combination_pays_the_main_one_only(tmp_path: Path) -> None:
    house = ruleset(tmp_path, document(), {"bet.combinations.value": 1})
    result = outcome(house, [seat("8h 8d Ah Ks 3h")], FIVES, "", "1 bet")
    assert (nets(result)["bet"], box_of(result)["second"]) == (200, None)
    state = deal(house, [seat("Ah Ad Ac Ks 3h")], FIVES)
    assert LegalAction("insure", None, amounts=(1, 600)) in state.legal_actions()


def test_S8_a_second_column_in_another_house(tmp_path: Path) -> None:
    column = {"straight": {"value": 2, "basis": "printed"}}
    house = ruleset(tmp_path, document("online-1"), {"bonus.with_sixth": column})
    dealer = FIVES.replace("5h", "5s")
    assert nets(outcome(house, [seat(STRAIGHT, bonus=10)], dealer, "", "1 bet"))["bonus"] == 400
    sixth = outcome(house, [seat(STRAIGHT, bonus=10)], dealer, "Kd", "1 buy_sixth, 1 bet")
    assert nets(sixth)["bonus"] == 20
    four = outcome(house, [seat("8h 8d 8c 8s 3h", bonus=10)], dealer, "Kd", "1 buy_sixth, 1 bet")
    assert nets(four)["bonus"] == -10


@pytest.mark.parametrize("house", ["trainer-1", "online-1", "casino-1"])
def test_A4_any_house_may_do_without_a_game_purchase(tmp_path: Path, house: str) -> None:
    without = ruleset(tmp_path, document(house), {"game_purchase": DROP})
    assert without.game_price(100) == 0
    assert without.cards_needed == without.max_boxes * 10 + 5
    state = play(without, [seat(NOTHING)], NO_GAME, "", "1 bet")
    assert (state.phase, state.draws) == ("settled", ())
