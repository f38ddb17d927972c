from collections import Counter
from itertools import combinations, pairwise
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pokerkit import StandardHighHand
from treys import Card, Evaluator

from service.game.cards import FRESH_DECK, card_codes, rank
from service.game.documents import hand_document
from service.game.hands import (
    GAME_FLOOR,
    KINDS,
    STRENGTH_FLOORS,
    Evaluation,
    Kind,
    combinations_held,
    evaluate,
    kickers,
    main_and_second,
)
from service.game.round import has_game
from service.registry import Registry
from tests.conftest import Tally
from tests.support import census, oracle
from tests.support.cards import cards
from tests.support.vectors import load

FIVE_CARD_HANDS = 2_598_960
SIX_CARD_HANDS = 20_358_520

# C5 as printed: main and second combination, odds, five-card and six-card hands.
TWO_COMBINATIONS = [
    ("royal_flush", "straight_flush", 150, 0, 4),
    ("royal_flush", "flush", 105, 0, 28),
    ("royal_flush", "straight", 104, 0, 72),
    ("straight_flush", "straight_flush", 100, 0, 32),
    ("straight_flush", "flush", 55, 0, 220),
    ("straight_flush", "straight", 54, 0, 744),
    ("straight_flush", "ace_king", 51, 0, 12),
    ("four_of_a_kind", "full_house", 27, 0, 936),
    ("four_of_a_kind", "ace_king", 21, 8, 528),
    ("full_house", "full_house", 14, 0, 1_248),
    ("full_house", "ace_king", 8, 0, 4_224),
    ("flush", "flush", 10, 0, 6_580),
    ("flush", "straight", 9, 0, 4_152),
    ("flush", "pair", 6, 0, 76_620),
    ("flush", "ace_king", 6, 0, 7_704),
    ("straight", "straight", 8, 0, 112_380),
    ("straight", "ace_king", 5, 0, 4_020),
    ("three_of_a_kind", "ace_king", 4, 2_112, 56_320),
    ("two_pair", "two_pair", 4, 0, 61_776),
    ("two_pair", "ace_king", 3, 3_168, 158_400),
    ("pair", "ace_king", 2, 84_480, 1_249_680),
]
ONLINE_TWO_PAIR_TWICE = 5

# C5: six-card hands with a main combination only.
SIX_CARDS_MAIN_ONLY = {
    "royal_flush": 84,
    "straight_flush": 648,
    "four_of_a_kind": 13_200,
    "full_house": 160_512,
    "flush": 110_736,
    "straight": 245_220,
    "three_of_a_kind": 675_840,
    "two_pair": 2_312_640,
    "pair": 8_481_060,
    "ace_king": 1_290_420,
    "none": 5_322_480,
}

# C6; ace-king and nothing follow from the 1,463,700 hands that have game.
FIVE_CARD_KINDS = {
    "royal_flush": 4,
    "straight_flush": 36,
    "four_of_a_kind": 624,
    "full_house": 3_744,
    "flush": 5_108,
    "straight": 10_200,
    "three_of_a_kind": 54_912,
    "two_pair": 123_552,
    "pair": 1_098_240,
    "ace_king": 167_280,
    "none": 1_135_260,
}
HAVE_GAME = 1_463_700

# treys says "High Card" where the rule book says ace-king or nothing.
TREYS_NAMES = {
    "Royal Flush": "royal_flush",
    "Straight Flush": "straight_flush",
    "Four of a Kind": "four_of_a_kind",
    "Full House": "full_house",
    "Flush": "flush",
    "Straight": "straight",
    "Three of a Kind": "three_of_a_kind",
    "Two Pair": "two_pair",
    "Pair": "pair",
    "High Card": "none",
}

hands = st.integers(5, 6).flatmap(
    lambda size: st.lists(st.sampled_from(FRESH_DECK), min_size=size, max_size=size, unique=True)
)
# Random cards seldom make anything; these come from one suit and a few ranks.
crowded = st.integers(5, 6).flatmap(
    lambda size: st.lists(
        st.sampled_from([*range(0, 52, 4), *range(40, 52)]), min_size=size, max_size=size, unique=True
    )
)


class Class(NamedTuple):
    """Hands that differ in the names of their suits only, and what C5 says of them by the letter."""

    hand: list[str]
    alike: int
    main: str
    second: str | None
    main_cores: int


