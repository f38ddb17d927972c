"""``/v1/rounds``: settle a round, take it one step further, break it off, verify what somebody claims."""

from typing import Any

from flask import Blueprint, Response, g, request

from service.api.answers import deployment, json_answer, require_integrity
from service.api.manners import require_json_reader
from service.api.schemas import ROUND, VOID, load
from service.api.strict_json import MAX_BODY, read_json
from service.api.verification import verify_shown
from service.certificate.jws import certify
from service.rounds import RoundRequest, settle_request, unsealed, view_request, void_request

blueprint = Blueprint("rounds", __name__, url_prefix="/v1/rounds")
blueprint.before_request(require_integrity)
blueprint.before_request(require_json_reader)


@blueprint.post("/settle")
def settle() -> Response:
    """Replay a complete round and answer its outcome, certified."""
    return _certified(settle_request(_round_request(), deployment().rulesets))


@blueprint.post("/void")
def void() -> Response:
    """Break a round off where it stands: every stake returns, certified."""
    here = deployment()
    round_request, reason = load(VOID, read_json(request))
    return _certified(void_request(unsealed(round_request, here.keys.sealer), reason, here.rulesets))


@blueprint.post("/step")
def step() -> Response:
    """Replay the actions so far and answer what may be seen and done next."""
    return json_answer(view_request(_round_request(), deployment().rulesets))


@blueprint.post("/verify")
def verify() -> Response:
    """The verdict on a certificate, or on an outcome that somebody claims."""
    here = deployment()
    return json_answer(verify_shown(read_json(request, 4 * MAX_BODY), here.rulesets, here.keys))


def _round_request() -> RoundRequest:
    return unsealed(load(ROUND, read_json(request)), deployment().keys.sealer)


def _certified(outcome: dict[str, Any]) -> Response:
    g.answered_round = outcome["ruleset"]["id"], outcome["status"]
    return json_answer(certify(outcome, deployment().keys.signer))
