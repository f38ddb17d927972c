"""What every stake gets back, and by which clause (S1 to S9)."""

from dataclasses import replace

import pytest

from service.game.ruleset import MAX_AMOUNT, MAX_OUTCOME, Ruleset
from service.game.settlement import settle
from service.game.stakes import Table
from service.registry import Registry
from tests.support.rounds import box_of, clauses, nets, outcome, play, seat

HOUSES = ["trainer-1", "online-1", "casino-1"]

NO_GAME = "Qh Jd 9s 4c 2d"
PAIR_OF_FIVES = "5h 5d Ts 6c 2d"
NOTHING = "Jh 8d 7c 4s 3h"
PAIR_OF_EIGHTS = "8h 8d 7c 4s 3h"
PAIR_OF_FIVES_TOO = "5c 5s Th 6d 2h"
PAIR_OF_FOURS = "4h 4d 7c Tc 3h"
THREE = "7h 7d 7s Kc 3d"


def house_tests(registry: Registry) -> list[Ruleset]:
    return [registry[house].ruleset for house in HOUSES]


# Without a purchase of the dealer's game


@pytest.mark.parametrize(
    ("hand", "dealer", "then", "actions", "result"),
    [
        (PAIR_OF_EIGHTS, PAIR_OF_FIVES, "9c", "1 exchange 3h, 1 bet", "win"),
        (PAIR_OF_EIGHTS, PAIR_OF_FIVES, "9c", "1 buy_sixth, 1 bet", "win"),
        (PAIR_OF_FOURS, PAIR_OF_FIVES, "9c", "1 exchange 3h, 1 bet", "lose"),
        (PAIR_OF_FIVES_TOO, PAIR_OF_FIVES, "2c", "1 exchange 2h, 1 bet", "push"),
        (NOTHING, PAIR_OF_FIVES, "9c", "1 exchange 3h, 1 fold", "fold"),
        (NOTHING, PAIR_OF_FIVES, "9c", "1 buy_sixth, 1 fold", "fold"),
        (NOTHING, NO_GAME, "9c", "1 exchange 3h, 1 bet, 1 take_ante", "no_game"),
        (NOTHING, NO_GAME, "9c Kd", "1 buy_sixth, 1 bet, 1 buy_game", "no_game"),
    ],
)
def test_S1_a_purchase_goes_to_the_house_in_every_outcome(
    registry: Registry, hand: str, dealer: str, then: str, actions: str, result: str
) -> None:
    for ruleset in house_tests(registry):
        document = outcome(ruleset, [seat(hand)], dealer, then, actions)
        assert box_of(document)["result"] == result
        assert nets(document)["purchase"] == -100
        assert clauses(document)["purchase"] == "S1"


@pytest.mark.parametrize("hand", [NOTHING, PAIR_OF_EIGHTS])
@pytest.mark.parametrize("dealer", [NO_GAME, PAIR_OF_FIVES])
def test_S2_a_fold_loses_the_ante(registry: Registry, hand: str, dealer: str) -> None:
    for ruleset in house_tests(registry):
        document = outcome(ruleset, [seat(hand)], dealer, "", "1 fold")
        assert nets(document) == {"ante": -100}
        assert clauses(document) == {"ante": "S2"}
        assert box_of(document)["result"] == "fold"


@pytest.mark.parametrize("hand", ["Jh 8d 7c 5s 3h", "Qc Jh 9c 4s 2h", "Ah Kh Qs Jh Th", "Ac Kc Qc Jc Tc"])
def test_S3_no_game_pays_the_ante_whatever_the_players_hand(registry: Registry, hand: str) -> None:
    for ruleset in house_tests(registry):
        document = outcome(ruleset, [seat(hand)], NO_GAME, "", "1 bet, 1 take_ante")
        assert nets(document) == {"ante": 100, "bet": 0}
        assert clauses(document) == {"ante": "S3", "bet": "S3"}
        assert box_of(document)["result"] == "no_game"


