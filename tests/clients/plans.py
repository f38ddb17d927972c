"""The rounds that the sample programs play, and what must come of them by the engine in this process."""

from typing import Any, Final

from service.game.cards import parse_cards
from service.game.documents import hand_document
from service.game.round import IllegalAction
from service.keys import development_keys, read_keys
from service.registry import Registry
from service.rounds import RoundRequest, settle_request, unsealed, view_request
from service.schemas import ROUND, load
from tests.contract.document import CONTRACT_DOCUMENT
from tests.contract.examples import BEACON, CASINO_BONUS, HIDDEN, INSURED, ONLINE, PUSH, SEALED, TRAINER

Document = dict[str, Any]

EXAMPLES: Final = CONTRACT_DOCUMENT["components"]["examples"]
_SEALER: Final = read_keys(development_keys()).sealer
_CHECKS: Final = ("signature", "ruleset", "engine", "deal", "settlement")


def _plan(body: Document, wishes: str, **members: Any) -> Document:
    """A round before its first decision, and how to decide: the first wish that is legal is taken."""
    return {**body, **members, "wishes": [*wishes.split(), "bet", "fold", "take_ante"]}


def _rounds() -> list[Document]:
    # Beyond 32 bits in every language, and a text that only UTF-8 carries.
    rich = {"boxes": [{"box": 2, "ante": 10**11, "player": "Анна"}], "table": {"max_stake": 10**12}}
    rounds = [
        _plan(CASINO_BONUS, "buy_sixth buy_game"),
        _plan(ONLINE, "exchange buy_game"),
        _plan(TRAINER, "exchange"),
        _plan(INSURED, "insure take_ante", context={"ключ": [1, None, {"é": True}]}, **rich),
        _plan(PUSH, ""),
        _plan(HIDDEN, "fold"),
        _plan(SEALED, "buy_sixth"),
        _plan(BEACON, "exchange"),
    ]
    for one in rounds:
        del one["actions"]
    return rounds


ROUNDS: Final = _rounds()


def summary(
    outcome: Document, verdict: Document, hand: Document, rules: Document, problem: Document
) -> Document:
    """What a sample program says of one round, from the five answers that it got."""
    return {
        "outcome_id": outcome["outcome_id"],
        "actions": outcome["actions"],
        "context": outcome.get("context"),
        "bets": [[bet["name"], bet["net"]] for box in outcome["boxes"] for bet in box["bets"]],
        "results": [box["result"] for box in outcome["boxes"]],
        "net": outcome["totals"]["net"],
        "valid": verdict["valid"],
        "checks": [check["name"] for check in verdict["checks"]],
        "hand": [hand["main"], hand["second"], hand["odds"]],
        "flush": rules["bet"]["odds"]["flush"]["value"],
        "refused": {
            "index": problem["index"],
            "box": problem["box"],
            "legal": [offer["action"] for offer in problem["legal"]],
        },
    }


def truth(plan: Document, registry: Registry) -> Document:
    """The summary of a round that the engine plays, settles and refuses here."""
    body = {name: value for name, value in plan.items() if name != "wishes"} | {"actions": []}
    while (view := view_request(_load(body), registry))["phase"] != "settled":
        body["actions"].append(_decision(view, plan["wishes"]))
    outcome = settle_request(_load(body), registry)
    published = registry[plan["ruleset"]]
    hand = hand_document(published.ruleset, parse_cards(outcome["boxes"][0]["hand"]))
    verdict = {"valid": True, "checks": [{"name": name} for name in _CHECKS]}
    problem = _refusal({**body, "actions": 2 * body["actions"][:1]}, registry)
    return summary(outcome, verdict, hand, dict(published.document), problem)


def _load(body: Document) -> RoundRequest:
    request: RoundRequest = load(ROUND, body)
    return unsealed(request, _SEALER)


def _decision(view: Document, wishes: list[str]) -> Document:
    legal = {offer["action"]: offer for offer in view["legal"]}
    name = next(wish for wish in wishes if wish in legal)
    decision = {"box": view["box"], "action": name}
    if name == "exchange":
        hand = next(box["hand"] for box in view["boxes"] if box["box"] == view["box"])
        decision["discard"] = hand[: legal[name]["min_cards"]]
    if name == "insure":
        decision["amount"] = legal[name]["max_amount"]
    return decision


def _refusal(body: Document, registry: Registry) -> Document:
    try:
        settle_request(_load(body), registry)
    except IllegalAction as error:
        return {
            "index": error.index,
            "box": error.box,
            "legal": [{"action": offer.name} for offer in error.legal],
        }
    raise AssertionError("the same decision twice was taken")


def _mocked(plan: Document, *examples: str) -> Document:
    """A plan for a mock: which example it shall answer each step with, and the decision made twice."""
    answers = [f"example={name}" for name in examples]
    return {**plan, "answers": [*answers, "example=finished", "code=422, example=illegal-action"]}


MOCKED: Final = [
    _mocked(ROUNDS[3], "may-insure", "dealer-without-game"),
    _mocked(ROUNDS[4], "first-decision"),
    _mocked(ROUNDS[6], "first-decision"),
]
MOCKED_SUMMARY: Final = summary(
    *(
        EXAMPLES[name]["value"]
        for name in (
            "settle-casino-bonus-answer",
            "verify-certificate-answer",
            "evaluate-five-cards-answer",
            "rulesets-trainer-answer",
            "problem-illegal-action",
        )
    )
)
