"""Rulesets as files: the values of the rule book's section 6, strict loading, digests."""

import re
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from service.game.hands import KINDS
from service.game.ruleset import (
    MAX_AMOUNT,
    MAX_OUTCOME,
    Bonus,
    GamePurchase,
    Insurance,
    Limits,
    MalformedRuleset,
    Ruleset,
)
from service.registry import BUILT_IN, Registry, load_ruleset, load_rulesets
from tests.support.rulesets import CARIBBEAN, DROP, LUNAR, OASIS, changed, document, write

HOUSES = ["trainer-1", "online-1", "casino-1"]

# A published version never changes. Another digest here means: publish a new version instead.
PUBLISHED = {
    "casino-1": "sha256:dcaf2f2a151df7f74fe8a94d0bb61dc7c852b0a5a216df9dcb38c7fd4ab158fc",
    "online-1": "sha256:fdf3b10bf2008cf5d60bb1671a284d1618e45b92806cbbe796693447bd0271d2",
    "trainer-1": "sha256:81ca2c29be9b278e1e4e7eff70c7a5275d862535b1a6da09263c4735bbfebc36",
}

BET = dict(zip(KINDS[1:], (1, 1, 2, 3, 4, 5, 7, 20, 50, 100), strict=True))
FROM_STRAIGHT = KINDS[KINDS.index("straight") :]


def _bonus(*odds: int) -> dict[Any, int]:
    return dict(zip(FROM_STRAIGHT, odds, strict=True))


SECTION_6 = {
    "trainer-1": Ruleset(
        id="trainer-1",
        version=1,
        digest="",
        max_boxes=4,
        open_boxes="all",
        deal_order="one_by_one",
        exchange=(1, 5),
        sixth_card=True,
        blind_sixth=False,
        combinations=1,
        ante_on_win="returned",
        bet_odds=BET,
        own_rows={},
        bonus=Bonus(_bonus(25, 50, 100, 300, 500, 1000), _bonus(8, 15, 30, 100, 150, 300)),
        insurance=None,
        game_purchase=GamePurchase("one_more_ante", "highest", redraw_same_rank=False, failed_ante="paid"),
        limits=Limits(1),
    ),
    "online-1": Ruleset(
        id="online-1",
        version=1,
        digest="",
        max_boxes=3,
        open_boxes="one",
        deal_order="one_by_one",
        exchange=(1, 5),
        sixth_card=True,
        blind_sixth=False,
        combinations=2,
        ante_on_win="returned",
        bet_odds=BET,
        own_rows={("two_pair", "two_pair"): 5},
        bonus=Bonus({"ace_king": 1, "three_of_a_kind": 3, **_bonus(40, 60, 100, 200, 500, 1000)}),
        insurance=Insurance("three_of_a_kind", "min_stake", "win", "lose"),
        game_purchase=GamePurchase("the_ante", "highest", redraw_same_rank=False, failed_ante="lost"),
        limits=Limits(10, 2000),
    ),
    "casino-1": Ruleset(
        id="casino-1",
        version=1,
        digest="",
        max_boxes=4,
        open_boxes="one_per_player",
        deal_order="one_by_one",
        exchange=(1, 5),
        sixth_card=True,
        blind_sixth=True,
        combinations=2,
        ante_on_win="returned",
        bet_odds=BET,
        own_rows={},
        bonus=Bonus(_bonus(50, 75, 100, 200, 500, 1000)),
        insurance=Insurance("three_of_a_kind", "min_stake", "win", "lose"),
        game_purchase=GamePurchase("one_more_ante", "highest", redraw_same_rank=True, failed_ante="returned"),
        limits=Limits(1),
    ),
}


@pytest.mark.parametrize("house", HOUSES)
def test_section_6_as_printed(registry: Registry, house: str) -> None:
    assert replace(registry[house].ruleset, digest="") == SECTION_6[house]


def test_the_built_in_rulesets_are_these(registry: Registry) -> None:
    assert list(registry) == sorted(HOUSES)
    assert {id: published.document["digest"] for id, published in registry.items()} == PUBLISHED