@pytest.mark.parametrize(
    ("hand", "trainer", "online", "casino"),
    [
        ("Ac Kc 8s 7d 4d", 1, 1, 1),
        (PAIR_OF_EIGHTS, 1, 1, 1),
        ("8h 8d Ac Ks 3h", 1, 2, 2),
        ("8h 8d 7c 7s 3h", 2, 2, 2),
        ("Ah Ac Ks Kc 3h", 2, 2, 2),
        ("8h 8d 8c 7s 3h", 3, 3, 3),
        ("Ah Ad Ac Ks 3h", 3, 4, 4),
        ("8h 7d 6d 4s 5c", 4, 4, 4),
        ("Kh 8h 7h 4h 3h", 5, 5, 5),
        ("8h 8d 8c 7s 7c", 7, 7, 7),
        ("8h 8d 8c 8s 7c", 20, 20, 20),
        ("Ah Ad Ac As Kc", 20, 21, 21),
        ("8h 7h 6h 4h 5h", 50, 50, 50),
        ("Ah Kh Qh Jh Th", 100, 100, 100),
    ],
)
def test_S4_a_higher_hand_is_paid_its_odds_and_the_ante_returns(
    registry: Registry, hand: str, trainer: int, online: int, casino: int
) -> None:
    dealer = "Ad Kd 7h 6s 2d" if hand.startswith("Ac") else "3c 3s 9c 6c 2d"
    for ruleset, odds in zip(house_tests(registry), (trainer, online, casino), strict=True):
        document = outcome(ruleset, [seat(hand)], dealer, "", "1 bet")
        assert nets(document) == {"ante": 0, "bet": 200 * odds}
        assert clauses(document) == {"ante": "S4", "bet": "S4"}
        assert box_of(document)["result"] == "win"
        assert box_of(document)["odds"] == odds
        assert [bet.get("odds") for bet in box_of(document)["bets"]] == [None, odds]


@pytest.mark.parametrize(
    ("hand", "sixth", "odds"),
    [
        ("8h 8d 7c 7s 3h", "3d", (2, 5, 4)),
        ("5c 6d 7h 8s 9h", "Td", (4, 8, 8)),
        ("5c 6d 7h 8s 9h", "9d", (4, 8, 8)),
        ("8h 8d 8c 7s 7c", "7h", (7, 14, 14)),
        ("8h 8d 8c 8s 7c", "7h", (20, 27, 27)),
        ("Ah Qh 8h 7h 4h", "Jh", (5, 10, 10)),
        ("Ah Qh 8h 7h 4h", "Qc", (5, 6, 6)),
        ("Ah Kh Qh Jh Th", "9h", (100, 150, 150)),
        ("Ah Kh Qh Jh Th", "2h", (100, 105, 105)),
    ],
)
def test_S4_two_combinations_pay_both_odds_or_the_rulesets_own_row(
    registry: Registry, hand: str, sixth: str, odds: tuple[int, int, int]
) -> None:
    for ruleset, expected in zip(house_tests(registry), odds, strict=True):
        document = outcome(ruleset, [seat(hand)], "3c 3s 9c 6c 2d", sixth, "1 buy_sixth, 1 bet")
        assert nets(document) == {"ante": 0, "bet": 200 * expected, "purchase": -100}
        assert (box_of(document)["second"] is None) == (ruleset.id == "trainer-1")


def test_S4_both_are_paid_as_soon_as_the_main_one_beats_the_dealer(casino: Ruleset) -> None:
    """The dealer's own ace-king beats the box's ace-king, but not its pair."""
    document = outcome(casino, [seat("2h 2s Ac Kc 3h")], "Ad Kd Qh Js 9d", "", "1 bet")
    assert nets(document) == {"ante": 0, "bet": 400}
    beaten = outcome(casino, [seat("2h 2s Ac Kc 3h")], "4d 4h Qh Js 9d", "", "1 bet")
    assert nets(beaten) == {"ante": -100, "bet": -200}


