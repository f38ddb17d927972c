"""Rounds of the kit: vectors that another program computed, rounds written for a clause, random ones.

Of vectors, golden certificates and random rounds there are far more than a kit needs; taken is whichever
shows something that none before it has shown.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

from service.certificate.jws import open_certificate
from service.game.cards import card_codes
from service.game.documents import action_document
from service.rounds import settle_request
from tests.api.calls import SEED, SETTLE, VOID, act, rigged, round_body
from tests.certificate import golden
from tests.conformance.drafts import Document, Draft, settle, taken, views, void
from tests.contract.examples import BEACON, CASINO_BONUS, HIDDEN, INSURED, ONLINE, PUSH, TRAINER
from tests.support.random_rounds import Played, random_rounds
from tests.support.vectors import load, round_request, settle_body

T = TypeVar("T")
TOP: Final = 10**12
LOW, PAIR, STRAIGHT = "2c 4d 6h 8s Tc", "9c 9d 2h 5s Jc", "2c 3d 4h 5s 6c"
NO_GAME, GAME = "3c 5h 9h Th Jh", "Qc Qd 3h 4s 8c"
ROYAL: Final = "Ts Js Qs Ks As"


def _boxes(*bonuses: int, **members: Any) -> list[Document]:
    """Boxes from 1 up with an ante of 100 each, and these bonuses."""
    return [
        {"box": number, "ante": 100, **({"bonus": bonus} if bonus else {}), **members}
        for number, bonus in enumerate(bonuses, 1)
    ]


FOUR: Final = round_body(
    deal=rigged(
        *("2c 3c 5c 7c 8h", "2d 3d 5d 7d 8d", "2h 3h 5h 7h 8c", "4c 6d 9h Tc Jd"),
        "Kh 4h 6s 9c Ts",
        then="Qc Qd Qh Qs Jc Ac Ad Ah As Jh 2s 3s 5s 7s 8s 4d 4s 6c 6h 9d Ks Kd Kc Td",
    ),
    boxes=_boxes(0, 0, 0, 0),
    actions=act(
        *("1 exchange 2c 3c 5c 7c 8h", "1 bet", "2 exchange 2d 3d 5d 7d 8d", "2 bet"),
        *("3 exchange 2h 3h 5h 7h 8c", "3 bet", "4 exchange 4c 6d 9h Tc Jd", "4 bet"),
        *(f"{box} buy_game" for box in range(1, 5)),
    ),
)
"""Every box exchanges five cards and the dealer's king comes back three times: 49 cards (D4)."""
BLIND_SIXTH: Final = round_body(
    deal=rigged(STRAIGHT, "2d 4d 6h 8s Tc", NO_GAME, then="7d 8d"),
    boxes=[{"box": 1, "ante": 100, "bonus": 10}, {"box": 2, "ante": 50, "blind": True, "bonus": 10}],
    actions=act("1 buy_sixth", "1 bet", "1 take_ante", "2 buy_game"),
)
PLAYERS: Final = round_body(
    deal=rigged(PAIR, LOW, "7c 7d 7s 6d Jd", "Kc Kd 3s 4h 8d", NO_GAME, then="Ad Ac"),
    boxes=[
        {"box": 1, "ante": 100, "player": "Анна"},
        {"box": 2, "ante": 10, "player": "Анна", "blind": True},
        {"box": 3, "ante": 100, "player": "bo"},
        {"box": 4, "ante": 5, "blind": True, "bonus": 5},
    ],
    actions=act(
        *("1 exchange 2h", "1 fold", "3 insure 600", "3 bet"),
        *("2 take_ante", "3 buy_game", "4 buy_game"),
    ),
)
ALL_FOLD: Final = round_body(
    deal=rigged(PAIR, LOW, NO_GAME), boxes=_boxes(0, 0), actions=act("1 fold", "2 fold")
)

