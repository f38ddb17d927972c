"""The course of a round: the deal (D1 to D5), the decisions (A1 to A7) and what is seen of them (A10)."""

import re
from dataclasses import replace
from typing import Any

import pytest

from service.fairness.deal import DeckDeal, SeedDeal
from service.game.cards import CODES, FRESH_DECK, card_codes
from service.game.documents import Document, view_document
from service.game.round import Action, IllegalAction, LegalAction, Round, replay, start
from service.game.ruleset import MAX_AMOUNT, Ruleset
from service.game.settlement import UnfinishedRound, settle
from service.game.stakes import BoxStake, Table
from service.registry import Registry
from service.rounds import RoundRequest, UnknownRuleset, replay_request, settle_request, view_request
from tests.support.cards import cards, rig
from tests.support.rounds import (
    NO_TABLE,
    act,
    box_of,
    deal,
    legal,
    outcome,
    parse_actions,
    play,
    refused,
    seat,
    settled_document,
)

NO_GAME = "Qh Jd 9s 4c 2d"
GAME = "Qh Qd 9s 4c 2d"
NOTHING = "Jh 8d 7c 5s 3h"
OTHER_NOTHING = "Jc 8h 7s 5d 3c"
THREE = "7h 7d 7s Kc 3d"
STRAIGHT = "5c 6d 7h 8s 9c"


def offers(state: Round) -> dict[str, LegalAction]:
    return {offer.name: offer for offer in state.legal_actions()}


# The deal


def test_D1_the_deck_is_read_from_the_top_and_no_card_returns(casino: Ruleset) -> None:
    state = play(
        casino,
        [seat(NOTHING), seat(OTHER_NOTHING, number=2)],
        NO_GAME,
        "2c 3s 4h 5h 6s Kd",
        "1 exchange Jh 8d 7c, 1 bet, 2 exchange Jc 8h, 2 bet, 1 buy_game, 2 take_ante",
    )
    one, two = state.boxes
    assert state.cards_used == 15 + 3 + 2 + 1
    assert card_codes(one.hand + two.hand) == ["5s", "3h", "2c", "3s", "4h", "7s", "5d", "3c", "5h", "6s"]
    assert card_codes([draw.drawn for draw in state.draws]) == ["Kd"]
    used = [*one.dealt, *two.dealt, *state.dealer, *cards("2c 3s 4h 5h 6s Kd")]
    assert sorted(used) == sorted(state.deck[: state.cards_used])


def test_D2_one_card_at_a_time_the_dealer_last_and_his_last_card_up(casino: Ruleset) -> None:
    state = start(casino, [BoxStake(1, 10), BoxStake(2, 10), BoxStake(4, 10)], FRESH_DECK, NO_TABLE)
    assert [box.dealt for box in state.boxes] == [
        (0, 4, 8, 12, 16),
        (1, 5, 9, 13, 17),
        (2, 6, 10, 14, 18),
    ]
    assert state.dealer == (3, 7, 11, 15, 19)
    assert state.cards_used == 20
    assert view_document(state)["dealer"] == {"up_card": CODES[19]}


def test_D2_or_five_at_a_time(casino: Ruleset) -> None:
    ruleset = replace(casino, deal_order="five_at_a_time")
    state = start(ruleset, [BoxStake(1, 10), BoxStake(3, 10)], FRESH_DECK, NO_TABLE)
    assert [box.dealt for box in state.boxes] == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)]
    assert state.dealer == (10, 11, 12, 13, 14)
    assert view_document(state)["dealer"] == {"up_card": CODES[14]}


def test_D2_missing_numbers_get_no_cards(trainer: Ruleset) -> None:
    gaps = start(trainer, [BoxStake(2, 10), BoxStake(4, 10)], FRESH_DECK, NO_TABLE)
    without = start(trainer, [BoxStake(1, 10), BoxStake(2, 10)], FRESH_DECK, NO_TABLE)
    assert [box.dealt for box in gaps.boxes] == [box.dealt for box in without.boxes]
    assert gaps.dealer == without.dealer
    finished = act(gaps, "2 bet, 4 fold")
    assert finished.phase == "settled"


def test_D3_further_cards_come_in_the_order_of_the_actions(trainer: Ruleset) -> None:
    state = play(
        trainer,
        [seat(NOTHING), seat(OTHER_NOTHING, number=2), seat("2h 4d 6h 8c Th", number=3)],
        NO_GAME,
        "Kd 3s 6s Kh As",
        "1 buy_sixth, 1 bet, 2 exchange Jc 3c, 2 bet, 3 buy_sixth, 3 fold, 1 buy_game, 2 buy_game",
    )
    assert card_codes(state.boxes[0].hand)[5:] == ["Kd"]
    assert card_codes(state.boxes[1].hand)[3:] == ["3s", "6s"]
    assert card_codes(state.boxes[2].hand)[5:] == ["Kh"]
    assert card_codes([draw.drawn for draw in state.draws]) == ["As"]