@pytest.mark.parametrize(
    ("max_payout", "won", "capped"), [(799, 799, True), (800, 800, False), (801, 800, False), (1, 1, True)]
)
@pytest.mark.parametrize("house", HOUSES)
def test_S4_the_maximum_payout_caps_what_the_bet_wins(
    registry: Registry, house: str, max_payout: int, won: int, capped: bool
) -> None:
    table = Table(max_payout=max_payout)
    seats = [seat("8h 7d 6d 4s 5c", bonus=10)]
    document = outcome(registry[house].ruleset, seats, "3c 3s 9c 6c 2d", "", "1 bet", table=table)
    ante, bet, bonus = box_of(document)["bets"]
    assert (ante["net"], bet["net"], bet["odds"]) == (0, won, 4)
    assert bet["returned"] == 200 + won
    assert bonus["net"] > max_payout or max_payout >= 10 * 25
    assert bonus["net"] == 10 * {"trainer-1": 25, "online-1": 40, "casino-1": 50}[house]
    assert (f"800 capped at the maximum payout {max_payout}" in bet["reason"]) == capped
    assert ("capped" in bet["reason"]) == capped


def test_S4_the_cap_comes_after_both_odds_are_added_and_for_each_box(casino: Ruleset) -> None:
    seats = [seat("8h 8d Ac Ks 3h"), seat("Th Td Ah Kc 4h", number=2), seat("7h 7c Qd Ts 3s", number=3)]
    document = outcome(
        casino, seats, "3c 5s 5c 6c 2d", "", "1 bet, 2 bet, 3 bet", table=Table(max_payout=300)
    )
    assert [nets(document, number)["bet"] for number in (1, 2, 3)] == [300, 300, 200]
    assert document["totals"]["net"] == 800


def test_S4_the_cap_spares_ante_and_insurance(casino: Ruleset) -> None:
    seats = [seat(THREE, ante=1000)]
    table = Table(max_payout=50)
    document = outcome(casino, seats, NO_GAME, "", "1 insure 50, 1 bet, 1 take_ante", table=table)
    assert nets(document) == {"ante": 1000, "bet": 0, "insurance": 50}


@pytest.mark.parametrize("house", HOUSES)
def test_S5_a_lower_hand_loses_and_equal_hands_return(registry: Registry, house: str) -> None:
    ruleset = registry[house].ruleset
    lost = outcome(ruleset, [seat(PAIR_OF_FOURS)], PAIR_OF_FIVES, "", "1 bet")
    assert (nets(lost), box_of(lost)["result"]) == ({"ante": -100, "bet": -200}, "lose")
    assert clauses(lost) == {"ante": "S5", "bet": "S5"}
    equal = outcome(ruleset, [seat(PAIR_OF_FIVES_TOO)], PAIR_OF_FIVES, "", "1 bet")
    assert (nets(equal), box_of(equal)["result"]) == ({"ante": 0, "bet": 0}, "push")
    assert clauses(equal) == {"ante": "S5", "bet": "S5"}


def test_S5_kickers_decide_and_a_second_combination_does_not(casino: Ruleset) -> None:
    kicker = outcome(casino, [seat("5c 5s Th 6d 2h")], "5h 5d Ts 6c 3d", "", "1 bet")
    assert box_of(kicker)["result"] == "lose"
    tie = outcome(casino, [seat("5c 5s Ah Kd 2h")], "5h 5d As Kc 2d", "", "1 bet")
    assert (box_of(tie)["result"], box_of(tie)["second"]) == ("push", "ace_king")
    worthless_sixth = outcome(casino, [seat("5c 5s Th 6d 2h")], PAIR_OF_FIVES, "2c", "1 exchange 2h, 1 bet")
    assert box_of(worthless_sixth)["result"] == "push"


def test_S5_a_hand_below_ace_king_loses_to_ace_king(casino: Ruleset) -> None:
    document = outcome(casino, [seat("Ah Qc Jc 9c 8d")], "As Kd 4c 3s 2d", "", "1 bet")
    assert nets(document) == {"ante": -100, "bet": -200}


# After a purchase of the dealer's game. The dealer's queen goes; what comes makes the new hand.

