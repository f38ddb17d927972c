"""``POST /v1/rounds/void``: whatever was staked comes back, nothing is shown, the outcome is certified."""

import base64
import copy
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import rfc8785
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from service.api import create_app
from service.keys import development_keys, read_keys
from tests.support.http import ask

Document = dict[str, Any]
SETTLE, VOID, STEP, VERIFY = (f"/v1/rounds/{verb}" for verb in ("settle", "void", "step", "verify"))
CARD = re.compile(r"[2-9TJQKA][cdhs]")
SIGN = read_keys(development_keys()).signer.sign
suite = settings(max_examples=40, derandomize=True, deadline=None, database=None)


def example(**members: Any) -> Document:
    return {
        "ruleset": "casino-1",
        "deal": {"server_seed": "0f" * 32, "client_seed": "lucky", "nonce": 107},
        "boxes": [{"box": 1, "ante": 100, "bonus": 25}, {"box": 3, "ante": 50, "blind": True}],
        "actions": [{"box": 1, "action": "buy_sixth"}],
        "reason": "power cut",
        **members,
    }


def leaves(document: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(document, dict | list):
        for place, inner in document.items() if isinstance(document, dict) else enumerate(document):
            yield from leaves(inner, f"{pointer}/{place}")
    else:
        yield pointer, document


def bare(outcome: Document) -> Document:
    return {name: value for name, value in outcome.items() if name != "certificate"}


def payload(outcome: Document) -> bytes:
    return base64.urlsafe_b64decode(outcome["certificate"].split(".")[1] + "==")


class Play(NamedTuple):
    """A round under way: its request so far and what each box has staked, summed up from the prices told."""

    request: Document
    staked: dict[int, int]


@st.composite
def beginnings(draw: st.DrawFn) -> Play:
    ruleset, most = draw(st.sampled_from([("trainer-1", 4), ("online-1", 3), ("casino-1", 4)]))
    numbers = draw(st.lists(st.integers(1, most), min_size=1, max_size=most, unique=True).map(sorted))
    open_box = draw(st.sampled_from(numbers))
    boxes = []
    for number in numbers:
        box: Document = {
            "box": number,
            "ante": draw(st.integers(10, 1000)),
            "bonus": draw(st.just(0) | st.integers(10, 99)),
        }
        blind = {"trainer-1": False, "online-1": number != open_box, "casino-1": draw(st.booleans())}
        if blind[ruleset]:
            box["blind"] = True
        boxes.append(box)
    deal = {"server_seed": draw(st.binary(min_size=32, max_size=32)).hex(), "nonce": draw(st.integers(0, 99))}
    request = {"ruleset": ruleset, "deal": deal, "boxes": boxes, "actions": []}
    staked = {box["box"]: box["ante"] * (3 if box.get("blind") else 1) + box["bonus"] for box in boxes}
    return Play(request, staked)


@given(beginnings(), st.data())
@suite
def test_a_void_round_returns_what_was_staked_wherever_it_stands(
    client: FlaskClient, play: Play, data: st.DataObject
) -> None:
    request, staked = copy.deepcopy(play.request), dict(play.staked)
    while True:
        check_void(client, request, staked)
        view = ask(client, STEP, request)
        if not view["legal"]:
            break
        legal = data.draw(st.sampled_from(view["legal"]))
        action: Document = {"box": view["box"], "action": legal["action"]}
        price = legal.get("price")
        if legal["action"] == "exchange":
            hand = next(box["hand"] for box in view["boxes"] if box["box"] == view["box"])
            discards = st.lists(st.sampled_from(hand), min_size=1, max_size=5, unique=True)
            action["discard"] = data.draw(discards)
        elif legal["action"] == "insure":
            price = action["amount"] = legal["max_amount"]
        staked[view["box"]] += price
        request["actions"] = [*request["actions"], action]


def test_every_kind_of_stake_returns(client: FlaskClient) -> None:
    hands = zip(["Ah", "Ac", "As", "9c", "2d"], ["Kh", "Jd", "7s", "4c", "2h"], strict=True)
    first = [card for pair in hands for card in pair] + ["5s", "Ks", "7d"]
    rest = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs" if rank + suit not in first]
    actions: list[Document] = [
        {"box": 1, "action": "buy_sixth"},
        {"box": 1, "action": "insure", "amount": 40},
        {"box": 1, "action": "bet"},
        {"box": 1, "action": "buy_game"},
    ]
    request = example(deal={"deck": first + rest}, boxes=[{"box": 1, "ante": 100, "bonus": 25}])
    staked = {"ante": 100, "bonus": 25}
    added = [{"purchase": 100}, {"insurance": 40}, {"bet": 200}, {"game_purchase": 100}]
    for played, more in enumerate([{}, *added]):
        staked |= more
        outcome = ask(client, VOID, {**request, "actions": actions[:played]})
        bets = outcome["boxes"][0]["bets"]
        assert {bet["name"]: bet["returned"] for bet in bets} == staked
        assert outcome["totals"] == {
            "staked": sum(staked.values()),
            "returned": sum(staked.values()),
            "net": 0,
        }
        assert ask(client, VERIFY, {"certificate": outcome["certificate"]})["valid"]


def check_void(client: FlaskClient, request: Document, staked: dict[int, int]) -> None:
    """Void a round that stands at this place, and check all that is promised."""
    outcome = ask(client, VOID, {**request, "reason": "power cut"})
    assert (outcome["status"], outcome["reason"]) == ("void", "power cut")
    assert {box["box"]: box["staked"] for box in outcome["boxes"]} == staked
    for part in (*outcome["boxes"], outcome["totals"]):
        assert part["staked"] == part["returned"]
        assert part["net"] == 0
    assert outcome["totals"]["staked"] == sum(staked.values())
    for box in outcome["boxes"]:
        assert sum(bet["stake"] for bet in box["bets"]) == box["staked"]
        assert all(bet["returned"] == bet["stake"] > 0 == bet["net"] for bet in box["bets"])
        assert all("void" in bet["reason"] for bet in box["bets"])
    shows_nothing(outcome, request)
    assert payload(outcome) == rfc8785.dumps(bare(outcome))
    verdict = ask(client, VERIFY, {"certificate": outcome["certificate"]})
    assert verdict["valid"], verdict


def shows_nothing(outcome: Document, request: Document) -> None:
    """No seed and no cards but those that the actions themselves name."""
    text = (json.dumps(outcome).encode() + payload(outcome)).lower()
    assert request["deal"]["server_seed"].encode() not in text
    assert base64.urlsafe_b64encode(bytes.fromhex(request["deal"]["server_seed"]))[:40].lower() not in text
    assert not {"server_seed", "deck", "cards_used"} & outcome["deal"].keys()
    assert not {"dealer"} & outcome.keys()
    assert outcome["actions"] == request["actions"]
    cards = [
        pointer for pointer, leaf in leaves(bare(outcome)) if isinstance(leaf, str) and CARD.fullmatch(leaf)
    ]
    assert all(re.fullmatch(r"/actions/\d+/discard/\d+", pointer) for pointer in cards), cards
    for box in outcome["boxes"]:
        assert not {"dealt", "hand", "main", "second", "odds", "result"} & box.keys()


def test_no_card_is_told_by_words_either(client: FlaskClient) -> None:
    """Two deals that differ in every card give the same outcome, but for seed-bound members."""
    hidden = ("outcome_id", "request_digest", "certificate", "deal")
    outcomes = [ask(client, VOID, example(deal={"server_seed": seed * 32})) for seed in ("0e", "a1", "77")]
    shown = [{name: value for name, value in outcome.items() if name not in hidden} for outcome in outcomes]
    assert shown[0] == shown[1] == shown[2]


def test_a_named_deck_is_not_shown(client: FlaskClient) -> None:
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    outcome = ask(client, VOID, example(deal={"deck": deck}))
    assert outcome["deal"] == {"source": "deck"}
    assert ask(client, VERIFY, {"certificate": outcome["certificate"]})["valid"]


def test_it_says_which_deal_it_was(client: FlaskClient) -> None:
    settled = ask(client, SETTLE, {**bare_request(), "actions": [{"box": 1, "action": "fold"}]})
    deal = ask(client, VOID, example())["deal"]
    assert deal == {name: settled["deal"][name] for name in ("source", "commitment", "client_seed", "nonce")}


def bare_request() -> Document:
    return {
        name: value for name, value in example(boxes=[{"box": 1, "ante": 100}]).items() if name != "reason"
    }


def test_reveal_makes_no_difference(client: FlaskClient) -> None:
    deals = [{**example()["deal"], "reveal": reveal} for reveal in (True, False)]
    one, other = (ask(client, VOID, example(deal=deal)) for deal in deals)
    assert one == other


def test_context_and_player_are_kept(client: FlaskClient) -> None:
    outcome = ask(
        client, VOID, example(boxes=[{"box": 1, "ante": 100, "player": "Eve"}], context={"round_id": "A-1"})
    )
    assert outcome["context"] == {"round_id": "A-1"}
    assert outcome["boxes"][0]["player"] == "Eve"


def test_the_same_request_gets_the_same_bytes(client: FlaskClient) -> None:
    assert (
        client.post(VOID, json=example()).data == create_app().test_client().post(VOID, json=example()).data
    )


def test_it_is_counted_as_void(client: FlaskClient) -> None:
    def counted() -> float:
        lines = client.get("/metrics").text.splitlines()
        prefix = 'russian_poker_rounds_total{ruleset="casino-1",status="void"} '
        return sum(float(line.removeprefix(prefix)) for line in lines if line.startswith(prefix))

    before = counted()
    ask(client, VOID, example())
    assert counted() == before + 1


# Refusals.


@pytest.mark.parametrize("reason", [..., None, 5, "", "x" * 201, "обрыв", "a\nb", "a\x00", []], ids=repr)
def test_a_reason_of_printable_ascii_is_needed(client: FlaskClient, reason: Any) -> None:
    request = {name: value for name, value in example(reason=reason).items() if value is not ...}
    answer = client.post(VOID, json=request)
    assert (answer.status_code, answer.get_json()["type"]) == (422, "/problems/invalid-request")
    assert [error["pointer"] for error in answer.get_json()["errors"]] == ["/reason"]


@pytest.mark.parametrize(
    ("members", "slug"),
    [
        ({"actions": [{"box": 1, "action": "take_ante"}]}, "illegal-action"),
        ({"actions": [{"box": 1, "action": "exchange", "discard": ["7c"]}]}, "illegal-action"),
        ({"actions": [{"box": 1, "action": "fold"}] * 2}, "illegal-action"),
        ({"ruleset": "casino-9"}, "unknown-ruleset"),
        ({"boxes": [{"box": 9, "ante": 1}]}, "invalid-request"),
        ({"table": {"min_stake": 1000}}, "limits"),
        ({"deal": {"server_seed": "0f" * 32, "commitment": "0" * 64}}, "commitment-mismatch"),
        ({"deal": {"sealed_seed": "a.b.c.d.e"}}, "sealed-seed"),
        ({"deal": {}}, "invalid-request"),
        ({"actions": ...}, "invalid-request"),
    ],
    ids=repr,
)
def test_what_could_not_have_been_played_cannot_be_voided(
    client: FlaskClient, members: Document, slug: str
) -> None:
    request = {name: value for name, value in example(**members).items() if value is not ...}
    answer = client.post(VOID, json=request)
    assert (answer.status_code, answer.get_json()["type"]) == (422, f"/problems/{slug}")


def test_a_reason_makes_no_settlement_void(client: FlaskClient) -> None:
    answer = client.post(SETTLE, json=example())
    assert [error["pointer"] for error in answer.get_json()["errors"]] == ["/reason"]


# Verification.


@pytest.fixture(scope="module")
def voided(client: FlaskClient) -> Document:
    return ask(client, VOID, example())


def put(document: Document, pointer: str, value: Any) -> Document:
    copied = copy.deepcopy(document)
    *path, last = pointer.split("/")[1:]
    place: Any = copied
    for step in path:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = value
    return copied


def codes(verdict: Document) -> dict[str, str]:
    return {check["name"]: check["code"] for check in verdict["checks"] if not check["passed"]}


def test_a_void_outcome_is_verified_with_its_certificate(client: FlaskClient, voided: Document) -> None:
    for shown in ({"certificate": voided["certificate"]}, {"outcome": voided}):
        verdict = ask(client, VERIFY, shown)
        assert verdict["valid"], verdict
        assert {"signature", "settlement"} <= {check["name"] for check in verdict["checks"]}
        assert "development" in verdict["checks"][0]["detail"]


def test_a_void_outcome_is_verified_with_its_request(client: FlaskClient, voided: Document) -> None:
    request = {name: value for name, value in example().items() if name != "reason"}
    for outcome in (voided, bare(voided)):
        verdict = ask(client, VERIFY, {"request": request, "outcome": outcome})
        assert verdict["valid"], verdict
    fewer = ask(client, VERIFY, {"request": {**request, "actions": []}, "outcome": bare(voided)})
    assert not fewer["valid"]


def test_every_altered_leaf_of_a_certified_void_outcome_is_found(
    client: FlaskClient, voided: Document
) -> None:
    for pointer, leaf in leaves(bare(voided)):
        altered = put(voided, pointer, leaf + 1 if type(leaf) is int else "altered")
        verdict = ask(client, VERIFY, {"outcome": altered})
        assert not verdict["valid"], pointer
        assert codes(verdict)["signature"] == "altered-outcome", pointer


def test_every_altered_leaf_is_found_by_the_request_too(client: FlaskClient, voided: Document) -> None:
    request = {name: value for name, value in example().items() if name != "reason"}
    for pointer, leaf in leaves({**bare(voided), "status": {}}):
        altered = put(bare(voided), pointer, leaf + 1 if type(leaf) is int else "altered")
        verdict = ask(client, VERIFY, {"request": request, "outcome": altered})
        assert not verdict["valid"], (pointer, verdict)


def test_a_void_outcome_without_certificate_and_request_proves_nothing(
    client: FlaskClient, voided: Document
) -> None:
    """It shows no seed from which the stakes could be recomputed."""
    assert not ask(client, VERIFY, {"outcome": bare(voided)})["valid"]


MONEY = [
    "/totals/staked",
    "/totals/returned",
    "/totals/net",
    "/boxes/0/staked",
    "/boxes/0/returned",
    "/boxes/0/net",
]
ROWS = ["/boxes/0/bets/0/stake", "/boxes/0/bets/0/returned", "/boxes/0/bets/0/net", "/boxes/0/bets/0/reason"]


@pytest.mark.parametrize(
    "pointer", [*MONEY, *ROWS, "/ruleset/digest", "/ruleset/version", "/engine/version", "/engine/shuffle"]
)
def test_a_void_outcome_that_contradicts_itself_is_found_though_signed(
    client: FlaskClient, voided: Document, pointer: str
) -> None:
    value = dict(leaves(voided))[pointer]
    altered = put(bare(voided), pointer, value + 1 if type(value) is int else value + " altered")
    certificate = SIGN(rfc8785.dumps(altered))
    for shown in ({"certificate": certificate}, {"outcome": {**altered, "certificate": certificate}}):
        verdict = ask(client, VERIFY, shown)
        assert verdict["checks"][0]["passed"]
        assert not verdict["valid"], verdict


def test_another_build_of_the_same_engine_is_the_same_engine(client: FlaskClient, voided: Document) -> None:
    altered = put(bare(voided), "/engine/digest", "sha256:" + "0" * 64)
    assert ask(client, VERIFY, {"certificate": SIGN(rfc8785.dumps(altered))})["valid"]


@pytest.mark.parametrize(
    "name",
    [
        "status",
        "ruleset",
        "engine",
        "boxes",
        "totals",
        "reason",
        "deal",
        "actions",
        "outcome_id",
        "request_digest",
        "table",
    ],
)
def test_a_void_outcome_that_lacks_a_part_is_not_valid_though_signed(
    client: FlaskClient, voided: Document, name: str
) -> None:
    lacking = {member: value for member, value in bare(voided).items() if member != name}
    assert not ask(client, VERIFY, {"certificate": SIGN(rfc8785.dumps(lacking))})["valid"]


def test_a_settled_certificate_does_not_vouch_for_a_void_outcome(
    client: FlaskClient, voided: Document
) -> None:
    request = {**bare_request(), "actions": [{"box": 1, "action": "fold"}]}
    settled = ask(client, SETTLE, request)
    for mixed in (
        {**voided, "certificate": settled["certificate"]},
        {**settled, "certificate": voided["certificate"]},
        {**voided, "status": "settled"},
        {**settled, "status": "void", "reason": "power cut"},
    ):
        verdict = ask(client, VERIFY, {"outcome": mixed})
        assert codes(verdict)["signature"] == "altered-outcome"


def test_with_its_seed_a_void_outcome_is_recomputed(client: FlaskClient) -> None:
    """Then no certificate is needed, and a seed that is not the one committed to is found."""
    outcome = ask(client, VOID, example())
    assert ask(client, VERIFY, {"outcome": bare(outcome), "server_seed": "0f" * 32})["valid"]
    other = ask(client, VERIFY, {"certificate": outcome["certificate"], "server_seed": "1f" * 32})
    assert {check["name"]: check["passed"] for check in other["checks"]}["deal"] is False
    assert "/deal/commitment" in {difference["pointer"] for difference in other["differences"]}


def test_without_its_seed_nothing_is_said_of_the_deal(client: FlaskClient) -> None:
    verdict = ask(client, VERIFY, {"certificate": ask(client, VOID, example())["certificate"]})
    assert verdict["valid"]
    assert "deal" not in {check["name"] for check in verdict["checks"]}


@pytest.mark.parametrize("boxes", [5, [5], [{}], [{"box": 1}]])
def test_what_is_no_outcome_is_told_in_words_of_the_rules(client: FlaskClient, boxes: Any) -> None:
    outcome = {**ask(client, VOID, example()), "boxes": boxes}
    verdict = ask(client, VERIFY, {"certificate": SIGN(rfc8785.dumps(bare(outcome)))})
    assert verdict["valid"] is False
    assert "subscript" not in verdict["checks"][-1]["detail"]
    assert "'" not in verdict["checks"][-1]["detail"]
