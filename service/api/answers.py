"""Answers in JSON, and what the views of an app share."""

import json
from typing import Any, cast

import orjson
from flask import Response, current_app

from service.registry import Registry


def json_answer(document: Any) -> Response:
    """A document as the body of a 200 answer; the same document gives the same bytes."""
    try:
        body = orjson.dumps(document)
    except TypeError:  # orjson knows 64 bits, and a claimed outcome that is quoted may hold longer numbers
        body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(body, mimetype="application/json")


def rulesets() -> Registry:
    """The rulesets of the app that serves this request."""
    return cast(Registry, current_app.extensions["rulesets"])