PAIR_OF_NINES, ACE_HIGH = "9h", "Ac"


@pytest.mark.parametrize(
    ("house", "hand", "drawn", "result", "net"),
    [
        ("trainer-1", "Th Td 7c 5s 3h", "9h", "win", {"ante": 0, "bet": 200, "game_purchase": -100}),
        ("casino-1", "Th Td Ah Ks 3h", "9h", "win", {"ante": 0, "bet": 400, "game_purchase": -100}),
        ("online-1", "Th Td Ah Ks 3h", "9h", "win", {"ante": -100, "bet": 400}),
        ("trainer-1", "8h 8d 7c 5s 3h", "9h", "lose", {"ante": -100, "bet": -200, "game_purchase": -100}),
        ("casino-1", "8h 8d 7c 5s 3h", "9h", "lose", {"ante": -100, "bet": -200, "game_purchase": -100}),
        ("online-1", "8h 8d 7c 5s 3h", "9h", "lose", {"ante": -100, "bet": -200}),
        ("trainer-1", "9c 9d Jc 4s 2h", "9h", "push", {"ante": 0, "bet": 0, "game_purchase": -100}),
        ("casino-1", "9c 9d Jc 4s 2h", "9h", "push", {"ante": 0, "bet": 0, "game_purchase": -100}),
        ("online-1", "9c 9d Jc 4s 2h", "9h", "push", {"ante": -100, "bet": 0}),
        ("trainer-1", "Th Td 7c 5s 3h", "Ac", "no_game", {"ante": 100, "bet": 0, "game_purchase": -100}),
        ("casino-1", "Th Td 7c 5s 3h", "Ac", "no_game", {"ante": 0, "bet": 0, "game_purchase": -100}),
        ("online-1", "Th Td 7c 5s 3h", "Ac", "no_game", {"ante": -100, "bet": 0}),
    ],
)
def test_S6_after_a_game_purchase_the_box_meets_the_new_hand(
    registry: Registry, house: str, hand: str, drawn: str, result: str, net: dict[str, int]
) -> None:
    document = outcome(registry[house].ruleset, [seat(hand)], NO_GAME, drawn, "1 bet, 1 buy_game")
    assert (box_of(document)["result"], nets(document)) == (result, net)
    named = clauses(document)
    if "game_purchase" in net:
        assert named.pop("game_purchase") == "S6"
    usual = {"win": "S4", "lose": "S5", "push": "S5", "no_game": "S6"}[result]
    assert named == {"ante": "S6" if house == "online-1" else usual, "bet": usual}
    assert document["dealer"]["qualifies"] is False
    assert document["dealer"]["final_qualifies"] is (result != "no_game")


@pytest.mark.parametrize("house", HOUSES)
def test_S6_boxes_that_took_the_ante_are_settled_on_the_hand_first_shown(
    registry: Registry, house: str
) -> None:
    ruleset = replace(registry[house].ruleset, open_boxes="all")
    seats = [
        seat("8h 8d 7c 5s 3h"),
        seat("8c 8s 7d 5h 3s", number=2),
        seat("Th Td 7h 5c 3c", number=3),
    ]
    document = outcome(ruleset, seats, NO_GAME, "9h", "1 bet, 2 bet, 3 fold, 1 take_ante, 2 buy_game")
    assert nets(document, 1) == {"ante": 100, "bet": 0}
    assert nets(document, 2)["bet"] == -200
    assert nets(document, 3) == {"ante": -100}
    assert [box["result"] for box in document["boxes"]] == ["no_game", "lose", "fold"]


def test_S6_a_blind_box_may_buy_as_well(online: Ruleset) -> None:
    seats = [seat(NOTHING), seat("Th Td 7h 5c 3c", number=2, blind=True)]
    document = outcome(online, seats, NO_GAME, "9h", "1 fold, 2 buy_game")
    assert nets(document, 2) == {"ante": -100, "bet": 200}


# Insurance


