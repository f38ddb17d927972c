"""Planted defects: an answer with exactly one thing changed, in this process or by a proxy on the way."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple

import orjson

from service.certificate.canonical import content_digest
from service.certificate.differences import escape
from service.conformance.client import Sent
from service.conformance.comparison import Answer
from service.conformance.pointers import replaced
from tests.api.calls import without
from tests.api.servers import listening

STRANGE: Final = "x-new"
"""A member that no answer has."""
_LONG: Final = 6
"""Of an array with more items than this, such as a deck, only the first and the last are changed."""


class Defect(NamedTuple):
    """One change: what it is called, what came of the answer, and where it has to be found.

    ``within`` are the places that a report may name, and it must name one; with ``exactly`` it names all.
    """

    name: str
    answer: Answer
    within: tuple[str, ...]
    exactly: bool = True

    def explains(self, places: Sequence[str]) -> bool:
        """Whether a report that names these places names the defect and nothing beside it."""
        if self.exactly:
            return tuple(places) == self.within
        return bool(places) and all(
            any(place == one or place.startswith(f"{one}/") for one in self.within) for place in places
        )


def defects(answer: Answer) -> Iterator[Defect]:
    """Every defect of an answer's head and body."""
    yield from _of_head(answer)
    yield from _of_bytes(answer)
    for name, document, within, exactly in _of_document(answer.document()):
        yield Defect(name, with_body(answer, orjson.dumps(document)), within, exactly)


def with_body(answer: Answer, body: bytes) -> Answer:
    """The answer with another body and, where it has one, the digest that goes with it."""
    digest = {"content-digest": content_digest(body)} if "content-digest" in answer.headers else {}
    return answer._replace(body=body, headers={**answer.headers, **digest})


def _of_head(answer: Answer) -> Iterator[Defect]:
    for status in (answer.status + 1, answer.status + 100, 200, 500):
        if status != answer.status:
            yield Defect(f"status {status}", answer._replace(status=status), ("status",))
    for name in answer.headers.keys() - {"content-length", "date"}:
        others: list[str | None] = [None]
        if name != "x-request-id":
            others += ["text/html", answer.headers[name][:-2]]
        for other in others:
            headers: Mapping[str, str] = without(answer.headers, name)
            if other is not None:
                headers = {**headers, name: other}
            place = "ETag" if name == "etag" else name.title()
            yield Defect(f"{name}: {other}", answer._replace(headers=headers), (place,))


def _of_bytes(answer: Answer) -> Iterator[Defect]:
    body = answer.body
    name, _, rest = body.partition(b":")
    twice = name + b":0," + name[1:] + b":" + rest
    for other in (b"", body[:-1], b"<html></html>", name + b":NaN," + rest, twice, body[:-1] + b"\xff"):
        yield Defect(f"the bytes {other[:20]!r}", with_body(answer, other), ("",))


def _of_document(document: Any) -> Iterator[tuple[str, Any, tuple[str, ...], bool]]:
    """Every document with one change in it."""
    for value, pointer in _values(document, ""):
        for name, other in _others(value):
            if type(other) is type(value) and other == value:
                continue  # such as an empty text, made empty
            yield f"{pointer} {name}", replaced(document, pointer, other), (pointer,), True
        if isinstance(value, list):
            for name, items, places in _other_lists(value):
                within = tuple(f"{pointer}/{place}" for place in places)
                changed = replaced(document, pointer, items)
                yield f"{pointer} {name}", changed, within, name.startswith("item")
        if isinstance(value, dict):
            for name in value:
                member = f"{pointer}/{escape(name)}"
                yield f"{member} removed", replaced(document, pointer, without(value, name)), (member,), True
            more = replaced(document, f"{pointer}/{STRANGE}", 1)
            yield f"{pointer}/{STRANGE} added", more, (f"{pointer}/{STRANGE}",), True


def _values(value: Any, pointer: str) -> Iterator[tuple[Any, str]]:
    """Every value within a document, itself included, with its place."""
    yield value, pointer
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _values(inner, f"{pointer}/{escape(name)}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            if len(value) <= _LONG or place in (0, len(value) - 1):
                yield from _values(inner, f"{pointer}/{place}")


def _others(value: Any) -> Iterator[tuple[str, Any]]:
    """What may stand in the place of a value by mistake."""
    match value:
        case bool():
            yield from (("flipped", not value), ("as a number", int(value)), ("null", None))
        case int():
            yield from (("+1", value + 1), ("-1", value - 1), ("as a text", str(value)), ("null", None))
        case str():
            last = "0" if value[-1:] != "0" else "1"
            yield from (("longer", f"{value} "), ("another letter", value[:-1] + last), ("null", None))
        case None:
            yield from (("a text", "pair"), ("0", 0), ("false", False), ("an object", {}))
        case _:
            yield from (("null", None), ("a text", "x"))


def _other_lists(value: list[Any]) -> Iterator[tuple[str, list[Any], tuple[int, ...]]]:
    """The list with an item more or less, or in another order, and the places where that shows."""
    last = len(value) - 1
    yield "item added", [*value, value[-1] if value else "x"], (last + 1,)
    if value:
        yield "item removed", value[:-1], (last,)
        yield "first removed", value[1:], tuple(range(last + 1))
    swapped = next((place for place in range(last) if value[place] != value[place + 1]), None)
    if swapped is not None:
        after = [*value[:swapped], value[swapped + 1], value[swapped], *value[swapped + 2 :]]
        yield "reordered", after, (swapped, swapped + 1)


# A proxy between two sockets.


@contextlib.contextmanager
def proxy(port: int, alter: Callable[[Sent, Answer], Answer]) -> Iterator[int]:
    """Forwards to a port what comes to its own, and hands back what ``alter`` makes of each answer."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            length = self.headers.get("Content-Length")
            body = self.rfile.read(int(length)) if length else None
            sent = Sent(self.command, self.path, body, dict(self.headers))
            connection = HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request(sent.method, sent.path, sent.body, sent.headers)
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            answer = alter(sent, Answer(response.status, headers, response.read()))
            connection.close()
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                if name not in ("content-length", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        do_GET = do_POST = forward  # the names that the class looks for

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with listening(server):
        yield server.server_port
