"""``POST /v1/rounds/settle``: what an outcome says, and what a refusal says."""

import hashlib
import json
import re
from typing import Any

import pytest
import rfc8785

from service.game import ENGINE_VERSION
from service.game.cards import CODES
from service.integrity import MANIFEST
from tests.api.calls import (
    DECK,
    SEED,
    SETTLE,
    Api,
    Document,
    act,
    certified,
    content_digest,
    is_problem,
    rigged,
    round_body,
    without,
)
from tests.support.rounds import box_of, clauses, nets
from tests.support.vectors import load, settle_body

TOP = 10**12
IDS = ["outcome_id", "request_digest"]
OUTCOME = [*IDS, "status", "ruleset", "engine", "deal", "table", "actions", "dealer", "boxes", "totals"]
BETS = ["ante", "bet", "bonus", "insurance", "purchase", "game_purchase"]
RESULTS = {"win", "lose", "push", "no_game", "fold"}
COMMITMENT = hashlib.sha256(bytes.fromhex(SEED)).hexdigest()

HIGH_CARD, PAIR, FLUSH = "2c 4d 6h 8s Tc", "9c 9d 2h 5s Jc", "2d 5d 8d Jd Kd"
NO_GAME, GAME = "3c 5h 7d 9s Jh", "Qc Qd 3h 4s 8c"


def rigged_round(*hands: str, actions: list[Document], then: str = "", **members: Any) -> Document:
    return round_body(deal=rigged(*hands, then=then), actions=actions, **members)


# What an outcome holds.


def test_an_outcome_names_everything_that_makes_it(api: Api) -> None:
    outcome = api.settle(round_body(deal={"server_seed": SEED, "client_seed": "player", "nonce": 7}))
    assert list(outcome) == [*OUTCOME, "certificate"]
    assert re.fullmatch("sha256:[0-9a-f]{64}", outcome["request_digest"])
    assert outcome["outcome_id"] == outcome["request_digest"][7:39]
    assert outcome["status"] == "settled"
    assert outcome["ruleset"]["id"] == "casino-1"
    assert outcome["ruleset"]["digest"].startswith("sha256:")
    assert outcome["engine"] == {
        "version": ENGINE_VERSION,
        "digest": f"sha256:{hashlib.sha256(MANIFEST.read_bytes()).hexdigest()}",
        "shuffle": "hmac-drbg-sha256/1",
    }
    deal = outcome["deal"]
    assert (deal["commitment"], deal["server_seed"]) == (COMMITMENT, SEED)
    assert (deal["client_seed"], deal["nonce"], deal["cards_used"]) == ("player", 7, 10)
    assert sorted(deal["deck"]) == sorted(CODES)


def test_an_outcome_bears_its_digest_and_its_certificate(api: Api) -> None:
    for body in (round_body(), round_body("online-1", context={"\u00e9": "\U0001f0a1"})):
        answer = api.post(SETTLE, body)
        assert answer.headers["Content-Digest"] == content_digest(answer.data)
        assert json.loads(certified(answer.get_json())) == without(answer.get_json(), "certificate")


def test_the_example_of_the_rule_book_is_dealt(api: Api) -> None:
    outcome = api.settle(round_body(deal={"server_seed": "0" * 64}))
    assert outcome["deal"]["deck"] == load("decks.json")[0]["deck"].split()


def test_the_deck_is_that_of_the_seeds(api: Api) -> None:
    seeds = {"server_seed": SEED, "client_seed": "Zoë 🂡", "nonce": 2**53 - 1}
    assert api.settle(round_body(deal=seeds))["deal"]["deck"] == api.ask(DECK, seeds)["deck"]


def test_every_stake_adds_up(api: Api) -> None:
    for vector in load("rounds.jsonl") + load("rigged.jsonl"):
        outcome = api.settle(settle_body(vector))
        for box, staked in zip(outcome["boxes"], vector["boxes"], strict=True):
            bets = box["bets"]
            names = [bet["name"] for bet in bets]
            assert names == sorted(names, key=BETS.index)
            assert ("bet" in names) == (box["result"] != "fold")
            assert box["result"] in RESULTS
            stakes = {bet["name"]: bet["stake"] for bet in bets}
            ante = staked["ante"]
            assert stakes["ante"] == ante
            assert stakes.get("bet", 2 * ante) == 2 * ante
            assert stakes.get("bonus", 0) == staked.get("bonus", 0)
            assert {stakes.get("purchase", ante), stakes.get("game_purchase", ante)} == {ante}
            for bet in bets:
                assert bet["net"] == bet["returned"] - bet["stake"]
                assert bet["stake"] > 0 <= bet["returned"]
                assert bet["clause"][0] == "S"
                assert bet["reason"]
                if "odds" in bet:
                    assert bet["name"] in ("bet", "bonus")
                    capped = "capped" in bet["reason"]
                    assert capped or bet["net"] == bet["odds"] * bet["stake"] > 0
            for amount, part in (("staked", "stake"), ("returned", "returned"), ("net", "net")):
                assert box[amount] == sum(bet[part] for bet in bets)
        for amount, total in outcome["totals"].items():
            assert total == sum(box[amount] for box in outcome["boxes"])


