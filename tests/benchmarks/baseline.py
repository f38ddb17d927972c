"""The least that Flask can do: a body parsed by the standard library, one constant answer by ``jsonify``."""

import json
import os
from pathlib import Path
from typing import Any

from flask import Flask, Response, jsonify, request

ANSWER = "BASELINE_ANSWER"
"""The environment variable that names the file with the answer."""


def create_baseline(answer: Any) -> Flask:
    """An app that gives this answer to whatever JSON is posted."""
    app = Flask("baseline")

    @app.post("/v1/rounds/settle")
    @app.post("/v1/rounds/step")
    def constant() -> Response:
        json.loads(request.get_data())
        return jsonify(answer)

    return app


def served() -> Flask:
    """The app for gunicorn."""
    return create_baseline(json.loads(Path(os.environ[ANSWER]).read_bytes()))
