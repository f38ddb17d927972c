"""``/v1/hands``: what a hand is worth under a ruleset."""

from flask import Blueprint, Response, request

from service.api.answers import json_response
from service.api.bodies import read_json
from service.api.deployment import deployment
from service.api.manners import json_readers_only
from service.game.documents import hand_document
from service.rounds import find_ruleset
from service.schemas import EVALUATE, load

blueprint = Blueprint("hands", __name__, url_prefix="/v1/hands")
json_readers_only(blueprint)


@blueprint.post("/evaluate")
def evaluate() -> Response:
    """Main and second combination, kickers and odds of five or six cards."""
    body = load(EVALUATE, read_json(request.environ))
    return json_response(
        hand_document(find_ruleset(deployment().rulesets, body["ruleset"]).ruleset, body["cards"])
    )