def test_the_same_request_gives_the_same_bytes(api: Api) -> None:
    for vector in load("rounds.jsonl")[::20]:
        body = settle_body(vector)
        shuffled = dict(reversed(body.items()))
        answers = {api.post(SETTLE, one).data for one in (body, body, shuffled)}
        assert len(answers) == 1


def test_what_is_left_out_has_its_default(api: Api) -> None:
    plain = api.post(SETTLE, round_body()).data
    spelled_out = round_body(
        deal={"server_seed": SEED, "client_seed": "", "nonce": 0, "reveal": True, "commitment": COMMITMENT},
        table={},
        boxes=[{"box": 1, "ante": 100, "bonus": 0, "blind": False}],
    )
    assert api.post(SETTLE, spelled_out).data == plain
    outcome = json.loads(plain)
    assert (outcome["deal"]["client_seed"], outcome["deal"]["nonce"]) == ("", 0)
    assert "context" not in outcome
    assert outcome["table"] == {"min_stake": 1}
    (box,) = outcome["boxes"]
    assert (box["blind"], [bet["name"] for bet in box["bets"]]) == (False, ["ante"])
    assert "player" not in box


def test_the_limits_in_force_are_part_of_the_outcome(api: Api) -> None:
    assert api.settle(round_body("online-1"))["table"] == {"min_stake": 10, "max_stake": 2000}
    table = {"min_stake": 100, "max_payout": 5_000_000}
    assert api.settle(round_body("online-1", table=table))["table"] == {"max_stake": 2000, **table}
    table = {"min_stake": 1, "max_stake": 100, "max_payout": TOP}
    assert api.settle(round_body(table=table))["table"] == table


# Deals.


def test_upper_case_comes_in_and_lower_case_goes_out(api: Api) -> None:
    upper = round_body(deal={"server_seed": SEED.upper(), "commitment": COMMITMENT.upper()})
    answer = api.post(SETTLE, upper)
    assert answer.data == api.post(SETTLE, round_body()).data
    assert answer.get_json()["deal"]["server_seed"] == SEED.lower()


def test_a_wrong_commitment_is_refused(api: Api) -> None:
    of_the_digits = hashlib.sha256(SEED.encode()).hexdigest()
    body = round_body(deal={"server_seed": SEED, "commitment": of_the_digits})
    problem = api.refused(SETTLE, body, "commitment-mismatch")
    assert (problem["status"], problem["errors"][0]["pointer"]) == (422, "/deal/commitment")
    assert COMMITMENT in problem["detail"]
    assert "not of their hex digits" in problem["detail"]
    assert SEED not in json.dumps(problem)


@pytest.mark.parametrize("actions", [act("1 fold"), act("1 buy_sixth", "1 fold")])
def test_what_is_not_revealed_stays_out_of_the_outcome(actions: list[Document], api: Api) -> None:
    open_deal = {"server_seed": SEED, "client_seed": "player", "nonce": 7}
    revealed = api.settle(round_body(deal=open_deal, actions=actions))
    answer = api.post(SETTLE, round_body(deal={**open_deal, "reveal": False}, actions=actions))
    hidden = answer.get_json()
    deal = hidden["deal"]
    # Neither the outcome nor the payload in its certificate, which is encoded and so not seen in the text.
    told = [answer.text, certified(hidden).decode()]
    assert not any(SEED in text for text in told)
    assert "server_seed" not in deal
    assert deal["commitment"] == COMMITMENT
    assert deal["deck"] == revealed["deal"]["deck"][: 10 + (len(actions) - 1)]
    assert len(deal["deck"]) == deal["cards_used"]
    assert without(deal, "deck") == without(revealed["deal"], "deck", "server_seed")
    assert without(hidden, "deal", "certificate") == without(revealed, "deal", "certificate")
    assert hidden["certificate"] != revealed["certificate"]
    undealt = set(revealed["deal"]["deck"][deal["cards_used"] :])
    assert not any(f'"{card}"' in text for card in undealt for text in told)


def test_a_deck_may_stand_in_place_of_a_seed(api: Api) -> None:
    body = rigged_round(PAIR, GAME, actions=act("1 bet"))
    outcome = api.settle(body)
    assert outcome["deal"] == {"source": "deck", "deck": body["deal"]["deck"], "cards_used": 10}
    assert outcome["dealer"]["dealt"] == GAME.split()
    assert box_of(outcome)["dealt"] == PAIR.split()


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("server_seed", SEED),
        ("client_seed", ""),
        ("nonce", 0),
        ("commitment", COMMITMENT),
        ("reveal", True),
    ],
)
def test_a_deck_excludes_everything_else(member: str, value: Any, api: Api) -> None:
    deal = {**rigged(PAIR, GAME), member: value}
    faults = api.faults(SETTLE, round_body(deal=deal, actions=act("1 bet")))
    assert list(faults) == [f"/deal/{member}"]