@pytest.mark.parametrize("house", ["online-1", "casino-1"])
@pytest.mark.parametrize(
    ("dealer", "net", "reason"),
    [
        ("Qh Jd 9s 4c 2d", 60, "no game"),
        ("Qh Qd 9s 4c 2d", -60, "the player's hand is higher"),
        ("Ah Kd 9s 4c 2d", -60, "the player's hand is higher"),
        ("8h 8d 8s 4c 2d", 0, "the dealer's hand is higher"),
    ],
)
def test_S7_insurance_by_the_hand_first_shown(
    registry: Registry, house: str, dealer: str, net: int, reason: str
) -> None:
    actions = "1 insure 60, 1 bet" + (", 1 take_ante" if net == 60 else "")
    document = outcome(registry[house].ruleset, [seat(THREE)], dealer, "", actions)
    assert nets(document)["insurance"] == net
    assert clauses(document)["insurance"] == "S7"
    assert reason in next(bet["reason"] for bet in box_of(document)["bets"] if bet["name"] == "insurance")


@pytest.mark.parametrize("house", ["online-1", "casino-1"])
def test_S7_insurance_is_lost_on_a_tie(registry: Registry, house: str) -> None:
    document = outcome(
        registry[house].ruleset, [seat("5c 6d 7h 8s 9h")], "5h 6c 7d 8d 9s", "", "1 insure 60, 1 bet"
    )
    assert nets(document) == {"ante": 0, "bet": 0, "insurance": -60}


@pytest.mark.parametrize(("drawn", "result"), [("9h", "win"), ("Ac", "no_game")])
def test_S7_a_box_whose_insurance_was_paid_may_still_buy(casino: Ruleset, drawn: str, result: str) -> None:
    document = outcome(casino, [seat(THREE)], NO_GAME, drawn, "1 insure 60, 1 bet, 1 buy_game")
    assert nets(document)["insurance"] == 60
    assert box_of(document)["result"] == result


def test_S7_the_boxs_final_hand_counts(casino: Ruleset) -> None:
    """Three sevens lose to the dealer's eights, the blind sixth card makes four of them."""
    sixth = outcome(casino, [seat(THREE)], "8h 8d 8s 4c 2d", "7c", "1 buy_sixth, 1 insure 60, 1 bet")
    assert nets(sixth)["insurance"] == -60
    straight = [seat("5c 6d 7h 8s 9h", bonus=10)]
    hidden = outcome(casino, straight, "6h 7c 8d 9s Tc", "Td", "1 buy_sixth, 1 insure 60, 1 bet")
    assert (nets(hidden)["insurance"], box_of(hidden)["result"]) == (-60, "push")
    short = outcome(casino, straight, "6h 7c 8d 9s Tc", "2d", "1 buy_sixth, 1 insure 60, 1 bet")
    assert (nets(short)["insurance"], box_of(short)["result"]) == (0, "lose")


# Bonus

BONUS_HANDS = {
    "none": "Jh 8d 7c 4s 3h",
    "ace_king": "Ah Kd 7c 4s 3h",
    "pair": "Ah Ad Kc 4s 3h",
    "two_pair": "Ah Ad Kc Ks 3h",
    "three_of_a_kind": "Ah Ad As Kc 3h",
    "straight": "5c 6d 7h 8s 9h",
    "flush": "2h 5h 7h 9h Kh",
    "full_house": "8h 8d 8s 7c 7d",
    "four_of_a_kind": "Ah Ad As Ac Kh",
    "straight_flush": "5h 6h 7h 8h 9h",
    "royal_flush": "Th Jh Qh Kh Ah",
}
BONUS_ODDS = {
    "trainer-1": {
        "straight": 25,
        "flush": 50,
        "full_house": 100,
        "four_of_a_kind": 300,
        "straight_flush": 500,
        "royal_flush": 1000,
    },
    "online-1": {
        "ace_king": 1,
        "three_of_a_kind": 3,
        "straight": 40,
        "flush": 60,
        "full_house": 100,
        "four_of_a_kind": 200,
        "straight_flush": 500,
        "royal_flush": 1000,
    },
    "casino-1": {
        "straight": 50,
        "flush": 75,
        "full_house": 100,
        "four_of_a_kind": 200,
        "straight_flush": 500,
        "royal_flush": 1000,
    },
}
WITH_SIXTH = {
    "straight": 8,
    "flush": 15,
    "full_house": 30,
    "four_of_a_kind": 100,
    "straight_flush": 150,
    "royal_flush": 300,
}


