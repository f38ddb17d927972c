"""``/v1/hands``: what a hand is worth under a ruleset."""

from flask import Blueprint, Response, request

from service.api.answers import deployment, json_answer
from service.api.manners import require_json_reader
from service.api.strict_json import read_json
from service.game.documents import hand_document
from service.rounds import find_ruleset
from service.schemas import EVALUATE, load

blueprint = Blueprint("hands", __name__, url_prefix="/v1/hands")
blueprint.before_request(require_json_reader)


@blueprint.post("/evaluate")
def evaluate() -> Response:
    """Main and second combination, kickers and odds of five or six cards."""
    body = load(EVALUATE, read_json(request))
    return json_answer(
        hand_document(find_ruleset(deployment().rulesets, body["ruleset"]).ruleset, body["cards"])
    )
