"""Request bodies: bounded, of a stated length, read as strict JSON."""

from typing import Any, Final

from flask import Request

from service.api.problems import Problem
from service.strict_json import parse_json

MAX_BODY: Final = 64 * 1024
"""Most bytes of a body, unless a resource takes more."""


def read_json(request: Request, limit: int = MAX_BODY) -> Any:
    """The request's body as plain data, read strictly.

    Raises ``MalformedJson`` and ``Problem``: 411 without a length, 413 over the limit, 415 for another
    content type or an encoded body, 400 for one that is cut short.
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