@pytest.mark.parametrize("kind", BONUS_HANDS)
@pytest.mark.parametrize("house", HOUSES)
@pytest.mark.parametrize("end", ["1 bet", "1 fold"])
def test_S8_the_bonus_goes_by_the_main_combination_of_the_dealt_cards(
    registry: Registry, house: str, kind: str, end: str
) -> None:
    seats = [seat(BONUS_HANDS[kind], bonus=20)]
    document = outcome(registry[house].ruleset, seats, "Qd Qs 9s 5s 2d", "", end)
    odds = BONUS_ODDS[house].get(kind)
    assert nets(document)["bonus"] == (-20 if odds is None else 20 * odds)
    row = next(bet for bet in box_of(document)["bets"] if bet["name"] == "bonus")
    assert (row["clause"], row.get("odds")) == ("S8", odds)


@pytest.mark.parametrize("actions", ["1 bet, 1 take_ante", "1 bet, 1 buy_game", "1 fold"])
def test_S8_the_dealer_does_not_matter(casino: Ruleset, actions: str) -> None:
    straight, nothing = seat("5c 6d 7h 8s 9h", bonus=20), seat(NOTHING, bonus=20)
    assert nets(outcome(casino, [straight], NO_GAME, "Ac", actions))["bonus"] == 1000
    assert nets(outcome(casino, [nothing], NO_GAME, "Ac", actions))["bonus"] == -20


@pytest.mark.parametrize("kind", WITH_SIXTH)
@pytest.mark.parametrize("end", ["1 bet", "1 fold"])
def test_S8_trainer_pays_the_second_column_with_a_sixth_card(trainer: Ruleset, kind: str, end: str) -> None:
    dealer = "Qd Qs 9s 5s 2d"
    seats = [seat(BONUS_HANDS[kind], bonus=20)]
    document = outcome(trainer, seats, dealer, "4c", f"1 buy_sixth, {end}")
    assert nets(document)["bonus"] == 20 * WITH_SIXTH[kind]


@pytest.mark.parametrize("end", ["1 bet", "1 fold"])
def test_S8_only_in_trainer_the_sixth_card_may_win_the_bonus(
    trainer: Ruleset, online: Ruleset, casino: Ruleset, end: str
) -> None:
    four_to_a_flush = [seat("2h 5h 7h 9h Kc", bonus=20)]
    for ruleset, net in ((trainer, 300), (online, -20), (casino, -20)):
        document = outcome(ruleset, four_to_a_flush, "Qd Qs 9s 5s 2d", "Ah", f"1 buy_sixth, {end}")
        assert nets(document)["bonus"] == net


def test_S8_a_sixth_card_that_makes_no_row_loses_the_bonus(trainer: Ruleset) -> None:
    document = outcome(trainer, [seat(THREE, bonus=20)], "Qd Qs 9s 5s 2d", "4c", "1 buy_sixth, 1 bet")
    assert nets(document)["bonus"] == -20


def test_S8_a_blind_sixth_card_does_not_change_the_bonus(casino: Ruleset) -> None:
    seats = [seat("5h 6d 7h 8h 9h", bonus=20)]
    document = outcome(casino, seats, "Qd Qs 9s 5s 2d", "Th", "1 buy_sixth, 1 bet")
    assert (box_of(document)["main"], nets(document)["bonus"]) == ("flush", 1000)


