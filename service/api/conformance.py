"""``/v1/conformance``: the kits that any implementation can be tested with, to download."""

from collections.abc import Callable

from flask import Blueprint, Response

from service.api.answers import digested, immutable, json_response, with_etag
from service.api.problems import Problem
from service.conformance.kits import listing, published

blueprint = Blueprint("conformance", __name__, url_prefix="/v1/conformance")


@blueprint.get("")
def index() -> Response:
    """All kits with size and digest of their files."""
    return with_etag(json_response(listing()))


@blueprint.get("/<version>")
def kit(version: str) -> Response:
    """The cases of one kit."""
    return _file(version, "kit", digested)


@blueprint.get("/<version>/schema")
def schema(version: str) -> Response:
    """The JSON Schema that describes a kit."""
    return _file(version, "schema")


@blueprint.get("/<version>/readme")
def readme(version: str) -> Response:
    """What a kit holds and how to use it, for people."""
    return _file(version, "readme")


def _file(
    version: str, name: str, finish: Callable[[Response], Response] = lambda answer: answer
) -> Response:
    """One file of a kit. A published kit never changes, so its digest is the ETag."""
    if version not in published():
        known = ", ".join(published())
        raise Problem("not-found", f"there is no conformance kit {version[:100]!r}; known are {known}")
    file = published()[version][name]
    return immutable(finish(Response(file.content, mimetype=file.media_type)), file.digest)