def test_D4_four_boxes_use_at_most_49_cards(casino: Ruleset) -> None:
    dealer = cards("Qh Jd 9s 4c 2d")
    queens = cards("Qc Qd Qs 3c")
    others = [card for card in FRESH_DECK if card not in dealer + queens]
    hands = [" ".join(card_codes(others[place : place + 5])) for place in (0, 5, 10, 15)]
    then = " ".join(card_codes([*others[20:40], *queens]))
    exchanges = ", ".join(f"{n} exchange {hand}, {n} bet" for n, hand in enumerate(hands, start=1))
    state = play(
        casino,
        [seat(hand, number=n) for n, hand in enumerate(hands, start=1)],
        NO_GAME,
        then,
        exchanges + ", 1 buy_game, 2 buy_game, 3 buy_game, 4 buy_game",
    )
    assert len(state.draws) == 4
    assert state.cards_used == casino.cards_needed == 49


def test_D4_each_ruleset_has_cards_for_its_longest_round(registry: Registry) -> None:
    needed = {id: published.ruleset.cards_needed for id, published in registry.items()}
    assert needed == {"casino-1": 4 * 10 + 5 + 4, "online-1": 3 * 10 + 5 + 1, "trainer-1": 4 * 10 + 5 + 1}


@pytest.mark.parametrize(
    ("exchange", "sixth", "per_box"),
    [(None, True, 6), ((1, 1), True, 6), ((1, 3), False, 8), (None, False, 5)],
)
def test_D4_the_longest_round_is_one_of_exchanges_or_sixth_cards(
    casino: Ruleset, exchange: tuple[int, int] | None, sixth: bool, per_box: int
) -> None:
    house = replace(casino, exchange=exchange, sixth_card=sixth, blind_sixth=False)
    assert house.cards_needed == 4 * per_box + 5 + 4


def test_D5_a_round_on_a_named_deck_says_so_and_has_no_commitment(registry: Registry) -> None:
    deck = rig([NOTHING, GAME])
    boxes = (BoxStake(1, 100),)
    request = RoundRequest("casino-1", DeckDeal(deck), boxes, parse_actions("1 fold"))
    document = settle_request(request, registry)
    assert document["deal"] == {"source": "deck", "deck": card_codes(deck), "cards_used": 10}
    seeded = settle_request(request._replace(deal=SeedDeal(bytes(32))), registry)
    assert seeded["deal"]["source"] == "seed"
    assert "commitment" in seeded["deal"]


# The decisions


def test_A1_boxes_decide_in_order_each_finishing_before_the_next(trainer: Ruleset) -> None:
    state = deal(trainer, [seat(NOTHING), seat(OTHER_NOTHING, number=3)], GAME)
    assert view_document(state)["box"] == 1
    assert refused(state, "3 bet").box == 1
    state = act(state, "1 buy_sixth")
    assert view_document(state)["box"] == 1
    assert refused(state, "3 bet").box == 1
    state = act(state, "1 bet")
    assert view_document(state)["box"] == 3
    assert refused(state, "1 fold").box == 3
    state = act(state, "3 fold")
    assert (state.phase, view_document(state)["box"], legal(state)) == ("settled", None, [])


def test_A1_one_purchase_then_insurance_then_bet_or_fold(casino: Ruleset) -> None:
    dealt = deal(casino, [seat(THREE)], GAME)
    assert legal(dealt) == ["exchange", "buy_sixth", "insure", "bet", "fold"]
    assert legal(act(dealt, "1 exchange 3d")) == ["insure", "bet", "fold"]
    assert legal(act(dealt, "1 buy_sixth")) == ["insure", "bet", "fold"]
    assert legal(act(dealt, "1 buy_sixth, 1 insure 1")) == ["bet"]
    assert legal(act(dealt, "1 insure 1")) == ["bet"]
    assert legal(deal(casino, [seat(NOTHING)], GAME)) == ["exchange", "buy_sixth", "bet", "fold"]


def test_A1_prices_of_the_actions(casino: Ruleset, online: Ruleset) -> None:
    dealt = deal(casino, [seat(THREE, ante=150, bonus=10)], NO_GAME)
    assert dealt.legal_actions() == (
        LegalAction("exchange", 150, cards=(1, 5)),
        LegalAction("buy_sixth", 150),
        LegalAction("insure", None, amounts=(1, 900)),
        LegalAction("bet", 300),
        LegalAction("fold", 0),
    )
    assert act(dealt, "1 bet").legal_actions() == (LegalAction("take_ante", 0), LegalAction("buy_game", 150))
    shown = play(online, [seat(NOTHING, ante=150)], NO_GAME, "", "1 bet")
    assert shown.legal_actions() == (LegalAction("take_ante", 0), LegalAction("buy_game", 0))


