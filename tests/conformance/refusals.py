"""Requests that have to be refused, each with the problem and the places and codes that it has to name."""

import base64
import json
from collections.abc import Iterator
from typing import Any, Final

from service.api.bodies import MAX_BODY
from service.game.cards import CODES
from tests.api.calls import (
    DECK,
    EVALUATE,
    SEED,
    SEEDS,
    SETTLE,
    STEP,
    VERIFY,
    VOID,
    act,
    rigged,
    round_body,
    without,
)
from tests.conformance.drafts import Document, Draft
from tests.conformance.rounds import BLIND_SIXTH, GAME, LOW, NO_GAME, PAIR, PLAYERS, STRAIGHT

Fault = tuple[str, str]
TRIPS: Final = "7c 7d 7s 5d Jd"
TEXT: Final = json.dumps(round_body())
OF_CODES: Final = {"card": "C1", "hex": "R6"}
"""Clauses that a fault of this code is about."""


def refusals() -> Iterator[Draft]:
    yield from _not_json()
    yield from _http()
    for name, (body, *faults) in MISSHAPEN.items():
        clauses = [OF_CODES[code] for _, code in faults if code in OF_CODES]
        yield _refused(f"shape/{name}", SETTLE, body, "invalid-request", *faults, clauses=clauses)
    for name, (clause, body, *faults) in BEYOND_SHAPE.items():
        yield _refused(f"boxes/{name}", SETTLE, body, "invalid-request", *faults, clauses=[clause])
    for name, (body, *faults) in LIMITS.items():
        yield _refused(f"limits/{name}", SETTLE, body, "limits", *faults, clauses=["A8"])
    for name, (clause, body, index) in ILLEGAL.items():
        fault, clauses = (f"/actions/{index}", "illegal-action"), sorted({clause, "A7"})
        yield _refused(f"illegal/{name}", SETTLE, body, "illegal-action", fault, clauses=clauses)
    for name, body in INCOMPLETE.items():
        fault = ("/actions", "round-incomplete")
        yield _refused(f"incomplete/{name}", SETTLE, body, "round-incomplete", fault, clauses=["A7"])
    yield from _deals()
    for name, (path, body, slug, *faults) in ELSEWHERE.items():
        yield _refused(f"elsewhere/{name}", path, body, slug, *faults)
    # Last, since a server may close the connection on it.
    spaces = {"text": " ", "repeat": MAX_BODY + 1}
    yield Draft("refusal/http/body-too-large", "refusal", SETTLE, request=spaces, slug="body-too-large")


def _refused(name: str, path: str, body: Any, slug: str, *faults: Fault, **members: Any) -> Draft:
    return Draft(f"refusal/{name}", "refusal", path, body, slug=slug, faults=faults, **members)


def _with(**members: Any) -> Document:
    return {**round_body(), **members}


def _box(**members: Any) -> Document:
    return _with(boxes=[{"box": 1, "ante": 100, **members}])


# Bodies that are no strict JSON.

_NOT_JSON: Final = {
    "empty": b"",
    "white-space": b" \t\r\n ",
    "a-word": b"hello",
    "form-data": b"ruleset=casino-1&ante=100",
    "cut-off": TEXT[:-20].encode(),
    "garbage-behind": f"{TEXT} x".encode(),
    "two-documents": f"{TEXT}\n{TEXT}".encode(),
    "trailing-comma": b'{"a": 1,}',
    "single-quotes": b"{'a': 1}",
    "comment": b'{"a": 1 /* one */}',
    "leading-zero": TEXT.replace("100", "0100").encode(),
    "plus-sign": TEXT.replace("100", "+100").encode(),
    "hexadecimal": TEXT.replace("100", "0x64").encode(),
    "nan": TEXT.replace("100", "NaN").encode(),
    "infinity": TEXT.replace("100", "-Infinity").encode(),
    "beyond-a-double": TEXT.replace("100", "1e400").encode(),
    "raw-line-feed": b'{"a": "x\ny"}',
    "member-twice": TEXT.replace('"ante": 100', '"ante": 100, "ante": 100').encode(),
    "member-twice-by-escape": TEXT.replace('"ante": 100', r'"ante": 100, "\u0061nte": 1').encode(),
    "half-a-surrogate-pair": TEXT.replace("casino-1", r"\ud83c").encode(),
    "byte-order-mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "utf-16": TEXT.encode("utf-16-le"),
    "latin-1": '{"ruleset": "caf\u00e9"}'.encode("latin-1"),
    "overlong-slash": b'{"ruleset": "\xc0\xaf"}',
    "encoded-surrogate": b'{"ruleset": "\xed\xa0\x80"}',
    "33-levels": b"[" * 33 + b"]" * 33,
}


