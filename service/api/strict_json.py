"""Request bodies, read strictly: what two JSON readers could understand differently is refused."""

import json
import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NoReturn

from flask import Request

from service.api.problems import Problem

MAX_BODY: Final = 64 * 1024
"""Most bytes of a body, unless a resource takes more."""
MAX_DEPTH: Final = 32
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"?|([\[{])|([\]}])', re.DOTALL)
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(request: Request, limit: int = MAX_BODY) -> Any:
    """The request's body as plain data; a number without a fractional part is an int (``5.0`` is 5).

    Raises ``Problem``: 411 without a length, 413 over the limit, 415 for another content type or an encoded
    body, 400 for what is not JSON in UTF-8 or is ambiguous.
    """
    if request.environ.get("CONTENT_TYPE") != "application/json" and (
        request.mimetype != "application/json"
        or request.mimetype_params.get("charset", "utf-8").lower() != "utf-8"
    ):
        got = request.content_type or "no Content-Type"
        raise Problem("unsupported-media-type", f"send Content-Type: application/json; got {got[:100]}")
    if request.environ.get("HTTP_CONTENT_ENCODING"):
        raise Problem("unsupported-media-type", "send the body without Content-Encoding")
    length = request.content_length
    if length is None:
        raise Problem("length-required", "send the body with a Content-Length, not chunked")
    if length > limit:
        raise Problem("body-too-large", f"the body has {length} bytes, the limit is {limit}")
    body = request.get_data(cache=False)
    if len(body) != length:
        raise Problem("bad-request", f"the body ended after {len(body)} of {length} bytes")
    return parse_json(body)


def parse_json(body: bytes) -> Any:
    """One JSON text as plain data. Raises ``Problem`` (400) naming the place and the likely mistake."""
    if not body.strip():
        _refuse("the body is empty; send a JSON object")
    if body.startswith(b"\xef\xbb\xbf"):
        _refuse("the body starts with a byte order mark; send UTF-8 without one")
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _depth(body) > MAX_DEPTH:
        _refuse(f"objects and arrays are nested more than {MAX_DEPTH} deep")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        _refuse(f"byte {error.start} is not UTF-8; send the body as UTF-8")
    try:
        document = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        _refuse(f"line {error.lineno}, column {error.colno}: {error.msg}")
    except ValueError:
        _refuse("a number has too many digits")
    if _SURROGATE_ESCAPE.search(text):
        _refuse_lone_surrogates(document)
    return document


def _depth(body: bytes) -> int:
    """How deep objects and arrays are nested, brackets within texts not counted."""
    depth = deepest = 0
    for opening, closing in _BRACKETS.findall(body):
        if opening:
            depth += 1
            deepest = max(deepest, depth)
        elif closing:
            depth -= 1
    return deepest


def _refuse(detail: str) -> NoReturn:
    raise Problem("malformed-json", detail)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        _refuse(f"the member {twice[:100]!r} stands twice in one object; leave one of them out")
    return document


def _number(text: str) -> int | float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        _refuse(f"the number {text[:40]} is beyond what a double can hold")
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