def test_A1_a_blind_box_decides_nothing_before_the_dealer_shows(casino: Ruleset) -> None:
    seats = [
        seat(NOTHING, blind=True),
        seat(THREE, number=2),
        seat("2c 4d 6h 8c Tc", number=3, blind=True),
    ]
    state = deal(casino, seats, NO_GAME)
    assert view_document(state)["box"] == 2
    assert "blind" in str(refused(state, "1 fold"))
    assert "blind" in str(refused(state, "3 bet"))
    state = act(state, "2 fold")
    assert (state.phase, view_document(state)["box"]) == ("dealer_game", 1)
    state = act(state, "1 take_ante")
    assert view_document(state)["box"] == 3
    assert act(state, "3 buy_game").phase == "settled"


def test_A1_blind_boxes_only_go_straight_to_the_dealer(online: Ruleset) -> None:
    seats = [seat(NOTHING, blind=True), seat(OTHER_NOTHING, number=3, blind=True)]
    assert deal(online, seats, GAME).phase == "settled"
    shown = deal(online, seats, NO_GAME)
    assert (shown.phase, view_document(shown)["box"]) == ("dealer_game", 1)


def test_A2_kept_cards_stay_in_order_and_new_ones_follow(casino: Ruleset) -> None:
    for order in ("3h 8d Jh", "Jh 8d 3h", "8d 3h Jh"):
        state = play(casino, [seat(NOTHING)], GAME, "2c Kd As", f"1 exchange {order}")
        assert card_codes(state.boxes[0].hand) == ["7c", "5s", "2c", "Kd", "As"]
        assert card_codes(state.boxes[0].dealt) == NOTHING.split()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_A2_one_to_five_cards_for_one_ante(trainer: Ruleset, count: int) -> None:
    discard = " ".join(NOTHING.split()[:count])
    state = play(trainer, [seat(NOTHING, ante=70)], GAME, "2c 3d 4h 6s 9d", f"1 exchange {discard}")
    assert len(state.boxes[0].hand) == 5
    assert state.cards_used == 10 + count
    assert state.stakes(state.boxes[0]) == {"ante": 70, "purchase": 70}


def test_A2_the_sixth_card_is_added(trainer: Ruleset) -> None:
    state = play(trainer, [seat(NOTHING, ante=70)], GAME, "2c", "1 buy_sixth")
    assert card_codes(state.boxes[0].hand) == [*NOTHING.split(), "2c"]
    assert state.stakes(state.boxes[0]) == {"ante": 70, "purchase": 70}


@pytest.mark.parametrize("first", ["1 exchange 3h", "1 buy_sixth"])
@pytest.mark.parametrize("second", ["1 exchange 8d", "1 buy_sixth"])
def test_A2_one_or_the_other_once(trainer: Ruleset, first: str, second: str) -> None:
    state = play(trainer, [seat(NOTHING)], GAME, "2c", first)
    error = refused(state, second)
    assert "its one purchase" in str(error)
    assert [offer.name for offer in error.legal] == ["bet", "fold"]


@pytest.mark.parametrize("purchase", ["1 exchange 3d", "1 buy_sixth"])
def test_A2_not_after_insuring(casino: Ruleset, purchase: str) -> None:
    state = play(casino, [seat(THREE)], GAME, "", "1 insure 10")
    assert "after the insurance only bet" in str(refused(state, purchase))


@pytest.mark.parametrize(
    ("hand", "most"),
    [
        ("2h 2d 3s 3c Kd", None),  # two pair is not enough
        ("Ah Kd 8s 5c 3d", None),
        ("2h 2d 2s 4d 3d", 600),  # the weakest of three
        ("Ah Ad As Kc 3d", 800),  # two combinations: 3 + 1
        ("Ah 2d 3h 4s 5s", 800),
        ("2h 5h 8h Th Jh", 1000),
        ("2h 2d 2s 3c 3d", 1400),
        ("6h 6d 6s 6c 3d", 4000),
        ("Ah Ad As Ac Kd", 4200),
        ("5h 6h 7h 8h 9h", 10_000),
        ("Ah Kh Qh Jh Th", 20_000),
    ],
)
@pytest.mark.parametrize("house", ["casino-1", "online-1"])
def test_A3_three_of_a_kind_or_better_insures_up_to_what_the_bet_would_win(
    registry: Registry, house: str, hand: str, most: int | None
) -> None:
    ruleset = registry[house].ruleset
    insure = offers(deal(ruleset, [seat(hand)], "Qd Jc 9s 4c 2c")).get("insure")
    least = {"casino-1": 1, "online-1": 10}[house]
    assert insure == (None if most is None else LegalAction("insure", None, amounts=(least, most)))


