"""One sequence of bytes for each document: JSON by RFC 8785, and its SHA-256 digest.

Documents hold text, integers of at most 53 bits, booleans, None, lists and objects; names of members are
limited to the Basic Multilingual Plane. For these, sorting by code point is sorting by UTF-16 unit and
orjson's output is the canonical form.
"""

from hashlib import sha256
from typing import Any

import orjson


def canonical_bytes(document: Any) -> bytes:
    """The RFC 8785 form of a document of the kind described above."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def digest(document: Any) -> str:
    """``sha256:`` and the hex digest of the canonical bytes."""
    return "sha256:" + sha256(canonical_bytes(document)).hexdigest()
