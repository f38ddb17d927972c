"""The app in this process."""

import pytest
from flask import Flask

from service.api import create_app
from tests.api.calls import Api


@pytest.fixture(scope="session")
def app() -> Flask:
    """With the development keys, whatever the environment has."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("KEYS_FILE", "KEYS", "PRODUCTION"):
            patch.delenv(name, raising=False)
        return create_app()


@pytest.fixture(scope="session")
def api(app: Flask) -> Api:
    return Api(app.test_client())