@pytest.fixture(scope="module")
def classes() -> list[Class]:
    """All classes of five- and of six-card hands."""
    return [
        Class(hand, alike, *oracle.reading(hand))
        for size in (5, 6)
        for hand, alike in (*oracle.classes_without_flush(size), *oracle.classes_with_flush(size))
    ]


@pytest.fixture(scope="module")
def five_cards() -> Counter[tuple[Evaluation, int]]:
    return census.five_cards()


@pytest.fixture(scope="module")
def six_cards() -> Counter[Evaluation]:
    return census.six_cards()


@pytest.fixture(scope="module")
def five_card_results(five_cards: Counter[tuple[Evaluation, int]]) -> Counter[tuple[str, str | None]]:
    return _results({evaluation: count for (evaluation, _), count in five_cards.items()})


@pytest.fixture(scope="module")
def six_card_results(six_cards: Counter[Evaluation]) -> Counter[tuple[str, str | None]]:
    return _results(six_cards)


def _results(counted: dict[Evaluation, int]) -> Counter[tuple[str, str | None]]:
    results: Counter[tuple[str, str | None]] = Counter()
    for evaluation, count in counted.items():
        results[evaluation.main, evaluation.second] += count
    return results


def test_C2_C3_every_five_card_hand_stands_where_treys_puts_it(
    five_cards: Counter[tuple[Evaluation, int]], tally: Tally
) -> None:
    assert sum(five_cards.values()) == FIVE_CARD_HANDS
    assert [pair for pair in five_cards if pair[0].strength != 7462 - pair[1]] == []
    assert {evaluation.strength for evaluation, _ in five_cards} == set(range(7462))
    tally("five-card hands evaluated and compared with treys", FIVE_CARD_HANDS)


def test_C2_the_kinds_are_those_of_treys_with_ace_king_above_nothing(
    five_cards: Counter[tuple[Evaluation, int]],
) -> None:
    treys = Evaluator()
    for evaluation, place in five_cards:
        theirs = TREYS_NAMES[treys.class_to_string(treys.get_rank_class(place))]
        ours = "none" if evaluation.main == "ace_king" else evaluation.main
        assert ours == theirs
    by_strength = {evaluation.strength: evaluation.main for evaluation, _ in five_cards}
    ranked = [by_strength[strength] for strength in range(7462)]
    assert list(dict.fromkeys(ranked)) == list(KINDS)
    assert all(KINDS.index(low) <= KINDS.index(high) for low, high in pairwise(ranked))
    assert {kind: ranked.index(kind) for kind in KINDS} == STRENGTH_FLOORS


def test_C2_ace_king_is_no_pair_an_ace_and_a_king() -> None:
    assert evaluate(cards("Ac Kd 4h 3s 2c")).main == "ace_king"
    assert evaluate(cards("Ac Qd 4h 3s 2c")).main == "none"
    assert evaluate(cards("Kc Qd 4h 3s 2c")).main == "none"
    assert evaluate(cards("Ac Kd 4h 4s 2c")).main == "pair"
    weakest, strongest = evaluate(cards("Ac Kd 4h 3s 2c")), evaluate(cards("Ac Kd Qh Js 9c"))
    best_nothing, worst_pair = evaluate(cards("Ac Qd Jh Ts 9c")), evaluate(cards("2c 2d 3h 4s 5c"))
    assert best_nothing.strength < weakest.strength < strongest.strength < worst_pair.strength


def test_C2_the_ace_is_low_in_one_straight_only_and_never_wraps() -> None:
    wheel, six_high = evaluate(cards("Ac 2d 3h 4s 5c")), evaluate(cards("2d 3h 4s 5c 6d"))
    assert wheel.main == six_high.main == "straight"
    assert wheel.strength == STRENGTH_FLOORS["straight"] == six_high.strength - 1
    assert evaluate(cards("As 2s 3s 4s 5s")) == (STRENGTH_FLOORS["straight_flush"], "straight_flush", None)
    for wrapped in ("Qc Kd Ah 2s 3c", "Kc Ad 2h 3s 4c", "Jc Qd Kh As 2c"):
        assert evaluate(cards(wrapped)).main in {"none", "ace_king"}
    assert evaluate(cards("Qs Ks As 2s 3s")).main == "flush"


@given(crowded, st.permutations(range(4)))
def test_C2_suits_and_order_never_decide(hand: list[int], suits: list[int]) -> None:
    recoloured = [card - card % 4 + suits[card % 4] for card in reversed(hand)]
    assert evaluate(recoloured) == evaluate(hand)


