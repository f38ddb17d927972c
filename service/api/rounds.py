"""``/v1/rounds``: settle a round, take it one step further, break it off, verify what somebody claims."""

from typing import Any

from flask import Blueprint, Response, g, request

from service.api.answers import Deployment, deployment, json_answer, require_integrity
from service.api.strict_json import MAX_BODY, read_json
from service.api.verification import verify_shown
from service.certificate.jws import certify
from service.rounds import RoundRequest, settle_request, unsealed, view_request, void_request
from service.schemas import ROUND, VOID, load

blueprint = Blueprint("rounds", __name__, url_prefix="/v1/rounds")


blueprint.before_request(require_integrity)


@blueprint.post("/settle")
def settle() -> Response:
    """Replay a complete round and answer its outcome, certified."""
    here = deployment()
    return _certified(settle_request(_round_request(here), here.rulesets), here)


@blueprint.post("/void")
def void() -> Response:
    """Break a round off where it stands: every stake returns, certified."""
    here = deployment()
    round_request, reason = load(VOID, read_json(request))
    return _certified(void_request(unsealed(round_request, here.keys.sealer), reason, here.rulesets), here)


@blueprint.post("/step")
def step() -> Response:
    """Replay the actions so far and answer what may be seen and done next."""
    here = deployment()
    return json_answer(view_request(_round_request(here), here.rulesets))


@blueprint.post("/verify")
def verify() -> Response:
    """The verdict on a certificate, or on an outcome that somebody claims."""
    here = deployment()
    return json_answer(verify_shown(read_json(request, 4 * MAX_BODY), here.rulesets, here.keys))


def _round_request(here: Deployment) -> RoundRequest:
    return unsealed(load(ROUND, read_json(request)), here.keys.sealer)


def _certified(outcome: dict[str, Any], here: Deployment) -> Response:
    g.answered_round = outcome["ruleset"]["id"], outcome["status"]
    return json_answer(certify(outcome, here.keys.signer))
