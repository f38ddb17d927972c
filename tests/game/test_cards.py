import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.game.cards import CODES, FRESH_DECK, MalformedCard, card_codes, parse_cards, rank, suit

some_cards = st.lists(st.sampled_from(FRESH_DECK), unique=True)


def test_C1_one_deck_of_52_cards_rank_first_then_suit() -> None:
    assert list(CODES) == [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    assert list(FRESH_DECK) == list(range(52))
    assert [(rank(card), suit(card)) for card in FRESH_DECK] == [divmod(card, 4) for card in range(52)]
    assert parse_cards(["2c", "Td", "As"]) == (0, 33, 51)


@given(some_cards)
def test_C1_codes_round_trip(cards: list[int]) -> None:
    assert parse_cards(card_codes(cards)) == tuple(cards)


@pytest.mark.parametrize(
    ("code", "cure"),
    [
        ("10d", "did you mean Td?"),
        ("td", "did you mean Td?"),
        ("TD", "did you mean Td?"),
        ("dT", "did you mean Td?"),
        (" As ", "did you mean As?"),
        ("1d", "write a rank of"),
        ("T", "write a rank of"),
        ("", "write a rank of"),
        ("Tx", "write a rank of"),
        ("Тd", "write a rank of"),  # a Cyrillic letter
        ("Joker", "write a rank of"),
        (33, "write a rank of"),
        (None, "write a rank of"),
    ],
)
def test_C1_another_spelling_is_refused_with_a_cure(code: object, cure: str) -> None:
    with pytest.raises(MalformedCard, match="is no card") as refusal:
        parse_cards(["Ah", code])
    assert refusal.value.index == 1
    assert cure in str(refusal.value)


def test_C1_a_card_exists_once() -> None:
    with pytest.raises(MalformedCard, match="Kd stands twice") as refusal:
        parse_cards(["Kd", "Ah", "Kd", "Kd"])
    assert refusal.value.index == 2


@given(st.text(alphabet="29TJQKAcdhs10xCS♠Тс ", max_size=3))
def test_C1_only_the_52_codes_are_cards(code: str) -> None:
    if code in CODES:
        assert parse_cards([code]) == (CODES.index(code),)
    else:
        with pytest.raises(MalformedCard):
            parse_cards([code])
