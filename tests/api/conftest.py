"""The app in this process."""

import pytest
from flask import Flask

from service.api import create_app
from tests.api.calls import Api


@pytest.fixture(scope="session")
def app() -> Flask:
    return create_app()


@pytest.fixture(scope="session")
def api(app: Flask) -> Api:
    return Api(app.test_client())
