"""The conformance kit as this service answers it: ``python -m tests.conformance.kit``.

It tells where the newest kit in ``service/conformance/kits`` is not what the drafts here come to, and exits
with 1 if it is not; ``--write`` stores the kit. What the kit leaves free, such as the words of a refusal,
may change; whatever else makes another kit of it, be it a new case or another result, needs another
``VERSION`` and a folder of its own, once the present one is released.
"""

import argparse
import json
import logging
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, Final

from flask.testing import FlaskClient

from service.api import create_app
from service.certificate.differences import Difference, differences, escape
from service.certificate.jws import open_certificate
from service.conformance import kits
from service.conformance.client import Sent
from service.conformance.comparison import Answer
from service.conformance.pointers import matcher
from service.conformance.runner import Ask, filled, sent
from service.rounds import ENGINE
from tests.api.calls import PROBLEM_JSON, without
from tests.certificate import golden
from tests.conformance import others, refusals, rounds
from tests.conformance.drafts import Document, Draft, clauses
from tests.contract.examples import SETTINGS

VERSION: Final = 1
FOLDER: Final = Path(kits.__file__).parent / "kits"
FILE: Final = FOLDER / str(VERSION) / "kit.json"

_NEVER_KEPT: Final = {"X-Request-Id": [], "Cache-Control": ["no-store"]}
JSON: Final[Document] = {
    "media_type": "application/json",
    "headers": _NEVER_KEPT,
    "content_digest": True,
}


def _free(at: str, why: str, pattern: str = ".+") -> Document:
    return {"at": at, "pattern": pattern, "why": why}


_DIGEST: Final = "sha256:[0-9a-f]{64}"
_PROSE: Final = "words for people, in which implementations may differ"
_ENGINES: Final = [
    _free("/engine/version", "each implementation has versions of its own"),
    _free("/engine/digest", "it names the files of one release", _DIGEST),
]
_OUTCOME: Final[Document] = {
    **JSON,
    "certified": True,
    "free": [*_ENGINES, _free("/boxes/*/bets/*/reason", _PROSE)],
}
KINDS: Final[dict[str, Document]] = {
    "keys": {
        "about": "the public keys, with which certificates are checked",
        **JSON,
        "headers": {"X-Request-Id": [], "Cache-Control": ["public", "max-age=300"]},
        "keys": True,
    },
    "health": {"about": "that a deployment can answer and settle", **JSON},
    "version": {
        "about": "what a deployment says of itself",
        **JSON,
        "free": [
            _free("/service", "each implementation has a name of its own"),
            _free("/version", "each implementation has versions of its own"),
            *_ENGINES,
            _free("/notice", _PROSE),
        ],
    },
    "ruleset": {
        "about": "a ruleset whole, with the digest that outcomes name; it never changes",
        **JSON,
        "headers": {"X-Request-Id": [], "Cache-Control": ["public", "max-age=86400", "immutable"]},
    },
    "hand": {"about": "what five or six cards are worth under a ruleset", **JSON},
    "deck": {"about": "the deck of given seeds, with every draw of the shuffle", **JSON},
    "seed": {
        "about": "a new seed, different every time",
        **JSON,
        "free": [
            _free("/server_seed", "it is random", "[0-9a-f]{64}"),
            _free("/sealed_seed", "it is random, and how it is sealed is the deployment's own affair"),
            _free("/commitment", "it follows from the seed", "[0-9a-f]{64}"),
        ],
    },
    "round": {"about": "a round settled", **_OUTCOME},
    "certificate": {
        "about": "a round settled or void, with the certificate that the development key gave its outcome",
        **_OUTCOME,
    },
    "void": {"about": "a round broken off", **_OUTCOME},
    "view": {"about": "a round under way: what may be seen and what is legal next", **JSON},
    "verdict": {
        "about": "what the deployment says of an outcome that somebody shows",
        **JSON,
        "free": [_free("/checks/*/detail", _PROSE)],
    },
    "refusal": {
        "about": "a request that has to be refused",
        "media_type": PROBLEM_JSON,
        "headers": _NEVER_KEPT,
        "free": [_free(at, _PROSE) for at in ("/title", "/detail", "/errors/*/detail")],
    },
}
"""The rules by kind; what is ``telling`` is read off the answers."""
ALWAYS_TELLING: Final = {
    "round": ["/context/**"],
    "ruleset": ["/**"],
}
SHARED: Final = {"certificate": "round", "void": "round"}
"""Kinds whose answers are outcomes too, so that what tells in one tells in all."""


def drafts() -> Iterator[Draft]:
    """All cases in the order in which they are asked."""
    yield from chain(others.keys(), others.operations(), others.rulesets(), others.hands(), others.decks())
    yield from chain(others.seeds(), rounds.rounds(), rounds.certificates(), rounds.voids())
    yield from chain(rounds.all_views(), others.verdicts(), refusals.refusals())


def in_process(client: FlaskClient) -> Ask:
    """Asks an app in this process as a deployment is asked."""

    def ask(sent: Sent) -> Answer:
        length = {} if sent.body is None else {"CONTENT_LENGTH": str(len(sent.body))}
        answer = client.open(
            sent.path, method=sent.method, data=sent.body, headers=sent.headers, environ_overrides=length
        )
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Answer(answer.status_code, headers, answer.data)

    return ask