def _not_json() -> Iterator[Draft]:
    for name, body in _NOT_JSON.items():
        try:
            request = {"text": body.decode()}
        except UnicodeDecodeError:
            request = {"base64": base64.b64encode(body).decode()}
        yield Draft(f"refusal/json/{name}", "refusal", SETTLE, request=request, slug="malformed-json")
    for path in (STEP, VOID, VERIFY, EVALUATE, SEEDS, DECK):
        name = path.rpartition("/")[2]
        yield Draft(f"refusal/json/at-{name}", "refusal", path, request={"text": "{"}, slug="malformed-json")


# Requests that are turned away before their body is read.


def _http() -> Iterator[Draft]:
    nowhere = {"unversioned": "/rounds/settle", "trailing-slash": f"{SETTLE}/", "nothing": "/v1"}
    for name, path in nowhere.items():
        yield Draft(f"refusal/http/{name}", "refusal", path, round_body(), slug="not-found")
    ruleset = "/v1/rulesets/casino"
    yield Draft("refusal/http/no-ruleset", "refusal", ruleset, method="GET", slug="not-found")
    for path in (SETTLE, STEP, VOID, VERIFY, EVALUATE, SEEDS, DECK):
        name = f"refusal/http/get-{path.rpartition('/')[2]}"
        answer = {"headers": {"Allow": ["OPTIONS", "POST"]}}
        yield Draft(name, "refusal", path, method="GET", answer=answer, slug="method-not-allowed")
    for path in ("/v1/rulesets", "/v1/rulesets/casino-1", "/v1/version"):
        name = f"refusal/http/post-{path.rpartition('/')[2]}"
        answer = {"headers": {"Allow": ["GET", "HEAD", "OPTIONS"]}}
        yield Draft(name, "refusal", path, {}, answer=answer, slug="method-not-allowed")
    for name, content_type in (
        ("a-form", "application/x-www-form-urlencoded"),
        ("a-text", "text/plain"),
        ("another-encoding", "application/json; charset=utf-16"),
    ):
        request = {"text": TEXT, "content_type": content_type}
        slug = "unsupported-media-type"
        yield Draft(f"refusal/http/{name}", "refusal", SETTLE, request=request, slug=slug)
    for name, accept in (
        ("a-page", "text/html"),
        ("anything-but-json", "application/json;q=0, application/*;q=0"),
    ):
        request = {"accept": accept}
        yield Draft(
            f"refusal/http/wanted-{name}",
            "refusal",
            SETTLE,
            round_body(),
            request=request,
            slug="not-acceptable",
        )


# Bodies of another shape.