def test_A3_trainer_has_no_insurance(trainer: Ruleset) -> None:
    state = deal(trainer, [seat("Ah Kh Qh Jh Th")], GAME.replace("Qh", "Qs"))
    assert "insure" not in legal(state)
    assert "has no insurance" in str(refused(state, "1 insure 10"))


def test_A3_the_cards_then_seen_decide(online: Ruleset) -> None:
    """Three of a kind, after an exchange none, after another four; with a sixth card one more pair."""
    dealt = deal(online, [seat(THREE)], GAME, "7c 3c")
    assert offers(dealt)["insure"].amounts == (10, 600)
    assert offers(act(dealt, "1 exchange Kc"))["insure"].amounts == (10, 4000)
    spoilt = deal(online, [seat(THREE)], GAME, "2c 8c 5d")
    assert "insure" not in legal(act(spoilt, "1 exchange 7d 7s"))
    assert "it needs three_of_a_kind or better" in str(
        refused(act(spoilt, "1 exchange 7d 7s"), "1 insure 10")
    )
    full = deal(online, [seat("7h 7d 7s 3c 3d")], GAME, "3h")
    assert offers(act(full, "1 buy_sixth"))["insure"].amounts == (10, 2800)


@pytest.mark.parametrize(
    ("table", "amounts"),
    [
        (Table(), (1, 600)),
        (Table(min_stake=25), (25, 600)),
        (Table(max_stake=100), (1, 600)),  # the maximum stake does not bound the insurance
        (Table(max_payout=601), (1, 600)),
        (Table(max_payout=600), (1, 600)),
        (Table(max_payout=599), (1, 599)),
        (Table(min_stake=50, max_payout=50), (50, 50)),
        (Table(min_stake=50, max_payout=49), None),
    ],
)
def test_A3_bounds_under_a_tables_limits(
    casino: Ruleset, table: Table, amounts: tuple[int, int] | None
) -> None:
    state = deal(casino, [seat(THREE)], GAME, table=table)
    insure = offers(state).get("insure")
    assert (insure.amounts if insure else None) == amounts
    if amounts is None:
        assert "the most that may be insured is less than the least (A3)" in str(
            refused(state, "1 insure 50")
        )
        return
    least, most = amounts
    for amount in (least, most):
        assert act(state, f"1 insure {amount}").boxes[0].insurance == amount
    for amount in (0, least - 1, most + 1):
        assert f"{least} to {most} minor units; got {amount}" in str(refused(state, f"1 insure {amount}"))


def test_A3_no_insurance_exceeds_the_largest_amount(casino: Ruleset) -> None:
    dealt = deal(casino, [seat("Ah Kh Qh Jh Th", ante=MAX_AMOUNT)], "Qd Jc 9s 4c 2c")
    assert offers(dealt)["insure"].amounts == (1, MAX_AMOUNT)
    capped = deal(
        casino,
        [seat("Ah Kh Qh Jh Th", ante=MAX_AMOUNT)],
        "Qd Jc 9s 4c 2c",
        table=Table(max_payout=MAX_AMOUNT - 1),
    )
    assert offers(capped)["insure"].amounts == (1, MAX_AMOUNT - 1)


@pytest.mark.parametrize("later", ["1 fold", "1 insure 10", "1 exchange 3d", "1 buy_sixth"])
def test_A3_after_it_only_bet_is_legal(casino: Ruleset, later: str) -> None:
    state = play(casino, [seat(THREE)], GAME, "", "1 insure 10")
    error = refused(state, later)
    assert "after the insurance only bet is legal" in str(error)
    assert [offer.name for offer in error.legal] == ["bet"]
    assert act(state, "1 bet").phase == "settled"


def test_A4_boxes_that_bet_choose_in_order_when_the_dealer_has_no_game(trainer: Ruleset) -> None:
    seats = [seat(NOTHING), seat(OTHER_NOTHING, number=2), seat("2h 4d 6h 8c Th", number=4)]
    state = play(trainer, seats, NO_GAME, "", "1 bet, 2 fold, 4 bet")
    assert state.phase == "dealer_game"
    assert legal(state) == ["take_ante", "buy_game"]
    assert refused(state, "4 buy_game").box == 1
    assert "folded" in str(refused(state, "2 buy_game"))
    state = act(state, "1 take_ante")
    assert (legal(state), view_document(state)["box"]) == (["take_ante", "buy_game"], 4)
    assert act(state, "4 take_ante").phase == "settled"


def test_A4_there_is_nothing_to_choose_when_the_dealer_has_game(trainer: Ruleset) -> None:
    for dealer in (GAME, "Ah Kd 4s 3c 2d"):
        state = play(trainer, [seat(NOTHING)], dealer, "", "1 bet")
        assert (state.phase, state.draws, legal(state)) == ("settled", (), [])
        shown = settled_document(state)["dealer"]
        assert (shown["qualifies"], shown["final_qualifies"]) == (True, True)


