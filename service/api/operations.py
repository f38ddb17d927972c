"""What operators and monitoring ask: health, metrics, version and the contract."""

from hashlib import sha256
from typing import Final

from flask import Blueprint, Response, request

import service
from service.api.answers import json_answer, rulesets
from service.fairness import SHUFFLE
from service.files import shipped
from service.game import ENGINE_VERSION
from service.observability.metrics import exposition

blueprint = Blueprint("operations", __name__)

NOTICE: Final = (
    "Outcomes are recomputable from their request. No test laboratory has certified this software;"
    " nothing here claims so."
)


@blueprint.get("/livez")
def livez() -> Response:
    """The process answers."""
    return json_answer({"status": "live"})


@blueprint.get("/readyz")
def readyz() -> Response:
    """The process can settle: rulesets and tables were loaded before it began to serve."""
    return json_answer({"status": "ready"})


@blueprint.get("/metrics")
def metrics() -> Response:
    """Prometheus metrics, summed over all workers."""
    body, content_type = exposition()
    return Response(body, content_type=content_type)


@blueprint.get("/v1/version")
def version() -> Response:
    """Which software this is, and what it does not claim."""
    return json_answer(
        {
            "service": "russian-poker",
            "version": service.__version__,
            "engine": {"version": ENGINE_VERSION, "shuffle": SHUFFLE},
            "rulesets": {id: published.ruleset.digest for id, published in rulesets().items()},
            "notice": NOTICE,
        }
    )


@blueprint.get("/openapi.yaml")
def contract() -> Response:
    """The contract that this service keeps."""
    body = shipped("openapi.yaml").read_bytes()
    answer = Response(body, content_type="application/yaml")
    answer.set_etag(sha256(body).hexdigest())
    answer.make_conditional(request)
    return answer