MISSHAPEN: Final[dict[str, tuple[Any, *tuple[Fault, ...]]]] = {
    "an-array": ([round_body()], ("", "type")),
    "null": (None, ("", "type")),
    "nothing": ({}, *((f"/{name}", "required") for name in ("ruleset", "deal", "boxes", "actions"))),
    "no-ruleset": (without(round_body(), "ruleset"), ("/ruleset", "required")),
    "ruleset-null": (_with(ruleset=None), ("/ruleset", "type")),
    "ruleset-empty": (_with(ruleset=""), ("/ruleset", "length")),
    "unknown-member": (_with(extra=1), ("/extra", "unknown-member")),
    "unknown-member-with-a-slash": (_with(**{"a/b~c": 1}), ("/a~1b~0c", "unknown-member")),
    "deal-empty": (_with(deal={}), ("/deal/server_seed", "required")),
    "seed-with-0x": (_with(deal={"server_seed": "0x" + SEED}), ("/deal/server_seed", "hex")),
    "seed-too-short": (_with(deal={"server_seed": SEED[:62]}), ("/deal/server_seed", "hex")),
    "seed-in-other-digits": (_with(deal={"server_seed": "٠" * 64}), ("/deal/server_seed", "hex")),
    "client-seed-too-long": (
        _with(deal={"server_seed": SEED, "client_seed": "é" * 65}),
        ("/deal/client_seed", "bytes"),
    ),
    "nonce-negative": (_with(deal={"server_seed": SEED, "nonce": -1}), ("/deal/nonce", "range")),
    "nonce-too-large": (_with(deal={"server_seed": SEED, "nonce": 2**53}), ("/deal/nonce", "range")),
    "nonce-in-quotes": (_with(deal={"server_seed": SEED, "nonce": "7"}), ("/deal/nonce", "type")),
    "reveal-as-a-number": (_with(deal={"server_seed": SEED, "reveal": 0}), ("/deal/reveal", "type")),
    "beacon-source-with-a-tab": (
        _with(deal={"server_seed": SEED, "beacon": {"source": "\t", "value": "0" * 32}}),
        ("/deal/beacon/source", "characters"),
    ),
    "deck-and-seed": (
        _with(deal={"deck": list(CODES), "server_seed": SEED}),
        ("/deal/server_seed", "unknown-member"),
    ),
    "deck-of-51": (_with(deal={"deck": list(CODES[:51])}), ("/deal/deck", "length")),
    "deck-with-a-card-twice": (_with(deal={"deck": [*CODES[:51], "2c"]}), ("/deal/deck/51", "card")),
    "deck-with-10c": (_with(deal={"deck": [*CODES[:51], "10c"]}), ("/deal/deck/51", "card")),
    "deck-with-lower-case": (_with(deal={"deck": ["2C", *CODES[1:]]}), ("/deal/deck/0", "card")),
    "table-member-unknown": (_with(table={"max_pay": 5}), ("/table/max_pay", "unknown-member")),
    "table-zero": (_with(table={"min_stake": 0}), ("/table/min_stake", "range")),
    "no-boxes": (_with(boxes=[]), ("/boxes", "length")),
    "boxes-as-an-object": (_with(boxes={"box": 1, "ante": 100}), ("/boxes", "type")),
    "box-without-ante": (_with(boxes=[{"box": 1}]), ("/boxes/0/ante", "required")),
    "box-zero": (_box(box=0), ("/boxes/0/box", "range")),
    "ante-zero": (_box(ante=0), ("/boxes/0/ante", "range")),
    "ante-too-large": (_box(ante=10**12 + 1), ("/boxes/0/ante", "range")),
    "ante-far-too-large": (_box(ante=2**53), ("/boxes/0/ante", "range")),
    "ante-with-a-fraction": (_box(ante=5.5), ("/boxes/0/ante", "type")),
    "ante-in-quotes": (_box(ante="100"), ("/boxes/0/ante", "type")),
    "ante-true": (_box(ante=True), ("/boxes/0/ante", "type")),
    "bonus-negative": (_box(bonus=-1), ("/boxes/0/bonus", "range")),
    "blind-as-a-text": (_box(blind="true"), ("/boxes/0/blind", "type")),
    "player-empty": (_box(player=""), ("/boxes/0/player", "length")),
    "player-too-long": (_box(player="x" * 65), ("/boxes/0/player", "length")),
    "action-without-name": (_with(actions=[{"box": 1}]), ("/actions/0/action", "required")),
    "action-unknown": (_with(actions=[{"box": 1, "action": "raise"}]), ("/actions/0/action", "choice")),
    "action-in-capitals": (_with(actions=[{"box": 1, "action": "BET"}]), ("/actions/0/action", "choice")),
    "bet-with-an-amount": (
        _with(actions=[{"box": 1, "action": "bet", "amount": 5}]),
        ("/actions/0/amount", "unknown-member"),
    ),
    "exchange-of-nothing": (
        _with(actions=[{"box": 1, "action": "exchange", "discard": []}]),
        ("/actions/0/discard", "length"),
    ),
    "exchange-of-one-card-twice": (
        _with(actions=[{"box": 1, "action": "exchange", "discard": ["9c", "9c"]}]),
        ("/actions/0/discard/1", "card"),
    ),
    "insure-without-an-amount": (
        _with(actions=[{"box": 1, "action": "insure"}]),
        ("/actions/0/amount", "required"),
    ),
    "101-actions": (_with(actions=act(*["1 bet"] * 101)), ("/actions", "length")),
    "context-with-a-fraction": (_with(context={"a": [0.5]}), ("/context/a/0", "context")),
    "context-with-a-large-number": (_with(context={"a": 2**53}), ("/context/a", "context")),
    "context-with-a-rare-name": (_with(context={"\U0001f0a1": 1}), ("/context/\U0001f0a1", "context")),
    "context-as-a-text": (_with(context="A-1"), ("/context", "type")),
    "several-at-once": (
        _with(boxes=[{"box": 1, "ante": "5"}, {"box": 2, "ante": 1, "blind": 1}], actions=[{"box": 1}]),
        ("/boxes/0/ante", "type"),
        ("/boxes/1/blind", "type"),
        ("/actions/0/action", "required"),
    ),
}


