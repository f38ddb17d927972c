"""Plays rounds against the service, ``sample.py BASE_URL PLANS``, and prints as JSON what came of them.

A plan is a round before its first decision, and how to decide: the first of its ``wishes`` that is legal is
taken. Its ``answers`` tell a mock call by call which example to answer with; the service needs no telling.
"""

import json
import sys
from pathlib import Path
from typing import Any

from russian_poker_client import (
    Action,
    ApiClient,
    ApiException,
    BoxStake,
    CertificateClaim,
    CertificatesApi,
    Claim,
    Configuration,
    Deal,
    ExchangeAction,
    HandRequest,
    HandsApi,
    IllegalActionProblem,
    InsureAction,
    LegalExchange,
    LegalInsurance,
    LegalPlainAction,
    PlainAction,
    Round,
    RoundsApi,
    RulesetsApi,
    SeedDeal,
    SettlementProblem,
    Table,
    View,
)


def play(api: ApiClient, plan: dict[str, Any]) -> dict[str, Any]:
    """One round from its deal to its verified outcome."""
    rounds, answers = RoundsApi(api), iter(plan.get("answers", ()))

    def prefer() -> dict[str, str]:
        # The client asks for application/json alone; a mock would then not answer with a problem.
        accept = {"Accept": "application/json, application/problem+json"}
        return {"Prefer": answer, **accept} if (answer := next(answers, None)) else {}

    round = Round(
        ruleset=plan["ruleset"],
        deal=Deal.from_dict(plan["deal"]),
        table=Table(**plan["table"]) if "table" in plan else None,
        boxes=[BoxStake(**box) for box in plan["boxes"]],
        actions=[],
        context=plan.get("context"),
    )
    while (view := rounds.step_round(round, _headers=prefer())).phase != "settled":
        round.actions.append(decide(view, plan["wishes"]))

    outcome = rounds.settle_round(round)
    box = outcome.boxes[0]

    claim = CertificateClaim(certificate=outcome.certificate)
    if isinstance(round.deal.actual_instance, SeedDeal):
        claim.server_seed = round.deal.actual_instance.server_seed
    verdict = CertificatesApi(api).verify_round(Claim(claim))
    hand = HandsApi(api).evaluate_hand(HandRequest(ruleset=round.ruleset, cards=box.hand))
    rules = RulesetsApi(api).get_ruleset(round.ruleset)

    twice = round.model_copy(update={"actions": 2 * round.actions[:1]})
    refusal = refused(rounds, twice, prefer())

    return {
        "outcome_id": outcome.outcome_id,
        "actions": [action.to_dict() for action in outcome.actions],
        "context": outcome.context,
        "bets": [[bet.name, bet.net] for box in outcome.boxes for bet in box.bets],
        "results": [box.result for box in outcome.boxes],
        "net": outcome.totals.net,
        "valid": verdict.valid,
        "checks": [check.name for check in verdict.checks],
        "hand": [hand.main, hand.second, hand.odds],
        "flush": rules.bet.odds.flush.value,
        "refused": {
            "index": refusal.index,
            "box": refusal.box,
            "legal": [offer.actual_instance.action for offer in refusal.legal if offer.actual_instance],
        },
    }


def decide(view: View, wishes: list[str]) -> Action:
    """The first wish that is legal."""
    assert view.box is not None
    offers = {offer.actual_instance.action: offer for offer in view.legal if offer.actual_instance}
    match offers[next(wish for wish in wishes if wish in offers)].actual_instance:
        case LegalExchange(action=name, min_cards=least):
            hand = next(box.hand for box in view.boxes if box.box == view.box)
            return Action(ExchangeAction(box=view.box, action=name, discard=hand[:least]))
        case LegalInsurance(action=name, max_amount=most):
            return Action(InsureAction(box=view.box, action=name, amount=most))
        case LegalPlainAction(action=name):
            return Action(PlainAction(box=view.box, action=name))
    raise AssertionError("unreachable")


def refused(rounds: RoundsApi, round: Round, headers: dict[str, str]) -> IllegalActionProblem:
    """The problem that a round with an illegal action meets."""
    try:
        rounds.settle_round(round, _headers=headers)
    except ApiException as refusal:
        problem = refusal.data
        if isinstance(problem, SettlementProblem) and isinstance(
            problem.actual_instance, IllegalActionProblem
        ):
            return problem.actual_instance
        raise
    raise AssertionError("the same decision twice was taken")


base_url, plans = sys.argv[1:]
with ApiClient(Configuration(host=base_url)) as api:
    print(json.dumps([play(api, plan) for plan in json.loads(Path(plans).read_text(encoding="utf-8"))]))
