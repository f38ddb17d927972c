"""The quick way to read a body and the strict one: wherever the quick one answers, both say the same."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from service.strict_json import MalformedJson, _plainly_read, _strictly_read, parse_json
from tests.conftest import Tally

numbers = some.one_of(
    some.integers(),
    some.integers(2**63 - 2, 2**64 + 2),
    some.floats(allow_nan=False, allow_infinity=False),
    some.sampled_from([-0.0, 5.0, 1e16, 1e22, 1e-7, 2.0**53, 1.5]),
)
texts = some.one_of(
    some.text(), some.sampled_from([":1.5", ",5e3", "[1.0", "\u2028", "\x7f", '"', "\\", "\x00"])
)
documents = some.dictionaries(
    texts,
    some.recursive(
        some.one_of(some.none(), some.booleans(), numbers, texts),
        lambda inner: some.one_of(some.lists(inner), some.dictionaries(texts, inner)),
        max_leaves=8,
    ),
)
writers = some.sampled_from(
    [
        {"separators": (",", ":"), "ensure_ascii": False},
        {"separators": (",", ":")},
        {"ensure_ascii": False},
        {},
        {"indent": 1},
    ]
)
PIECES = [*'{}[]",:\\ -+.eE019', '"a":', "null", "NaN", "1e5", "5.0", "-0", "\\ud800", "\\u00e9", "\x00", "é"]


def agrees(body: bytes) -> bool:
    """Whether the quick way answers a body; then the strict one has to answer the same."""
    plain = _plainly_read(body)
    if plain is not None:
        assert repr(_strictly_read(body.decode())) == repr(plain), body
        assert repr(parse_json(body)) == repr(plain)
    return plain is not None


@settings(max_examples=300)
@given(documents, writers)
def test_whatever_is_written(document: dict[str, Any], writer: dict[str, Any]) -> None:
    body = json.dumps(document, **writer).encode()
    compact = writer == {"separators": (",", ":"), "ensure_ascii": False}
    # Numbers with a fraction or beyond 64 bits are left to the strict way, and texts that look like them.
    assert agrees(body) or not compact or re.search(rb"[:,[][-0-9]*[.eE]|[0-9]{19}", body)


@settings(max_examples=500)
@given(documents, some.integers(0), some.integers(0, 3), some.sampled_from(PIECES))
def test_whatever_is_damaged(document: dict[str, Any], place: int, less: int, piece: str) -> None:
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    place %= len(text) + 1
    agrees((text[:place] + piece + text[place + less :]).encode())


def short_texts() -> Iterator[str]:
    """Every member's value of up to three pieces, beside and within another member of its name."""
    alphabet = ["1", "0", "-", ".5", "e1", '"', "a", ",", "[", "]", "{", "}", ":", " ", '"a":1']
    values = [""]
    for _ in range(3):
        values = [value + piece for value in values for piece in alphabet]
        yield from values


def test_every_short_text(tally: Tally) -> None:
    read = refused = 0
    for value in short_texts():
        if agrees(f'{{"a":{value}}}'.encode()):
            read += 1
        else:
            refused += 1
    tally("strict JSON: short bodies read both ways alike", read)
    tally("strict JSON: short bodies left to the strict way", refused)
    assert read > 20
    assert refused > 3_000


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1,"a":1}',
        b'{"a":{"b":1,"b":2}}',
        b'{"a":5.0}',
        b'{"a":1e5}',
        b'{"a":[1E5]}',
        b'{"a":-0}',
        b'{"a":18446744073709551616}',
        b'{"a":"\\u0041"}',
        b'{"a":"\\ud800"}',
        b'{"a": 1}',
        b'{"a":1}\n',
        b"[1]",
        b"5",
        b"",
    ],
)
def test_what_the_quick_way_leaves_to_the_strict_one(body: bytes) -> None:
    assert _plainly_read(body) is None


def test_a_body_as_browsers_write_it_goes_the_quick_way() -> None:
    body = '{"ruleset":"casino-1","actions":[{"box":1,"discard":["Ah"]}],"context":{"é":null}}'.encode()
    assert _plainly_read(body) == _strictly_read(body.decode())


def test_a_name_that_stands_twice_is_still_refused() -> None:
    with pytest.raises(MalformedJson, match="stands twice"):
        parse_json(b'{"a":1,"a":1}')
