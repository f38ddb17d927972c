"""Before the dealer shows, ``step`` tells only what lies open on the table (A10)."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from service.game.cards import CODES
from tests.api.calls import (
    SETTLE,
    STEP,
    VERIFY,
    VOID,
    Api,
    Document,
    act,
    certified,
    plain,
    rigged,
    round_body,
)
from tests.conftest import Tally
from tests.support import oracle
from tests.support.rounds import box_of

RULESETS = ["trainer-1", "online-1", "casino-1"]
OPENING = {"straight", "flush", "full_house", "four_of_a_kind", "straight_flush", "royal_flush"}
"""Kinds that win the casino's bonus."""

ACTIONS = ["exchange", "buy_sixth", "insure", "bet", "fold", "take_ante", "buy_game"]
PREFERRED = {"exchange", "buy_sixth", "insure", "buy_game"}
CARD = re.compile("(?<![0-9A-Za-z])[2-9TJQKA][cdhs](?![0-9A-Za-z])")

HIGH_CARD, PAIR, TRIPS, STRAIGHT = "2c 4d 6h 8s Tc", "9c 9d 2h 5s Jc", "7c 7d 7s 5d Jd", "3d 4h 5c 6d 7h"
NO_GAME, GAME = "3c 5h 9h Th Jh", "Qc Qd 3h 4s 8c"


# Each item of A10.


def dealt(*hands: str, then: str = "", actions: Sequence[str] = (), **members: Any) -> Document:
    return round_body(deal=rigged(*hands, then=then), actions=act(*actions), **members)


def shown(box: Document) -> list[str]:
    """The cards of a box, and that everything told of them agrees."""
    hand: list[str] = box["hand"]
    assert box["dealt"] == [] or set(hand) <= set(CODES)
    assert (box["main"] is None) == (box["odds"] is None) == (not hand)
    assert bool(box["dealt"]) == bool(hand)
    return hand


def test_the_dealers_last_card_is_up_and_his_others_are_not(api: Api) -> None:
    boxes = [{"box": 1, "ante": 5}, {"box": 2, "ante": 5}]
    for actions in ((), ("1 fold",), ("1 bet",), ("1 buy_sixth", "1 bet", "2 buy_sixth")):
        view = api.step(dealt(PAIR, HIGH_CARD, NO_GAME, boxes=boxes, actions=actions))
        assert view["dealer"] == {"up_card": "Jh"}


@pytest.mark.parametrize("ruleset", ["trainer-1", "casino-1"])
def test_open_boxes_are_seen_from_their_turn_on(ruleset: str, api: Api) -> None:
    boxes = [{"box": number, "ante": 5} for number in (1, 2, 4)]
    for decided, actions in enumerate(((), ("1 fold",), ("1 bet", "2 exchange 9c", "2 bet"))):
        view = api.step(dealt(HIGH_CARD, PAIR, TRIPS, NO_GAME, ruleset=ruleset, boxes=boxes, actions=actions))
        seen = [bool(shown(box)) for box in view["boxes"]]
        assert seen == [place <= decided for place in range(3)]
        assert [box["hidden_cards"] for box in view["boxes"]] == [0 if one else 5 for one in seen]


def test_a_box_sees_what_it_buys(api: Api) -> None:
    view = api.step(dealt(PAIR, NO_GAME, then="Ah Kh", actions=["1 exchange 2h 5s"]))
    assert (box_of(view)["dealt"], shown(box_of(view))) == (PAIR.split(), ["9c", "9d", "Jc", "Ah", "Kh"])
    view = api.step(dealt(PAIR, NO_GAME, then="Ah Kh", actions=["1 buy_sixth"]))
    assert shown(box_of(view)) == [*PAIR.split(), "Ah"]