@pytest.mark.parametrize(
    ("higher", "lower"),
    [
        ("Ac Ad 4h 3s 2c", "Kc Kd Ah Qs Jc"),
        ("9c 9d Ah 3s 2c", "9h 9s Kc Qd Jh"),
        ("9c 9d Ah 4s 2c", "9h 9s Ac 3d 2h"),
        ("9c 9d Ah 4s 3c", "9h 9s Ac 4d 2h"),
        ("Kc Kd 2h 2s 3c", "Qc Qd Jh Js Ac"),
        ("Kc Kd 3h 3s 2c", "Kh Ks 2c 2d Ah"),
        ("Kc Kd 3h 3s 4c", "Kh Ks 3c 3d 2h"),
        ("3c 3d 3h 2s 2c", "2d 2h 2s Ac Ad"),
        ("Ac Kd Qh 3s 2c", "Ad Kh Jc Ts 9h"),
        ("Ac Qd 4h 3s 2c", "Ad Jh Tc 9s 8h"),
    ],
)
def test_C3_rank_first_then_kickers(higher: str, lower: str) -> None:
    assert evaluate(cards(higher)).strength > evaluate(cards(lower)).strength


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7c 5d 4h 3s 2c", "7d 5c 4s 3d 2h"),
        ("Ac Ad Kh Qs Jc", "Ah As Kc Qd Jh"),
        ("Ac Kd 9h 8s 2c 3d", "Ah Ks 9c 8d 3h 2s"),  # the sixth card is no kicker
        ("Kc Kd Qh Qs Jc Jd", "Kh Ks Qc Qd Jh 9s"),  # nor is the third pair more than one
        ("2c 2d 2h 3s 3c 3d", "3h 3s 3c 2d 2h 9s"),
    ],
)
def test_C3_identical_ranks_tie(one: str, other: str) -> None:
    assert evaluate(cards(one)).strength == evaluate(cards(other)).strength


def test_C4_six_cards_are_worth_their_best_five() -> None:
    random = Random("six cards")
    for _ in range(3_000):
        hand = random.sample(FRESH_DECK, 6)
        best = max((evaluate(five) for five in combinations(hand, 5)), key=lambda one: one.strength)
        assert evaluate(hand)[:2] == best[:2]


def test_C4_six_cards_stand_where_treys_puts_them() -> None:
    random, treys = Random("treys"), Evaluator()
    for _ in range(20_000):
        hand = random.sample(FRESH_DECK, 6)
        place = treys.evaluate([Card.new(code) for code in card_codes(hand)], [])
        assert evaluate(hand).strength == 7462 - place, card_codes(hand)


def test_C4_six_cards_meet_as_pokerkit_has_it() -> None:
    random = Random("pokerkit")
    for _ in range(500):
        one, other = random.sample(FRESH_DECK, 6), random.sample(FRESH_DECK, 6)
        mine, theirs = (StandardHighHand.from_game("".join(card_codes(hand))) for hand in (one, other))
        ours = evaluate(one).strength, evaluate(other).strength
        assert (ours[0] > ours[1], ours[0] < ours[1]) == (mine > theirs, mine < theirs), card_codes(one)


@pytest.mark.parametrize(
    ("hand", "main"),
    [
        ("4c 5d 6h 7s 2c 8d", "straight"),
        ("Ac 2d 3h 4s Kc 5d", "straight"),
        ("2h 5h 9h Jh As Kh", "flush"),
        ("Ac Kd 9h 8s 2c 7d", "ace_king"),
        ("Qc Jd 9h 8s 2c 7d", "none"),
    ],
)
def test_C4_the_sixth_card_may_complete_the_hand(hand: str, main: str) -> None:
    assert evaluate(cards(hand)).main == main


def test_C4_a_hand_below_ace_king_beats_no_dealer_who_has_game() -> None:
    assert evaluate(cards("Ac Qd Jh Ts 9c")).strength == GAME_FLOOR - 1
    assert evaluate(cards("Ac Kd 4h 3s 2c")).strength == GAME_FLOOR == STRENGTH_FLOORS["ace_king"]
    assert has_game(cards("Ac Kd 4h 3s 2c"))
    assert not has_game(cards("Ac Qd Jh Ts 9c"))