def test_S8_after_an_exchange_the_dealt_cards_still_count(trainer: Ruleset, online: Ruleset) -> None:
    for ruleset, odds in ((trainer, 25), (online, 40)):
        broken = outcome(
            ruleset, [seat("5c 6d 7h 8s 9h", bonus=20)], "Qd Qs 9s 5s 2d", "Kc", "1 exchange 9h, 1 bet"
        )
        assert nets(broken)["bonus"] == 20 * odds
        made = outcome(
            ruleset, [seat("5c 6d 7h 8s Kc", bonus=20)], "Qd Qs 9s 5s 2d", "9h", "1 exchange Kc, 1 bet"
        )
        assert (box_of(made)["main"], nets(made)["bonus"]) == ("straight", -20)


def test_S8_blind_boxes_win_a_bonus_too(online: Ruleset, casino: Ruleset) -> None:
    seats = [seat("5c 6d 7h 8s 9h", bonus=20, blind=True)]
    assert nets(outcome(online, seats, PAIR_OF_FOURS))["bonus"] == 800
    assert nets(outcome(casino, seats, PAIR_OF_FOURS))["bonus"] == 1000


# Results and the outcome as a whole


def test_S9_the_result_names_the_hands_that_met_whatever_the_net(casino: Ruleset) -> None:
    won = outcome(casino, [seat(PAIR_OF_EIGHTS, bonus=500)], PAIR_OF_FIVES, "", "1 bet")
    assert (box_of(won)["result"], box_of(won)["net"]) == ("win", -300)
    lost = outcome(casino, [seat("4c 5d 6h 7s 8h", bonus=500)], "5c 6d 7h 8s 9h", "", "1 bet")
    assert (box_of(lost)["result"], box_of(lost)["net"]) == ("lose", -300 + 25_000)
    folded = outcome(casino, [seat("4c 5d 6h 7s 8h", bonus=500)], "5c 6d 7h 8s 9h", "", "1 fold")
    assert (box_of(folded)["result"], box_of(folded)["net"]) == ("fold", -100 + 25_000)
    bought = outcome(casino, [seat(THREE)], NO_GAME, "Ac", "1 insure 600, 1 bet, 1 buy_game")
    assert (box_of(bought)["result"], box_of(bought)["net"]) == ("no_game", 500)


