"""Contract tests run against the service as it comes: no keys, no rulesets of a deployment's own."""

from collections.abc import Iterator

import pytest

from tests.contract.examples import SETTINGS


@pytest.fixture(scope="session", autouse=True)
def _nothing_configured() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        for name in SETTINGS:
            environment.delenv(name, raising=False)
        yield
