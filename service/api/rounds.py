"""``/v1/rounds``: settle a round, take it one step further, break it off, verify what somebody claims."""

from collections.abc import Mapping
from typing import Any, Final
from wsgiref.types import WSGIEnvironment

import orjson
from flask import Blueprint, Response, request
from werkzeug import Request
from werkzeug.datastructures import MultiDict

from service.api.answers import JSON, NDJSON, Answer, json_answer, json_response, lines_answer
from service.api.bodies import MAX_BATCH_BODY, MAX_BODY, read_body, read_json
from service.api.deployment import Deployment, deployment
from service.api.direct import Operation
from service.api.manners import json_readers_only
from service.api.problems import REFUSALS, Problem, as_problem
from service.api.verification import verify_shown
from service.certificate.jws import certify
from service.fields import error_at
from service.observability import metrics
from service.rounds import RoundRequest, settle_request, unsealed, view_request, void_request
from service.schemas import BATCH, ROUND, VOID, Batch, load
from service.strict_json import parse_json

blueprint = Blueprint("rounds", __name__, url_prefix="/v1/rounds")
blueprint.before_request(lambda: deployment().require_integrity())
json_readers_only(blueprint)


@blueprint.post("/verify")
def verify() -> Response:
    """The verdict on a certificate, or on an outcome that somebody claims."""
    here = deployment()
    return json_response(verify_shown(read_json(request.environ, 4 * MAX_BODY), here.rulesets, here.keys))


def settle(environ: WSGIEnvironment, here: Deployment) -> Answer:
    """Replay a complete round and answer its outcome, certified."""
    return _certified(settle_request(_round_request(environ, here), here.rulesets), here)


def settle_batch(environ: WSGIEnvironment, here: Deployment) -> Answer:
    """Settle many rounds, each answered with its outcome or its problem in its place."""
    body = read_body(environ, MAX_BATCH_BODY, JSON, NDJSON)
    asked = Request(environ)
    if asked.mimetype == NDJSON:
        return lines_answer(_results(load(BATCH, _batch_of_lines(body, asked.args)), here))
    return json_answer({"results": _results(load(BATCH, parse_json(body)), here)})


def void(environ: WSGIEnvironment, here: Deployment) -> Answer:
    """Break a round off where it stands: every stake returns, certified."""
    round_request, reason = load(VOID, read_json(environ))
    return _certified(void_request(unsealed(round_request, here.keys.sealer), reason, here.rulesets), here)


def step(environ: WSGIEnvironment, here: Deployment) -> Answer:
    """Replay the actions so far and answer what may be seen and done next."""
    return json_answer(view_request(_round_request(environ, here), here.rulesets))


PLAYING: Final[Mapping[str, tuple[str, Operation]]] = {
    "/v1/rounds/settle": ("rounds.settle", settle),
    "/v1/rounds/settle-batch": ("rounds.settle_batch", settle_batch),
    "/v1/rounds/void": ("rounds.void", void),
    "/v1/rounds/step": ("rounds.step", step),
}
"""What plays rounds, by path, with the name under which it is counted."""


def _round_request(environ: WSGIEnvironment, here: Deployment) -> RoundRequest:
    return unsealed(load(ROUND, read_json(environ)), here.keys.sealer)


def _batch_of_lines(body: bytes, query: MultiDict[str, str]) -> dict[str, Any]:
    """A batch whose rounds stand on lines; its other member comes in the query."""
    lines = [line for line in body.split(b"\n") if line.strip(b" \t\r")]
    asked = list(query.items(multi=True))
    if asked not in ([], [("certificates", "true")], [("certificates", "false")]):
        detail = "the query of lines is certificates=true or certificates=false, once, or nothing"
        raise Problem("invalid-request", detail, [error_at("/certificates", "choice", detail)])
    return {"rounds": lines, "certificates": asked == [("certificates", "true")]}


def _results(batch: Batch, here: Deployment) -> list[orjson.Fragment]:
    # Written at once: two hundred outcomes at a time would be much to keep and to look through for garbage.
    return [orjson.Fragment(orjson.dumps(_result(one, batch.certificates, here))) for one in batch.rounds]


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


def _certified(outcome: dict[str, Any], here: Deployment) -> Answer:
    ruleset = outcome["ruleset"]["id"]
    metrics.count_round(ruleset, outcome["status"])
    return json_answer(certify(outcome, here.keys.signer), ruleset)