def _boxes(*boxes: Document, ruleset: str = "casino-1") -> Document:
    stakes = [{"ante": 100, **box} for box in boxes]
    return round_body(ruleset, boxes=stakes)


BEYOND_SHAPE: Final[dict[str, tuple[str, Document, *tuple[Fault, ...]]]] = {
    "trainer-has-four": ("D2", _boxes({"box": 5}, ruleset="trainer-1"), ("/boxes/0/box", "no-such-box")),
    "online-has-three": ("D2", _boxes({"box": 4}, ruleset="online-1"), ("/boxes/0/box", "no-such-box")),
    "out-of-order": ("D2", _boxes({"box": 2}, {"box": 1}), ("/boxes/1/box", "box-order")),
    "one-twice": ("D2", _boxes({"box": 1}, {"box": 1}), ("/boxes/1/box", "box-order")),
    "trainer-has-no-blind": (
        "A9",
        _boxes({"box": 1, "blind": True}, ruleset="trainer-1"),
        ("/boxes/0/blind", "no-blind-boxes"),
    ),
    "online-has-one-open": (
        "A9",
        _boxes({"box": 1}, {"box": 2}, ruleset="online-1"),
        ("/boxes/1/blind", "too-many-open-boxes"),
    ),
    "one-open-per-player": (
        "A9",
        _boxes({"box": 1, "player": "a"}, {"box": 2, "player": "a"}),
        ("/boxes/1/blind", "too-many-open-boxes"),
    ),
}


def _staked(ruleset: str, table: Document, **box: int) -> Document:
    return round_body(ruleset, table=table, boxes=[{"box": 1, "ante": 100, **box}])


LIMITS: Final[dict[str, tuple[Document, *tuple[Fault, ...]]]] = {
    "ante-below": (_staked("online-1", {}, ante=9), ("/boxes/0/ante", "below-min-stake")),
    "ante-above": (_staked("online-1", {}, ante=2001), ("/boxes/0/ante", "above-max-stake")),
    "bonus-below": (_staked("online-1", {}, bonus=9), ("/boxes/0/bonus", "below-min-stake")),
    "bonus-above": (_staked("online-1", {}, bonus=2001), ("/boxes/0/bonus", "above-max-stake")),
    "below-the-tables": (_staked("casino-1", {"min_stake": 101}), ("/boxes/0/ante", "below-min-stake")),
    "above-the-tables": (_staked("trainer-1", {"max_stake": 99}), ("/boxes/0/ante", "above-max-stake")),
    "contradict": (
        _staked("casino-1", {"min_stake": 50, "max_stake": 40}, ante=45),
        ("/table/min_stake", "min-above-max"),
    ),
    "contradict-the-rulesets": (
        _staked("online-1", {"max_stake": 9}, ante=9),
        ("/table/max_stake", "min-above-max"),
    ),
}


def _two(*actions: str, dealer: str = NO_GAME, ruleset: str = "casino-1") -> Document:
    """A round of two boxes, the second with three of a kind."""
    deal = rigged(LOW, TRIPS, dealer, then="2d 2s 3d 3s")
    blind = {"blind": True} if ruleset == "online-1" else {}
    boxes = [{"box": 1, "ante": 100, **blind}, {"box": 2, "ante": 100}]
    return round_body(ruleset, deal=deal, boxes=boxes, actions=act(*actions))


