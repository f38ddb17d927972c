"""An answer held against what a case expects: every difference, and nothing that the kit leaves free.

A difference names its place: ``status``, the name of a header, or a pointer into the body, where the empty
one is the whole body.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from service.certificate.canonical import content_digest
from service.certificate.differences import ABSENT, Difference, differences
from service.certificate.jws import RefusedCertificate, VerificationKey, open_certificate
from service.conformance.kits import Document, Expected, Rules
from service.conformance.pointers import matcher, resolve
from service.strict_json import parse_json

Keys = Mapping[str, VerificationKey]
PUBLISHED_KEYS: Final = "a certificate that a published key of the deployment signed"


class Answer(NamedTuple):
    """An answer as it came, the names of its headers in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def document(self) -> Any:
        """The body as JSON that has one meaning. Raises ``ValueError``."""
        return parse_json(self.body)


def compare(rules: Rules, expected: Expected, answer: Answer, keys: Keys) -> list[Difference]:
    """Every difference between an answer and what is expected of it, each place once.

    ``claimed`` is what came and ``computed`` what the kit expects. An answer of another status is not
    compared any further: it tells something else.
    """
    if answer.status != expected.status:
        return [Difference("status", _told(answer), expected.status)]
    first: dict[str, Difference] = {}
    for difference in (*_headers(rules, expected, answer), *_body(rules, expected, answer, keys)):
        first.setdefault(difference.pointer, difference)
    return list(first.values())


def _told(answer: Answer) -> Any:
    """The status that came, and the problem behind it where one is told."""
    try:
        problem = answer.document()
        return f"{answer.status} {problem['type']}: {problem['detail']}"
    except (ValueError, KeyError, TypeError):
        return answer.status


def _headers(rules: Rules, expected: Expected, answer: Answer) -> Iterator[Difference]:
    got = answer.headers.get("content-type", "")
    if got.partition(";")[0].strip().lower() != rules.media_type:
        yield Difference("Content-Type", got or ABSENT, rules.media_type)
    for name, items in {**rules.headers, **expected.headers}.items():
        value = answer.headers.get(name.lower())
        if value is None or not set(items) <= {item.strip() for item in value.split(",")}:
            yield Difference(name, ABSENT if value is None else value, ", ".join(items) or "any value")
    if rules.content_digest:
        value, digest = answer.headers.get("content-digest"), content_digest(answer.body)
        if value != digest:
            yield Difference("Content-Digest", ABSENT if value is None else value, digest)


def _body(rules: Rules, expected: Expected, answer: Answer, keys: Keys) -> Iterator[Difference]:
    try:
        body = answer.document()
    except ValueError as error:
        yield Difference("", f"{answer.body[:80]!r}: {error}", "JSON")
        return
    free = (*rules.free, *expected.free)
    for difference in differences(body, expected.body):
        if difference.computed is ABSENT and _may_be_added(difference.pointer, rules, expected.body):
            continue
        left_free = next((one for one in free if matcher(one["at"])(difference.pointer)), None)
        if left_free is None or difference.computed is ABSENT:
            yield difference
        elif not isinstance(difference.claimed, str) or not re.fullmatch(
            left_free["pattern"], difference.claimed
        ):
            yield difference._replace(computed=f"a text that fits {left_free['pattern']}")
    if rules.certified and isinstance(body, dict):
        yield from _uncertified(body, keys)


def _may_be_added(pointer: str, rules: Rules, expected: Any) -> bool:
    """Whether a place that the kit does not have is a member that says nothing against it."""
    around = resolve(expected, pointer.rpartition("/")[0])
    return isinstance(around, dict) and not any(matcher(pattern)(pointer) for pattern in rules.telling)


def _uncertified(body: Document, keys: Keys) -> Iterator[Difference]:
    """Where a certificate does not vouch for the outcome around it."""
    certificate = body.get("certificate", ABSENT)
    if not isinstance(certificate, str) or certificate != certificate.strip():
        yield Difference("/certificate", certificate, PUBLISHED_KEYS)
        return
    try:
        vouched, _ = open_certificate(certificate, keys)
    except RefusedCertificate as error:
        yield Difference("/certificate", f"{error.code}: {error}", PUBLISHED_KEYS)
    else:
        shown = {name: value for name, value in body.items() if name != "certificate"}
        yield from differences(shown, vouched)