def test_C5_counts_of_all_five_card_hands(five_card_results: Counter[tuple[str, str | None]]) -> None:
    two = {(main, second): count for main, second, _, count, _ in TWO_COMBINATIONS if count}
    paired = Counter({main: count for (main, _), count in two.items()})
    one = {(kind, None): count - paired[kind] for kind, count in FIVE_CARD_KINDS.items()}
    assert five_card_results == one | two


def test_C5_counts_of_all_six_card_hands(
    six_card_results: Counter[tuple[str, str | None]], tally: Tally
) -> None:
    one = {(kind, None): count for kind, count in SIX_CARDS_MAIN_ONLY.items()}
    two = {(main, second): count for main, second, _, _, count in TWO_COMBINATIONS}
    assert six_card_results == one | two
    assert sum(six_card_results.values()) == SIX_CARD_HANDS
    tally("six-card hands evaluated", SIX_CARD_HANDS)


def test_C5_the_literal_reading_agrees_on_every_class_of_hands(classes: list[Class]) -> None:
    for one in classes:
        assert evaluate(cards(" ".join(one.hand)))[1:] == (one.main, one.second), one.hand


def test_C5_the_literal_reading_gives_the_printed_counts(classes: list[Class]) -> None:
    counted: Counter[tuple[int, str, str | None]] = Counter()
    for one in classes:
        counted[len(one.hand), one.main, one.second] += one.alike
    assert sum(count for (size, *_), count in counted.items() if size == 5) == FIVE_CARD_HANDS
    for main, second, _, five, six in TWO_COMBINATIONS:
        assert (counted[5, main, second], counted[6, main, second]) == (five, six)
    for kind, six in SIX_CARDS_MAIN_ONLY.items():
        assert counted[6, kind, None] == six
    assert len(counted) == len(FIVE_CARD_KINDS) + 4 + len(SIX_CARDS_MAIN_ONLY) + len(TWO_COMBINATIONS)


def test_C5_where_several_main_cores_qualify_the_second_kind_is_the_same(classes: list[Class]) -> None:
    """A straight with one of its cards paired and three and three of a rank leave a choice, nothing else.

    ``oracle.reading`` fails where the choice matters, so reaching the printed count is the proof.
    """
    ambiguous = [one for one in classes if one.main_cores > 1]
    assert sum(one.alike for one in ambiguous) == 77_448
    assert {(one.main, one.second) for one in ambiguous} == {
        ("straight", "straight"),
        ("full_house", "full_house"),
    }


@given(st.one_of(hands, crowded))
def test_C5_the_literal_reading_agrees_on_any_hand(hand: list[int]) -> None:
    assert evaluate(hand)[1:] == oracle.result(card_codes(hand))


def test_C5_the_literal_reading_agrees_with_the_vectors() -> None:
    for vector in load("hands.json"):
        assert oracle.result(vector["cards"].split()) == (vector["main"], vector["second"])


@pytest.mark.parametrize("house", ["trainer-1", "online-1", "casino-1"])
def test_C5_odds_of_every_row(house: str, registry: Registry) -> None:
    ruleset = registry[house].ruleset
    for main, second, odds, _, _ in TWO_COMBINATIONS:
        expected = odds
        if house == "trainer-1":
            expected = ruleset.bet_odds[_kind(main)]
        elif house == "online-1" and (main, second) == ("two_pair", "two_pair"):
            expected = ONLINE_TWO_PAIR_TWICE
        hand = ruleset.pay(Evaluation(0, _kind(main), _kind(second)))
        assert (hand.main, hand.odds) == (main, expected)
        assert hand.second == (None if house == "trainer-1" else second)


def _kind(name: str) -> Kind:
    return next(kind for kind in KINDS if kind == name)


@pytest.mark.parametrize(
    ("hand", "main", "second"),
    [
        ("Ac Ad Kh Ks 5c", "two_pair", None),
        ("Ac Kd Qh Js Tc", "straight", None),
        ("Ah Kh 9h 5h 2h", "flush", None),
        ("Ah Kh 9h 5h 2h As", "flush", "pair"),
        ("Ah Kh 9h 5h 2h 3s", "flush", None),
        ("Ah Qh 9h 5h 2h Ks", "flush", "ace_king"),
        ("Qc Qd Ah Ks 7c", "pair", "ace_king"),
        ("Ac Ad Kh 5s 7c", "pair", "ace_king"),
        ("Ac Ad Kh Ks 5c 5d", "two_pair", "two_pair"),
        ("Ac Ad Ah Ks Kc Kd", "full_house", "full_house"),
        ("Ac 2d 3h 4s 5c Kd", "straight", "ace_king"),
        ("8c 9d 9h Ts Jc Qd", "straight", "straight"),
        ("4c 5d 6h 7s 8c 9d", "straight", "straight"),
        ("Th Jh Qh Kh Ah 9h", "royal_flush", "straight_flush"),
        ("Th Jh Qh Kh Ah Ks", "royal_flush", "straight"),
        ("Th Jh Qh Kh Ah 9s", "royal_flush", "straight"),
        ("Th Jh Qh Kh Ah 2s", "royal_flush", None),
    ],
)
def test_C5_examples(hand: str, main: str, second: str | None) -> None:
    assert evaluate(cards(hand))[1:] == (main, second)