WRITTEN: Final[dict[str, Document]] = {
    "casino-bonus": CASINO_BONUS,
    "online-buys-game": ONLINE,
    "trainer-exchange": TRAINER,
    "insured": INSURED,
    "push": PUSH,
    "four-boxes-use-49-cards": FOUR,
    "blind-sixth-card": BLIND_SIXTH,
    "blind-sixth-card-and-fold": {**BLIND_SIXTH, "actions": act("1 buy_sixth", "1 fold", "2 take_ante")},
    "two-players": PLAYERS,
    "all-fold": ALL_FOLD,
    "all-blind": round_body(deal=rigged(LOW, GAME), boxes=[{"box": 2, "ante": 7, "blind": True}], actions=[]),
    "online-one-open-of-three": round_body(
        "online-1",
        deal=rigged("9c 9d 2h 5s Jc", "Ah Kd 4d 6h 8s", "Td 7d 7s 6d Jd", NO_GAME, then="Kh"),
        boxes=[
            {"box": 1, "ante": 10, "blind": True},
            {"box": 2, "ante": 20, "bonus": 10},
            {"box": 3, "ante": 2000, "blind": True, "bonus": 2000},
        ],
        actions=act("2 bet", "1 buy_game", "2 take_ante", "3 buy_game"),
    ),
    "trainer-gaps": round_body(
        "trainer-1",
        deal=rigged("9c 9d 2h 7s Jc", STRAIGHT, GAME, then="7d"),
        boxes=[{"box": 2, "ante": 1}, {"box": 4, "ante": 3, "bonus": 2}],
        actions=act("2 bet", "4 buy_sixth", "4 bet"),
    ),
    "trainer-royal": round_body(
        "trainer-1",
        deal=rigged(ROYAL, GAME, then="Ad"),
        boxes=_boxes(1),
        actions=act("1 buy_sixth", "1 bet"),
    ),
    "trainer-bonus-after-fold": round_body(
        "trainer-1",
        deal=rigged("2c 4d 6h 8s Tc", GAME, then="Td"),
        boxes=_boxes(10),
        actions=act("1 buy_sixth", "1 fold"),
    ),
    "wheel": round_body(deal=rigged("Ac 2d 3h 4d 5c", "Qc Qd 8h 9s 8c"), actions=act("1 bet")),
    "no-wrap-around": round_body(deal=rigged("Kc Ad 2d 3d 4h", "Qc Qd 8h 9s 8c"), actions=act("1 bet")),
    "largest-amounts": round_body(
        deal=rigged(ROYAL, GAME, then="9s"),
        boxes=[{"box": 1, "ante": TOP, "bonus": TOP}],
        actions=act("1 buy_sixth", f"1 insure {TOP}", "1 bet"),
    ),
    "payout-capped": round_body(
        deal=rigged(ROYAL, GAME, then="9s"),
        table={"min_stake": 5, "max_stake": 500, "max_payout": 4000},
        boxes=_boxes(5),
        actions=act("1 buy_sixth", "1 bet"),
    ),
    "insurance-capped": round_body(
        deal=rigged(ROYAL, NO_GAME),
        table={"max_payout": 4000},
        actions=act("1 insure 4000", "1 bet", "1 buy_game"),
    ),
    "tables-own-limits": round_body("online-1", table={"max_stake": 5000}, boxes=[{"box": 1, "ante": 5000}]),
    "hidden-seed": HIDDEN,
    "hidden-seed-with-actions": round_body(
        "trainer-1",
        deal={"server_seed": SEED, "client_seed": "x", "nonce": 1, "reveal": False},
        actions=act("1 buy_sixth", "1 fold"),
    ),
    "beacon": BEACON,
    "upper-case-seed": round_body(deal={"server_seed": SEED.upper()}),
    "longest-client-seed": round_body(deal={"server_seed": SEED, "client_seed": "é" * 64}),
    "client-seed-is-taken-as-given": round_body(
        deal={"server_seed": SEED, "client_seed": ' \t"\\/\u0000e\u0301🂡'}
    ),
    "largest-nonce": round_body(deal={"server_seed": SEED, "nonce": 2**53 - 1}),
    "context": round_body(
        context={"ё": [1, {"deep": [None, True, -(2**53) + 1]}], "": {}, "a/b~c": "\u2028", "10": 0, "9": 0}
    ),
    "defaults-spelled-out": round_body(
        deal={"server_seed": SEED, "client_seed": "", "nonce": 0, "reveal": True},
        table={},
        boxes=[{"box": 1, "ante": 100, "bonus": 0, "blind": False}],
    ),
}
"""Rounds for a clause or for a corner of the contract."""
WHOLE_NUMBERS: Final = (
    '{ "boxes" : [ {"ante": 1.0e2, "box": 1.0} ],\n\t"actions": [{"action": "fold", "box": 10e-1}],'
    ' "ruleset": "casino\\u002d1", "deal": {"nonce": -0, "server_seed": "' + SEED + '"} }\r\n'
)
"""A round in which numbers, texts and white space are written as hardly anybody writes them."""


def rounds() -> Iterator[Draft]:
    taking = _Taking()
    for name in ("rounds.jsonl", "rigged.jsonl"):
        for number, vector in taking.those_that_tell((one, _outcome(one)) for one in load(name)):
            tag = re.sub("[ ,_]+", "-", vector.get("tag", vector["ruleset"]))
            yield settle(f"vector/{name.split('.')[0]}-{number}-{tag}", settle_body(vector))
    for id, body in WRITTEN.items():
        taking.take(golden.outcome_of(body))
        yield settle(id, body)
    yield Draft("round/written-otherwise", "round", SETTLE, round_body(), request={"text": WHOLE_NUMBERS})
    for published in golden.registry().values():
        bodies = map(_body, random_rounds(published.ruleset, 150))
        for number, body in taking.those_that_tell((one, golden.outcome_of(one)) for one in bodies):
            yield settle(f"random/{body['ruleset']}-{number}", body)