def test_A4_everybody_folded_no_decision_no_draw_and_the_cards_are_shown(casino: Ruleset) -> None:
    seats = [seat(NOTHING), seat(OTHER_NOTHING, number=2)]
    state = play(casino, seats, NO_GAME, "Ks", "1 fold, 2 fold")
    assert (state.phase, state.draws, state.cards_used) == ("settled", (), 15)
    shown = {
        "dealt": NO_GAME.split(),
        "kind": "none",
        "qualifies": False,
        "draws": [],
        "final": NO_GAME.split(),
        "final_kind": "none",
        "final_qualifies": False,
    }
    assert view_document(state)["dealer"] == {"up_card": "2d", **shown}
    assert settled_document(state)["dealer"] == shown


def draws(ruleset: Ruleset, dealer: str, then: str) -> tuple[list[tuple[str, str]], list[str], int]:
    """(discarded, drawn) of a game purchase, the dealer's hand after it, and the cards it took."""
    state = play(ruleset, [seat("Jh 8d 7c 5s 3h")], dealer, then, "1 bet, 1 buy_game")
    document = settled_document(state)["dealer"]
    shown = [(one["discarded"], one["drawn"]) for one in document["draws"]]
    return shown, document["final"], state.cards_used - 10


@pytest.mark.parametrize("house", ["trainer-1", "online-1", "casino-1"])
def test_A5_the_dealer_exchanges_his_highest_card(registry: Registry, house: str) -> None:
    ruleset = registry[house].ruleset
    assert draws(ruleset, "4c Qh Jd 9s 2d", "9c") == ([("Qh", "9c")], ["4c", "9c", "Jd", "9s", "2d"], 1)
    assert draws(ruleset, "4c Ts Ac 9s 2d", "Kc") == ([("Ac", "Kc")], ["4c", "Ts", "Kc", "9s", "2d"], 1)


def test_A5_once_for_the_table_however_many_buy(casino: Ruleset) -> None:
    seats = [seat(NOTHING), seat(OTHER_NOTHING, number=2), seat("2h 4d 6h 8c Th", number=3)]
    bets = "1 bet, 2 bet, 3 bet, "
    all_buy = play(casino, seats, NO_GAME, "Kd", bets + "1 buy_game, 2 buy_game, 3 buy_game")
    last_buys = play(casino, seats, NO_GAME, "Kd", bets + "1 take_ante, 2 take_ante, 3 buy_game")
    assert all_buy.draws == last_buys.draws
    assert (len(all_buy.draws), all_buy.cards_used) == (1, 21)
    nobody = play(casino, seats, NO_GAME, "Kd", bets + "1 take_ante, 2 take_ante, 3 take_ante")
    assert (nobody.draws, nobody.cards_used, nobody.dealer_final) == ((), 20, nobody.dealer)


def test_A5_nothing_is_drawn_before_the_last_decision(casino: Ruleset) -> None:
    seats = [seat(NOTHING), seat(OTHER_NOTHING, number=2)]
    state = play(casino, seats, NO_GAME, "Kd", "1 bet, 2 bet, 1 buy_game")
    assert (state.phase, state.draws, state.cards_used) == ("dealer_game", (), 15)


def test_A5_casino_draws_again_while_the_rank_repeats_up_to_four_times(casino: Ruleset) -> None:
    assert draws(casino, NO_GAME, "Kd Qc") == ([("Qh", "Kd")], ["Kd", "Jd", "9s", "4c", "2d"], 1)
    twice = [("Qh", "Qc"), ("Qc", "Kd")]
    assert draws(casino, NO_GAME, "Qc Kd Qd") == (twice, ["Kd", "Jd", "9s", "4c", "2d"], 2)
    four = [("Qh", "Qc"), ("Qc", "Qs"), ("Qs", "Qd"), ("Qd", "9c")]
    assert draws(casino, NO_GAME, "Qc Qs Qd 9c") == (four, ["9c", "Jd", "9s", "4c", "2d"], 4)


def test_A5_a_repeated_rank_that_makes_a_game_stays(casino: Ruleset) -> None:
    flush = ["9d", "7d", "4d", "2d"]
    assert draws(casino, "Qh 9d 7d 4d 2d", "Qd Kc") == ([("Qh", "Qd")], ["Qd", *flush], 1)
    again = [("Qh", "Qs"), ("Qs", "Qd")]
    assert draws(casino, "Qh 9d 7d 4d 2d", "Qs Qd Kc") == (again, ["Qd", *flush], 2)