def changed(cards: list[str], place: int, card: str) -> list[str]:
    return [*cards[:place], card, *cards[place + 1 :]]


@pytest.mark.parametrize(
    ("deck", "pointer", "told"),
    [
        (list(CODES[:51]), "/deal/deck", "must hold 52 cards; got 51"),
        ([*CODES, "2c"], "/deal/deck", "must hold 52 cards; got 53"),
        ([], "/deal/deck", "got 0"),
        (changed(list(CODES), 7, "2c"), "/deal/deck/7", "2c stands twice"),
        (changed(list(CODES), 51, "as"), "/deal/deck/51", "did you mean As?"),
        (changed(list(CODES), 32, "10c"), "/deal/deck/32", "did you mean Tc?"),
        (changed(list(CODES), 0, "c2"), "/deal/deck/0", "did you mean 2c?"),
        (changed(list(CODES), 0, "1c"), "/deal/deck/0", "such as Td"),
        ([*CODES[:51], 51], "/deal/deck/51", "51 is no card"),
        ([*CODES[:51], None], "/deal/deck/51", "no card"),
        (" ".join(CODES), "/deal/deck", "must be an array of card codes; got a text"),
        (None, "/deal/deck", "must be an array of card codes; got null"),
    ],
)
def test_a_wrong_deck_is_refused(deck: Any, pointer: str, told: str, api: Api) -> None:
    faults = api.faults(SETTLE, round_body(deal={"deck": deck}))
    assert list(faults) == [pointer]
    assert told in faults[pointer]


@pytest.mark.parametrize(
    ("seed", "told"),
    [
        ("0x" + SEED, "64 hex digits; got 66 characters – drop the 0x"),
        ("0X" + SEED, "drop the 0x"),
        (SEED + "\n", "white space"),
        (" " + SEED, "white space"),
        (SEED[:62], "got 62"),
        (SEED + "00", "got 66"),
        ("", "got 0"),
        ("g" + SEED[1:], "no hex digits"),
        ("٠" * 64, "no hex digits"),
        (0, "got a number"),
        (None, "null"),
        ([SEED], "got an array"),
    ],
)
@pytest.mark.parametrize("name", ["server_seed", "commitment"])
def test_a_wrong_seed_is_refused_with_its_likely_mistake(name: str, seed: Any, told: str, api: Api) -> None:
    faults = api.faults(SETTLE, round_body(deal={"server_seed": SEED, name: seed}))
    assert list(faults) == [f"/deal/{name}"]
    assert told in faults[f"/deal/{name}"]


@pytest.mark.parametrize(
    ("client_seed", "bytes_of_utf8"), [("x" * 128, 128), ("é" * 64, 128), ("🂡" * 32, 128), ("\x00", 1)]
)
def test_a_client_seed_may_have_128_bytes(client_seed: str, bytes_of_utf8: int, api: Api) -> None:
    assert len(client_seed.encode()) == bytes_of_utf8
    outcome = api.settle(round_body(deal={"server_seed": SEED, "client_seed": client_seed}))
    assert outcome["deal"]["client_seed"] == client_seed


@pytest.mark.parametrize("client_seed", ["x" * 129, "é" * 64 + "x", "🂡" * 33, 7, None, ["x"]])
def test_a_client_seed_is_a_text_of_at_most_128_bytes(client_seed: Any, api: Api) -> None:
    deal = {"server_seed": SEED, "client_seed": client_seed}
    assert list(api.faults(SETTLE, round_body(deal=deal))) == ["/deal/client_seed"]


def test_a_client_seed_is_taken_as_given(api: Api) -> None:
    decks = {
        tuple(api.settle(round_body(deal={"server_seed": SEED, "client_seed": text}))["deal"]["deck"])
        for text in ("é", "e\u0301", "É", " é", "é ", "")
    }
    assert len(decks) == 6


@pytest.mark.parametrize("nonce", [-1, 2**53, 2**64, 0.5, "0", True, None])
def test_a_nonce_is_a_whole_number_of_53_bits(nonce: Any, api: Api) -> None:
    deal = {"server_seed": SEED, "nonce": nonce}
    assert list(api.faults(SETTLE, round_body(deal=deal))) == ["/deal/nonce"]


# Amounts.