@given(st.one_of(hands, crowded))
def test_C5_every_combination_held_is_a_core_named_once_under_its_highest_kind(hand: list[int]) -> None:
    held = [(one.kind, frozenset(card_codes(one.core))) for one in combinations_held(hand)]
    highest: dict[frozenset[str], str] = {}
    for kind, core in oracle.cores(card_codes(hand)):
        if oracle.ORDER.index(kind) > oracle.ORDER.index(highest.get(core, "none")):
            highest[core] = kind
    assert Counter(held) == Counter((kind, core) for core, kind in highest.items())
    heights = [(oracle.ORDER.index(kind), oracle.value(core)) for kind, core in held]
    assert heights == sorted(heights, reverse=True)


@given(st.one_of(hands, crowded))
def test_C5_main_and_second_are_cores_apart(hand: list[int]) -> None:
    main, second = main_and_second(hand)
    held = oracle.cores(card_codes(hand))
    evaluation = evaluate(hand)
    assert (main.kind if main else "none", second.kind if second else None) == evaluation[1:]
    if main:
        assert frozenset(card_codes(main.core)) in oracle.main_cores(held)[1]
    if main and second:
        assert (second.kind, frozenset(card_codes(second.core))) in held
        assert set(main.core) - set(second.core)
        assert set(second.core) - set(main.core)


@given(st.one_of(hands, crowded))
def test_C3_C4_main_core_and_kickers_are_the_best_five(hand: list[int]) -> None:
    main, _ = main_and_second(hand)
    core = main.core if main else ()
    rest = kickers(hand, main)
    best_five = {*core, *rest}
    assert len(best_five) == len(core) + len(rest) == 5
    assert best_five <= set(hand)
    assert evaluate([*best_five])[:2] == evaluate(hand)[:2]
    assert [rank(card) for card in rest] == sorted((rank(card) for card in rest), reverse=True)


def test_C5_hand_document_shows_cores_and_kickers(registry: Registry) -> None:
    hand = cards("Kc Qd Ah Qs 7c 2d")
    shown = hand_document(registry["casino-1"].ruleset, hand)
    assert shown == {
        "cards": ["Kc", "Qd", "Ah", "Qs", "7c", "2d"],
        "main": "pair",
        "main_core": ["Qs", "Qd"],
        "second": "ace_king",
        "second_core": ["Ah", "Kc"],
        "kickers": ["Ah", "Kc", "7c"],
        "odds": 2,
        "has_game": True,
    }
    assert hand_document(registry["trainer-1"].ruleset, hand) == shown | {
        "second": None,
        "second_core": [],
        "odds": 1,
    }
    assert hand_document(registry["casino-1"].ruleset, cards("Kc Qd 9h 4s 2c")) == {
        "cards": ["Kc", "Qd", "9h", "4s", "2c"],
        "main": "none",
        "main_core": [],
        "second": None,
        "second_core": [],
        "kickers": ["Kc", "Qd", "9h", "4s", "2c"],
        "odds": 0,
        "has_game": False,
    }


def test_C6_counts_of_all_five_card_hands(five_card_results: Counter[tuple[str, str | None]]) -> None:
    kinds: Counter[str] = Counter()
    for (main, _), count in five_card_results.items():
        kinds[main] += count
    assert kinds == FIVE_CARD_KINDS
    assert sum(kinds.values()) == FIVE_CARD_HANDS


def test_C6_the_dealer_has_game_in_1463700_deals(five_cards: Counter[tuple[Evaluation, int]]) -> None:
    having = sum(count for (evaluation, _), count in five_cards.items() if evaluation.strength >= GAME_FLOOR)
    assert having == HAVE_GAME