def voids() -> Iterator[Draft]:
    """Rounds broken off at their beginning, on their way and after their end."""
    broken_off = ("two-players", "online-one-open-of-three", "hidden-seed", "beacon", "context")
    for id in (*broken_off, "payout-capped"):
        for end in sorted({0, len(WRITTEN[id]["actions"]) // 2, len(WRITTEN[id]["actions"])}):
            body = {**WRITTEN[id], "actions": WRITTEN[id]["actions"][:end]}
            yield void(f"{id}/{end}", body, "~ the table's 'lamp' \\ fell" if end else "power cut")
    for case, member in (("seed/new", "server_seed"), ("seed/sealed", "sealed_seed")):
        body = round_body(deal={member: "", "commitment": ""}, actions=[])
        both = [taken("/deal/commitment", case, "/commitment"), taken(f"/deal/{member}", case, f"/{member}")]
        why = "follows from the seed, which is a new one every time"
        free = [
            {"at": "/outcome_id", "pattern": "[0-9a-f]{32}", "why": why},
            {"at": "/request_digest", "pattern": "sha256:[0-9a-f]{64}", "why": why},
        ]
        answer = {"free": free, "put": both[:1]}
        yield void(case.replace("/", "-"), body, request={"put": both}, answer=answer)


def all_views() -> Iterator[Draft]:
    for id in (
        *("casino-bonus", "online-buys-game", "trainer-exchange", "insured", "blind-sixth-card"),
        *("blind-sixth-card-and-fold", "two-players", "all-fold", "all-blind", "online-one-open-of-three"),
        *("insurance-capped", "payout-capped", "hidden-seed", "beacon", "context"),
    ):
        yield from views(id, WRITTEN[id])


def certificates() -> Iterator[Draft]:
    """Golden certificates of the newest file, with the requests that they answered."""
    lines = golden.read(golden.golden_files()[-1])
    vouched = (open_certificate(one.certificate, golden.keys().verifying)[0] for one in lines)
    for number, one in _Taking(_shape).those_that_tell(zip(lines, vouched, strict=True)):
        path = VOID if "reason" in one.request else SETTLE
        yield Draft(f"certificate/{number}", "certificate", path, one.request, certificate=one.certificate)


def _outcome(vector: Document) -> Document:
    return settle_request(round_request(settle_body(vector)), golden.registry())


def _body(played: Played) -> Document:
    """A random round as the body of a settle request."""
    table = {name: value for name, value in played.table._asdict().items() if value is not None}
    boxes = []
    for stake in played.stakes:
        box: Document = {"box": stake.number, "ante": stake.ante}
        box |= {name: value for name in ("bonus", "blind", "player") if (value := getattr(stake, name))}
        boxes.append(box)
    return {
        "ruleset": played.ruleset.id,
        "deal": {"deck": card_codes(played.deck)},
        **({"table": table} if table else {}),
        "boxes": boxes,
        "actions": [action_document(action) for action in played.actions],
    }


def _shape(outcome: Document) -> Iterator[Any]:
    """What makes an outcome another document than others, rather than another round."""
    ruleset = outcome["ruleset"]["id"]
    yield ruleset, outcome["status"]
    yield from outcome["deal"]
    yield from outcome["table"]
    yield "context" in outcome
    yield from ((outcome["status"], action["action"]) for action in outcome["actions"])
    for box in outcome["boxes"]:
        yield from box
        yield ruleset, box.get("result")
        yield from ((ruleset, bet["name"]) for bet in box["bets"])


def _story(outcome: Document) -> Iterator[Any]:
    """What happens in a round, each thing by ruleset."""
    ruleset = outcome["ruleset"]["id"]
    yield ruleset, len(outcome["boxes"])
    for action in outcome["actions"]:
        yield ruleset, action["action"], len(action.get("discard", ()))
    dealer = outcome["dealer"]
    yield ruleset, "dealer", len(dealer["draws"]), dealer["final_kind"]
    for box in outcome["boxes"]:
        yield ruleset, box["main"], box["second"], len(box["hand"])
        yield ruleset, box["blind"], box["result"]
        for bet in box["bets"]:
            yield (
                ruleset,
                bet["name"],
                bet["clause"],
                box["result"],
                "capped" in bet["reason"],
                bet["net"] > 0,
            )


class _Taking:
    """Takes outcomes as long as they show something that none before them has shown."""

    def __init__(self, shown: Callable[[Document], Iterator[Any]] = _story) -> None:
        self._shown = shown
        self._seen = set[Any]()

    def take(self, outcome: Document) -> bool:
        shown = set(self._shown(outcome))
        new = not shown <= self._seen
        self._seen |= shown
        return new

    def those_that_tell(self, rounds: Iterable[tuple[T, Document]]) -> Iterator[tuple[int, T]]:
        """The rounds that are taken, with their numbers."""
        for number, (one, outcome) in enumerate(rounds, 1):
            if self.take(outcome):
                yield number, one