def build() -> Document:
    """The kit as the service of this source tree answers it."""
    ask = in_process(create_app().test_client())
    answers: dict[str, Any] = {}
    cases = [_answered(draft, ask, answers) for draft in drafts()]
    twice = [id for id, count in Counter(case["id"] for case in cases).items() if count > 1]
    assert not twice, twice
    return {
        "kit": VERSION,
        "engine": without(ENGINE, "digest"),
        "keys": golden.keys().jwks()["keys"],
        "kinds": {kind: {**rules, **_telling(kind, cases)} for kind, rules in KINDS.items()},
        "cases": cases,
    }


def _answered(draft: Draft, ask: Ask, answers: dict[str, Any]) -> Document:
    """A draft with what the service answers to it. Raises ``ValueError`` where a refusal is another one."""
    call = kits.Call(**draft.sent())
    body = filled(call.body, call.put, answers)
    answer = ask(sent(call._replace(body=body)))
    answers[draft.id] = document = answer.document()
    slug = document["type"].removeprefix("/problems/") if answer.status >= 400 else None
    faults = [(one["pointer"], one["code"]) for one in document["errors"]] if slug else []
    if (slug, faults) != (draft.slug, list(draft.faults)):
        raise ValueError(f"{draft.id} was to be {draft.slug} {draft.faults}: {document}")
    expected = without(document, "certificate")
    if draft.kind == "keys":
        expected = {}
    if draft.certificate:
        expected, _ = open_certificate(draft.certificate, golden.keys().verifying)
    shows_a_round = draft.kind in ("round", "certificate", "void", "view")
    case = {
        "id": draft.id,
        "kind": draft.kind,
        "clauses": clauses(draft.body, document) if shows_a_round else list(draft.clauses),
        "request": draft.sent(),
        "answer": {"status": answer.status, **draft.answer, "body": expected},
    }
    return {**case, "certificate": draft.certificate} if draft.certificate else case


# Members that are there in some answers and not in others.


def _telling(kind: str, cases: Iterable[Document]) -> Document:
    family = SHARED.get(kind, kind)
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    met: Counter[str] = Counter()
    for case in cases:
        if SHARED.get(case["kind"], case["kind"]) == family:
            _count(case["answer"]["body"], "", met, found)
    sometimes = [
        f"{place}/{escape(name)}"
        for place, names in found.items()
        for name, count in names.items()
        if count < met[place]
    ]
    always = ALWAYS_TELLING.get(family, [])
    telling = [*always, *(one for one in sorted(sometimes) if not any(matcher(two)(one) for two in always))]
    return {"telling": telling} if telling else {}


def _count(value: Any, place: str, met: Counter[str], found: Mapping[str, Counter[str]]) -> None:
    """Count the objects at each place and the members that they have, items of arrays as ``*``."""
    if isinstance(value, dict):
        met[place] += 1
        for name, inner in value.items():
            found[place][name] += 1
            _count(inner, f"{place}/{escape(name)}", met, found)
    elif isinstance(value, list):
        for inner in value:
            _count(inner, f"{place}/*", met, found)


# The file.


def text(kit: Document) -> str:
    """A kit as its file holds it: a line for each case."""
    head = without(kit, "cases")
    lines = ",\n".join(map(_line, kit["cases"]))
    return f'{_line(head)[:-1]},"cases":[\n{lines}\n]}}\n'


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def stored() -> Document:
    """The kit as the file holds it; one without cases where there is none."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"cases": []}


def changes(old: Document, new: Document) -> Iterator[Difference]:
    """Where two kits differ, what they leave free set aside; cases are named by their ids."""
    yield from differences(without(old, "cases"), without(new, "cases"))
    before = {case["id"]: case for case in old["cases"]}
    after = {case["id"]: case for case in new["cases"]}
    if [*before] != [*after]:
        yield Difference("/cases", [*before], [*after])
    for id in (id for id in before if id in after):
        free = [one["at"] for one in KINDS[after[id]["kind"]].get("free", ())]
        free += [one["at"] for name in ("free", "put") for one in after[id]["answer"].get(name, ())]
        places = [matcher(f"/answer/body{at}") for at in free]
        for found in differences(before[id], after[id]):
            if not any(place(found.pointer) for place in places):
                yield found._replace(pointer=f"{id}: {found.pointer}")


def main() -> int:
    """Write or compare the kit; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.kit", description=__doc__)
    parser.add_argument("--write", action="store_true", help="store the kit")
    options = parser.parse_args()
    for name in SETTINGS:
        os.environ.pop(name, None)
    logging.getLogger("service.access").disabled = True
    kit = build()
    found = list(changes(stored(), kit))
    for change in found[:20]:
        sys.stdout.write(f"{change.pointer}: {change.claimed!r:.200} became {change.computed!r:.200}\n")
    if options.write and found:
        FILE.write_text(text(kit), encoding="utf-8")
    digest = sha256(FILE.read_bytes()).hexdigest() if FILE.exists() else "none"
    sys.stdout.write(f"kit {VERSION}: {len(kit['cases'])} cases, {len(found)} changes, sha256:{digest}\n")
    return 0 if options.write or not found else 1


if __name__ == "__main__":
    sys.exit(main())
