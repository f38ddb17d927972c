from hashlib import sha256
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from service.certificate.canonical import canonical_bytes, digest
from service.registry import Registry
from service.rounds import settle_request
from tests.support.documents import documents, names
from tests.support.vectors import load, round_request, settle_body


@given(documents)
@example("".join(map(chr, range(0x300))))
@example({chr(code): code for code in range(0x20, 0x180)})
@example({"\ud7ff": 1, "\ue000": 2, "\uffff": 3, "": 4, "€": 5, "\r": 6, "דּ": 7})
@example(["\u2028", "\u2029", "\x7f", "🂡", "</script>"])
@example([2**53 - 1, -(2**53) + 1, 0, True, False, None, {}, []])
def test_canonical_bytes_are_those_of_RFC_8785(document: Any) -> None:
    assert canonical_bytes(document) == rfc8785.dumps(document)


@given(st.dictionaries(names, documents, min_size=2, max_size=6))
def test_the_order_of_members_does_not_matter(document: dict[str, Any]) -> None:
    reordered = dict(reversed(document.items()))
    assert canonical_bytes(reordered) == canonical_bytes(document)
    assert digest(reordered) == digest(document)


def test_outcomes_and_rulesets_are_documents_of_this_kind(registry: Registry) -> None:
    written = [published.document for published in registry.values()]
    written += [
        settle_request(round_request(settle_body(one)), registry) for one in load("rigged.jsonl")[:30]
    ]
    for document in written:
        assert canonical_bytes(document) == rfc8785.dumps(dict(document))


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({}, b"{}"),
        ({"b": 1, "a": [True, None, "é"]}, '{"a":[true,null,"é"],"b":1}'.encode()),
        ('\x00\b\t\n\f\r\x1f"\\/\x7f', b'"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\/\x7f"'),
    ],
)
def test_digest_is_the_sha256_of_the_canonical_bytes(document: Any, text: bytes) -> None:
    assert canonical_bytes(document) == text
    assert digest(document) == "sha256:" + sha256(text).hexdigest()