def test_S9_an_outcome_in_full(casino: Ruleset) -> None:
    seats = [
        seat("7h 7d 7s Kc Ac", ante=100, bonus=25, player="ann"),
        seat("Jh 8d 6c 5s 3h", ante=50, number=2, blind=True, player="ann"),
        seat("Js 8c 6d 5h 3s", ante=30, number=4),
    ]
    actions = "1 buy_sixth, 1 insure 200, 1 bet, 4 fold, 1 buy_game, 2 take_ante"
    document = outcome(casino, seats, NO_GAME, "2h Qs 9d", actions, table=Table(10, None, 5000))
    assert document == {
        "cards_used": 23,
        "dealer": {
            "dealt": ["Qh", "Jd", "9s", "4c", "2d"],
            "kind": "none",
            "qualifies": False,
            "draws": [{"discarded": "Qh", "drawn": "Qs"}, {"discarded": "Qs", "drawn": "9d"}],
            "final": ["9d", "Jd", "9s", "4c", "2d"],
            "final_kind": "pair",
            "final_qualifies": True,
        },
        "boxes": [
            {
                "box": 1,
                "blind": False,
                "player": "ann",
                "dealt": ["7h", "7d", "7s", "Kc", "Ac"],
                "hand": ["7h", "7d", "7s", "Kc", "Ac", "2h"],
                "main": "three_of_a_kind",
                "second": "ace_king",
                "odds": 4,
                "result": "win",
                "bets": [
                    {
                        "name": "ante",
                        "stake": 100,
                        "returned": 100,
                        "net": 0,
                        "clause": "S4",
                        "reason": "ante 100 returns unpaid: the player's hand is higher",
                    },
                    {
                        "name": "bet",
                        "stake": 200,
                        "returned": 1000,
                        "net": 800,
                        "odds": 4,
                        "clause": "S4",
                        "reason": "bet 200 × 4: three of a kind + ace-king",
                    },
                    {
                        "name": "bonus",
                        "stake": 25,
                        "returned": 0,
                        "net": -25,
                        "clause": "S8",
                        "reason": "bonus 25 is lost: three of a kind on the dealt cards pays nothing",
                    },
                    {
                        "name": "insurance",
                        "stake": 200,
                        "returned": 400,
                        "net": 200,
                        "clause": "S7",
                        "reason": "insurance 200 × 1: the dealer first showed no game",
                    },
                    {
                        "name": "purchase",
                        "stake": 100,
                        "returned": 0,
                        "net": -100,
                        "clause": "S1",
                        "reason": "the price of the sixth card, 100, goes to the house in every outcome",
                    },
                    {
                        "name": "game_purchase",
                        "stake": 100,
                        "returned": 0,
                        "net": -100,
                        "clause": "S6",
                        "reason": "the price of the dealer's card, 100, goes to the house in every outcome",
                    },
                ],
                "staked": 725,
                "returned": 1500,
                "net": 775,
            },
            {
                "box": 2,
                "blind": True,
                "player": "ann",
                "dealt": ["Jh", "8d", "6c", "5s", "3h"],
                "hand": ["Jh", "8d", "6c", "5s", "3h"],
                "main": "none",
                "second": None,
                "odds": 0,
                "result": "no_game",
                "bets": [
                    {
                        "name": "ante",
                        "stake": 50,
                        "returned": 100,
                        "net": 50,
                        "clause": "S3",
                        "reason": "ante 50 × 1: the dealer has no game",
                    },
                    {
                        "name": "bet",
                        "stake": 100,
                        "returned": 100,
                        "net": 0,
                        "clause": "S3",
                        "reason": "bet 100 returns: the dealer has no game",
                    },
                ],
                "staked": 150,
                "returned": 200,
                "net": 50,
            },
            {
                "box": 4,
                "blind": False,
                "dealt": ["Js", "8c", "6d", "5h", "3s"],
                "hand": ["Js", "8c", "6d", "5h", "3s"],
                "main": "none",
                "second": None,
                "odds": 0,
                "result": "fold",
                "bets": [
                    {
                        "name": "ante",
                        "stake": 30,
                        "returned": 0,
                        "net": -30,
                        "clause": "S2",
                        "reason": "ante 30 is lost: the box folded",
                    }
                ],
                "staked": 30,
                "returned": 0,
                "net": -30,
            },
        ],
        "totals": {"staked": 905, "returned": 1700, "net": 795},
    }


@pytest.mark.parametrize("house", HOUSES)
def test_S4_the_largest_amounts_stay_exact(registry: Registry, house: str) -> None:
    """A royal flush with its bonus at 10¹² a stake: no number of the outcome exceeds 2⁵³−1."""
    ruleset = registry[house].ruleset
    table = Table(max_stake=MAX_AMOUNT)
    seats = [seat("Th Jh Qh Kh Ah", MAX_AMOUNT, MAX_AMOUNT)]
    document = outcome(ruleset, seats, PAIR_OF_FIVES.replace("h", "c"), "", "1 bet", table=table)
    assert nets(document) == {"ante": 0, "bet": 200 * MAX_AMOUNT, "bonus": 1000 * MAX_AMOUNT}
    assert document["totals"]["returned"] == 1204 * MAX_AMOUNT
    assert ruleset.max_boxes * document["totals"]["returned"] < ruleset.largest_return <= MAX_OUTCOME


def test_S4_settlement_reads_only_the_ruleset_it_was_given(casino: Ruleset) -> None:
    """The engine branches on the ruleset's values: another odd changes one stake and nothing else."""
    other = replace(casino, bet_odds={**casino.bet_odds, "pair": 6})
    one, two = (
        settle(play(ruleset, [seat(PAIR_OF_EIGHTS)], PAIR_OF_FIVES, "", "1 bet"))[0]
        for ruleset in (casino, other)
    )
    assert [bet["net"] for bet in one.bets] == [0, 200]
    assert [bet["net"] for bet in two.bets] == [0, 1200]