@pytest.mark.parametrize("ruleset", ["online-1", "casino-1"])
def test_blind_boxes_are_unseen_until_the_dealer_shows(ruleset: str, api: Api) -> None:
    boxes: list[Document] = [
        {"box": 1, "ante": 10, "blind": True, "bonus": 10},
        {"box": 2, "ante": 10},
        {"box": 3, "ante": 10, "blind": True},
    ]
    for actions in ((), ("2 buy_sixth",)):
        view = api.step(dealt(TRIPS, PAIR, HIGH_CARD, NO_GAME, ruleset=ruleset, boxes=boxes, actions=actions))
        assert [bool(shown(box)) for box in view["boxes"]] == [False, True, False]
        assert [box["hidden_cards"] for box in view["boxes"]] == [5, 0, 5]
    view = api.step(dealt(TRIPS, PAIR, HIGH_CARD, NO_GAME, ruleset=ruleset, boxes=boxes, actions=["2 fold"]))
    assert view["phase"] == "dealer_game"
    assert [shown(box) for box in view["boxes"]] == [TRIPS.split(), PAIR.split(), HIGH_CARD.split()]


def test_a_won_bonus_lays_a_box_open(api: Api) -> None:
    boxes: list[Document] = [
        {"box": 1, "ante": 10},
        {"box": 2, "ante": 10, "bonus": 5},
        {"box": 3, "ante": 10, "bonus": 5, "blind": True},
        {"box": 4, "ante": 10, "blind": True},
    ]
    flush, full_house = "2d 8d Td Qd Kd", "As Ah Ac Ks Kh"
    for ruleset, seen in (
        ("casino-1", [True, True, True, False]),
        ("trainer-1", [True, False, False, False]),
    ):
        seats = [{**box, "blind": False} for box in boxes] if ruleset == "trainer-1" else boxes
        view = api.step(dealt(HIGH_CARD, flush, full_house, STRAIGHT, NO_GAME, ruleset=ruleset, boxes=seats))
        assert [bool(shown(box)) for box in view["boxes"]] == seen


def test_a_lost_bonus_lays_nothing_open(api: Api) -> None:
    boxes = [{"box": 1, "ante": 10}, {"box": 2, "ante": 10, "bonus": 5, "blind": True}]
    view = api.step(dealt(HIGH_CARD, TRIPS, NO_GAME, boxes=boxes))
    assert shown(box_of(view, 2)) == []


def test_a_blind_sixth_card_is_unseen_until_the_dealer_shows(api: Api) -> None:
    boxes = [{"box": 1, "ante": 10, "bonus": 5}, {"box": 2, "ante": 10}]
    body = dealt(STRAIGHT, PAIR, NO_GAME, then="8d", boxes=boxes, actions=["1 buy_sixth"])
    before = [api.step(body), api.step(body | {"actions": act("1 buy_sixth", "1 insure 80", "1 bet")})]
    for view in before:
        box = box_of(view)
        assert (shown(box), box["hidden_cards"]) == (STRAIGHT.split(), 1)
        assert (box["main"], box["second"], box["odds"]) == ("straight", None, 4)
    (insure,) = (offer for offer in before[0]["legal"] if offer["action"] == "insure")
    assert insure["max_amount"] == 2 * 10 * 4
    box = box_of(api.step(body | {"actions": act("1 buy_sixth", "1 bet", "2 fold")}))
    assert (shown(box), box["hidden_cards"]) == ([*STRAIGHT.split(), "8d"], 0)
    assert (box["main"], box["second"], box["odds"]) == ("straight", "straight", 8)


def test_where_a_sixth_card_is_not_blind_it_is_seen(api: Api) -> None:
    boxes = [{"box": 1, "ante": 10, "bonus": 10}]
    for ruleset in ("trainer-1", "online-1"):
        body = dealt(STRAIGHT, NO_GAME, then="8d", ruleset=ruleset, boxes=boxes, actions=["1 buy_sixth"])
        assert shown(box_of(api.step(body))) == [*STRAIGHT.split(), "8d"]


