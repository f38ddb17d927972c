"""``/v1/rounds``: settle a round, take it one step further, verify what somebody claims of it."""

from flask import Blueprint, Response, g, request

from service.api.answers import json_answer, rulesets
from service.api.problems import as_problem
from service.api.schemas import ROUND, VERIFY, load
from service.api.strict_json import MAX_BODY, read_json
from service.rounds import settle_request, verify_request, view_request

blueprint = Blueprint("rounds", __name__, url_prefix="/v1/rounds")


@blueprint.post("/settle")
def settle() -> Response:
    """Replay a complete round and answer its outcome."""
    round_request = load(ROUND, read_json(request))
    outcome = settle_request(round_request, rulesets())
    g.settled_ruleset = round_request.ruleset
    return json_answer(outcome)


@blueprint.post("/step")
def step() -> Response:
    """Replay the actions so far and answer what may be seen and done next."""
    return json_answer(view_request(load(ROUND, read_json(request)), rulesets()))


@blueprint.post("/verify")
def verify() -> Response:
    """Recompute a round and compare a claimed outcome."""
    body = load(VERIFY, read_json(request, 4 * MAX_BODY))
    try:
        return json_answer(verify_request(body["request"], body["outcome"], rulesets()))
    except (ValueError, LookupError) as error:
        raise as_problem(error).within("/request") from error