@pytest.mark.parametrize(("drawn", "qualifies"), [("Kd", True), ("Qc", False)])
def test_A5_the_new_hand_has_game_from_ace_king_upwards(casino: Ruleset, drawn: str, qualifies: bool) -> None:
    """Only where the lowest card goes can a purchase make ace-king."""
    assert casino.game_purchase
    terms = replace(casino.game_purchase, dealer_discards="lowest")
    house = replace(casino, game_purchase=terms)
    state = play(house, [seat(NOTHING)], "Ah 6d 4s 9c 2d", f"{drawn} 2c", "1 bet, 1 buy_game")
    assert settled_document(state)["dealer"]["final_qualifies"] is qualifies


@pytest.mark.parametrize("house", ["trainer-1", "online-1"])
def test_A5_the_others_draw_once_even_if_the_rank_repeats(registry: Registry, house: str) -> None:
    ruleset = registry[house].ruleset
    assert draws(ruleset, NO_GAME, "Qc Kd") == ([("Qh", "Qc")], ["Qc", "Jd", "9s", "4c", "2d"], 1)


def test_A6_a_won_bonus_takes_the_exchange_and_hides_the_sixth_card(casino: Ruleset) -> None:
    state = deal(casino, [seat(STRAIGHT, bonus=25)], GAME, "Td")
    assert legal(state) == ["buy_sixth", "insure", "bet", "fold"]
    assert "its bonus has won" in str(refused(state, "1 exchange 5c"))
    bounds = offers(state)["insure"].amounts
    assert bounds == (1, 800)
    bought = act(state, "1 buy_sixth")
    assert offers(bought)["insure"].amounts == bounds  # not the 8 that straight + straight pay
    assert legal(bought) == ["insure", "bet", "fold"]
    view = box_of(view_document(bought))
    assert (view["hand"], view["hidden_cards"], view["main"], view["second"], view["odds"]) == (
        STRAIGHT.split(),
        1,
        "straight",
        None,
        4,
    )
    shown = act(bought, "1 bet")
    view = box_of(view_document(shown))
    assert (view["hand"], view["hidden_cards"], view["second"], view["odds"]) == (
        [*STRAIGHT.split(), "Td"],
        0,
        "straight",
        8,
    )
    assert box_of(settled_document(shown))["odds"] == 8


def test_A6_the_box_may_still_fold(casino: Ruleset) -> None:
    document = outcome(casino, [seat(STRAIGHT, bonus=25)], GAME, "Td", "1 buy_sixth, 1 fold")
    assert box_of(document)["result"] == "fold"
    assert box_of(document)["hand"] == [*STRAIGHT.split(), "Td"]


def test_A6_only_a_staked_bonus_that_won_does_so(casino: Ruleset, online: Ruleset, trainer: Ruleset) -> None:
    for ruleset, hand, bonus in (
        (casino, STRAIGHT, 0),
        (casino, "7h 7d 7s Kc 3d", 25),
        (online, STRAIGHT, 25),
        (trainer, STRAIGHT, 25),
    ):
        state = deal(ruleset, [seat(hand, bonus=bonus)], GAME, "Td")
        assert legal(state)[:2] == ["exchange", "buy_sixth"]
        assert box_of(view_document(act(state, "1 buy_sixth")))["hidden_cards"] == 0


def test_A6_the_blind_sixth_card_stays_hidden_while_other_boxes_decide(casino: Ruleset) -> None:
    seats = [seat(STRAIGHT, bonus=25), seat(NOTHING.replace("7c", "7s"), number=2)]
    state = play(casino, seats, GAME, "Td", "1 buy_sixth, 1 bet")
    assert box_of(view_document(state))["hidden_cards"] == 1
    assert "Td" not in str(view_document(state))
    assert "Td" in str(view_document(act(state, "2 fold")))


# Errors. A box with three of a kind, a blind one, then one with nothing.

TABLE = [
    seat(THREE),
    seat("2c 4d 6h 8c Tc", number=2, blind=True),
    seat("Jc 8h 6s 5d 3c", number=4),
]
FIRST = ["exchange", "buy_sixth", "insure", "bet", "fold"]
LAST = ["exchange", "buy_sixth", "bet", "fold"]
INSURE = ["insure", "bet", "fold"]
CHOICE = ["take_ante", "buy_game"]


