"""``/v1/rulesets``: the rules as published, for callers to show and auditors to pin."""

from flask import Blueprint, Response

from service.api.answers import immutable, json_response, with_etag
from service.api.deployment import deployment
from service.api.manners import json_readers_only
from service.api.problems import Problem

blueprint = Blueprint("rulesets", __name__, url_prefix="/v1/rulesets")
json_readers_only(blueprint)


@blueprint.get("")
def index() -> Response:
    """All rulesets by id, with title and digest."""
    members = ("id", "version", "title", "digest")
    listed = [{name: one.document[name] for name in members} for one in deployment().rulesets.values()]
    return with_etag(json_response({"rulesets": listed}))


@blueprint.get("/<id>")
def show(id: str) -> Response:
    """One ruleset with its tables, decisions and texts. It never changes, so its digest is the ETag."""
    published = deployment().rulesets.get(id)
    if published is None:
        raise Problem(
            "not-found", f"there is no ruleset {id[:100]!r}; known are {', '.join(deployment().rulesets)}"
        )
    return immutable(json_response(published.document), published.ruleset.digest)
