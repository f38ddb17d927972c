"""What may be staked before the deal: boxes, limits, open and blind boxes."""

from dataclasses import replace

import pytest

from service.game.cards import FRESH_DECK
from service.game.round import start
from service.game.ruleset import MAX_AMOUNT, Limits, Ruleset
from service.game.stakes import BoxStake, IllegalBoxes, OutsideLimits, RefusedStakes, Table, effective_limits
from tests.support.rounds import NO_TABLE


def faults(
    ruleset: Ruleset, *boxes: BoxStake, table: Table = NO_TABLE
) -> list[tuple[type[RefusedStakes], tuple[str | int, ...], str]]:
    """Error, place and code of everything that is refused; nothing where the round is dealt."""
    try:
        start(ruleset, boxes, FRESH_DECK, table)
    except RefusedStakes as error:
        return [(type(error), fault.path, fault.code) for fault in error.faults]
    return []


def box(number: int, ante: int = 100, bonus: int = 0, player: str | None = None) -> BoxStake:
    return BoxStake(number, ante, bonus, player=player)


def blind(number: int, ante: int = 100, bonus: int = 0, player: str | None = None) -> BoxStake:
    return BoxStake(number, ante, bonus, blind=True, player=player)


@pytest.mark.parametrize("numbers", [[1], [4], [1, 2, 3, 4], [1, 3], [2, 4], [1, 2, 4]])
def test_D2_boxes_ascend_and_numbers_may_be_missing(trainer: Ruleset, numbers: list[int]) -> None:
    assert faults(trainer, *map(box, numbers)) == []


@pytest.mark.parametrize(
    ("numbers", "index", "code"),
    [
        ([5], 0, "no-such-box"),
        ([1, 5], 1, "no-such-box"),
        ([2, 1], 1, "box-order"),
        ([1, 3, 2], 2, "box-order"),
        ([1, 1], 1, "box-order"),
        ([0], 0, "box-order"),
    ],
)
def test_D2_other_numbers_are_refused(trainer: Ruleset, numbers: list[int], index: int, code: str) -> None:
    assert faults(trainer, *map(box, numbers)) == [(IllegalBoxes, ("boxes", index, "box"), code)]


def test_D2_online_has_three_boxes(online: Ruleset) -> None:
    assert faults(online, blind(1), blind(2), box(3)) == []
    assert faults(online, box(4)) == [(IllegalBoxes, ("boxes", 0, "box"), "no-such-box")]


def test_D2_every_fault_is_named_at_once(trainer: Ruleset) -> None:
    with pytest.raises(IllegalBoxes, match=r"2 follows 3.*; .*got 7.*; .*no blind boxes"):
        start(trainer, [box(3), blind(2), box(7)], FRESH_DECK, NO_TABLE)
    assert faults(trainer, box(3), blind(2), box(7)) == [
        (IllegalBoxes, ("boxes", 1, "box"), "box-order"),
        (IllegalBoxes, ("boxes", 2, "box"), "no-such-box"),
        (IllegalBoxes, ("boxes", 1, "blind"), "no-blind-boxes"),
    ]


def test_a_bonus_where_there_is_none_is_refused(trainer: Ruleset) -> None:
    without = replace(trainer, bonus=None)
    assert faults(without, box(1), box(2, bonus=10)) == [(IllegalBoxes, ("boxes", 1, "bonus"), "no-bonus")]
    assert faults(trainer, box(1), box(2, bonus=10)) == []


@pytest.mark.parametrize(
    ("amount", "code"),
    [
        (9, "below-min-stake"),
        (10, None),
        (2000, None),
        (2001, "above-max-stake"),
    ],
)
def test_A8_the_limits_of_online_bound_ante_and_bonus(online: Ruleset, amount: int, code: str | None) -> None:
    expected = (
        {"ante": [], "bonus": []}
        if code is None
        else {name: [(OutsideLimits, ("boxes", 1, name), code)] for name in ("ante", "bonus")}
    )
    assert faults(online, box(1), blind(3, ante=amount)) == expected["ante"]
    assert faults(online, box(1), blind(3, bonus=amount)) == expected["bonus"]


def test_A8_no_bonus_is_no_stake_below_the_minimum(online: Ruleset) -> None:
    assert faults(online, box(1, ante=10, bonus=0)) == []


def test_A8_the_bet_is_not_bound(online: Ruleset) -> None:
    state = start(online, [box(1, ante=2000)], FRESH_DECK, NO_TABLE)
    assert {offer.name: offer.price for offer in state.legal_actions()}["bet"] == 4000