@pytest.mark.parametrize(
    ("before", "wrong", "reason", "box", "allowed"),
    [
        ("", "4 bet", "it is box 1's turn, not box 4's", 1, FIRST),
        ("", "2 bet", "box 2 is blind and decides nothing before", 1, FIRST),
        ("", "2 take_ante", "box 2 is blind", 1, FIRST),
        ("", "3 bet", "the round has no box 3", 1, FIRST),
        ("", "1 take_ante", "the dealer has not shown", 1, FIRST),
        ("", "1 buy_game", "the dealer has not shown", 1, FIRST),
        ("", "1 exchange", "takes 1 to 5 cards; got 0", 1, FIRST),
        ("", "1 exchange 3d 9h", "box 1 does not hold 9h", 1, FIRST),
        ("", "1 exchange 2c", "box 1 does not hold 2c", 1, FIRST),
        ("", "1 exchange 7h 7d 7s Kc 3d 2s", "takes 1 to 5 cards; got 6", 1, FIRST),
        ("", "1 insure 601", "box 1 may insure for 1 to 600 minor units; got 601", 1, FIRST),
        ("", "1 insure 0", "1 to 600 minor units; got 0", 1, FIRST),
        (
            "1 exchange 3d",
            "1 exchange 2s",
            "it has made its one purchase, exchange",
            1,
            ["insure", "bet", "fold"],
        ),
        ("1 exchange 3d", "1 buy_sixth", "its one purchase, exchange", 1, INSURE),
        ("1 buy_sixth", "1 buy_sixth", "its one purchase, buy_sixth", 1, INSURE),
        ("1 insure 5", "1 insure 5", "after the insurance only bet", 1, ["bet"]),
        ("1 insure 5", "1 fold", "after the insurance only bet", 1, ["bet"]),
        ("1 insure 5", "1 exchange 3d", "after the insurance only bet", 1, ["bet"]),
        ("1 bet", "1 bet", "it is box 4's turn, not box 1's", 4, LAST),
        ("1 fold", "1 bet", "it is box 4's turn, not box 1's", 4, LAST),
        ("1 bet", "4 insure 5", "it needs three_of_a_kind or better", 4, LAST),
        ("1 bet", "4 exchange 7h", "box 4 does not hold 7h", 4, LAST),
        ("1 bet, 4 bet", "4 take_ante", "it is box 1's turn, not box 4's", 1, CHOICE),
        ("1 bet, 4 bet", "1 bet", "takes its ante or buys the dealer's game", 1, CHOICE),
        ("1 bet, 4 bet", "1 insure 5", "takes its ante or buys the dealer's game", 1, CHOICE),
        ("1 fold, 4 bet", "1 take_ante", "box 1 has folded", 2, CHOICE),
        ("1 fold, 4 bet, 2 buy_game", "2 buy_game", "it is box 4's turn, not box 2's", 4, CHOICE),
        ("1 fold, 4 fold, 2 take_ante", "2 take_ante", "the round is over", None, []),
        ("1 bet, 4 fold, 1 take_ante, 2 take_ante", "4 bet", "the round is over", None, []),
    ],
)
def test_A7_an_illegal_action_names_its_place_and_what_was_legal(
    casino: Ruleset, before: str, wrong: str, reason: str, box: int | None, allowed: list[str]
) -> None:
    deck = rig([*(seat.cards for seat in TABLE), NO_GAME], "2s")
    stakes = [seat.stake for seat in TABLE]
    actions = parse_actions(f"{before}, {wrong}, 1 bet, 9 fold")
    with pytest.raises(IllegalAction, match=re.escape(reason)) as refusal:
        replay(casino, stakes, deck, actions, NO_TABLE)
    error = refusal.value
    assert error.index == len(parse_actions(before))
    assert error.box == box
    assert [offer.name for offer in error.legal] == allowed
    state = replay(casino, stakes, deck, actions[: error.index], NO_TABLE)
    assert error.legal == state.legal_actions()


def test_A7_a_card_discarded_twice(casino: Ruleset) -> None:
    state = deal(casino, TABLE, NO_GAME)
    discard = cards("3d") * 2
    error = refused(state, Action(1, "exchange", discard), index=5)
    assert "3d cannot be discarded twice" in str(error)
    assert error.index == 5


def test_A7_the_limits_are_checked_before_any_action(registry: Registry) -> None:
    request = RoundRequest("casino-1", SeedDeal(bytes(32)), (BoxStake(5, 0),), parse_actions("7 bet"))
    with pytest.raises(ValueError, match="boxes 1 to 4"):
        settle_request(request, registry)
    with pytest.raises(UnknownRuleset, match="'casino'; known are casino-1, online-1, trainer-1"):
        replay_request(request._replace(ruleset="casino"), registry)


@pytest.mark.parametrize("actions", ["", "1 bet", "1 buy_sixth", "1 bet, 4 bet", "1 bet, 4 bet, 1 buy_game"])
def test_A7_a_round_with_decisions_missing_is_not_settled_its_state_is_told(
    casino: Ruleset, registry: Registry, actions: str
) -> None:
    state = play(casino, TABLE, NO_GAME, "2s", actions)
    with pytest.raises(UnfinishedRound) as unfinished:
        settle(state)
    assert unfinished.value.state == state
    request = RoundRequest(
        "casino-1",
        DeckDeal(state.deck),
        tuple(one.stake for one in TABLE),
        parse_actions(actions),
    )
    with pytest.raises(UnfinishedRound):
        settle_request(request, registry)
    assert view_request(request, registry) == view_document(state)


