"""Request bodies: bounded, of a stated length, read as strict JSON."""

from typing import Any, Final
from wsgiref.types import WSGIEnvironment

from werkzeug import Request
from werkzeug.sansio.utils import get_content_length

from service.api.answers import JSON
from service.api.problems import Problem
from service.strict_json import parse_json

MAX_BODY: Final = 64 * 1024
"""Most bytes of a body, unless a resource takes more."""
MAX_BATCH_BODY: Final = 1024 * 1024


def read_json(environ: WSGIEnvironment, limit: int = MAX_BODY) -> Any:
    """The request's body as plain data. Raises ``MalformedJson`` and what ``read_body`` raises."""
    return parse_json(read_body(environ, limit))


def read_body(environ: WSGIEnvironment, limit: int, *media_types: str) -> bytes:
    """The request's body, JSON unless other media types are named.

    Raises ``Problem``: 411 without a length, 413 over the limit, 415 for another content type or an encoded
    body, 400 for one that is cut short.
    """
    media_types = media_types or (JSON,)
    if environ.get("CONTENT_TYPE") not in media_types:
        _require_media_type(Request(environ), media_types)
    if environ.get("HTTP_CONTENT_ENCODING"):
        raise Problem("unsupported-media-type", "send the body without Content-Encoding")
    length = get_content_length(environ.get("CONTENT_LENGTH"), environ.get("HTTP_TRANSFER_ENCODING"))
    if length is None:
        raise Problem("length-required", "send the body with a Content-Length, not chunked")
    if length > limit:
        raise Problem("body-too-large", f"the body has {length} bytes, the limit is {limit}")
    try:
        body: bytes = environ["wsgi.input"].read(length)
    except OSError:  # reset, or silent for too long
        raise Problem("bad-request", "the connection broke before the whole body had arrived") from None
    if len(body) != length:
        raise Problem("bad-request", f"the body ended after {len(body)} of {length} bytes")
    return body


def _require_media_type(request: Request, media_types: tuple[str, ...]) -> None:
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if request.mimetype not in media_types or charset != "utf-8":
        got, wanted = request.content_type or "no Content-Type", " or ".join(media_types)
        raise Problem("unsupported-media-type", f"send Content-Type: {wanted}; got {got[:100]}")
