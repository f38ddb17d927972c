"""Cases before they are answered, and which clauses of the rule book a round exercises."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from service.certificate.differences import ABSENT
from tests.api.calls import SETTLE, STEP, VOID

Document = dict[str, Any]


class Draft(NamedTuple):
    """One case without what is answered; ``faults`` are those that a refusal has to name.

    ``certificate`` is a golden one: what it vouches for is what has to be answered.
    """

    id: str
    kind: str
    path: str
    body: Any = ABSENT
    clauses: Sequence[str] = ()
    method: str = "POST"
    request: Mapping[str, Any] = {}
    answer: Mapping[str, Any] = {}
    slug: str | None = None
    faults: Sequence[tuple[str, str]] = ()
    certificate: str | None = None

    def sent(self) -> Document:
        """The request as the kit has it."""
        body = {} if self.body is ABSENT or "text" in self.request else {"body": self.body}
        return {"method": self.method, "path": self.path, **body, **self.request}


def taken(at: str, case: str, pointer: str = "") -> Document:
    """A part of an earlier answer that is put into a body."""
    return {"at": at, "from": {"case": case, "pointer": pointer}}


def settle(id: str, body: Document, **members: Any) -> Draft:
    return Draft(f"round/{id}", "round", SETTLE, body, **members)


def void(id: str, body: Document, reason: str = "power cut", **members: Any) -> Draft:
    return Draft(f"void/{id}", "void", VOID, {**body, "reason": reason}, **members)


def views(id: str, body: Document) -> Iterator[Draft]:
    """The views after none, one, two … of a round's actions."""
    for end in range(len(body["actions"]) + 1):
        shown = {**body, "actions": body["actions"][:end]}
        yield Draft(f"view/{id}/{end}", "view", STEP, shown)


# Which clauses a round exercises, read off its request and its answer.

_OF_ACTIONS: Final = {
    "exchange": ("D3", "A1", "A2"),
    "buy_sixth": ("D3", "A1", "A2"),
    "insure": ("A1", "A3"),
    "bet": ("A1",),
    "fold": ("A1",),
    "take_ante": ("A4",),
    "buy_game": ("A4", "A5"),
}
_OF_DEALS: Final = {
    "deck": ("D1", "D5"),
    "server_seed": ("D1", "R1", "R2", "R3", "R5"),
    "sealed_seed": ("R5",),
}


def clauses(request: Document, answer: Document) -> list[str]:
    """The clauses that a round, its view or its end exercises, in the order of the rule book."""
    found = set(_of_request(request))
    if "legal" in answer:
        found |= {"A10"}
    elif answer["status"] == "settled":
        found |= {"S9", *_of_outcome(answer)}
    return sorted(found, key=lambda clause: ("CDARS".index(clause[0]), int(clause[1:])))


def _of_request(request: Document) -> Iterable[str]:
    for member in request["deal"].keys() & _OF_DEALS.keys():
        yield from _OF_DEALS[member]
    for action in request["actions"]:
        yield from _OF_ACTIONS[action["action"]]
    if len(request["boxes"]) > 1:
        yield "D2"
    if request.get("table"):
        yield "A8"
    if any(box.get("blind") or "player" in box for box in request["boxes"]):
        yield "A9"


def _of_outcome(outcome: Document) -> Iterable[str]:
    bought = {action["box"] for action in outcome["actions"] if action["action"] == "buy_sixth"}
    for box in outcome["boxes"]:
        yield from (bet["clause"] for bet in box["bets"])
        if box["result"] in ("win", "lose", "push"):
            yield from ("C2", "C3")
        if box["second"]:
            yield "C5"
        if len(box["hand"]) == 6:
            yield "C4"
        if outcome["ruleset"]["id"] == "casino-1" and box["box"] in bought and _won_bonus(box):
            yield "A6"
    if outcome["deal"]["cards_used"] > 40:
        yield "D4"


def _won_bonus(box: Document) -> bool:
    return any(bet["name"] == "bonus" and bet["returned"] for bet in box["bets"])
