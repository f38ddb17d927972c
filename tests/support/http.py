"""Calls to an app in this process."""

import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.api import create_app

Document = dict[str, Any]


def client_with(monkeypatch: pytest.MonkeyPatch, key_file: Document) -> FlaskClient:
    """A client of an app that has these keys."""
    monkeypatch.setenv("KEYS", json.dumps(key_file))
    return create_app().test_client()


def ask(client: FlaskClient, path: str, body: Any) -> Document:
    """The document that a POST is answered with; fails where it is refused."""
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    document = answer.get_json()
    assert isinstance(document, dict)
    return document
