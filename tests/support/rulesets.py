"""Ruleset files for tests: the built-in ones changed in places, and other houses' games written by them."""

import json
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

from service.game.ruleset import Ruleset
from service.registry import BUILT_IN, load_ruleset

DROP: Final = object()
"""As a change: take the member away."""


def document(id: str = "casino-1") -> dict[str, Any]:
    """A built-in ruleset file as plain data."""
    return tomllib.loads((BUILT_IN / f"{id}.toml").read_text(encoding="utf-8"))


def changed(original: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with other values: ``{"bet.odds.flush.value": 6, "insurance": DROP}``."""
    copy = deepcopy(dict(original))
    for path, value in changes.items():
        *steps, last = path.split(".")
        place = copy
        for step in steps:
            place = place.setdefault(step, {})
        if value is DROP:
            del place[last]
        else:
            place[last] = value
    return copy


def toml(value: Any) -> str:
    """A TOML value on one line; JSON's texts and numbers are TOML's too."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(name)} = {toml(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def write(folder: Path, content: Mapping[str, Any], name: str | None = None) -> Path:
    """Write a ruleset file, named by its id unless told otherwise."""
    path = folder / f"{name or content['id']}.toml"
    lines = [f"{toml(member)} = {toml(value)}" for member, value in content.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def ruleset(folder: Path, original: Mapping[str, Any], changes: Mapping[str, Any]) -> Ruleset:
    """The ruleset that a changed file makes."""
    return load_ruleset(write(folder, changed(original, changes))).ruleset


def _printed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Rows from their values, all of them printed."""
    return {
        name: _printed(value) if isinstance(value, dict) else {"value": value, "basis": "printed"}
        for name, value in values.items()
    }


_ODDS: Final = {
    "ace_king": 1,
    "pair": 1,
    "two_pair": 2,
    "three_of_a_kind": 3,
    "straight": 4,
    "flush": 5,
    "full_house": 7,
    "four_of_a_kind": 20,
    "straight_flush": 50,
    "royal_flush": 100,
}


def _house(id: str, **values: Any) -> dict[str, Any]:
    text = {"en": "For tests only.", "ru": "Только для тестов."}
    return {
        "id": id,
        "version": int(id.rpartition("-")[2]),
        "title": text,
        "summary": text,
        "source": text,
        "decisions": [],
        **_printed(values),
    }


CARIBBEAN: Final = _house(
    "caribbean-1",
    boxes={"maximum": 7, "open": "all"},
    deal={"order": "five_at_a_time"},
    purchase={"exchange_min": 0, "exchange_max": 0, "sixth_card": False, "blind_sixth": False},
    bet={"combinations": 1, "ante_on_win": "paid", "odds": _ODDS},
    limits={"min_stake": 5, "max_stake": 500, "max_payout": 10_000},
)
"""Caribbean Stud: no purchase of any kind, no bonus, no insurance; a won ante is paid."""

OASIS: Final = _house(
    "oasis-2",
    boxes={"maximum": 4, "open": "one"},
    deal={"order": "one_by_one"},
    purchase={"exchange_min": 1, "exchange_max": 5, "sixth_card": False, "blind_sixth": False},
    bet={"combinations": 1, "ante_on_win": "paid", "odds": _ODDS},
    bonus={"dealt": {"flush": 50, "royal_flush": 1000}},
    limits={"min_stake": 1},
)
"""Oasis Poker: Caribbean Stud with an exchange."""

LUNAR: Final = _house(
    "lunar-1",
    boxes={"maximum": 4, "open": "one_per_player"},
    deal={"order": "five_at_a_time"},
    purchase={"exchange_min": 2, "exchange_max": 5, "sixth_card": True, "blind_sixth": False},
    bet={
        "combinations": 2,
        "ante_on_win": "returned",
        "odds": _ODDS,
        "own_rows": {"full_house+full_house": 30},
    },
    insurance={"threshold": "straight", "minimum": "ante", "maximum": "half_win", "on_tie": "return"},
    game_purchase={
        "price": "one_more_ante",
        "dealer_discards": "lowest",
        "redraw_same_rank": True,
        "failed_ante": "paid",
    },
    limits={"min_stake": 1},
)
"""In the manner of Lunar Poker: exchange of 2 to 5 cards, other terms of insurance, the lowest card goes."""
