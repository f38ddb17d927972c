"""``/v1/fairness``: new seeds, and the deck of given seeds with every draw."""

import secrets

from flask import Blueprint, Response, request

from service.api.answers import json_response
from service.api.bodies import read_json
from service.api.deployment import deployment
from service.api.manners import json_readers_only
from service.fairness.deal import deck_document
from service.fairness.shuffle import SERVER_SEED_BYTES, commitment
from service.schemas import DECK, NEW_SEED, load

blueprint = Blueprint("fairness", __name__, url_prefix="/v1/fairness")
json_readers_only(blueprint)


@blueprint.post("/seeds")
def seeds() -> Response:
    """A new server seed from the operating system's generator, sealed on request, and its commitment (R5)."""
    sealed = load(NEW_SEED, read_json(request.environ))
    seed = secrets.token_bytes(SERVER_SEED_BYTES)
    shown = {"sealed_seed": deployment().keys.sealer.seal(seed)} if sealed else {"server_seed": seed.hex()}
    return json_response({**shown, "commitment": commitment(seed)})


@blueprint.post("/deck")
def deck() -> Response:
    """The deck of given seeds, with every draw of the shuffle (R4)."""
    return json_response(deck_document(load(DECK, read_json(request.environ))))
