"""The vectors in ``tests/data``: computed from the rule book by another program that shares no code.

``settle_body`` is a vector as the body of ``POST /v1/rounds/settle``; ``observed`` reduces an outcome to
what the vector expects, so that a test through any door reads ``observed(outcome) == vector["expect"]``.
"""

import json
from pathlib import Path
from typing import Any

from service.fairness.deal import DeckDeal, SeedDeal
from service.game.cards import parse_cards
from service.game.round import Action
from service.game.stakes import BoxStake, Table
from service.rounds import RoundRequest

DATA = Path(__file__).parent.parent / "data"

Vector = dict[str, Any]


def load(name: str) -> Any:
    """A JSON file of ``tests/data``, or a JSONL file as a list."""
    text = (DATA / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else json.loads(text)


def settle_body(vector: Vector) -> dict[str, Any]:
    """The settle request of a vector from ``rounds.jsonl`` or ``rigged.jsonl``."""
    if "deck" in vector:
        deal = {"deck": vector["deck"]}
    else:
        deal = {name: vector[name] for name in ("server_seed", "client_seed", "nonce")}
    body = {"ruleset": f"{vector['ruleset']}-1", "deal": deal}
    return body | {name: vector[name] for name in ("table", "boxes", "actions") if name in vector}


def round_request(body: dict[str, Any]) -> RoundRequest:
    """The same request for the engine, without the API."""
    deal = body["deal"]
    source: SeedDeal | DeckDeal
    if "deck" in deal:
        source = DeckDeal(parse_cards(deal["deck"]))
    else:
        source = SeedDeal(bytes.fromhex(deal["server_seed"]), deal["client_seed"], deal["nonce"])
    return RoundRequest(
        body["ruleset"],
        source,
        tuple(BoxStake(**{"number": box["box"], **_without(box, "box")}) for box in body["boxes"]),
        tuple(_action(action) for action in body["actions"]),
        Table(**body.get("table", {})),
    )


def _action(action: dict[str, Any]) -> Action:
    return Action(
        action["box"], action["action"], parse_cards(action.get("discard", ())), action.get("amount", 0)
    )


def _without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def observed(outcome: dict[str, Any]) -> dict[str, Any]:
    """An outcome reduced to what the vectors state."""
    dealer = outcome["dealer"]
    return {
        "dealer": dealer | {"draws": [[draw["discarded"], draw["drawn"]] for draw in dealer["draws"]]},
        "boxes": [
            {name: box[name] for name in ("box", "dealt", "hand", "main", "second", "odds", "result")}
            | {"net": {bet["name"]: bet["net"] for bet in box["bets"]}, "total": box["net"]}
            for box in outcome["boxes"]
        ],
        "cards_used": outcome["deal"]["cards_used"],
        "total": outcome["totals"]["net"],
    }