def test_all_hands_are_seen_when_the_dealer_shows(api: Api) -> None:
    boxes = [{"box": 1, "ante": 10}, {"box": 2, "ante": 10, "blind": True}]
    for dealer, phase in ((NO_GAME, "dealer_game"), (GAME, "settled")):
        view = api.step(dealt(HIGH_CARD, TRIPS, dealer, boxes=boxes, actions=["1 fold"]))
        assert view["phase"] == phase
        assert [shown(box) for box in view["boxes"]] == [HIGH_CARD.split(), TRIPS.split()]
        assert view["dealer"]["dealt"] == dealer.split()


def test_a_round_in_which_all_fold_still_shows_the_dealer(api: Api) -> None:
    view = api.step(dealt(PAIR, NO_GAME, actions=["1 fold"]))
    assert view["phase"] == "settled"
    assert (view["dealer"]["dealt"], view["dealer"]["draws"]) == (NO_GAME.split(), [])


def test_neither_seed_nor_commitment_nor_deck_is_told(api: Api) -> None:
    random = Random("seeds")
    for _ in range(50):
        seed = random.randbytes(32).hex()
        deal = {"server_seed": seed, "client_seed": "the player's"}
        deck = api.settle(round_body(deal=deal))["deal"]["deck"]
        for actions in ([], act("1 bet"), act("1 fold"), act("1 take_ante")):
            text = api.post(STEP, round_body(deal=deal, actions=actions)).text
            assert seed not in text
            assert "seed" not in text
            assert "deck" not in text
            assert "the player" not in text
            assert not set(CARD.findall(text)) & set(deck[10:])


def test_reveal_makes_no_difference(api: Api) -> None:
    for actions in ([], act("1 bet")):
        deals = [{"server_seed": "5a" * 32, "reveal": reveal} for reveal in (True, False)]
        answers = [api.post(STEP, round_body(deal=deal, actions=actions)).data for deal in deals]
        assert answers[0] == answers[1]


# Two decks that differ only in what is hidden.


@dataclass
class Table:
    """A round as somebody at the table could follow it, by places in the deck."""

    ruleset: str
    boxes: list[Document]
    deck: list[str]
    actions: list[Document] = field(default_factory=list)

    def request(self, deck: list[str], *more: Document) -> Document:
        return {
            "ruleset": self.ruleset,
            "deal": {"deck": deck},
            "boxes": self.boxes,
            "actions": [*self.actions, *more],
        }

    def dealt_to(self, place: int) -> list[int]:
        """Places in the deck of the cards dealt to a box, or to the dealer behind the last."""
        hands = len(self.boxes) + 1
        return [place + hands * turn for turn in range(5)]

    def has_won_bonus(self, place: int, deck: list[str]) -> bool:
        if self.ruleset != "casino-1" or not self.boxes[place].get("bonus"):
            return False
        return oracle.result([deck[card] for card in self.dealt_to(place)])[0] in OPENING

    def bought_by(self) -> dict[int, list[int]]:
        """Places in the deck of the cards that each box bought, by the place of the box."""
        used = 5 * (len(self.boxes) + 1)
        bought: dict[int, list[int]] = {}
        for action in self.actions:
            count = {"exchange": len(action.get("discard", [])), "buy_sixth": 1}.get(action["action"], 0)
            if count:
                place = [box["box"] for box in self.boxes].index(action["box"])
                bought[place] = list(range(used, used + count))
                used += count
        return bought

    def visible(self, view: Document) -> set[int]:
        """Places in the deck of the cards that lie open (A10)."""
        everything = range(len(self.boxes) + 1)
        bought = self.bought_by()
        if view["phase"] != "decisions":
            hands = {card for place in everything for card in self.dealt_to(place)}
            drawn = len(view["dealer"]["draws"])
            first = len(hands) + sum(map(len, bought.values()))
            return hands.union(*bought.values(), range(first, first + drawn))
        seen = {self.dealt_to(len(self.boxes))[-1]}
        for place, box in enumerate(self.boxes):
            won = self.has_won_bonus(place, self.deck)
            if won or (box["box"] <= view["box"] and not box.get("blind")):
                seen |= set(self.dealt_to(place))
                if not won:
                    seen |= set(bought.get(place, []))
        return seen

    def other_deck(self, visible: set[int], random: Random) -> list[str]:
        """The deck with its hidden cards in another order, but with the same bonuses won."""
        hidden = [place for place in range(52) if place not in visible]
        while True:
            cards = [self.deck[place] for place in hidden]
            random.shuffle(cards)
            deck = self.deck.copy()
            for place, card in zip(hidden, cards, strict=True):
                deck[place] = card
            if all(
                self.has_won_bonus(place, deck) == self.has_won_bonus(place, self.deck)
                for place in range(len(self.boxes))
            ):
                return deck


