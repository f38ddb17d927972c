"""Random legal rounds, settled or broken off, and signed by the service.

``python -m tests.verifier.random_rounds COUNT FOLDER`` writes to FOLDER ``rulesets.json`` (published
documents by id), ``jwks.json`` (public keys) and ``rounds.ndjson`` (a request, its outcome and the key that
signed, on each line). The service is a black box here: what is legal is what its ``step`` document says.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from service.certificate.jws import certify
from service.keys import development_keys, new_keys, read_keys, rotated_keys
from service.registry import Registry, load_rulesets
from service.rounds import settle_request, view_request, void_request
from service.schemas import ROUND, VOID, load
from tests.verifier.house_rules import write_house_rules

Json = dict[str, Any]

_RANKS: Final = "23456789TJQKA"
_DECK: Final = [rank + suit for rank in _RANKS for suit in "cdhs"]
_TEXTS: Final = ("", "player", "игрок-7", "🂡 seed", '\u0000\t"\\', "é/e\u0301", "x" * 128)
_NAMES: Final = ("id", "ё", "a/b~c", "", "\u2028", "Z", "é", "e\u0301", "__proto__", "10", "9", "\uffff")
_WORDS: Final = (None, True, False)
_NUMBERS: Final = (0, -1, 10**15, 2**53 - 1, 1 - 2**53)
_REASONS: Final = ("power cut", "~ the table's 'lamp' \\ fell")
_STRONG: Final = (
    "As Ks Qs Js Ts 9s", "As Ks Qs Js Ts Ah", "9h 8h 7h 6h 5h 4h", "9h 8h 7h 6h 5h Kh", "7c 7d 7h 7s Ac Kd",
    "Ac Ad Ah As Kc Kd", "Kc Kd Kh Qc Qd Qh", "Kc Kd Kh Qc Qd As", "2c 4c 6c 8c Tc Kc", "2c 4c 6c 8c Tc Td",
    "Ac 4c 6c 8c Tc Kd", "4c 5d 6h 7s 8c 9d", "8d 9c 9h Td Jc Qs", "Ac 2d 3h 4s 5c Kd", "Ac Ad Ah Kc 7d 2s",
    "Ac Ad Kc Kd Qh Qs", "Ac Ad 9c 9d Kh 2s", "8c 8d Kh Ah 5s 4s", "Qc Qd Qh 7s 2d 9c", "Kc Kd 4h 9s 3c Ah",
)  # fmt: skip
_WEAK: Final = (
    "Kh Jd 7s 4c 2d", "Ah Jd 9s 4c 2d", "Qh Jc 9s 5d 3d", "9h 7c 5s 3d 2d", "Th 8c 6s 4d 2h",
    "Ah 5d 4c 3s 7d",
)  # fmt: skip
_NEARBY: Final = ("Ks 7d", "Kd Kc 9s", "Ac As Ad", "2h 2s 2c", "2s 5h", "4h 9d", "Tc Ts", "9c 9d")
_WEIGHTS: Final = {
    "insure": 9, "buy_sixth": 3, "exchange": 2, "bet": 4, "fold": 1, "take_ante": 1, "buy_game": 2,
}  # fmt: skip


class _Table:
    """One random round: its request, grown action by action."""

    def __init__(self, random: Random, registry: Registry, id: str) -> None:
        self.random, self.registry = random, registry
        self.rules = registry[id].document
        table = self._table()
        self.least: int = table.get("min_stake", self._value("limits", "min_stake"))
        most = table.get("max_stake", self._value("limits", "max_stake"))
        self.most: int = most or 20_000
        boxes = self._boxes()
        self.request: Json = {"ruleset": id, "deal": self._deal(len(boxes)), "boxes": boxes, "actions": []}
        if table:
            self.request["table"] = table
        if random.random() < 0.4:
            self.request["context"] = self._object(depth=3)
        self.void_after = random.randrange(7) if random.random() < 0.15 else None

    def _object(self, depth: int) -> Json:
        names = self.random.sample(_NAMES, self.random.randint(0, 4))
        return {name: self._anything(depth - 1) for name in names}

    def _anything(self, depth: int) -> Any:
        kind = self.random.choice(("text", "number", "word", *(("list", "object") if depth else ())))
        if kind == "object":
            return self._object(depth)
        if kind == "list":
            return [self._anything(depth - 1) for _ in range(self.random.randint(0, 3))]
        return self.random.choice({"text": _TEXTS, "number": _NUMBERS, "word": _WORDS}[kind])

    def _value(self, section: str, name: str) -> Any:
        return self.rules.get(section, {}).get(name, {}).get("value")

    def _table(self) -> Json:
        chances = {"min_stake": (1, 15), "max_stake": (1_000, 90_000), "max_payout": (15, 20_000)}
        given = [name for name in chances if self.random.random() < 0.25]
        return {name: self.random.randint(*chances[name]) for name in given}

    def _boxes(self) -> list[Json]:
        maximum = self._value("boxes", "maximum")
        numbers = sorted(self.random.sample(range(1, maximum + 1), self.random.randint(1, maximum)))
        rule = self._value("boxes", "open")
        names = [self.random.choice((None, "Anna", "Борис")) for _ in numbers]
        blind = [rule != "all" and self.random.random() < 0.5 for _ in numbers]
        taken: set[str | None] = set()
        for place, name in enumerate(names):
            owner = "all" if rule == "one" else name or f"#{place}"
            if rule != "all" and not blind[place]:
                blind[place] = owner in taken
                taken.add(owner)
        return [self._box(*box) for box in zip(numbers, names, blind, strict=True)]

    def _box(self, number: int, name: str | None, blind: bool) -> Json:
        box: Json = {"box": number, "ante": self._stake()}
        if "bonus" in self.rules and self.random.random() < 0.7:
            box["bonus"] = self._stake()
        if blind or self.random.random() < 0.1:
            box["blind"] = blind
        return box if name is None else {**box, "player": name}

    def _stake(self) -> int:
        return self.random.choice((self.least, self.most, self.random.randint(self.least, self.most)))

    def _deal(self, boxes: int) -> Json:
        if self.random.random() < 0.45:
            return {"deck": self._rigged_deck(boxes)}
        deal: Json = {"server_seed": self.random.randbytes(32).hex()}
        if self.random.random() < 0.8:
            deal["client_seed"] = self.random.choice(_TEXTS)
            deal["nonce"] = self.random.choice((0, 1, 7, 2**32, 2**53 - 1, self.random.randrange(2**53)))
        if self.random.random() < 0.3:
            deal["reveal"] = self.random.random() < 0.3
        if self.random.random() < 0.35:
            value = self.random.randbytes(self.random.randint(16, 64)).hex()
            letters = self.random.choice((str.lower, str.upper))
            source = self.random.choice(("example-beacon/4711", '~ "block" \\ 1', "x" * 100))
            deal["beacon"] = {"source": source, "value": letters(value)}
        return deal

    def _rigged_deck(self, boxes: int) -> list[str]:
        """A deck in which a box and the dealer often get telling hands, and telling cards follow."""
        deck = self.random.sample(_DECK, 52)
        dealer = self.random.choice((*_WEAK, *_WEAK, *_STRONG))
        hands = {self.random.randrange(boxes): self.random.choice(_STRONG), boxes: dealer}
        one_by_one = self._value("deal", "order") == "one_by_one"
        taken: set[int] = set()
        for holder, hand in hands.items():
            for turn, card in enumerate(hand.split()[:5]):
                place = turn * (boxes + 1) + holder if one_by_one else holder * 5 + turn
                taken |= self._place(deck, card, place, taken)
        sixth = [card for hand in hands.values() for card in hand.split()[5:]]
        follow = sixth + self.random.choice(_NEARBY).split()
        for turn, card in enumerate(follow):
            taken |= self._place(deck, card, 5 * (boxes + 1) + turn, taken)
        return deck

    @staticmethod
    def _place(deck: list[str], card: str, place: int, taken: set[int]) -> set[int]:
        there = deck.index(card)
        if there in taken:
            return set()
        deck[place], deck[there] = deck[there], deck[place]
        return {place}

    def play(self) -> Json:
        """The outcome, not signed yet."""
        while len(self.request["actions"]) != self.void_after:
            step = view_request(load(ROUND, self.request), self.registry)
            if step["phase"] == "settled":
                break
            self.request["actions"].append(self._action(step))
        if self.void_after is None:
            return settle_request(load(ROUND, self.request), self.registry)
        self.request["reason"] = self.random.choice(_REASONS)
        request, reason = load(VOID, self.request)
        return void_request(request, reason, self.registry)

    def _action(self, step: Json) -> Json:
        legal = {one["action"]: one for one in step["legal"]}
        name = self.random.choices(list(legal), [_WEIGHTS[one] for one in legal])[0]
        action: Json = {"box": step["box"], "action": name}
        if name == "exchange":
            held = next(box["hand"] for box in step["boxes"] if box["box"] == step["box"])
            count = self.random.randint(legal[name]["min_cards"], legal[name]["max_cards"])
            action["discard"] = self.random.sample(held, count)
        if name == "insure":
            least, most = legal[name]["min_amount"], legal[name]["max_amount"]
            action["amount"] = self.random.choice((least, most, self.random.randint(least, most)))
        return action


class _Job(NamedTuple):
    seed: int
    rounds: int
    rules: Path
    key_files: Json


def unsigned(outcome: Json) -> Json:
    """An outcome without its certificate."""
    return {name: value for name, value in outcome.items() if name != "certificate"}


def _rounds(job: _Job) -> list[str]:
    random, registry = Random(job.seed), load_rulesets(job.rules)
    signers = {name: read_keys(file).signer for name, file in job.key_files.items()}
    ids, lines = sorted(registry), []
    for turn in range(job.rounds):
        table = _Table(random, registry, ids[turn % len(ids)])
        signed_by = random.choice(list(signers))
        outcome = certify(table.play(), signers[signed_by])
        document = {"request": table.request, "outcome": outcome, "signed_by": signed_by}
        lines.append(json.dumps(document, ensure_ascii=False) + "\n")
    return lines


def random_rounds(count: int, rules: Path, key_files: Json, seed: int = 2026) -> Iterator[str]:
    """``count`` lines of JSON, each a request, the service's outcome and the name of the key that signed."""
    jobs = 8
    with Pool() as pool:
        parts = [_Job(seed + job, count // jobs, rules, key_files) for job in range(jobs)]
        for lines in pool.imap(_rounds, parts):
            yield from lines


def write_rounds(count: int, folder: Path) -> None:
    """Write the rulesets, the keys and ``count`` rounds to ``folder``."""
    rules = folder / "house-rules"
    rules.mkdir()
    write_house_rules(rules)
    documents = {id: published.document for id, published in load_rulesets(rules).items()}
    before = new_keys()
    key_files = {"retired": before, "active": rotated_keys(before), "development": development_keys()}
    published = [read_keys(key_files[name]).jwks()["keys"] for name in ("active", "development")]
    jwks = {"keys": [key for keys in published for key in keys]}
    for name, document in {"rulesets": documents, "jwks": jwks}.items():
        (folder / f"{name}.json").write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    with (folder / "rounds.ndjson").open("w", encoding="utf-8") as file:
        file.writelines(random_rounds(count, rules, key_files))


def main(arguments: Sequence[str]) -> None:
    write_rounds(int(arguments[0]), Path(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