ILLEGAL: Final[dict[str, tuple[str, Document, int]]] = {
    "out-of-turn": ("A1", _two("2 bet"), 0),
    "no-such-box": ("A1", _two("3 bet"), 0),
    "before-the-dealer-shows": ("A1", _two("1 take_ante"), 0),
    "bet-twice": ("A1", _two("1 bet", "1 bet"), 1),
    "purchase-after-bet": ("A1", _two("1 bet", "2 bet", "1 buy_sixth"), 2),
    "exchange-of-a-card-not-held": ("A2", _two("1 exchange Ac"), 0),
    "exchange-of-one-held-and-one-not": ("A2", _two("1 exchange 2c Ac"), 0),
    "sixth-card-twice": ("A2", _two("1 buy_sixth", "1 buy_sixth"), 1),
    "exchange-after-a-sixth-card": ("A2", _two("1 buy_sixth", "1 exchange 2c"), 1),
    "sixth-card-after-an-exchange": ("A2", _two("1 exchange 2c", "1 buy_sixth"), 1),
    "exchange-of-a-card-gone": ("A2", _two("1 exchange 2c", "1 exchange 2c"), 1),
    "purchase-after-insuring": ("A2", _two("1 fold", "2 insure 5", "2 buy_sixth"), 2),
    "insuring-too-little": ("A3", _two("1 insure 100"), 0),
    "insuring-above-the-maximum": ("A3", _two("1 fold", "2 insure 601"), 1),
    "insuring-below-the-minimum": (
        "A3",
        {**_two("1 fold", "2 insure 49"), "table": {"min_stake": 50}},
        1,
    ),
    "insuring-above-the-payout": (
        "A3",
        {**_two("1 fold", "2 insure 400"), "table": {"max_payout": 399}},
        1,
    ),
    "insuring-where-nothing-fits": (
        "A3",
        {**_two("1 fold", "2 insure 50"), "table": {"min_stake": 50, "max_payout": 49}},
        1,
    ),
    "insuring-twice": ("A3", _two("1 fold", "2 insure 5", "2 insure 5"), 2),
    "fold-after-insuring": ("A3", _two("1 fold", "2 insure 5", "2 fold"), 2),
    "trainer-has-no-insurance": ("A3", _two("1 fold", "2 insure 5", ruleset="trainer-1"), 1),
    "choice-of-a-box-that-folded": ("A4", _two("1 fold", "2 bet", "1 take_ante"), 2),
    "choice-out-of-order": ("A4", _two("1 bet", "2 bet", "2 take_ante"), 2),
    "choice-twice": ("A4", _two("1 bet", "2 bet", "1 take_ante", "1 buy_game"), 3),
    "choice-though-the-dealer-has-game": ("A4", _two("1 bet", "2 bet", "1 buy_game", dealer=GAME), 2),
    "choice-though-all-folded": ("A4", _two("1 fold", "2 fold", "1 take_ante"), 2),
    "exchange-after-a-won-bonus": (
        "A6",
        {**BLIND_SIXTH, "actions": act("1 exchange 2c", "1 bet", "1 take_ante", "2 buy_game")},
        0,
    ),
    "blind-sixth-card-does-not-count": (
        "A6",
        {**BLIND_SIXTH, "actions": act("1 buy_sixth", "1 insure 801")},
        1,
    ),
    "blind-box-decides": ("A9", {**BLIND_SIXTH, "actions": act("1 bet", "2 fold")}, 1),
    "online-blind-box-decides": ("A9", _two("1 bet", ruleset="online-1"), 0),
    "blind-box-exchanges": ("A9", {**PLAYERS, "actions": act("1 fold", "2 exchange 2c")}, 1),
    "left-over": ("A7", _two("1 fold", "2 fold", "2 bet"), 2),
    "only-the-first-counts": ("A7", _two("1 bet", "1 bet", "3 bet", "2 take_ante"), 1),
}
INCOMPLETE: Final = {
    "nothing-decided": _two(),
    "after-a-purchase": _two("1 exchange 2c"),
    "after-insuring": _two("1 fold", "2 insure 600"),
    "second-box": _two("1 bet", dealer=GAME),
    "dealers-game": _two("1 bet", "2 bet"),
    "dealers-game-second-box": _two("1 bet", "2 bet", "1 take_ante"),
    "online-dealers-game": _two("2 bet", ruleset="online-1"),
    "blind-sixth-card": {**BLIND_SIXTH, "actions": act("1 buy_sixth")},
}