@pytest.mark.parametrize("house", HOUSES)
def test_what_is_published_is_the_file_with_its_digest(registry: Registry, house: str) -> None:
    published = registry[house]
    assert published.document == {**document(house), "digest": published.ruleset.digest}


@pytest.mark.parametrize("house", HOUSES)
def test_decisions_are_those_of_the_rule_book_told_in_two_languages(house: str) -> None:
    decisions = document(house)["decisions"]
    stated = [decision["id"] for decision in decisions]
    assert set(stated) <= {f"I{number}" for number in range(1, 24)}
    assert stated == sorted(stated, key=lambda one: int(one[1:]))
    for decision in decisions:
        assert re.search("[а-я]", decision["ru"])
        assert not re.search("[а-я]", decision["en"])


# Strict loading: one thing wrong in a file, and what the error says of it

ROW = {"value": 1, "basis": "printed"}
ASSUMED = {"value": 1, "basis": "assumed", "decision": "I1"}

WRONG: list[tuple[dict[str, Any], str]] = [
    # a number that is none of the canonical form
    ({"bet.combinations.value": 2.0}, "bet.combinations.value: "),
    # a row, a section or a text that is missing
    ({"bet.odds.flush": DROP}, "bet.odds.flush: "),
    ({"bet.combinations": DROP}, "bet.combinations: "),
    ({"deal.order": DROP}, "deal.order: "),
    ({"boxes": DROP}, "boxes: "),
    ({"purchase.blind_sixth": DROP}, "purchase.blind_sixth: "),
    ({"bonus.dealt": DROP}, "bonus.dealt: "),
    ({"insurance.on_tie": DROP}, "insurance.on_tie: "),
    ({"game_purchase.failed_ante": DROP}, "game_purchase.failed_ante: "),
    ({"limits.min_stake": DROP}, "limits.min_stake: "),
    ({"limits": DROP}, "limits: "),
    ({"decisions": DROP}, "decisions: "),
    ({"id": DROP}, "id: "),
    ({"version": DROP}, "version: "),
    ({"title.ru": DROP}, "title.ru: "),
    ({"bet.odds.flush.value": DROP}, "bet.odds.flush.value: "),
    ({"bet.odds.flush.basis": DROP}, "bet.odds.flush.basis: "),
    # a key that nothing reads
    ({"colour": 1}, "colour: "),
    ({"bet.tax": ROW}, "bet.tax: "),
    ({"bet.odds.none": ROW}, "bet.odds.none: "),
    ({"bet.odds.flush.note": "x"}, "bet.odds.flush.note: "),
    ({"bonus.dealt.none": ROW}, "bonus.dealt.none: "),
    ({"title.fr": "Poker"}, "title.fr: "),
    ({"digest": "sha256:0"}, "digest: "),
    # values of another type or out of range
    ({"bet.odds.flush.value": 5.5}, "bet.odds.flush.value: must be a whole number; got 5.5"),
    ({"bet.odds.flush.value": 5.0}, "bet.odds.flush.value: must be a whole number; got 5.0"),
    (
        {"bet.odds.flush.value": "5"},
        "bet.odds.flush.value: must be a whole number; got a text; drop",
    ),
    ({"bet.odds.flush.value": True}, "bet.odds.flush.value: must be a whole number; got true or false"),
    ({"bet.odds.flush.value": [5]}, "bet.odds.flush.value: must be a whole number; got an array"),
    ({"bet.odds.flush.value": 0}, "bet.odds.flush.value: must be from 1 to 10000; got 0"),
    ({"bet.odds.flush.value": -5}, "bet.odds.flush.value: must be from 1 to 10000; got -5"),
    ({"bet.odds.flush.value": 10_001}, "bet.odds.flush.value: must be from 1 to 10000; got 10001"),
    ({"bet.odds.flush": 5}, "bet.odds.flush: "),
    ({"bet.odds": 5}, "bet.odds: "),
    ({"bet": []}, "bet: "),
    ({"bet.combinations.value": 3}, "bet.combinations.value: must be one of 1, 2"),
    ({"bet.combinations.value": True}, "bet.combinations.value: must be one of 1, 2"),
    ({"bet.combinations.value": "2"}, "bet.combinations.value: must be one of 1, 2"),
    ({"bet.ante_on_win.value": "pays"}, "bet.ante_on_win.value: must be one of returned, paid"),
    ({"boxes.open.value": "some"}, "boxes.open.value: must be one of all, one, one_per_player"),
    ({"boxes.maximum.value": 0}, "boxes.maximum.value: "),
    ({"deal.order.value": "by_one"}, "deal.order.value: "),
    ({"purchase.sixth_card.value": 1}, "purchase.sixth_card.value: must be true or false"),
    (
        {"purchase.sixth_card.value": "true"},
        "purchase.sixth_card.value: must be true or false",
    ),
    ({"purchase.exchange_max.value": 6}, "purchase.exchange_max.value: must be from 0 to 5; got 6"),
    ({"insurance.threshold.value": "none"}, "insurance.threshold.value: must be one of ace_king"),
    ({"insurance.minimum.value": 1}, "insurance.minimum.value: must be one of min_stake, ante"),
    ({"insurance.maximum.value": "all"}, "insurance.maximum.value: must be one of win, half_win"),
    ({"insurance.on_tie.value": "returned"}, "insurance.on_tie.value: must be one of lose, return"),
    (
        {"game_purchase.price.value": "ante"},
        "game_purchase.price.value: must be one of one_more_ante",
    ),
    ({"game_purchase.dealer_discards.value": "any"}, "game_purchase.dealer_discards.value: "),
    ({"limits.min_stake.value": 0}, f"limits.min_stake.value: must be from 1 to {MAX_AMOUNT}; got 0"),
    ({"limits.max_stake": {**ROW, "value": MAX_AMOUNT + 1}}, "limits.max_stake.value: "),
    ({"limits.max_payout": {**ROW, "value": 0}}, "limits.max_payout.value: "),
    ({"title.en": ""}, "title.en: "),
    ({"title": "Poker"}, "title: "),
    ({"version": 0}, "version: "),
    ({"version": "1"}, "version: "),
    # where a value comes from
    ({"bet.odds.flush.basis": "guessed"}, "bet.odds.flush.basis: must be one of printed, assumed"),
    ({"boxes.maximum.decision": "I1"}, "boxes.maximum: an assumed row names the decision"),
    ({"bet.odds.flush.decision": DROP}, "bet.odds.flush: an assumed row names the decision"),
    ({"bet.odds.flush.decision": "I99"}, "decisions: rows name I99, which is not stated here"),
    ({"decisions": []}, "decisions: rows name I10, I13, I17, I2, I8, I9, which is not stated here"),
    ({"decisions": [{"id": "I1", "en": "x"}]}, "decisions.0.ru: "),
    ({"decisions": "I1"}, "decisions: "),
    # the name
    ({"id": "casino-2"}, "version: the id casino-2 ends in another version than 1"),
    ({"version": 2}, "version: the id casino-1 ends in another version than 2"),
    ({"id": "Casino-1"}, "id: a name in lower case"),
    ({"id": "casino-01"}, "id: a name in lower case"),
    ({"id": "casino-1\n"}, "id: a name in lower case"),
    ({"id": "../casino-1"}, "id: a name in lower case"),
    ({"id": "house-1"}, "id: must be the file's name, casino-1; got house-1"),
    # own rows
    ({"bet.own_rows": {"pair+flush": ROW}}, "bet.own_rows.pair+flush: "),
    ({"bet.own_rows": {"pair+none": ROW}}, "bet.own_rows.pair+none: "),
    ({"bet.own_rows": {"pair": ROW}}, "bet.own_rows.pair: "),
    ({"bet.own_rows": {"two_pair+two_pair": {**ROW, "value": 0}}}, "bet.own_rows.two_pair+two_pair.value: "),
    (
        {"bet.combinations.value": 1, "bet.own_rows": {"pair+ace_king": ROW}},
        "bet.own_rows needs",
    ),
    # parameters that do not go together
    ({"purchase.exchange_min.value": 0}, "purchase.exchange_min must be from 1 to exchange_max"),
    ({"purchase.exchange_min.value": 5, "purchase.exchange_max.value": 4}, "purchase.exchange_min must be"),
    ({"purchase.exchange_max.value": 0}, "purchase.exchange_min must be"),
    ({"purchase.sixth_card.value": False}, "purchase.blind_sixth needs a sixth card and a bonus"),
    ({"bonus": DROP}, "purchase.blind_sixth needs a sixth card and a bonus"),
    (
        {
            "purchase.sixth_card.value": False,
            "purchase.blind_sixth.value": False,
            "bonus.with_sixth": {"flush": ROW},
        },
        "bonus.with_sixth needs purchase.sixth_card",
    ),
    ({"game_purchase.failed_ante.value": "lost"}, "game_purchase.failed_ante is 'lost'"),
    ({"game_purchase.price.value": "the_ante"}, "game_purchase.failed_ante is 'lost'"),
    (
        {"limits.min_stake.value": 11, "limits.max_stake": {**ROW, "value": 10}},
        "limits.min_stake must not exceed limits.max_stake",
    ),
    # too many boxes for the deck (D4) or for exact amounts
    ({"boxes.maximum.value": 5}, "boxes.maximum: a round could need 59 cards and the deck has 52 (D4)"),
    ({"boxes.maximum.value": 10}, "boxes.maximum.value: must be from 1 to 9; got 10"),
    ({"bonus.dealt.royal_flush.value": 2000}, "boxes.maximum: a round could return"),
    ({"bet.odds.royal_flush.value": 600}, "boxes.maximum: a round could return"),
]


