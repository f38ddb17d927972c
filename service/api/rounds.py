"""``/v1/rounds``: settle a round, take it one step further, break it off, verify what somebody claims."""

from typing import Any, Final

from flask import Blueprint, Response, g, request

from service.api.answers import Deployment, deployment, json_answer, lines_answer, require_integrity
from service.api.manners import require_json_reader
from service.api.problems import REFUSALS, as_problem
from service.api.strict_json import JSON, MAX_BATCH_BODY, MAX_BODY, NDJSON, read_body, read_json
from service.api.verification import verify_shown
from service.certificate.jws import certify
from service.observability import metrics
from service.rounds import RoundRequest, settle_request, unsealed, view_request, void_request
from service.schemas import BATCH, ROUND, VOID, Batch, load
from service.strict_json import parse_json

blueprint = Blueprint("rounds", __name__, url_prefix="/v1/rounds")
blueprint.before_request(require_integrity)
blueprint.before_request(require_json_reader)


@blueprint.post("/settle")
def settle() -> Response:
    """Replay a complete round and answer its outcome, certified."""
    here = deployment()
    return _certified(settle_request(_round_request(here), here.rulesets), here)


@blueprint.post("/settle-batch")
def settle_batch() -> Response:
    """Settle many rounds, each answered with its outcome or its problem in its place."""
    here = deployment()
    body = read_body(request, MAX_BATCH_BODY, JSON, NDJSON)
    if request.mimetype == NDJSON:
        return lines_answer(_results(load(BATCH, _batch_of_lines(body)), here))
    return json_answer({"results": _results(load(BATCH, parse_json(body)), here)})


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


def _batch_of_lines(body: bytes) -> dict[str, Any]:
    """A batch whose rounds stand on lines; its other member comes in the query."""
    lines = [line for line in body.split(b"\n") if line.strip(b" \t\r")]
    certificates = request.args.get("certificates", "false")
    return {"rounds": lines, "certificates": _FLAGS.get(certificates, certificates)}


_FLAGS: Final = {"true": True, "false": False}


def _results(batch: Batch, here: Deployment) -> list[dict[str, Any]]:
    return [_result(one, batch.certificates, here) for one in batch.rounds]


def _result(one: Any, certified: bool, here: Deployment) -> dict[str, Any]:
    """What became of one round of a batch; a line of bytes is JSON still to be read."""
    try:
        document = parse_json(one) if isinstance(one, bytes) else one
        outcome = settle_request(unsealed(load(ROUND, document), here.keys.sealer), here.rulesets)
    except REFUSALS as error:
        problem = as_problem(error)
        metrics.count_problem(problem.slug)
        return {"problem": problem.document()}
    metrics.count_round(outcome["ruleset"]["id"], outcome["status"])
    return {"outcome": certify(outcome, here.keys.signer) if certified else outcome}


def _certified(outcome: dict[str, Any], here: Deployment) -> Response:
    g.answered_round = outcome["ruleset"]["id"], outcome["status"]
    return json_answer(certify(outcome, here.keys.signer))
