"""Made-up house rulesets that between them use every parameter value that the published ones do not."""

from pathlib import Path
from typing import Any, Final

_BET: Final = {
    "ace_king": 1, "pair": 1, "two_pair": 2, "three_of_a_kind": 3, "straight": 4, "flush": 5,
    "full_house": 7, "four_of_a_kind": 20, "straight_flush": 50, "royal_flush": 100,
}  # fmt: skip

_HOUSES: Final[dict[str, dict[str, dict[str, Any]]]] = {
    "corner-1": {
        "boxes": {"maximum": 3, "open": "one"},
        "deal": {"order": "five_at_a_time"},
        "purchase": {"exchange_min": 2, "exchange_max": 3, "sixth_card": True, "blind_sixth": True},
        "bet": {"combinations": 2, "ante_on_win": "paid"},
        "bet.odds": {**_BET, "ace_king": 2, "flush": 6},
        "bet.own_rows": {"pair+ace_king": 7, "two_pair+two_pair": 1, "straight+straight": 9},
        "bonus.dealt": {"pair": 1, "straight": 30, "full_house": 90},
        "bonus.with_sixth": {"two_pair": 1, "straight": 5, "flush": 11},
        "insurance": {"threshold": "pair", "minimum": "ante", "maximum": "half_win", "on_tie": "return"},
        "game_purchase": {
            "price": "one_more_ante", "dealer_discards": "lowest", "redraw_same_rank": True,
            "failed_ante": "paid",
        },
        "limits": {"min_stake": 5, "max_stake": 50_000, "max_payout": 9_000},
    },
    "plain-12": {
        "boxes": {"maximum": 4, "open": "all"},
        "deal": {"order": "five_at_a_time"},
        "purchase": {"exchange_min": 0, "exchange_max": 0, "sixth_card": True, "blind_sixth": False},
        "bet": {"combinations": 2, "ante_on_win": "paid"},
        "bet.odds": _BET,
        "limits": {"min_stake": 1},
    },
    "side-street-2": {
        "boxes": {"maximum": 4, "open": "one_per_player"},
        "deal": {"order": "one_by_one"},
        "purchase": {"exchange_min": 5, "exchange_max": 5, "sixth_card": False, "blind_sixth": False},
        "bet": {"combinations": 1, "ante_on_win": "paid"},
        "bet.odds": _BET,
        "bonus.dealt": {"ace_king": 1, "three_of_a_kind": 2},
        "insurance": {"threshold": "ace_king", "minimum": "ante", "maximum": "win", "on_tie": "lose"},
        "game_purchase": {
            "price": "the_ante", "dealer_discards": "lowest", "redraw_same_rank": True, "failed_ante": "lost",
        },
        "limits": {"min_stake": 10, "max_payout": 1_000_000},
    },
    "harbour-1": {
        "boxes": {"maximum": 4, "open": "all"},
        "deal": {"order": "one_by_one"},
        "purchase": {"exchange_min": 1, "exchange_max": 1, "sixth_card": True, "blind_sixth": False},
        "bet": {"combinations": 2, "ante_on_win": "returned"},
        "bet.odds": _BET,
        "bonus.dealt": {"straight": 25},
        "bonus.with_sixth": {"pair": 1},
        "insurance": {
            "threshold": "two_pair", "minimum": "min_stake", "maximum": "half_win", "on_tie": "return",
        },
        "game_purchase": {
            "price": "one_more_ante", "dealer_discards": "highest", "redraw_same_rank": True,
            "failed_ante": "returned",
        },
        "limits": {"min_stake": 100},
    },
}  # fmt: skip


def write_house_rules(folder: Path) -> None:
    """One TOML file for each house, as an operator would write it."""
    for id, sections in _HOUSES.items():
        (folder / f"{id}.toml").write_text(_toml(id, sections), encoding="utf-8")


def _toml(id: str, sections: dict[str, dict[str, Any]]) -> str:
    lines = [f'id = "{id}"', f"version = {id.rpartition('-')[2]}", "decisions = []"]
    for text in ("title", "summary", "source"):
        lines += [f"[{text}]", f'en = "House {id}"', f'ru = "Дом {id}"']
    for section, rows in sections.items():
        lines.append(f"[{section}]")
        for name, value in rows.items():
            lines.append(f'"{name}" = {{ value = {_value(value)}, basis = "printed" }}')
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
