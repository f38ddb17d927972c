"""Outcomes with one place changed, and what the service says to each.

``write_altered`` reads FOLDER/rounds.ndjson and writes FOLDER/altered.ndjson: on each line a body for
verification (settled: the outcome, with its server seed where it hides it; void: once with the request behind
it, once with the server seed), the pointer that was changed and whether the service finds the whole valid.
"""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from service.api.problems import Problem
from service.api.verification import verify_shown
from service.keys import Keys, development_keys, read_keys
from service.registry import Registry, load_rulesets
from tests.verifier.random_rounds import Json, unsigned

_CARD: Final = re.compile(r"[2-9TJQKA][cdhs]")
_DIGITS: Final = re.compile(r"^(sha256:)?[0-9a-f]{32,}$")


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, (*path, name))
    else:
        yield path


def _altered(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value - 1 if value == 2**53 - 1 else value + 1
    if not isinstance(value, str):
        return "pair"
    if _CARD.fullmatch(value):
        return ("K" if value[0] == "A" else "A") + value[1]
    if _DIGITS.search(value):
        return value[:-1] + ("1" if value[-1] == "0" else "0")
    return value + "x"


def _alter(outcome: Json, path: tuple[Any, ...]) -> Json:
    holder: Any = (changed := copy.deepcopy(outcome))
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = _altered(holder[path[-1]])
    return changed


def _bodies(request: Json, outcome: Json) -> Iterator[Json]:
    """What is shown with an outcome, so that all of it can be recomputed."""
    deal = request["deal"]
    seed = {"server_seed": deal["server_seed"]} if "server_seed" in deal else {}
    if outcome["status"] == "void":
        yield {"request": {name: value for name, value in request.items() if name != "reason"}}
    if outcome["status"] == "settled" or seed:
        yield {} if "server_seed" in outcome["deal"] else seed


def _valid(shown: Json, registry: Registry, keys: Keys) -> bool:
    try:
        return bool(verify_shown(json.loads(json.dumps(shown)), registry, keys)["valid"])
    except Problem:
        return False  # a request that comes to nothing of this status


def write_altered(folder: Path, count: int) -> None:
    """Change every place of ``count`` outcomes, one at a time."""
    registry, keys = load_rulesets(folder / "house-rules"), read_keys(development_keys())
    lines = (folder / "rounds.ndjson").read_text(encoding="utf-8").rstrip("\n").split("\n")
    with (folder / "altered.ndjson").open("w", encoding="utf-8") as file:
        for line in lines[:: len(lines) // count][:count]:
            one = json.loads(line)
            outcome = unsigned(one["outcome"])
            for body in _bodies(one["request"], outcome):
                for path in _leaves(outcome):
                    shown = {**body, "outcome": _alter(outcome, path)}
                    pointer = "".join(f"/{str(name).replace('~', '~0').replace('/', '~1')}" for name in path)
                    valid = _valid(shown, registry, keys)
                    file.write(json.dumps({"pointer": pointer, "shown": shown, "valid": valid}) + "\n")
