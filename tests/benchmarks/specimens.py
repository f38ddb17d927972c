"""The rounds that are measured: a full one, and random ones of every kind."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count, cycle, islice
from pathlib import Path
from random import Random
from typing import Any

import orjson

from service.certificate.jws import certify
from service.game.documents import action_document
from service.game.round import Action, Round, apply, start
from service.keys import development_keys, read_keys
from service.registry import load_rulesets
from service.rounds import settle_request
from service.schemas import ROUND, load
from tests.support.random_rounds import random_action

Document = dict[str, Any]
REGISTRY = load_rulesets()
KEYS = read_keys(development_keys())
_SERVER_SEED = "0f" * 32


def full_round(boxes: int = 4) -> Document:
    """A round of ``casino-1`` in which every box stakes a bonus and buys, as the body of a request."""
    return _played(
        {
            "ruleset": "casino-1",
            "deal": {"server_seed": _SERVER_SEED, "client_seed": "benchmark", "nonce": 13},
            "boxes": [{"box": box, "ante": 100, "bonus": 25} for box in range(1, boxes + 1)],
        },
        _buying,
    )


def random_bodies(boxes: int) -> Iterator[Document]:
    """Rounds of so many boxes under every ruleset that takes them, without end, the same in every run."""
    ids = [id for id, published in REGISTRY.items() if published.ruleset.max_boxes >= boxes]
    for nonce, id in zip(count(), cycle(ids), strict=False):
        random = Random(f"{boxes} {nonce}")
        yield _played(_head(id, boxes, nonce), partial(random_action, random=random))


def _head(id: str, boxes: int, nonce: int) -> Document:
    ruleset = REGISTRY[id].ruleset
    stakes = {"ante": 100, "bonus": 25} if ruleset.bonus else {"ante": 100}
    places: list[Document] = [{"box": box, **stakes} for box in range(1, boxes + 1)]
    if ruleset.open_boxes == "one":
        places[1:] = [{**place, "blind": True} for place in places[1:]]
    deal = {"server_seed": _SERVER_SEED, "client_seed": "benchmark", "nonce": nonce}
    return {"ruleset": id, "deal": deal, "boxes": places}


def _played(head: Document, choose: Callable[[Round], Action]) -> Document:
    request = load(ROUND, {**head, "actions": []})
    state = start(REGISTRY[request.ruleset].ruleset, request.boxes, request.deal.deck(), request.table)
    actions: list[Action] = []
    while state.phase != "settled":
        actions.append(choose(state))
        state = apply(state, actions[-1], len(actions) - 1)
    return {**head, "actions": [action_document(action) for action in actions]}


def _buying(state: Round) -> Action:
    """Two cards exchanged and a sixth card by turns, then all else that can be bought, never a fold."""
    offers = {offer.name: offer for offer in state.legal_actions()}
    box = state.boxes[state.turn]
    number = box.stake.number
    if number % 2 and "exchange" in offers:
        return Action(number, "exchange", box.hand[:2])
    if "insure" in offers and (amounts := offers["insure"].amounts):
        return Action(number, "insure", amount=amounts[0])
    return Action(number, next(name for name in ("buy_sixth", "bet", "buy_game") if name in offers))


def settled(body: Document) -> Document:
    """The outcome of a round, without a certificate."""
    return settle_request(load(ROUND, body), REGISTRY)


@cache
def _outcomes(boxes: tuple[int, ...], distinct: int) -> list[Document]:
    """Outcomes of random rounds, the numbers of boxes by turns."""
    each = [islice(random_bodies(number), distinct // len(boxes)) for number in boxes]
    return [settled(body) for bodies in zip(*each, strict=True) for body in bodies]


def write_records(
    file: Path, size: int, distinct: int, boxes: tuple[int, ...] = (1, 2, 3, 4), *, certified: bool = False
) -> Path:
    """Write ``size`` records of random rounds, ``distinct`` ones over and over again."""
    outcomes = _outcomes(boxes, distinct)
    if certified:
        outcomes = [certify(outcome, KEYS.signer) for outcome in outcomes]
    with file.open("wb") as lines:
        lines.writelines(islice(cycle([orjson.dumps(outcome) + b"\n" for outcome in outcomes]), size))
    return file