def _deals() -> Iterator[Draft]:
    committed = {"server_seed": SEED, "commitment": "0" * 64}
    fault = ("/deal/commitment", "commitment-mismatch")
    for path in (SETTLE, STEP):
        name = f"deal/commitment-at-{path.rpartition('/')[2]}"
        yield _refused(name, path, _with(deal=committed), "commitment-mismatch", fault, clauses=["R5"])
    sealed = _with(deal={"sealed_seed": "a.b.c.d.e"})
    yield _refused("deal/sealed-seed", SETTLE, sealed, "sealed-seed", ("/deal/sealed_seed", "sealed-seed"))
    for name, ruleset in (("no-version", "casino"), ("another-version", "casino-2"), ("capital", "Casino-1")):
        fault = ("/ruleset", "unknown-ruleset")
        yield _refused(f"ruleset/{name}", SETTLE, _with(ruleset=ruleset), "unknown-ruleset", fault)


ELSEWHERE: Final[dict[str, tuple[str, Any, str, *tuple[Fault, ...]]]] = {
    "step-illegal": (STEP, _two("2 bet"), "illegal-action", ("/actions/0", "illegal-action")),
    "step-limits": (STEP, _staked("online-1", {}, ante=9), "limits", ("/boxes/0/ante", "below-min-stake")),
    "step-shape": (STEP, {**_two(), "boxes": []}, "invalid-request", ("/boxes", "length")),
    "void-without-reason": (VOID, round_body(), "invalid-request", ("/reason", "required")),
    "void-reason-in-other-letters": (
        VOID,
        _with(reason="обрыв"),
        "invalid-request",
        ("/reason", "characters"),
    ),
    "void-reason-empty": (VOID, _with(reason=""), "invalid-request", ("/reason", "length")),
    "void-illegal": (
        VOID,
        {**_two("2 bet"), "reason": "x"},
        "illegal-action",
        ("/actions/0", "illegal-action"),
    ),
    "settle-with-reason": (SETTLE, _with(reason="x"), "invalid-request", ("/reason", "unknown-member")),
    "verify-nothing": (VERIFY, {}, "invalid-request", ("/outcome", "required")),
    "verify-both": (
        VERIFY,
        {"certificate": "x", "outcome": {}},
        "invalid-request",
        ("/outcome", "unknown-member"),
    ),
    "verify-text": (VERIFY, {"outcome": "settled"}, "invalid-request", ("/outcome", "type")),
    "verify-misshapen-request": (
        VERIFY,
        {"request": _box(ante=0), "outcome": {}},
        "invalid-request",
        ("/request/boxes/0/ante", "range"),
    ),
    "verify-illegal-request": (
        VERIFY,
        {"request": _two("2 bet"), "outcome": {}},
        "illegal-action",
        ("/request/actions/0", "illegal-action"),
    ),
    "verify-incomplete-request": (
        VERIFY,
        {"request": _two("1 bet"), "outcome": {}},
        "round-incomplete",
        ("/request/actions", "round-incomplete"),
    ),
    "hand-of-four": (
        EVALUATE,
        {"ruleset": "casino-1", "cards": PAIR.split()[:4]},
        "invalid-request",
        ("/cards", "length"),
    ),
    "hand-of-seven": (
        EVALUATE,
        {"ruleset": "casino-1", "cards": list(CODES[:7])},
        "invalid-request",
        ("/cards", "length"),
    ),
    "hand-with-a-card-twice": (
        EVALUATE,
        {"ruleset": "casino-1", "cards": [*STRAIGHT.split()[:4], "2c"]},
        "invalid-request",
        ("/cards/4", "card"),
    ),
    "hand-under-no-ruleset": (
        EVALUATE,
        {"ruleset": "casino", "cards": PAIR.split()},
        "unknown-ruleset",
        ("/ruleset", "unknown-ruleset"),
    ),
    "seeds-in-quotes": (SEEDS, {"sealed": "true"}, "invalid-request", ("/sealed", "type")),
    "deck-too-short": (DECK, {"server_seed": SEED[:62]}, "invalid-request", ("/server_seed", "hex")),
    "deck-with-commitment": (
        DECK,
        {"server_seed": SEED, "commitment": SEED},
        "invalid-request",
        ("/commitment", "unknown-member"),
    ),
}