STRONG = [STRAIGHT, TRIPS, "2d 8d Td Qd Kd", "As Ah Ac Ks Kh", "9c 9d 9h 9s Ac", "Ah Kd 4c 9s Js", GAME]


def random_table(ruleset: str, random: Random) -> Table:
    """Boxes and a deck; strong hands come more often than by chance, and so do dealers without game."""
    most = 3 if ruleset == "online-1" else 4
    numbers = sorted(random.sample(range(1, most + 1), random.randint(1, most)))
    open_one = random.choice([*numbers, 0])
    boxes: list[Document] = []
    for number in numbers:
        box: Document = {"box": number, "ante": random.choice([10, 100, 1000])}
        if random.random() < 0.5:
            box["bonus"] = 10
        if ruleset == "online-1":
            box["blind"] = number != open_one
        elif ruleset == "casino-1":
            box["blind"] = random.random() < 0.4
        boxes.append(box)
    deck = random.sample(CODES, 52)
    table = Table(ruleset, boxes, deck)
    for place in range(len(boxes) + 1):
        strong = random.choice(STRONG) if place < len(boxes) else NO_GAME
        if random.random() < 0.4 and not set(strong.split()) & {
            deck[card] for other in range(place) for card in table.dealt_to(other)
        }:
            for target, card in zip(table.dealt_to(place), strong.split(), strict=True):
                source = deck.index(card)
                deck[target], deck[source] = deck[source], deck[target]
    return table


def played(api: Api, table: Table, random: Random) -> Iterator[Document]:
    """Views of the round as it is played on by legal actions at random, purchases before the rest."""
    while True:
        view = api.step(table.request(table.deck))
        yield view
        if not view["legal"]:
            return
        offers = {offer["action"]: offer for offer in view["legal"]}
        name = random.choice([*offers, *(name for name in offers if name in PREFERRED)])
        action: Document = {"box": view["box"], "action": name}
        if name == "exchange":
            hand = box_of(view, view["box"])["hand"]
            action["discard"] = random.sample(hand, random.randint(1, 5))
        elif name == "insure":
            action["amount"] = random.randint(offers[name]["min_amount"], offers[name]["max_amount"])
        table.actions.append(action)


def attempts(table: Table, view: Document, visible: set[int], random: Random) -> Iterator[Document]:
    """Actions that fit and that do not, some of them naming cards that are hidden."""
    hidden = [table.deck[place] for place in range(52) if place not in visible]
    seen = [table.deck[place] for place in sorted(visible)]
    for number in (*(box["box"] for box in table.boxes), 9):
        name = random.choice(ACTIONS)
        discard = {"exchange": {"discard": random.sample(hidden, min(2, len(hidden)))}}
        amount = {"insure": {"amount": random.choice([1, 10**12])}}
        yield {"box": number, "action": name, **discard.get(name, {}), **amount.get(name, {})}
    turn = view["box"] or table.boxes[0]["box"]
    for card in (random.choice(hidden), random.choice(seen)):
        yield {"box": turn, "action": "exchange", "discard": [card]}
    yield {"box": turn, "action": "insure", "amount": random.choice([1, 10**4, 10**12])}
    yield {"box": turn, "action": random.choice(["take_ante", "buy_game", "bet", "fold"])}


def cards_in(text: str) -> set[str]:
    return set(CARD.findall(text))


