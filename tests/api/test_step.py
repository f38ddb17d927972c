"""``POST /v1/rounds/step``: the state of a round after each action, and what may come next."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from tests.api.calls import SETTLE, STEP, Api, Document, act, is_problem, rigged, round_body, without
from tests.conftest import Tally
from tests.support.rounds import box_of
from tests.support.vectors import load, settle_body

HIGH_CARD, PAIR, TRIPS = "2c 4d 6h 8s Tc", "9c 9d 2h 5s Jc", "7c 7d 7s 5d Jd"
NO_GAME, GAME = "3c 5h 9h Th Jh", "Qc Qd 3h 4s 8c"
ALWAYS = {"bet": 200, "fold": 0}


def begun(*hands: str, then: str = "", actions: list[Document] | None = None, **members: Any) -> Document:
    return round_body(deal=rigged(*hands, then=then), actions=actions or [], **members)


def names(view: Document) -> list[str]:
    return [offer["action"] for offer in view["legal"]]


def prices(view: Document) -> dict[str, int | None]:
    return {offer["action"]: offer.get("price") for offer in view["legal"]}


def prefixes(body: Document) -> Iterator[Document]:
    for length in range(len(body["actions"]) + 1):
        yield {**body, "actions": body["actions"][:length]}


def test_a_round_just_dealt(api: Api) -> None:
    view = api.step(begun(PAIR, GAME))
    assert (view["phase"], view["box"]) == ("decisions", 1)
    assert view["legal"] == [
        {"action": "exchange", "price": 100, "min_cards": 1, "max_cards": 5},
        {"action": "buy_sixth", "price": 100},
        {"action": "bet", "price": 200},
        {"action": "fold", "price": 0},
    ]
    assert view["dealer"] == {"up_card": "8c"}
    (box,) = view["boxes"]
    assert (box["hand"], box["main"], box["odds"]) == (PAIR.split(), "pair", 1)
    assert (box["stakes"], box["staked"]) == ({"ante": 100}, 100)


def test_a_body_that_step_takes_is_one_that_settle_takes(api: Api) -> None:
    changes: list[Document] = [
        {"boxes": []},
        {"ruleset": "x"},
        {"extra": 1},
        {"actions": act("1 take_ante")},
    ]
    for change in changes:
        body = round_body() | change
        assert api.post(STEP, body).data == api.post(SETTLE, body).data


def test_a_round_with_no_decisions_at_all_is_settled_at_once(api: Api) -> None:
    view = api.step(begun(PAIR, GAME, boxes=[{"box": 1, "ante": 5, "blind": True}]))
    assert (view["phase"], view["box"], view["legal"]) == ("settled", None, [])


@pytest.mark.parametrize(
    ("actions", "offers"),
    [
        ([], ["exchange", "buy_sixth", "insure", "bet", "fold"]),
        (act("1 exchange 5d"), ["insure", "bet", "fold"]),
        (act("1 exchange 7c 7d"), ["bet", "fold"]),
        (act("1 buy_sixth"), ["insure", "bet", "fold"]),
        (act("1 insure 50"), ["bet"]),
        (act("1 buy_sixth", "1 insure 50"), ["bet"]),
        (act("1 bet"), ["take_ante", "buy_game"]),
        (act("1 bet", "1 buy_game"), []),
        (act("1 fold"), []),
    ],
)
def test_what_is_offered_in_turn(actions: list[Document], offers: list[str], api: Api) -> None:
    assert names(api.step(begun(TRIPS, NO_GAME, then="2d 2s", actions=actions))) == offers


@pytest.mark.parametrize(
    ("ruleset", "buy_game", "insurance"),
    [("trainer-1", 100, False), ("online-1", 0, True), ("casino-1", 100, True)],
)
def test_prices_by_ruleset(ruleset: str, buy_game: int, insurance: bool, api: Api) -> None:
    body = begun(TRIPS, NO_GAME, ruleset=ruleset)
    insure: dict[str, int | None] = {"insure": None} if insurance else {}
    assert prices(api.step(body)) == {"exchange": 100, "buy_sixth": 100, **insure, **ALWAYS}
    shown = api.step(body | {"actions": act("1 bet")})
    assert prices(shown) == {"take_ante": 0, "buy_game": buy_game}


@pytest.mark.parametrize(
    ("table", "bounds"),
    [
        ({}, (1, 600)),
        ({"min_stake": 50}, (50, 600)),
        ({"max_payout": 599}, (1, 599)),
        ({"min_stake": 100, "max_payout": 100}, (100, 100)),
        ({"min_stake": 100, "max_payout": 99}, None),
        ({"max_payout": 10**12}, (1, 600)),
    ],
)
def test_bounds_of_an_insurance(table: Document, bounds: tuple[int, int] | None, api: Api) -> None:
    body = begun(TRIPS, NO_GAME, table=table)
    offers = [offer for offer in api.step(body)["legal"] if offer["action"] == "insure"]
    assert [(offer["min_amount"], offer["max_amount"]) for offer in offers] == ([bounds] if bounds else [])
    if bounds:
        for amount in bounds:
            assert names(api.step(body | {"actions": act(f"1 insure {amount}")})) == ["bet"]
        for amount in (bounds[0] - 1 or bounds[1] + 1, bounds[1] + 1):
            problem = api.refused(STEP, body | {"actions": act(f"1 insure {amount}")}, "illegal-action")
            assert f"{bounds[0]} to {bounds[1]}" in problem["detail"]


def test_an_insurance_never_exceeds_what_an_amount_may_be(api: Api) -> None:
    view = api.step(begun(TRIPS, NO_GAME, boxes=[{"box": 1, "ante": 10**12}]))
    (offer,) = (offer for offer in view["legal"] if offer["action"] == "insure")
    assert offer["max_amount"] == 10**12


def test_a_won_bonus_leaves_the_sixth_card_only(api: Api) -> None:
    straight = "2c 3d 4h 5s 6c"
    boxes = [{"box": 1, "ante": 100, "bonus": 10}]
    view = api.step(begun(straight, NO_GAME, boxes=boxes))
    assert names(view) == ["buy_sixth", "insure", "bet", "fold"]
    after = api.step(begun(straight, NO_GAME, then="7d", boxes=boxes, actions=act("1 buy_sixth")))
    assert names(after) == ["insure", "bet", "fold"]
    # Two straights would pay 8, but the sixth card is unseen.
    assert after["legal"][0]["max_amount"] == 2 * 100 * 4


def test_a_box_that_was_paid_for_its_insurance_may_still_buy(api: Api) -> None:
    body = begun(TRIPS, NO_GAME, actions=act("1 insure 50", "1 bet"))
    assert names(api.step(body)) == ["take_ante", "buy_game"]


def test_only_boxes_that_bet_are_asked_after_the_dealer_shows(api: Api) -> None:
    boxes = [{"box": 1, "ante": 5}, {"box": 2, "ante": 5, "blind": True}, {"box": 4, "ante": 5}]
    body = begun(HIGH_CARD, PAIR, TRIPS, NO_GAME, boxes=boxes)
    turns = [
        api.step(body | {"actions": actions})["box"]
        for actions in (
            [],
            act("1 fold"),
            act("1 fold", "4 bet"),
            act("1 fold", "4 bet", "2 take_ante"),
            act("1 fold", "4 bet", "2 take_ante", "4 buy_game"),
        )
    ]
    assert turns == [1, 4, 2, 4, None]


def test_the_context_does_not_matter_here(api: Api) -> None:
    plain = api.post(STEP, begun(PAIR, GAME))
    assert api.post(STEP, begun(PAIR, GAME, context={"a": 1})).data == plain.data


def test_a_wrong_commitment_is_refused_here_too(api: Api) -> None:
    deal = {"server_seed": "ab" * 32, "commitment": "0" * 64}
    api.refused(STEP, round_body(deal=deal), "commitment-mismatch")


# Every vector, one action at a time.


def every_vector() -> Iterator[Document]:
    return map(settle_body, chain(load("rounds.jsonl"), load("rigged.jsonl")))


def check_prefix(api: Api, body: Document, view: Document, outcome: Document) -> None:
    """What settle says of the same actions."""
    if view["phase"] == "settled":
        assert (view["box"], view["legal"]) == (None, [])
        assert api.settle(body) == outcome
        return
    problem = api.refused(SETTLE, body, "round-incomplete")
    assert (problem["phase"], problem["box"]) == (view["phase"], view["box"])
    assert problem["legal"] == view["legal"]
    assert view["box"] is not None


def check_offer(action: Document, view: Document, after: Document) -> None:
    """The action was offered, within its bounds, and costs what was said."""
    assert view["box"] == action["box"]
    (offer,) = (offer for offer in view["legal"] if offer["action"] == action["action"])
    price = offer.get("price")
    if action["action"] == "insure":
        assert offer["min_amount"] <= action["amount"] <= offer["max_amount"]
        price = action["amount"]
    elif action["action"] == "exchange":
        assert offer["min_cards"] <= len(action["discard"]) <= offer["max_cards"]
    assert box_of(after, action["box"])["staked"] == box_of(view, action["box"])["staked"] + price


def check_end(view: Document, outcome: Document) -> None:
    """The finished round as step shows it is the one that was settled."""
    assert without(view["dealer"], "up_card") == outcome["dealer"]
    assert view["dealer"]["up_card"] == outcome["dealer"]["dealt"][-1]
    for seen, settled in zip(view["boxes"], outcome["boxes"], strict=True):
        for name in ("box", "blind", "dealt", "hand", "main", "second", "odds", "staked"):
            assert seen[name] == settled[name]
        assert list(seen["stakes"].items()) == [(bet["name"], bet["stake"]) for bet in settled["bets"]]
        assert seen["hidden_cards"] == 0


def test_each_step_agrees_with_the_settlement(api: Api, tally: Tally) -> None:
    steps = 0
    for body in list(every_vector())[::3]:
        outcome = api.settle(body)
        views = []
        for prefix in prefixes(body):
            view = api.step(prefix)
            assert (view["phase"] == "settled") == (len(prefix["actions"]) == len(body["actions"]))
            check_prefix(api, prefix, view, outcome)
            views.append(view)
        for action, view, after in zip(body["actions"], views, views[1:], strict=False):
            check_offer(action, view, after)
        check_end(views[-1], outcome)
        steps += len(views)
    tally("steps that agree with the settlement of their round", steps)
    assert steps > 700


def candidates(body: Document, view: Document) -> Iterator[Document]:
    """An action of each name for each box that there is, and one that there is not."""
    hand: list[str] = next((box["hand"] for box in view["boxes"] if box["box"] == view["box"]), [])
    bounds: Document = next((offer for offer in view["legal"] if offer["action"] == "insure"), {})
    for number in (*(box["box"] for box in body["boxes"]), 9):
        for name in ("buy_sixth", "bet", "fold", "take_ante", "buy_game"):
            yield {"box": number, "action": name}
        yield {"box": number, "action": "exchange", "discard": hand[:1] or ["As"]}
        yield {"box": number, "action": "insure", "amount": bounds.get("min_amount", 100)}


def test_exactly_what_is_offered_is_legal(api: Api) -> None:
    for body in list(every_vector())[::40]:
        for prefix in prefixes(body):
            view = api.step(prefix)
            for action in candidates(body, view):
                answer = api.post(STEP, prefix | {"actions": [*prefix["actions"], action]})
                if action["box"] == view["box"] and action["action"] in names(view):
                    assert answer.status_code == 200
                else:
                    problem = is_problem(answer, "illegal-action")
                    assert problem["index"] == len(prefix["actions"])
                    assert (problem["box"], problem["legal"]) == (view["box"], view["legal"])