def test_amounts_at_both_ends(api: Api) -> None:
    for ante, bonus in ((1, 1), (TOP, TOP), (1, TOP), (TOP, 0)):
        boxes = [{"box": 1, "ante": ante, "bonus": bonus}]
        outcome = api.settle(
            rigged_round("Th Jh Qh Kh Ah", GAME, then="9h", actions=act("1 buy_sixth", "1 bet"), boxes=boxes)
        )
        # A royal flush with a straight flush pays 150, its bonus 1,000.
        assert nets(outcome) == {
            "ante": 0,
            "bet": 300 * ante,
            **({"bonus": 1000 * bonus} if bonus else {}),
            "purchase": -ante,
        }
        assert outcome["totals"]["returned"] < 2**53


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0, "from 1 to 1000000000000; got 0"),
        (-100, "got -100"),
        (TOP + 1, "got 1000000000001"),
        (2**64, "got 18446744073709551616"),
        ("100", "got a text; drop the quotes"),
        ("-5", "drop the quotes"),
        ("1e2", "got a text"),
        (5.5, "must be a whole number; got 5.5"),
        (True, "got true or false"),
        (None, "null"),
        ([100], "got an array"),
        ({"amount": 100}, "got an object"),
    ],
)
def test_a_wrong_amount_is_refused_with_its_likely_mistake(amount: Any, told: str, api: Api) -> None:
    faults = api.faults(SETTLE, round_body(boxes=[{"box": 1, "ante": amount}]))
    assert list(faults) == ["/boxes/0/ante"]
    assert told in faults["/boxes/0/ante"]


@pytest.mark.parametrize("name", ["min_stake", "max_stake", "max_payout"])
def test_a_table_takes_amounts_from_1_to_its_maximum(name: str, api: Api) -> None:
    boxes = [{"box": 1, "ante": TOP if name == "min_stake" else 1}]
    assert api.settle(round_body(table={name: TOP}, boxes=boxes))["table"][name] == TOP
    assert api.settle(round_body(table={name: 1}, boxes=[{"box": 1, "ante": 1}]))["table"][name] == 1
    for amount in (0, TOP + 1, None, "5", 1.5):
        assert list(api.faults(SETTLE, round_body(table={name: amount}))) == [f"/table/{name}"]


# Boxes and limits.


@pytest.mark.parametrize(
    ("ruleset", "table", "box", "faults"),
    [
        ("online-1", {}, {"ante": 9}, {"/boxes/0/ante": "below the minimum stake 10"}),
        ("online-1", {}, {"ante": 2001}, {"/boxes/0/ante": "above the maximum stake 2000"}),
        ("online-1", {}, {"ante": 10, "bonus": 9}, {"/boxes/0/bonus": "below the minimum stake 10"}),
        ("online-1", {"max_stake": 50}, {"ante": 51}, {"/boxes/0/ante": "above the maximum stake 50"}),
        ("casino-1", {"min_stake": 5}, {"ante": 4, "bonus": 4}, {"/boxes/0/ante": "", "/boxes/0/bonus": ""}),
        ("casino-1", {"min_stake": 50, "max_stake": 40}, {"ante": 45}, {"/table/min_stake": "exceeds"}),
        ("online-1", {"min_stake": 2001}, {"ante": 2001}, {"/table/min_stake": "2000"}),
        ("online-1", {"max_stake": 9}, {"ante": 9}, {"/table/max_stake": "10"}),
    ],
)
def test_stakes_outside_the_limits_are_refused(
    ruleset: str, table: Document, box: Document, faults: dict[str, str], api: Api
) -> None:
    body = round_body(ruleset, table=table, boxes=[{"box": 1, **box}])
    found = api.faults(SETTLE, body, "limits")
    assert list(found) == list(faults)
    assert all(told in found[pointer] for pointer, told in faults.items())


def test_limits_bind_ante_and_bonus_only(api: Api) -> None:
    outcome = api.settle(
        round_body(
            "online-1",
            deal=rigged(PAIR, GAME),
            table={"min_stake": 2000},
            boxes=[{"box": 1, "ante": 2000, "bonus": 0}],
            actions=act("1 bet"),
        )
    )
    assert nets(outcome) == {"ante": -2000, "bet": -4000}


