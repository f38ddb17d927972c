"""What operators and monitoring ask: health, metrics, version and the contract."""

from typing import Final

from flask import Blueprint, Response

import service
from service.api.answers import NO_STORE, json_response, with_etag
from service.api.deployment import deployment
from service.files import shipped
from service.observability import metrics
from service.rounds import ENGINE

blueprint = Blueprint("operations", __name__)

NOTICE: Final = (
    "Outcomes are recomputable from their request. No test laboratory has certified this software;"
    " nothing here claims so."
)


@blueprint.get("/livez")
def livez() -> Response:
    """The process answers."""
    return json_response({"status": "live"})


@blueprint.get("/readyz")
def readyz() -> Response:
    """The process can settle: rulesets, keys and tables are loaded, and no file was altered."""
    deployment().require_integrity()
    return json_response({"status": "ready"})


@blueprint.get("/v1/integrity")
def check_integrity() -> Response:
    """Check the files that decide outcomes now, and say of each whether it is that of the release."""
    checks = deployment().integrity.check()
    return json_response(
        {
            "intact": deployment().integrity.intact,
            "engine": ENGINE,
            "files": [{**check._asdict(), "intact": check.intact} for check in checks],
        }
    )


@blueprint.get("/.well-known/jwks.json")
def jwks() -> Response:
    """The public keys with which certificates are checked."""
    return with_etag(json_response(deployment().keys.jwks()), "public, max-age=300")


@blueprint.get("/metrics")
def show_metrics() -> Response:
    """Prometheus metrics, summed over all workers."""
    body, content_type = metrics.exposition()
    return Response(body, content_type=content_type, headers={"Cache-Control": NO_STORE})


@blueprint.get("/v1/version")
def version() -> Response:
    """Which software this is, and what it does not claim."""
    return json_response(
        {
            "service": "russian-poker",
            "version": service.__version__,
            "engine": ENGINE,
            "rulesets": {id: published.ruleset.digest for id, published in deployment().rulesets.items()},
            "notice": NOTICE,
        }
    )


@blueprint.get("/openapi.yaml")
def contract() -> Response:
    """The contract that this service keeps."""
    return with_etag(Response(shipped("openapi.yaml").read_bytes(), content_type="application/yaml"))
