"""Strategies for documents as the service writes them, and JSON pointers read by the letter of RFC 6901."""

from typing import Any

from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=["Cs"]))
names = st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF), max_size=6)
numbers = st.integers(-(2**53) + 1, 2**53 - 1)
documents: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=20,
)


def resolve(document: Any, pointer: str) -> Any:
    """The part of a document that a pointer names. Raises ``LookupError`` where there is none."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document
