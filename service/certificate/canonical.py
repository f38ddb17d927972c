"""One sequence of bytes for each document: JSON by RFC 8785, and its SHA-256 digest.

Documents hold text, integers of at most 53 bits, booleans, None, lists and objects, nested no deeper than
``MAX_DEPTH``; names of members lie in the Basic Multilingual Plane. For these, sorting by code point is
sorting by UTF-16 unit, a number has one spelling, and orjson's output is the canonical form.
"""

from base64 import b64encode
from hashlib import sha256
from typing import Any, Final

import orjson

MAX_INTEGER: Final = 2**53 - 1
MAX_DEPTH: Final = 32


class Uncanonical(ValueError):
    """A document that is not of the kind described above; ``path`` leads to the first place that is not."""

    def __init__(self, path: tuple[str | int, ...], detail: str) -> None:
        super().__init__(detail)
        self.path = path


def check_canonical(document: Any, max_depth: int = MAX_DEPTH, path: tuple[str | int, ...] = ()) -> None:
    """Raise ``Uncanonical`` for a document that has no canonical form here."""
    kind = type(document)
    if kind is dict or kind is list:
        if len(path) >= max_depth:
            raise Uncanonical(path, f"objects and arrays may be nested {max_depth} deep here")
        for place, inner in document.items() if kind is dict else enumerate(document):
            if isinstance(place, str) and not place.isascii() and max(place) > "\uffff":
                raise Uncanonical((*path, place), "names may have no character beyond U+FFFF here")
            if type(inner) not in _PLAIN:
                check_canonical(inner, max_depth, (*path, place))
    elif kind is float or (kind is int and abs(document) > MAX_INTEGER):
        detail = f"numbers are whole and within ±{MAX_INTEGER} here; write this one as a text"
        raise Uncanonical(path, detail)


_PLAIN: Final = (str, bool, type(None))
"""What is canonical whatever its value."""


def canonical_bytes(document: Any) -> bytes:
    """The RFC 8785 form of a document of the kind described above."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def digest(document: Any) -> str:
    """``sha256:`` and the hex digest of the canonical bytes."""
    return "sha256:" + sha256(canonical_bytes(document)).hexdigest()


def content_digest(body: bytes) -> str:
    """The value of a Content-Digest header (RFC 9530) for the bytes of a body."""
    return f"sha-256=:{b64encode(sha256(body).digest()).decode()}:"
