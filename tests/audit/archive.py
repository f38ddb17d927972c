"""Recorded rounds for the tests: what ``settle`` and ``void`` answered, of every kind, one a line."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from service.audit.records import Tally
from service.audit.runner import audit
from service.certificate.jws import certify
from service.fairness.deal import DeckDeal
from service.keys import development_keys, read_keys
from service.registry import load_rulesets
from service.rounds import RoundRequest, settle_request, void_request
from service.schemas import ROUND
from service.schemas import load as load_body
from tests.api.calls import SEED, round_body
from tests.support.random_rounds import random_rounds
from tests.support.vectors import load, round_request, settle_body

Document = dict[str, Any]

REGISTRY = load_rulesets()
KEYS = read_keys(development_keys())
OUTPUTS = ("differences.ndjson", "failed.ndjson", "damaged.ndjson", "summary.json", "summary.csv")


def certified(outcome: Document) -> Document:
    return certify(outcome, KEYS.signer)


def line(document: Any) -> bytes:
    """A record as the service writes it."""
    return orjson.dumps(document)


@cache
def requests() -> tuple[RoundRequest, ...]:
    """Rounds from seeds and from decks under every ruleset."""
    return tuple(_requests())


def _requests() -> Iterator[RoundRequest]:
    for vector in load("rounds.jsonl")[::6]:
        yield round_request(settle_body(vector))
    for id, published in REGISTRY.items():
        for place, played in enumerate(random_rounds(published.ruleset, 30)):
            context: Document = {"round_id": f"{id} {place}", "ö": [None, True, {}]}
            deal = DeckDeal(played.deck)
            request = RoundRequest(id, deal, played.stakes, played.actions, played.table, context)
            yield request if place % 3 else request._replace(context=None)


@cache
def outcomes() -> tuple[Document, ...]:
    """What they came to, without certificates."""
    return tuple(settle_request(request, REGISTRY) for request in requests())


def seeded(**choices: Any) -> RoundRequest:
    """A round of one box that folds, with other choices of its deal."""
    request: RoundRequest = load_body(ROUND, round_body(deal={"server_seed": SEED, **choices}))
    return request


def hidden() -> Document:
    """An outcome that does not reveal its server seed, ``SEED``."""
    return settle_request(seeded(reveal=False), REGISTRY)


def void() -> Document:
    return void_request(seeded(), "power cut", REGISTRY)


def archive() -> list[bytes]:
    """Lines of every kind: right, different, damaged, unchecked and blank."""
    plain = [line(outcome) for outcome in outcomes()]
    signed = [line(certified(outcome)) for outcome in islice(outcomes(), 20)]
    alone = [line({"certificate": certified(outcome)["certificate"]}) for outcome in islice(outcomes(), 5)]
    altered = [line(altered_total(outcome)) for outcome in islice(outcomes(), 0, None, 9)]
    odd = [
        line({**outcomes()[0], "extra": 1}),
        line({name: value for name, value in outcomes()[1].items() if name != "table"}),
        line(hidden()),
        line({"outcome": hidden(), "server_seed": SEED}),
        line(certified(void())),
        line(void()),
        line(certified(outcomes()[0]) | {"status": "void"}),
        b"",
        b"  \r",
        b"{",
        b"\xff\xfe",
        b'{"a": 1, "a": 2}',
        b"[]",
    ]
    lines = plain[:40] + signed + odd + altered + plain[40:] + alone
    return lines[::2] + lines[1::2]


def altered_total(outcome: Document) -> Document:
    return {**outcome, "totals": {**outcome["totals"], "net": outcome["totals"]["net"] + 1}}


def write(path: Path, lines: list[bytes]) -> str:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


def run(*names: str, output: Path, **options: Any) -> Document:
    """Audit files in this process with the development keys."""
    return audit(list(names), REGISTRY, KEYS.verifying, output=output, **options)


def results(folder: Path) -> dict[str, bytes]:
    """All that an audit tells, byte for byte."""
    return {name: (folder / name).read_bytes() for name in OUTPUTS}


def listed(path: Path) -> list[Document]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def counts(tally: Tally) -> Counter[str]:
    """What was counted of all rulesets together, without what is 0."""
    total: Counter[str] = Counter()
    for counter in tally.counts.values():
        total.update(counter)
    return Counter({name: count for name, count in total.items() if count})
