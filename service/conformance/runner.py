"""Asks a deployment every case of a kit and reports precisely what differs."""

import json
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from service.certificate.differences import ABSENT, Difference
from service.conformance.client import NoAnswer, Sent
from service.conformance.comparison import Answer, Keys, compare
from service.conformance.kits import Call, Case, Document, Kit
from service.conformance.pointers import replaced, resolve
from service.keys import MalformedKeys, verification_keys

Ask = Callable[[Sent], Answer]
UNANSWERED_IN_A_ROW: Final = 3
"""So many cases without an answer, or the very first one, and nothing more is asked."""


def run_kit(
    kit: Kit, ask: Ask, address: str, progress: Callable[[int, int], None] = lambda done, total: None
) -> Document:
    """Ask every case; the report says for each that failed what differs, and ``conforms`` if none did.

    ``progress`` is told how many cases of how many were asked.
    """
    run = _Run(kit, ask)
    failures, asked, in_a_row = [], Counter[str](), 0
    for number, case in enumerate(kit.cases, 1):
        progress(number, len(kit.cases))
        asked[case.kind] += 1
        try:
            found, in_a_row = run.differences(case), 0
        except NoAnswer as error:
            found, in_a_row = [_unanswered(case, f"no answer: {error}")], in_a_row + 1
        if found:
            failures.append(_failure(case, found))
        if in_a_row in (UNANSWERED_IN_A_ROW, number):
            break
    failed = Counter(failure["kind"] for failure in failures)
    return {
        "kit": kit.version,
        "address": address,
        "conforms": not failures,
        "cases": len(kit.cases),
        "asked": asked.total(),
        "failed": len(failures),
        "kinds": {kind: {"asked": asked[kind], "failed": failed[kind]} for kind in kit.kinds},
        "failures": failures,
    }


class _Run:
    """What is learned on the way: answers that later cases take parts of, and the deployment's keys."""

    def __init__(self, kit: Kit, ask: Ask) -> None:
        self._kinds = kit.kinds
        self._ask = ask
        self._answers: dict[str, Any] = {}
        self._keys: Keys = {}

    def differences(self, case: Case) -> list[Difference]:
        """Ask one case and compare. Raises ``NoAnswer``."""
        try:
            expected = case.answer._replace(body=filled(case.answer.body, case.answer.put, self._answers))
            body = filled(case.request.body, case.request.put, self._answers)
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            return [_unanswered(case, f"not asked: an earlier answer lacks the part needed, {error!r}")]
        answer = self._ask(sent(case.request._replace(body=body)))
        found = compare(self._kinds[case.kind], expected, answer, self._keys)
        try:
            self._answers[case.id] = document = answer.document()
            if self._kinds[case.kind].keys:
                self._keys = verification_keys(document)
        except MalformedKeys as error:
            found.append(Difference("/keys", str(error), "a JWK set of Ed25519 keys, each with its status"))
        except ValueError:
            pass  # that it is no JSON was found above
        return found


def filled(body: Any, puts: Sequence[Document], answers: Mapping[str, Any]) -> Any:
    """A body with values put into it, such as parts of earlier answers, by case.

    Raises ``LookupError``, ``ValueError``, ``TypeError``, ``AttributeError`` where they lack the part.
    """
    for put in puts:
        if "from" in put:
            value = resolve(answers[put["from"]["case"]], put["from"]["pointer"])
        else:
            value = put["value"]
        body = replaced(body, put["at"], value)
    return body


def sent(call: Call) -> Sent:
    """A request as it leaves."""
    if call.base64 is not None:
        body = b64decode(call.base64)
    elif call.text is not None:
        body = call.text.encode() * call.repeat
    elif call.body is not ABSENT:
        body = orjson.dumps(call.body)
    else:
        return Sent(call.method, call.path, None, {"Accept": call.accept})
    return Sent(call.method, call.path, body, {"Accept": call.accept, "Content-Type": call.content_type})


def _unanswered(case: Case, why: str) -> Difference:
    return Difference("status", why, case.answer.status)


def _failure(case: Case, found: Sequence[Difference]) -> Document:
    return {
        "id": case.id,
        "kind": case.kind,
        "clauses": case.clauses,
        "request": f"{case.request.method} {case.request.path}",
        "differences": [_described(one) for one in found],
    }


def _described(difference: Difference) -> Document:
    """A difference as a report shows it; what is not there has no member."""
    values = {"expected": difference.computed, "got": difference.claimed}
    return {
        "place": difference.pointer,
        **{name: value for name, value in values.items() if value is not ABSENT},
    }


_SHOWN: Final = 20
"""Most differences of a case that are shown to people."""


def report_text(report: Document) -> str:
    """A report for people: every failed case with its differences, then a table by kind and the verdict."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Document) -> Iterator[str]:
    yield f"kit {report['kit']} against {report['address']}"
    for failure in report["failures"]:
        clauses = f" ({', '.join(failure['clauses'])})" if failure["clauses"] else ""
        yield f"\nFAILED {failure['id']}{clauses}: {failure['request']}"
        for one in failure["differences"][:_SHOWN]:
            yield f"  {one['place'] or 'the whole body'}"
            for name in ("expected", "got"):
                yield f"    {name:8} {_shown(one[name]) if name in one else 'nothing'}"
        if (more := len(failure["differences"]) - _SHOWN) > 0:
            yield f"  and {more} more; --json shows all"
    yield "\nkind          asked  failed"
    for kind, count in report["kinds"].items():
        yield f"{kind:12}  {count['asked']:5}  {count['failed']:6}"
    yield f"{'all':12}  {report['asked']:5}  {report['failed']:6}"
    if report["asked"] < report["cases"]:
        left = report["cases"] - report["asked"]
        yield f"\nToo many cases without an answer; {left} more were not asked."
    yield "\nIt conforms." if report["conforms"] else "\nIt does not conform."


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"