@pytest.mark.parametrize("ruleset", RULESETS)
def test_hidden_cards_change_not_one_byte(ruleset: str, api: Api, tally: Tally) -> None:
    random = Random(f"privacy {ruleset}")
    compared = refusals = 0
    phases: set[str] = set()
    for _ in range(16):
        table = random_table(ruleset, random)
        for view in played(api, table, random):
            phases.add(view["phase"])
            visible = table.visible(view)
            open_cards = {table.deck[place] for place in visible}
            decks = [table.deck, table.other_deck(visible, random)]

            answers = [api.post(STEP, table.request(deck)) for deck in decks]
            assert len({answer.data for answer in answers}) == 1, table
            # It says no more than lies open, and no less: an exchanged card has been seen, too.
            assert cards_in(answers[0].text) == open_cards

            if view["legal"]:
                unfinished = [api.post(SETTLE, table.request(deck)) for deck in decks]
                assert {answer.status_code for answer in unfinished} == {422}
                assert len({answer.data for answer in unfinished}) == 1, table
                assert cards_in(unfinished[0].text) == set()

            for action in attempts(table, view, visible, random):
                tried = [api.post(STEP, table.request(deck, action)) for deck in decks]
                assert len({answer.status_code for answer in tried}) == 1, (table, action)
                if tried[0].status_code == 422:
                    assert len({answer.data for answer in tried}) == 1, (table, action)
                    assert cards_in(tried[0].text) <= set(action.get("discard", []))
                    refusals += 1
            compared += 1
    tally("states compared under decks that differ in hidden cards only", compared)
    assert phases == {"decisions", "dealer_game", "settled"}
    assert compared > 40
    assert refusals > 100


def test_a_verdict_on_an_unfinished_round_tells_nothing_either(api: Api) -> None:
    random = Random("verify")
    for _ in range(30):
        table = random_table("casino-1", random)
        view = api.step(table.request(table.deck))
        if view["legal"]:
            decks = [table.deck, table.other_deck(table.visible(view), random)]
            bodies = [{"request": table.request(deck), "outcome": {"deck": "?"}} for deck in decks]
            answers = [api.post(VERIFY, body) for body in bodies]
            assert {answer.status_code for answer in answers} == {422}
            assert answers[0].data == answers[1].data


def test_a_void_outcome_shows_no_card_that_no_action_names(api: Api) -> None:
    """Neither it nor its certificate, at whatever point the round is broken off."""
    random = Random("void")
    seen = 0
    for _ in range(10):
        table = random_table("casino-1", random)
        for _ in played(api, table, random):
            deal = {"server_seed": random.randbytes(32).hex()}
            bodies = [table.request(table.deck), round_body(deal=deal, actions=[])]
            for body in bodies:
                outcome = api.void(body | {"reason": "power cut"})
                named = {card for action in body["actions"] for card in action.get("discard", [])}
                for text in (json.dumps(plain(outcome)), certified(outcome).decode()):
                    assert cards_in(text) == named
                    assert deal["server_seed"] not in text
            seen += 1
    assert seen > 20


def test_a_refusal_of_the_request_itself_tells_nothing_of_a_seed(api: Api) -> None:
    seed = Random("refusals").randbytes(32).hex()
    changes: list[Document] = [
        {"boxes": []},
        {"ruleset": "x"},
        {"boxes": [{"box": 9, "ante": 5}]},
        {"table": {"min_stake": 10**6}},
        {"actions": act("1 take_ante")},
        {"deal": {"server_seed": seed, "commitment": "0" * 64}},
        {"deal": {"server_seed": seed + "0"}},
        {"deal": {"server_seed": "0x" + seed}},
        {"deal": {"server_seed": seed[:-1] + "g"}},
        {"deal": {"server_seed": seed, "nonce": -1}},
    ]
    for change in changes:
        for path, reason in ((STEP, {}), (SETTLE, {}), (VOID, {"reason": "power cut"})):
            answer = api.post(path, round_body(deal={"server_seed": seed}) | reason | change)
            assert answer.status_code == 422
            assert seed[:60] not in json.dumps(answer.get_json())