def test_A8_trainer_and_casino_take_1_and_have_no_maximum_but_the_largest_amount(
    trainer: Ruleset, casino: Ruleset
) -> None:
    for ruleset in (trainer, casino):
        assert faults(ruleset, box(1, ante=1, bonus=1), box(2, MAX_AMOUNT, MAX_AMOUNT)) == []
        assert faults(ruleset, box(1, ante=0), box(2, MAX_AMOUNT + 1)) == [
            (OutsideLimits, ("boxes", 0, "ante"), "below-min-stake"),
            (OutsideLimits, ("boxes", 1, "ante"), "above-max-stake"),
        ]


def test_A8_the_tables_limits_replace_the_rulesets_one_by_one(online: Ruleset) -> None:
    assert effective_limits(online, Table()) == Limits(10, 2000, None)
    assert effective_limits(online, Table(min_stake=1)) == Limits(1, 2000, None)
    assert effective_limits(online, Table(max_stake=5000)) == Limits(10, 5000, None)
    assert effective_limits(online, Table(max_payout=7)) == Limits(10, 2000, 7)
    assert effective_limits(online, Table(5, 6, 7)) == Limits(5, 6, 7)
    own = replace(online, limits=Limits(10, 2000, 300))
    assert effective_limits(own, Table()).max_payout == 300
    assert effective_limits(own, Table(max_payout=900)).max_payout == 900


def test_A8_a_table_may_allow_less_or_more_than_the_ruleset(online: Ruleset) -> None:
    wide, narrow = Table(min_stake=1, max_stake=9000), Table(min_stake=50, max_stake=60)
    assert faults(online, box(1, ante=1, bonus=9000), table=wide) == []
    assert faults(online, box(1, ante=49, bonus=61), table=narrow) == [
        (OutsideLimits, ("boxes", 0, "ante"), "below-min-stake"),
        (OutsideLimits, ("boxes", 0, "bonus"), "above-max-stake"),
    ]
    assert faults(online, box(1, ante=50, bonus=60), table=narrow) == []


@pytest.mark.parametrize(
    ("table", "name"),
    [
        (Table(min_stake=2001), "min_stake"),
        (Table(max_stake=9), "max_stake"),
        (Table(min_stake=6, max_stake=5), "min_stake"),
    ],
)
def test_A8_a_minimum_above_the_maximum_is_refused(online: Ruleset, table: Table, name: str) -> None:
    assert faults(online, box(1), table=table) == [(OutsideLimits, ("table", name), "min-above-max")]


def test_A8_a_minimum_equal_to_the_maximum_leaves_one_stake(online: Ruleset) -> None:
    fixed = Table(min_stake=100, max_stake=100)
    assert faults(online, box(1, ante=100), table=fixed) == []
    assert faults(online, box(1, ante=101), table=fixed) == [
        (OutsideLimits, ("boxes", 0, "ante"), "above-max-stake")
    ]


def test_A9_trainer_has_no_blind_boxes(trainer: Ruleset) -> None:
    assert faults(trainer, box(1), blind(2), box(3), blind(4)) == [
        (IllegalBoxes, ("boxes", 1, "blind"), "no-blind-boxes"),
        (IllegalBoxes, ("boxes", 3, "blind"), "no-blind-boxes"),
    ]


@pytest.mark.parametrize("opened", [1, 2, 3])
def test_A9_online_opens_one_box_in_the_round_any_of_them(online: Ruleset, opened: int) -> None:
    boxes = [box(number) if number == opened else blind(number) for number in (1, 2, 3)]
    assert faults(online, *boxes) == []
    assert faults(online, *(one._replace(player="ann") for one in boxes)) == []


def test_A9_online_refuses_a_second_open_box_of_any_player(online: Ruleset) -> None:
    expected = [(IllegalBoxes, ("boxes", index, "blind"), "too-many-open-boxes") for index in (1, 2)]
    assert faults(online, box(1), box(2), box(3)) == expected
    assert faults(online, box(1, player="ann"), box(2, player="bob"), box(3)) == expected


def test_A9_casino_opens_one_box_of_each_player(casino: Ruleset) -> None:
    assert faults(casino, *map(box, (1, 2, 3, 4))) == []
    ann, bob = "ann", "bob"
    assert faults(casino, box(1, player=ann), box(2, player=bob), blind(3, player=ann), box(4)) == []
    assert faults(casino, box(1, player=ann), box(2, player=bob), box(3, player=ann), box(4, player=bob)) == [
        (IllegalBoxes, ("boxes", 2, "blind"), "too-many-open-boxes"),
        (IllegalBoxes, ("boxes", 3, "blind"), "too-many-open-boxes"),
    ]
    assert faults(casino, blind(1, player=ann), box(2, player=ann), box(3, player="Ann")) == []


def test_A9_a_round_of_blind_boxes_only_is_legal(online: Ruleset, casino: Ruleset) -> None:
    for ruleset in (online, casino):
        assert faults(ruleset, blind(1), blind(2), blind(3, bonus=25)) == []
