from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given

from service.certificate.differences import ABSENT, Difference, differences, escape
from tests.support.documents import documents, resolve


@given(documents)
def test_a_document_does_not_differ_from_itself(document: Any) -> None:
    assert list(differences(document, deepcopy(document))) == []


@given(documents, documents)
def test_each_difference_leads_to_both_values(claimed: Any, computed: Any) -> None:
    found = list(differences(claimed, computed))
    assert len({one.pointer for one in found}) == len(found)
    for one in found:
        for document, value in ((claimed, one.claimed), (computed, one.computed)):
            if value is ABSENT:
                with pytest.raises(LookupError):
                    resolve(document, one.pointer)
            else:
                assert resolve(document, one.pointer) is value
        assert (type(one.claimed) is bool, one.claimed) != (type(one.computed) is bool, one.computed)


@pytest.mark.parametrize(
    ("claimed", "computed", "expected"),
    [
        (1, 2, [("", 1, 2)]),
        ({"a": 1}, {"a": 2}, [("/a", 1, 2)]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [("/a/b/1", 2, 3)]),
        # true is never 1, and 0 is never false
        ({"a": True}, {"a": 1}, [("/a", True, 1)]),
        ({"a": 0}, {"a": False}, [("/a", 0, False)]),
        (True, False, [("", True, False)]),
        # numbers by value, nothing else
        ({"a": 5.0}, {"a": 5}, []),
        ({"a": 5.5}, {"a": 5}, [("/a", 5.5, 5)]),
        ({"a": "5"}, {"a": 5}, [("/a", "5", 5)]),
        # null is a value, an absent member is none
        ({"a": None}, {}, [("/a", None, ABSENT)]),
        ({}, {"a": None}, [("/a", ABSENT, None)]),
        ({"a": None}, {"a": 0}, [("/a", None, 0)]),
        ([1], [1, None], [("/1", ABSENT, None)]),
        ([1, 2, 3], [1], [("/1", 2, ABSENT), ("/2", 3, ABSENT)]),
        # another type is one difference, however much it holds
        ({"a": [1, 2]}, {"a": {"0": 1}}, [("/a", [1, 2], {"0": 1})]),
        ({"a": {}}, {"a": []}, [("/a", {}, [])]),
        ({"a": None}, {"a": {"b": 1}}, [("/a", None, {"b": 1})]),
        ("[]", [], [("", "[]", [])]),
        # the order of the computed document, then what was claimed beyond it
        (
            {"x": 1, "b": 0, "a": 0, "y": 2},
            {"b": 1, "c": 2, "a": 3},
            [("/b", 0, 1), ("/c", ABSENT, 2), ("/a", 0, 3), ("/x", 1, ABSENT), ("/y", 2, ABSENT)],
        ),
        # pointers escape
        (
            {"a/b": 1, "m~n": 1, "~1": 1, "": 1},
            {"a/b": 2, "m~n": 2, "~1": 2, "": 2},
            [("/a~1b", 1, 2), ("/m~0n", 1, 2), ("/~01", 1, 2), ("/", 1, 2)],
        ),
    ],
)
def test_differences(claimed: Any, computed: Any, expected: list[tuple[str, Any, Any]]) -> None:
    found = list(differences(claimed, computed))
    assert found == [Difference(*one) for one in expected]
    for one, (_, was, now) in zip(found, expected, strict=True):
        assert (type(one.claimed), type(one.computed)) == (type(was), type(now))


def test_the_first_differences_can_be_taken_without_the_rest() -> None:
    found = differences([0] * 1_000_000, [1] * 1_000_000)
    assert [next(found).pointer for _ in range(3)] == ["/0", "/1", "/2"]


@pytest.mark.parametrize(
    ("name", "step"), [("a", "a"), ("a/b", "a~1b"), ("~", "~0"), ("~1", "~01"), ("/~", "~1~0")]
)
def test_escape(name: str, step: str) -> None:
    assert escape(name) == step