@pytest.mark.parametrize(("changes", "says"), WRONG, ids=[f"{n}-{says}" for n, (_, says) in enumerate(WRONG)])
def test_a_file_with_one_thing_wrong_is_refused_naming_file_and_key(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    path = write(tmp_path, changed(document(), changes), name="casino-1")
    with pytest.raises(MalformedRuleset) as refusal:
        load_ruleset(path)
    lines = str(refusal.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    assert any(line.removeprefix(f"{path}: ").startswith(says) for line in lines), lines


def test_every_wrong_key_is_named_at_once(tmp_path: Path) -> None:
    changes = {"bet.odds.flush": DROP, "colour": 1, "boxes.maximum.value": "4", "version": 0}
    path = write(tmp_path, changed(document(), changes))
    with pytest.raises(MalformedRuleset) as refusal:
        load_ruleset(path)
    keys = {line.split(": ")[1] for line in str(refusal.value).splitlines()}
    assert keys == {"bet.odds.flush", "colour", "boxes.maximum.value", "version"}


def test_a_decision_is_stated_once(tmp_path: Path) -> None:
    original = document()
    path = write(tmp_path, {**original, "decisions": [*original["decisions"], original["decisions"][0]]})
    with pytest.raises(MalformedRuleset, match="decisions: a decision is stated twice"):
        load_ruleset(path)


@pytest.mark.parametrize(
    "content",
    [b"id = ", b"id = 1\nid = 2", b"\xff\xfe", b"[a\n", b"{}"],
    ids=["half a line", "a key twice", "no UTF-8", "half a table", "JSON"],
)
def test_what_is_no_toml_is_refused_naming_the_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "casino-1.toml"
    path.write_bytes(content)
    with pytest.raises(MalformedRuleset, match=re.escape(f"{path}: ")):
        load_ruleset(path)


def test_a_file_that_cannot_be_read_is_refused_naming_it(tmp_path: Path) -> None:
    path = tmp_path / "casino-1.toml"
    with pytest.raises(MalformedRuleset, match=re.escape(f"{path}: ")):
        load_ruleset(path)


def test_D4_the_bounds_of_the_deck_and_of_exact_amounts_are_the_last_that_fit(tmp_path: Path) -> None:
    """One step less of what the list above refuses is taken."""
    lean = {"purchase.exchange_max.value": 4, "game_purchase.redraw_same_rank.value": False}
    ruleset = load_ruleset(write(tmp_path, changed(document(), {**lean, "boxes.maximum.value": 5}))).ruleset
    assert ruleset.cards_needed == 5 * 9 + 5 + 1 == 51
    none = changed(CARIBBEAN, {"boxes.maximum.value": 9})
    assert load_ruleset(write(tmp_path, none)).ruleset.cards_needed == 50
    top = (MAX_OUTCOME // MAX_AMOUNT - 4 * (2 + 2 + 1 + 2 + 2 * 200)) // 4
    fits = changed(document(), {"bonus.dealt.royal_flush.value": top})
    assert load_ruleset(write(tmp_path, fits)).ruleset.largest_return <= MAX_OUTCOME
    too_much = changed(document(), {"bonus.dealt.royal_flush.value": top + 1})
    with pytest.raises(MalformedRuleset, match="a round could return"):
        load_ruleset(write(tmp_path, too_much))


def test_A8_a_ruleset_may_take_one_stake_only(tmp_path: Path) -> None:
    changes = {"limits.min_stake.value": 10, "limits.max_stake": {**ROW, "value": 10}}
    house = load_ruleset(write(tmp_path, changed(document(), changes))).ruleset
    assert house.limits == Limits(10, 10)


# The folder of RULESETS_DIR


def test_a_folder_adds_its_rulesets_to_the_built_in_ones(tmp_path: Path) -> None:
    for house in (CARIBBEAN, OASIS, LUNAR):
        write(tmp_path, house)
    (tmp_path / "notes.txt").write_text("not a ruleset", encoding="utf-8")
    known = load_rulesets(tmp_path)
    assert sorted(known) == sorted([*HOUSES, "caribbean-1", "oasis-2", "lunar-1"])
    assert all(id == published.ruleset.id for id, published in known.items())
    assert known["oasis-2"].ruleset.version == 2


def test_a_folder_cannot_replace_a_built_in_ruleset(tmp_path: Path) -> None:
    path = write(tmp_path, changed(document(), {"bet.odds.flush.value": 6}))
    with pytest.raises(MalformedRuleset, match=re.escape(f"{path}: id: casino-1 is already published")):
        load_rulesets(tmp_path)


def test_one_wrong_file_refuses_the_whole_folder(tmp_path: Path) -> None:
    write(tmp_path, OASIS)
    path = write(tmp_path, changed(LUNAR, {"colour": 1}))
    with pytest.raises(MalformedRuleset, match=re.escape(f"{path}: colour: ")):
        load_rulesets(tmp_path)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedRuleset, match=r"RULESETS_DIR: .*nowhere is not a folder"):
        load_rulesets(tmp_path / "nowhere")
    assert sorted(load_rulesets(None)) == sorted(HOUSES)


# Digests


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}".lstrip("."))
    elif not isinstance(value, list):
        yield path, value


def test_the_digest_is_that_of_the_canonical_content(registry: Registry) -> None:
    for house in HOUSES:
        assert (
            registry[house].ruleset.digest == "sha256:" + sha256(rfc8785.dumps(document(house))).hexdigest()
        )


def test_the_digest_changes_with_any_content(tmp_path: Path) -> None:
    original = document()
    digests = {load_ruleset(write(tmp_path, original)).ruleset.digest}
    tried = 1
    for path, value in leaves(original):
        if type(value) is int and path not in {"version", "boxes.maximum.value"}:
            other: Any = value + 1 if value < 5 or path.startswith(("bet", "bonus")) else value - 1
        elif path.split(".")[0] in {"title", "summary", "source"}:
            other = value + " "
        else:
            continue
        try:
            digests.add(load_ruleset(write(tmp_path, changed(original, {path: other}))).ruleset.digest)
        except MalformedRuleset:
            continue
        tried += 1
    decisions = [{**original["decisions"][0], "en": "Otherwise."}, *original["decisions"][1:]]
    digests.add(load_ruleset(write(tmp_path, {**original, "decisions": decisions})).ruleset.digest)
    assert len(digests) == tried + 1
    assert tried > 20


def test_the_digest_does_not_depend_on_order_or_formatting(tmp_path: Path, registry: Registry) -> None:
    def backwards(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: backwards(value[name]) for name in reversed(value)}

    published = registry["casino-1"].ruleset.digest
    assert load_ruleset(write(tmp_path, backwards(document()))).ruleset.digest == published
    text = (BUILT_IN / "casino-1.toml").read_text(encoding="utf-8")
    path = tmp_path / "casino-1.toml"
    path.write_text("# A comment.\n\n" + re.sub(r" += +", "=", text), encoding="utf-8")
    assert load_ruleset(path).ruleset.digest == published