@pytest.mark.parametrize(
    ("ruleset", "boxes", "pointers"),
    [
        ("trainer-1", [{"box": 5, "ante": 1}], ["/boxes/0/box"]),
        ("online-1", [{"box": 4, "ante": 10}], ["/boxes/0/box"]),
        ("casino-1", [{"box": 2, "ante": 1}, {"box": 1, "ante": 1}], ["/boxes/1/box"]),
        ("casino-1", [{"box": 1, "ante": 1}, {"box": 1, "ante": 1}], ["/boxes/1/box"]),
        ("trainer-1", [{"box": 1, "ante": 1, "blind": True}], ["/boxes/0/blind"]),
        ("online-1", [{"box": 1, "ante": 10}, {"box": 2, "ante": 10}], ["/boxes/1/blind"]),
        (
            "casino-1",
            [{"box": 1, "ante": 1, "player": "Eve"}, {"box": 2, "ante": 1, "player": "Eve"}],
            ["/boxes/1/blind"],
        ),
        ("casino-1", [], ["/boxes"]),
        ("casino-1", [{"box": number, "ante": 1} for number in range(1, 11)], ["/boxes"]),
        ("casino-1", [{"box": 0, "ante": 1}], ["/boxes/0/box"]),
        ("casino-1", [{"ante": 1}], ["/boxes/0/box"]),
        ("casino-1", [{"box": 1}], ["/boxes/0/ante"]),
        ("casino-1", [5], ["/boxes/0"]),
        ("casino-1", {"box": 1, "ante": 1}, ["/boxes"]),
        ("casino-1", [{"box": 1, "ante": 1, "blind": "true"}], ["/boxes/0/blind"]),
        ("casino-1", [{"box": 1, "ante": 1, "blind": 1}], ["/boxes/0/blind"]),
    ],
)
def test_wrong_boxes_are_refused(ruleset: str, boxes: Any, pointers: list[str], api: Api) -> None:
    assert list(api.faults(SETTLE, round_body(ruleset, boxes=boxes))) == pointers


def test_boxes_may_leave_gaps_and_all_be_blind(api: Api) -> None:
    outcome = api.settle(
        rigged_round(
            PAIR,
            FLUSH,
            GAME,
            boxes=[{"box": 2, "ante": 10, "blind": True}, {"box": 4, "ante": 20, "blind": True}],
            actions=[],
        )
    )
    assert [box["box"] for box in outcome["boxes"]] == [2, 4]
    assert (nets(outcome, 2), nets(outcome, 4)) == ({"ante": -10, "bet": -20}, {"ante": 0, "bet": 200})


@pytest.mark.parametrize("player", ["E", "x" * 64, "Zoë", "🂡" * 64, "\u202e", "null", " ", "A-1/%00~"])
def test_a_player_has_any_name_of_1_to_64_characters(player: str, api: Api) -> None:
    outcome = api.settle(round_body(boxes=[{"box": 1, "ante": 1, "player": player}]))
    assert box_of(outcome)["player"] == player


@pytest.mark.parametrize("player", ["", "x" * 65, 5, None, ["Eve"], True])
def test_a_player_is_a_text_of_1_to_64_characters(player: Any, api: Api) -> None:
    body = round_body(boxes=[{"box": 1, "ante": 1, "player": player}])
    assert list(api.faults(SETTLE, body)) == ["/boxes/0/player"]


def test_names_alike_up_to_unicode_form_are_two_players(api: Api) -> None:
    boxes = [{"box": 1, "ante": 1, "player": "\u00e9"}, {"box": 2, "ante": 1, "player": "e\u0301"}]
    outcome = api.settle(round_body(boxes=boxes, actions=act("1 fold", "2 fold")))
    assert [box["player"] for box in outcome["boxes"]] == ["\u00e9", "e\u0301"]


def test_players_do_not_change_a_settlement(api: Api) -> None:
    boxes = [{"box": 1, "ante": 5}, {"box": 2, "ante": 7}]
    named = [{**box, "player": name} for box, name in zip(boxes, ("Eve", "Adam"), strict=True)]
    plain = api.settle(round_body(boxes=boxes, actions=act("1 fold", "2 fold")))
    told = api.settle(round_body(boxes=named, actions=act("1 fold", "2 fold")))
    assert [without(box, "player") for box in told["boxes"]] == plain["boxes"]


# Context.


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"round_id": "A-1"},
        {"": {"": [{}, [], None, True, False, "", 0, -1]}},
        {"big": [2**53 - 1, -(2**53 - 1)]},
        {"Ünï\u0301cödé": "🂡\u0000\u2028\uffff", "\uffff": 1, "x" * 10_000: 1},
        {"_schema": 1, "status": "void", "__class__": "x", "a/b~c": {"~1": 2}},
        {"long": ["x" * 1000] * 16},
        {"n" * 1000: {"n" * 5000: "x"}},
    ],
    ids=lambda context: str(context)[:40],
)
def test_a_context_is_echoed(context: Document, api: Api) -> None:
    answer = api.post(SETTLE, round_body(context=context))
    assert answer.get_json()["context"] == context
    assert list(answer.get_json()) == [*OUTCOME, "context", "certificate"]
    assert json.loads(certified(answer.get_json()))["context"] == context


def test_a_context_keeps_the_order_of_its_members(api: Api) -> None:
    context = {"b": 1, "a": {"z": 1, "y": 2}, "B": 3}
    assert json.dumps(api.settle(round_body(context=context))["context"]) == json.dumps(context)


