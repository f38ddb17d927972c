"""``POST /v1/hands/evaluate``: what a hand is worth under a ruleset."""

from random import Random
from typing import Any

import pytest

from service.game.cards import CODES
from tests.api.calls import EVALUATE, Api, Document, without
from tests.support import oracle

ROYAL = ["Ah", "Kh", "Qh", "Jh", "Th"]
RULESETS = ["trainer-1", "online-1", "casino-1"]
ODDS = dict(zip(oracle.ORDER, (0, 1, 1, 2, 3, 4, 5, 7, 20, 50, 100), strict=True))


def evaluated(api: Api, cards: str, ruleset: str = "casino-1") -> Document:
    return api.ask(EVALUATE, {"ruleset": ruleset, "cards": cards.split()})


@pytest.mark.parametrize(
    ("cards", "main", "core", "second", "second_core", "kickers", "odds"),
    [
        ("2c 4d 6h 8s Tc", "none", "", None, "", "Tc 8s 6h 4d 2c", 0),
        ("Ac Kd 6h 8s Tc", "ace_king", "Ac Kd", None, "", "Tc 8s 6h", 1),
        ("9c 2h 9d 5s Jc", "pair", "9c 9d", None, "", "Jc 5s 2h", 1),
        ("Ah Ac As Kd 2d", "three_of_a_kind", "Ah Ac As", "ace_king", "Kd", "Kd 2d", 4),
        ("2d 5d 8d Jd Kd", "flush", "2d 5d 8d Jd Kd", None, "", "", 5),
        ("As Ad Ks Kd 5c", "two_pair", "As Ad Ks Kd", None, "", "5c", 2),
        ("As Ad Ks Kd Qs Qd", "two_pair", "As Ad Ks Kd", "two_pair", "Qs Qd", "Qs", 4),
        ("Th Jh Qh Kh Ah 9h", "royal_flush", "Th Jh Qh Kh Ah", "straight_flush", "9h", "", 150),
        ("Ac 2d 3h 4s 5c Kd", "straight", "Ac 2d 3h 4s 5c", "ace_king", "Kd", "", 5),
    ],
)
def test_a_hand(
    cards: str,
    main: str,
    core: str,
    second: str | None,
    second_core: str,
    kickers: str,
    odds: int,
    api: Api,
) -> None:
    answer = evaluated(api, cards)
    assert answer["cards"] == cards.split(), "as they were sent"
    assert (answer["main"], answer["second"], answer["odds"]) == (main, second, odds)
    assert set(answer["main_core"]) == set(core.split())
    assert set(second_core.split()) <= set(answer["second_core"]), "what the second core adds"
    assert bool(answer["second_core"]) == (second is not None)
    assert [card[0] for card in answer["kickers"]] == [card[0] for card in kickers.split()]
    assert answer["has_game"] is (main != "none")


def test_two_pair_and_two_pair_pays_by_ruleset(api: Api) -> None:
    odds = {ruleset: evaluated(api, "As Ad Ks Kd Qs Qd", ruleset)["odds"] for ruleset in RULESETS}
    assert odds == {"trainer-1": 2, "online-1": 5, "casino-1": 4}


def test_where_one_combination_is_paid_there_is_no_second(api: Api) -> None:
    answer = evaluated(api, "Ah Ac As Kd 2d", "trainer-1")
    assert (answer["second"], answer["second_core"], answer["odds"]) == (None, [], 3)


def test_random_hands_agree_with_the_rule_book_read_literally(api: Api) -> None:
    random = Random("hands over HTTP")
    for number in range(400):
        cards = random.sample(CODES, 5 + number % 2)
        main, second = oracle.result(cards)
        expected = {
            "trainer-1": (main, None, ODDS[main]),
            "casino-1": (main, second, ODDS[main] + (ODDS[second] if second else 0)),
        }
        for ruleset, result in expected.items():
            answer = evaluated(api, " ".join(cards), ruleset)
            assert (answer["main"], answer["second"], answer["odds"]) == result
            held = oracle.cores(cards)
            if main != "none":
                assert (main, frozenset(answer["main_core"])) in held
            if answer["second"]:
                assert (second, frozenset(answer["second_core"])) in held
            best_five = [*answer["main_core"], *answer["kickers"]]
            assert len(set(best_five)) == 5
            assert set(best_five) <= set(cards)


def test_the_order_of_the_cards_does_not_matter(api: Api) -> None:
    random = Random("order")
    for _ in range(30):
        cards = random.sample(CODES, 6)
        answers = [evaluated(api, " ".join(order)) for order in (cards, cards[::-1], sorted(cards))]
        results = {(one["main"], one["second"], one["odds"]) for one in answers}
        assert len(results) == 1


@pytest.mark.parametrize(
    ("cards", "pointer", "told"),
    [
        (["Ah"], "/cards", "must hold 5 to 6 cards; got 1"),
        (list(CODES[:7]), "/cards", "got 7"),
        ([], "/cards", "got 0"),
        (["Ah", "Kh", "Qh", "Jh", "Ah"], "/cards/4", "Ah stands twice"),
        (["Ah", "Kh", "Qh", "Jh", "10h"], "/cards/4", "did you mean Th?"),
        (["ah", "Kh", "Qh", "Jh", "Th"], "/cards/0", "did you mean Ah?"),
        (["Ah", "hK", "Qh", "Jh", "Th"], "/cards/1", "did you mean Kh?"),
        (["Ah", "Kh", " Qh", "Jh", "Th"], "/cards/2", "did you mean Qh?"),
        (["Ah", "Kh", "Qh", "Jh", "1h"], "/cards/4", "such as Td"),
        (["Ah", "Kh", "Qh", "Jh", ""], "/cards/4", "such as Td"),
        (["Ah", "Kh", "Qh", "Jh", "A♥"], "/cards/4", "such as Td"),
        (["Ah", "Kh", "Qh", "Jh", 10], "/cards/4", "10 is no card"),
        (["Ah", "Kh", "Qh", "Jh", ["Th"]], "/cards/4", "no card"),
        (["Ah", "Kh", "Qh", "Jh", {}], "/cards/4", "no card"),
        (["Ah", "Kh", "Qh", "Jh", None], "/cards/4", "no card"),
        ("Ah Kh Qh Jh Th", "/cards", "must be an array of card codes; got a text"),
        (None, "/cards", "null"),
    ],
)
def test_wrong_cards_are_refused(cards: Any, pointer: str, told: str, api: Api) -> None:
    faults = api.faults(EVALUATE, {"ruleset": "casino-1", "cards": cards})
    assert list(faults) == [pointer]
    assert told in faults[pointer]


def test_wrong_bodies_are_refused(api: Api) -> None:
    body = {"ruleset": "casino-1", "cards": ROYAL}
    for name in body:
        assert api.faults(EVALUATE, without(body, name)) == {f"/{name}": "is required"}
    assert "did you mean cards?" in api.faults(EVALUATE, body | {"card": 1})["/card"]
    assert list(api.faults(EVALUATE, body | {"ruleset": 1})) == ["/ruleset"]


@pytest.mark.parametrize("ruleset", ["casino", "", "x" * 100])
def test_an_unknown_ruleset_is_refused(ruleset: str, api: Api) -> None:
    body = {"ruleset": ruleset, "cards": ROYAL}
    slug = "unknown-ruleset" if ruleset else "invalid-request"
    assert list(api.faults(EVALUATE, body, slug)) == ["/ruleset"]
