"""Requests with one thing changed.

``write_mutated`` reads FOLDER/rounds.ndjson and writes FOLDER/mutated.ndjson: each request with the service's
outcome, or null where the service refuses it.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

from service.api.problems import Problem, as_problem
from service.registry import Registry, load_rulesets
from service.rounds import settle_request, void_request
from service.schemas import ROUND, VOID, load
from tests.verifier.random_rounds import Json

_ACTIONS: Final = ("exchange", "buy_sixth", "insure", "bet", "fold", "take_ante", "buy_game")
_AMOUNTS: Final = (0, 1, 2, 9, 10, 11, 2_000, 2_001, 10**12, 10**12 + 1, -5)


def _some(random: Random, items: list[Any]) -> int:
    return random.randrange(len(items))


def _drop_action(random: Random, request: Json) -> None:
    del request["actions"][_some(random, request["actions"])]


def _repeat_action(random: Random, request: Json) -> None:
    place = _some(random, request["actions"])
    request["actions"].insert(place, copy.deepcopy(request["actions"][place]))


def _swap_actions(random: Random, request: Json) -> None:
    random.shuffle(request["actions"])


def _other_action(random: Random, request: Json) -> None:
    action = random.choice(request["actions"])
    action["action"] = random.choice(_ACTIONS)
    action.pop("discard", None), action.pop("amount", None)
    if action["action"] == "insure":
        action["amount"] = random.choice(_AMOUNTS)
    if action["action"] == "exchange":
        action["discard"] = random.sample([rank + suit for rank in "23456789TJQKA" for suit in "cdhs"], 2)


def _more_action(random: Random, request: Json) -> None:
    place = random.randint(0, len(request["actions"]))
    name = random.choice(("buy_sixth", "bet", "fold", "buy_game", "take_ante"))
    request["actions"].insert(place, {"box": random.randint(1, 4), "action": name})


def _other_detail(random: Random, request: Json) -> None:
    action = random.choice(request["actions"])
    if "amount" in action:
        action["amount"] += random.choice((-1, 1))
    elif "discard" in action:
        more: list[str] = random.choice(([], action["discard"][:1], ["Ah"]))
        action["discard"] = action["discard"][: random.randint(0, 5)] + more
    else:
        action["box"] = random.randint(1, 4)


def _other_stake(random: Random, request: Json) -> None:
    box = random.choice(request["boxes"])
    name = random.choice(("ante", "bonus"))
    box[name] = random.choice((*_AMOUNTS, box["ante"] + 1, box["ante"] - 1))


def _other_box(random: Random, request: Json) -> None:
    random.choice(request["boxes"])["box"] = random.choice((0, 1, 2, 3, 4, 5))


def _other_seat(random: Random, request: Json) -> None:
    box = random.choice(request["boxes"])
    if random.random() < 0.5:
        box["blind"] = not box.get("blind", False)
    else:
        box["player"] = random.choice(("", "Anna", "Борис", "x" * 64, "x" * 65, "🂡" * 64))


def _other_table(random: Random, request: Json) -> None:
    name = random.choice(("min_stake", "max_stake", "max_payout"))
    request["table"] = {**request.get("table", {}), name: random.choice(_AMOUNTS)}


def _other_deal(random: Random, request: Json) -> None:
    deal = request["deal"]
    if "deck" in deal:
        place, other = random.randrange(52), random.randrange(52)
        deal["deck"][place] = random.choice((deal["deck"][other], "1h", "as", deal["deck"][place]))
        if random.random() < 0.3:
            deal["deck"].pop()
    else:
        seed = deal["server_seed"]
        changes: Json = {
            "nonce": (-1, 2**53, 2**53 - 1, 0),
            "client_seed": ("ж" * 64, "ж" * 65, "", "\0"),
            "server_seed": (seed.upper(), seed[:62], seed + "00", "g" * 64),
            "reveal": (True, False),
            "beacon": [
                {"source": source, "value": value}
                for source in ("b", "", "x" * 101, "маяк", "a\0b", 5)
                for value in ("0" * 32, "F" * 127, "f" * 128, "0" * 129, "0" * 31, "g" * 32, 10**33)
            ],
        }
        name = random.choice(list(changes))
        deal[name] = random.choice(changes[name])


_Mutation = Callable[[Random, Json], None]
_OF_ACTIONS: Final[tuple[_Mutation, ...]] = (
    _drop_action, _repeat_action, _swap_actions, _other_action, _other_action, _other_detail, _other_detail,
)  # fmt: skip
_OF_ALL: Final[tuple[_Mutation, ...]] = (
    _more_action, _other_stake, _other_box, _other_seat, _other_table, _other_deal,
)  # fmt: skip


def _answered(request: Json, registry: Registry) -> tuple[Json | None, str]:
    try:
        if "reason" in request:
            round_request, reason = load(VOID, request)
            return void_request(round_request, reason, registry), ""
        return settle_request(load(ROUND, request), registry), ""
    except (ValueError, LookupError, Problem) as error:
        problem = as_problem(error)
        return None, json.dumps(problem.errors, default=str)


def write_mutated(folder: Path, count: int) -> None:
    """Mutate the first ``count`` requests of the folder."""
    random, registry = Random(7), load_rulesets(folder / "house-rules")
    lines = (folder / "rounds.ndjson").read_text(encoding="utf-8").split("\n")[:count]
    with (folder / "mutated.ndjson").open("w", encoding="utf-8") as file:
        for line in lines:
            request = json.loads(line)["request"]
            mutate = random.choice(_OF_ALL + (_OF_ACTIONS if request["actions"] else ()))
            mutate(random, request)
            outcome, refusal = _answered(request, registry)
            document = {
                "mutation": mutate.__name__,
                "request": request,
                "outcome": outcome,
                "refusal": refusal,
            }
            file.write(json.dumps(document) + "\n")