@pytest.mark.parametrize(
    ("context", "pointer"),
    [
        ({"a": 2**53}, "/context/a"),
        ({"a": [0, -(2**53)]}, "/context/a/1"),
        ({"a": [{"b/c~d": 1.5}]}, "/context/a/0/b~1c~0d"),
        ({"\U0001f600": 1}, "/context/\U0001f600"),
        ({"a": [{"x\U00010000": 1}]}, "/context/a/0/x\U00010000"),
        ({"x" * 16 * 1024: 1}, "/context"),
        ([], "/context"),
        ("A-1", "/context"),
        (5, "/context"),
        (None, "/context"),
    ],
    ids=[
        "2^53",
        "-2^53",
        "fraction",
        "astral name",
        "astral within",
        "huge name",
        "array",
        "text",
        "number",
        "null",
    ],
)
def test_a_context_is_an_object_that_has_canonical_bytes(context: Any, pointer: str, api: Api) -> None:
    assert list(api.faults(SETTLE, round_body(context=context))) == [pointer]


SIZED: dict[str, tuple[str, str]] = {
    "text": ("x", "x"),
    "two bytes": ("\u044f", "x"),
    "four bytes": ("\U0001f0a1", "x"),
    "escaped": ("\n", "x"),
    "a quote": ('"', "x"),
    "a null": ("\x00", "x"),
}
"""Characters that need 1 to 6 bytes in canonical form, and one that fills up with 1."""


