"""JSON read strictly: what two readers could understand differently is refused."""

import gc
import json
import math
import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NoReturn

import orjson

MAX_DEPTH: Final = 32
_EXACT: Final = 15
"""Most digits that a double always keeps; reading them as a decimal takes five times as long."""
_ESCAPE: Final = re.compile(rb"\\.", re.DOTALL)
_STRING: Final = re.compile(rb'"[^"]*"?')
_AS_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b'"[]{}'))
_NUMBERS: Final = bytes.maketrans(b",[eE", b"::..")
_DIGITS: Final = b"-0123456789"
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_SEVERAL: Final = (
    "more follows the JSON text; only application/x-ndjson holds several, each on a line of its own"
    " (curl keeps lines with --data-binary)"
)


class MalformedJson(ValueError):
    """Bytes that are not JSON in UTF-8, or are ambiguous; the text names the place and the likely mistake."""


def parse_json(body: bytes) -> Any:
    """One JSON text as plain data; a number without a fractional part is an int (``5.0`` is 5).

    Raises ``MalformedJson``.
    """
    if not body.strip():
        _refuse("the body is empty; send a JSON object")
    if body.startswith(b"\xef\xbb\xbf"):
        _refuse("the body starts with a byte order mark; send UTF-8 without one")
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _is_too_deep(body):
        _refuse(f"objects and arrays are nested more than {MAX_DEPTH} deep")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        _refuse(f"byte {error.start} is not UTF-8; send the body as UTF-8")
    plain = _plainly_read(body)
    return plain if plain is not None else _strictly_read(text)


def _plainly_read(body: bytes) -> dict[str, Any] | None:
    """The object in a body as most programs write it, in a third of the time; None where more is to be seen.

    Written again it gives the same bytes, so no member stands twice and nothing could be read otherwise.
    """
    # Without its digits a number that is more than digits begins with its point or exponent.
    if not body.startswith(b"{") or b":." in body.translate(_NUMBERS, _DIGITS):
        return None
    try:
        document: dict[str, Any] = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return document if orjson.dumps(document) == body else None


def _strictly_read(text: str) -> Any:
    gc.disable()  # JSON has no cycles, and looking for them is most of the work on a body of brackets
    try:
        document = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        msg = _SEVERAL if error.msg == "Extra data" else error.msg
        _refuse(f"line {error.lineno}, column {error.colno}: {msg}")
    except MalformedJson:
        raise
    except ValueError:
        _refuse("a number has too many digits")
    finally:
        gc.enable()
    if _SURROGATE_ESCAPE.search(text):
        _refuse_lone_surrogates(document)
    return document


def _is_too_deep(body: bytes) -> bool:
    """Whether objects and arrays are nested deeper than ``MAX_DEPTH``, brackets within texts not counted."""
    brackets = _ESCAPE.sub(b"", body).translate(_AS_SQUARE, _NO_BRACKETS).replace(b'""', b"")
    brackets = _STRING.sub(b"", brackets)
    for _ in range(MAX_DEPTH):  # each time the innermost pairs go
        brackets = brackets.replace(b"[]", b"")
    return b"[]" in brackets or brackets.count(b"[") > MAX_DEPTH


def _refuse(detail: str) -> NoReturn:
    raise MalformedJson(detail)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        _refuse(f"the member {twice[:100]!r} stands twice in one object; leave one of them out")
    return document


def _number(text: str) -> int | float:
    value = float(text)
    if math.isinf(value):
        _refuse(f"the number {text[:40]} is beyond what a double can hold")
    if not value.is_integer():
        return value
    if len(text) <= _EXACT and 1 <= abs(value) < 10**_EXACT:
        return int(value)
    try:
        exact = Decimal(text)
    except InvalidOperation:
        _refuse(f"the exponent of the number {text[:40]} is too long")
    return int(exact) if exact == exact.to_integral_value() else value


def _constant(name: str) -> NoReturn:
    _refuse(f"{name} is not JSON; amounts are whole numbers")


def _refuse_lone_surrogates(document: Any) -> None:
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        _refuse(
            "a text holds half of a surrogate pair (\\ud800 to \\udfff); write both halves or the character"
        )


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_float=_number, parse_constant=_constant)
