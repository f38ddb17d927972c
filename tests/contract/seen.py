"""What answers really hold: objects, members and listed values, counted against the contract's schemas."""

from collections import Counter, defaultdict
from typing import Any, Final

from flask.testing import FlaskClient

from service.game.cards import CODES
from tests.contract.document import Schema, at, operation, resolve, validator
from tests.contract.examples import CALLS, REFUSALS, current_examples
from tests.support.vectors import load, settle_body

_BODIES: Final = {
    "settleRound": "/v1/rounds/settle",
    "stepRound": "/v1/rounds/step",
    "verifyRound": "/v1/rounds/verify",
    "evaluateHand": "/v1/hands/evaluate",
    "shuffleDeck": "/v1/fairness/deck",
}


class Seen:
    """Walks answers along their schemas and keeps what it meets, by place in the contract."""

    def __init__(self) -> None:
        self.objects: Counter[str] = Counter()
        self.members: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.values: defaultdict[str, set[Any]] = defaultdict(set)
        self.answers: Counter[str] = Counter()

    def answer(self, id: str, status: str, document: Any) -> None:
        """One JSON answer of an operation; it has to keep its schema."""
        content = resolve(operation(id).value["responses"][status])["content"]
        (media_type,) = content
        schema = content[media_type]["schema"]
        validator(schema).validate(document)
        self.answers[id] += 1
        self._walk(schema, f"#/paths/{id}/{status}", document)

    def _walk(self, schema: Schema, place: str, value: Any) -> None:
        while "$ref" in schema:
            place = schema["$ref"]
            schema = at(place)
        if "oneOf" in schema:
            index = next(index for index, one in enumerate(schema["oneOf"]) if validator(one).is_valid(value))
            self._walk(schema["oneOf"][index], f"{place}/oneOf/{index}", value)
        elif "enum" in schema:
            self.values[place].add(value)
        elif isinstance(value, dict) and "properties" in schema:
            self.objects[place] += 1
            self.members[place].update(value.keys())
            for name, inner in value.items():
                self._walk(schema["properties"][name], f"{place}/properties/{name}", inner)
        elif isinstance(value, list) and "items" in schema:
            for item in value:
                self._walk(schema["items"], f"{place}/items", item)


def observe(client: FlaskClient) -> Seen:
    """More than a thousand varied answers. The client's app has a ruleset house-1 without a bonus."""
    seen = Seen()

    def post(id: str, body: Any) -> Any:
        response = client.post(_BODIES[id], json=body)
        document = response.get_json()
        seen.answer(id, str(response.status_code), document)
        return document

    for index, vector in enumerate([*load("rounds.jsonl"), *load("rigged.jsonl")]):
        body = settle_body(vector)
        post("settleRound", body)
        if index % 4 == 0:
            for end in range(len(body["actions"]) + 1):
                post("stepRound", {**body, "actions": body["actions"][:end]})
    for vector in load("hands.json"):
        for id in ("trainer-1", "online-1", "casino-1"):
            post("evaluateHand", {"ruleset": id, "cards": vector["cards"].split()})
    for vector in load("decks.json"):
        post("shuffleDeck", {name: vector[name] for name in ("server_seed", "client_seed", "nonce")})
    _observe_examples(seen, client)
    _observe_codes(post)
    return seen


def _observe_examples(seen: Seen, client: FlaskClient) -> None:
    ids = {
        **{path: id for id, path in _BODIES.items()},
        "/v1/fairness/seeds": "createSeed",
        "/v1/rulesets": "listRulesets",
        "/v1/rulesets/trainer-1": "getRuleset",
        "/v1/version": "getVersion",
        "/livez": "getLiveness",
        "/readyz": "getReadiness",
    }
    examples = current_examples(client)
    for call in CALLS:
        seen.answer(ids[call.path], "200", examples[f"{call.name}-answer"]["value"])
    for refusal in REFUSALS:
        problem = examples[f"problem-{refusal.name}"]["value"]
        id = "getRuleset" if problem["status"] == 404 else "settleRound"
        seen.answer(id, str(problem["status"]), problem)


def _observe_codes(post: Any) -> None:
    """Requests for the codes and values that neither vectors nor examples show."""
    box = {"box": 1, "ante": 100}
    body = {
        "ruleset": "casino-1",
        "deal": {"deck": list(CODES)},
        "boxes": [box],
        "actions": [{"box": 1, "action": "fold"}],
    }
    changes: tuple[dict[str, Any], ...] = (
        {"boxes": [{**box, "player": "x" * 65}]},
        {"boxes": [{**box, "ante": 0}]},
        {"boxes": [{**box, "bonus": 1}], "ruleset": "house-1"},
        {"boxes": [{**box, "player": "a"}, {"box": 2, "ante": 1, "player": "a"}]},
        {"context": {"n" * 101: 0}},
        {"context": {"n": 0.5}},
        {"deal": {"server_seed": "0" * 64, "client_seed": "é" * 65}},
        {"table": {"min_stake": 2, "max_stake": 1}},
        {"table": {"min_stake": 101}},
        {"table": {"max_stake": 99}},
        {"actions": []},
    )
    for change in changes:
        post("settleRound", {**body, **change})
    outcome = post("settleRound", body)
    for name in outcome:
        post("verifyRound", {"request": body, "outcome": {**outcome, name: None, "more": 0}})
    for cards in _RARE_HANDS:
        post("evaluateHand", {"ruleset": "casino-1", "cards": cards.split()})


_RARE_HANDS: Final = (
    "As Ks Qs Js Ts 9s",
    "As Ks Qs Js Ts 2s",
    "As Ks Qs Js Ts Td",
    "9s 8s 7s 6s 5s Td",
    "9s 8s 7s 6s 5s 2s",
    "Ac Ad Ah As Kc Kd",
    "Ac Kc 9c 5c 2c 9d",
)