# What is seen


def seen(state: Round) -> dict[int, int]:
    """How many cards of each box are seen."""
    return {box["box"]: len(box["hand"]) for box in view_document(state)["boxes"]}


def test_A10_open_boxes_are_seen_from_their_turn_on_blind_ones_when_the_dealer_shows(casino: Ruleset) -> None:
    state = deal(casino, TABLE, NO_GAME, "2s")
    assert seen(state) == {1: 5, 2: 0, 4: 0}
    state = act(state, "1 buy_sixth")
    assert seen(state) == {1: 6, 2: 0, 4: 0}
    state = act(state, "1 bet")
    assert seen(state) == {1: 6, 2: 0, 4: 5}
    state = act(state, "4 bet")
    assert seen(state) == {1: 6, 2: 5, 4: 5}
    assert seen(act(state, "1 take_ante, 2 take_ante, 4 take_ante")) == {1: 6, 2: 5, 4: 5}


def test_A10_only_the_up_card_of_the_dealer_is_seen_before_he_shows(casino: Ruleset) -> None:
    state = deal(casino, TABLE, NO_GAME, "2s")
    for actions in ("", "1 bet"):
        assert view_document(act(state, actions))["dealer"] == {"up_card": "2d"}
    shown = view_document(act(state, "1 bet, 4 bet"))["dealer"]
    assert (shown["up_card"], shown["dealt"], shown["qualifies"]) == ("2d", NO_GAME.split(), False)


def test_A10_every_box_whose_casino_bonus_has_won_lies_open(casino: Ruleset, online: Ruleset) -> None:
    seats = [
        seat("Jh 8d 6c 5s 3h", bonus=5),
        seat("2h 5h 8h Th Kh", number=2, blind=True, bonus=5),
        seat("5c 6d 7h 8s 9c", number=3, bonus=5),
    ]
    assert seen(deal(casino, seats, GAME)) == {1: 5, 2: 5, 3: 5}
    unstaked = [one._replace(stake=one.stake._replace(bonus=0)) for one in seats]
    assert seen(deal(casino, unstaked, GAME)) == {1: 5, 2: 0, 3: 0}
    blind = [seats[0], seats[1]._replace(stake=seats[1].stake._replace(bonus=10))]
    blind[0] = seats[0]._replace(stake=seats[0].stake._replace(bonus=10))
    assert seen(deal(online, blind, GAME)) == {1: 5, 2: 0}


def test_A10_the_view_of_a_round_under_way(casino: Ruleset) -> None:
    seats = [
        seat(THREE, ante=50, bonus=5, player="ann"),
        seat("Jc 8h 6s 5d 3c", number=2, blind=True, player="ann"),
        seat("2c 4d 6h 8c Tc", number=4),
    ]
    assert view_document(play(casino, seats, NO_GAME, "7c", "1 exchange 3d, 1 insure 20")) == {
        "phase": "decisions",
        "box": 1,
        "legal": [{"action": "bet", "price": 100}],
        "boxes": [
            {
                "box": 1,
                "blind": False,
                "player": "ann",
                "dealt": THREE.split(),
                "hand": ["7h", "7d", "7s", "Kc", "7c"],
                "hidden_cards": 0,
                "main": "four_of_a_kind",
                "second": None,
                "odds": 20,
                "choice": None,
                "dealer_choice": None,
                "stakes": {"ante": 50, "bonus": 5, "insurance": 20, "purchase": 50},
                "staked": 125,
            },
            _unseen(2, ante=100, blind=True, player="ann"),
            _unseen(4, ante=100),
        ],
        "dealer": {"up_card": "2d"},
    }


def _unseen(number: int, *, ante: int, blind: bool = False, **player: str) -> Document:
    stakes = {"ante": ante, **({"bet": 2 * ante} if blind else {})}
    hidden: dict[str, Any] = {"main": None, "second": None, "odds": None, "dealer_choice": None}
    return {
        "box": number,
        "blind": blind,
        **player,
        "dealt": [],
        "hand": [],
        "hidden_cards": 5,
        **hidden,
        "choice": "bet" if blind else None,
        "stakes": stakes,
        "staked": sum(stakes.values()),
    }


def test_A10_the_offers_of_a_view_with_prices_and_bounds(casino: Ruleset) -> None:
    view = view_document(deal(casino, [seat(THREE, ante=50)], NO_GAME))
    assert view["legal"] == [
        {"action": "exchange", "price": 50, "min_cards": 1, "max_cards": 5},
        {"action": "buy_sixth", "price": 50},
        {"action": "insure", "min_amount": 1, "max_amount": 300},
        {"action": "bet", "price": 100},
        {"action": "fold", "price": 0},
    ]