@pytest.mark.parametrize(("character", "filler"), SIZED.values(), ids=SIZED)
def test_a_context_may_have_16_KiB_in_canonical_form(character: str, filler: str, api: Api) -> None:
    """However it was written: with white space, with escapes, or with neither."""
    limit = 16 * 1024
    room = limit - len(rfc8785.dumps({"a": ""}))
    each = len(rfc8785.dumps(character)) - 2
    text = character * (room // each) + filler * (room % each)
    for written in (json.dumps, lambda body: json.dumps(body, ensure_ascii=False, indent=8)):
        largest, larger = ({"a": text}, {"a": text + filler})
        assert (len(rfc8785.dumps(largest)), len(rfc8785.dumps(larger))) == (limit, limit + 1)
        answer = api.send(SETTLE, written(round_body(context=largest)))
        assert answer.status_code == 200
        assert json.loads(certified(answer.get_json()))["context"] == largest
        problem = is_problem(api.send(SETTLE, written(round_body(context=larger))), "invalid-request")
        (error,) = problem["errors"]
        assert (error["pointer"], error["code"]) == ("/context", "length")
        assert str(limit) in error["detail"]
        assert str(limit + 1) in error["detail"]


# Actions.


@pytest.mark.parametrize(
    ("action", "pointer", "told"),
    [
        ({"box": 1, "action": "bett"}, "/actions/0/action", "did you mean bet?"),
        ({"box": 1, "action": "BET"}, "/actions/0/action", "must be one of exchange, buy_sixth"),
        ({"box": 1, "action": 5}, "/actions/0/action", "must be one of"),
        ({"box": 1, "action": None}, "/actions/0/action", "must be one of"),
        ({"box": 1, "action": ["bet"]}, "/actions/0/action", "must be one of"),
        ({"box": 1}, "/actions/0/action", "is required"),
        ({"action": "bet"}, "/actions/0/box", "is required"),
        ({"box": "1", "action": "bet"}, "/actions/0/box", "drop the quotes"),
        ({"box": 10, "action": "bet"}, "/actions/0/box", "from 1 to 9"),
        ({"box": 1, "action": "bet", "amount": 5}, "/actions/0/amount", "not known"),
        ({"box": 1, "action": "fold", "discard": []}, "/actions/0/discard", "not known"),
        ({"box": 1, "action": "exchange"}, "/actions/0/discard", "is required"),
        ({"box": 1, "action": "exchange", "discard": []}, "/actions/0/discard", "1 to 5 cards; got 0"),
        ({"box": 1, "action": "exchange", "discard": list(CODES[:6])}, "/actions/0/discard", "got 6"),
        ({"box": 1, "action": "exchange", "discard": "9c"}, "/actions/0/discard", "an array"),
        ({"box": 1, "action": "exchange", "discard": ["9C"]}, "/actions/0/discard/0", "did you mean 9c?"),
        ({"box": 1, "action": "exchange", "discard": ["9c", "9c"]}, "/actions/0/discard/1", "stands twice"),
        (
            {"box": 1, "action": "exchange", "discards": ["9c"]},
            "/actions/0/discards",
            "did you mean discard?",
        ),
        ({"box": 1, "action": "insure"}, "/actions/0/amount", "is required"),
        ({"box": 1, "action": "insure", "amount": 0}, "/actions/0/amount", "got 0"),
        ({"box": 1, "action": "insure", "amount": TOP + 1}, "/actions/0/amount", "got 1000000000001"),
        ("bet", "/actions/0", "must be an object; got a text"),
        (None, "/actions/0", "must be an object; got null"),
    ],
)
def test_a_misshapen_action_is_refused(action: Any, pointer: str, told: str, api: Api) -> None:
    faults = api.faults(SETTLE, round_body(actions=[action]))
    assert pointer in faults
    assert told in faults[pointer]


@pytest.mark.parametrize(
    ("actions", "index", "box", "legal", "told"),
    [
        (act("2 bet"), 0, 1, ["exchange", "buy_sixth", "bet", "fold"], "box 1's turn"),
        (act("3 bet"), 0, 1, ["exchange", "buy_sixth", "bet", "fold"], "no box 3"),
        (act("1 take_ante"), 0, 1, ["exchange", "buy_sixth", "bet", "fold"], "has not shown"),
        (act("1 insure 100"), 0, 1, ["exchange", "buy_sixth", "bet", "fold"], "three_of_a_kind or better"),
        (act("1 exchange Ac"), 0, 1, ["exchange", "buy_sixth", "bet", "fold"], "does not hold Ac"),
        (act("1 buy_sixth", "1 buy_sixth"), 1, 1, ["bet", "fold"], "one purchase"),
        (act("1 bet", "1 bet"), 1, 2, ["exchange", "buy_sixth", "insure", "bet", "fold"], "box 2's turn"),
        (
            act("1 bet", "2 insure 1001"),
            1,
            2,
            ["exchange", "buy_sixth", "insure", "bet", "fold"],
            "1 to 1000",
        ),
        (act("1 bet", "2 insure 5", "2 fold"), 2, 2, ["bet"], "only bet"),
        (act("1 fold", "2 bet", "1 take_ante"), 2, 2, ["take_ante", "buy_game"], "has folded"),
        (act("1 bet", "2 bet", "1 bet"), 2, 1, ["take_ante", "buy_game"], "takes its ante or buys"),
        (act("1 fold", "2 fold", "2 bet"), 2, None, [], "leave it out"),
    ],
)
def test_an_illegal_action_is_refused_with_what_was_legal(
    actions: list[Document], index: int, box: int | None, legal: list[str], told: str, api: Api
) -> None:
    boxes = [{"box": 1, "ante": 100}, {"box": 2, "ante": 100}]
    body = rigged_round(HIGH_CARD, FLUSH, NO_GAME, boxes=boxes, actions=actions)
    problem = api.refused(SETTLE, body, "illegal-action")
    assert (problem["status"], problem["index"], problem["box"]) == (422, index, box)
    assert [offer["action"] for offer in problem["legal"]] == legal
    (error,) = problem["errors"]
    assert error["pointer"] == f"/actions/{index}"
    assert told in error["detail"]
    assert told in problem["detail"]


def test_only_the_first_illegal_action_counts(api: Api) -> None:
    problem = api.refused(SETTLE, round_body(actions=act("1 bet", *["2 bet"] * 99)), "illegal-action")
    assert problem["index"] == 1
    assert list(api.faults(SETTLE, round_body(actions=act(*["1 bet"] * 101)))) == ["/actions"]


def test_an_unfinished_round_is_refused_with_what_comes_next(api: Api) -> None:
    body = rigged_round(HIGH_CARD, NO_GAME, actions=[])
    problem = api.refused(SETTLE, body, "round-incomplete")
    assert (problem["status"], problem["phase"], problem["box"]) == (422, "decisions", 1)
    assert [offer["action"] for offer in problem["legal"]] == ["exchange", "buy_sixth", "bet", "fold"]
    problem = api.refused(SETTLE, body | {"actions": act("1 bet")}, "round-incomplete")
    assert (problem["phase"], problem["box"]) == ("dealer_game", 1)
    assert problem["legal"] == [{"action": "take_ante", "price": 0}, {"action": "buy_game", "price": 100}]
    assert "box 1 may take_ante, buy_game" in problem["detail"]


def test_shape_comes_before_limits_and_limits_before_actions(api: Api) -> None:
    wrong: Document = round_body("online-1", boxes=[{"box": 1, "ante": 5}], actions=act("2 take_ante"))
    assert list(api.faults(SETTLE, wrong | {"actions": [{"box": 2, "action": "?"}]})) == ["/actions/0/action"]
    assert list(api.faults(SETTLE, wrong, "limits")) == ["/boxes/0/ante"]
    assert list(api.faults(SETTLE, wrong | {"boxes": [{"box": 1, "ante": 10}]}, "illegal-action"))


# The body as a whole.


@pytest.mark.parametrize("name", ["ruleset", "deal", "boxes", "actions"])
def test_what_is_required(name: str, api: Api) -> None:
    assert api.faults(SETTLE, without(round_body(), name)) == {f"/{name}": "is required"}


@pytest.mark.parametrize("name", ["ruleset", "deal", "table", "boxes", "actions", "context"])
def test_nothing_may_be_null(name: str, api: Api) -> None:
    faults = api.faults(SETTLE, round_body() | {name: None})
    assert list(faults) == [f"/{name}"]
    assert "null" in faults[f"/{name}"]


@pytest.mark.parametrize(
    ("name", "pointer", "told"),
    [
        ("rulset", "/rulset", "'rulset' is not known; did you mean ruleset?"),
        ("action", "/action", "did you mean actions?"),
        ("xyz", "/xyz", "known here: ruleset, deal"),
        ("a/b~c", "/a~1b~0c", "'a/b~c' is not known"),
        ("", "/", "'' is not known"),
        ("_schema", "/_schema", "'_schema' is not known"),
    ],
)
def test_an_unknown_member_is_refused(name: str, pointer: str, told: str, api: Api) -> None:
    faults = api.faults(SETTLE, round_body() | {name: 1})
    assert list(faults) == [pointer]
    assert told in faults[pointer]


@pytest.mark.parametrize(
    ("change", "pointer", "told"),
    [
        ({"deal": {"server_seed": SEED, "clientseed": "x"}}, "/deal/clientseed", "did you mean client_seed?"),
        ({"table": {"max_pay": 5}}, "/table/max_pay", "did you mean max_payout?"),
        ({"boxes": [{"box": 1, "ante": 5, "anti": 5}]}, "/boxes/0/anti", "did you mean ante?"),
        ({"boxes": [{"box": 1, "ante": 5, "a/b": 5}]}, "/boxes/0/a~1b", "'a/b' is not known"),
        ({"deal": {}}, "/deal/server_seed", "is required"),
        ({"deal": SEED}, "/deal", "must be an object; got a text"),
        ({"actions": {}}, "/actions", "must be an array; got an object"),
        ({"ruleset": ""}, "/ruleset", "characters"),
        ({"ruleset": "x" * 101}, "/ruleset", "1 to 100 characters long; got 101"),
        ({"ruleset": 1}, "/ruleset", "must be a text; got a number"),
    ],
)
def test_other_faults_of_shape(change: Document, pointer: str, told: str, api: Api) -> None:
    faults = api.faults(SETTLE, round_body(**change))
    assert list(faults) == [pointer]
    assert told in faults[pointer]


def test_all_faults_are_told_at_once(api: Api) -> None:
    body = {
        "ruleset": "casino-1",
        "deal": {"server_seed": "0x" + SEED, "nonce": -1},
        "boxes": [{"box": 1, "ante": "5"}, {"box": 2, "ante": 0, "blind": 1}],
        "actions": [{"box": 1}, {"box": 1, "action": "insure"}],
        "extra": True,
    }
    problem = api.refused(SETTLE, body, "invalid-request")
    assert {error["pointer"] for error in problem["errors"]} == {
        "/deal/server_seed",
        "/deal/nonce",
        "/boxes/0/ante",
        "/boxes/1/ante",
        "/boxes/1/blind",
        "/actions/0/action",
        "/actions/1/amount",
        "/extra",
    }
    assert "and 5 more" in problem["detail"]


def test_a_thousand_faults_make_a_short_answer(api: Api) -> None:
    answer = api.post(SETTLE, round_body() | {f"name{number}": 1 for number in range(3000)})
    assert len(is_problem(answer, "invalid-request")["errors"]) <= 20
    assert len(answer.data) < 10_000


@pytest.mark.parametrize("ruleset", ["casino", "casino-2", "Casino-1", "casino-1 ", "../casino-1", "🂡"])
def test_an_unknown_ruleset_is_refused_with_the_known_ones(ruleset: str, api: Api) -> None:
    problem = api.refused(SETTLE, round_body(ruleset), "unknown-ruleset")
    assert (problem["status"], problem["errors"][0]["pointer"]) == (422, "/ruleset")
    assert all(id in problem["detail"] for id in ("casino-1", "online-1", "trainer-1"))


def test_money_of_the_round_in_the_documentation(api: Api) -> None:
    boxes = [{"box": 1, "ante": 100, "bonus": 25}, {"box": 2, "ante": 100, "blind": True}]
    actions = act("1 exchange 9c 2d", "1 insure 200", "1 bet", "1 buy_game", "2 take_ante")
    outcome = api.settle(
        rigged_round(
            "Ah Ac As 9c 2d", HIGH_CARD, "Kh Jd 7s 4c 2h", then="Kd 5s Ks 7d", boxes=boxes, actions=actions
        )
    )
    assert outcome["dealer"]["draws"] == [
        {"discarded": "Kh", "drawn": "Ks"},
        {"discarded": "Ks", "drawn": "7d"},
    ]
    box = box_of(outcome)
    assert (box["main"], box["second"], box["odds"]) == ("three_of_a_kind", "ace_king", 4)
    assert nets(outcome) == {
        "ante": 0,
        "bet": 800,
        "bonus": -25,
        "insurance": 200,
        "purchase": -100,
        "game_purchase": -100,
    }
    assert list(clauses(outcome).values()) == ["S4", "S4", "S8", "S7", "S1", "S6"]
    assert nets(outcome, 2) == {"ante": 100, "bet": 0}
    assert outcome["totals"] == {"staked": 1025, "returned": 1900, "net": 875}
