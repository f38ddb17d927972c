"""The newest kit, and what an app in this process answers to it."""

from contextlib import closing

import pytest

from service.api import create_app
from service.conformance.client import Deployment, Sent
from service.conformance.comparison import Answer
from service.conformance.kits import Document, Kit, newest_kit
from service.conformance.runner import run_kit
from tests.conformance.kit import in_process


def run(kit: Kit, address: str, patience: float = 60) -> Document:
    """The report on the deployment at an address."""
    with closing(Deployment(address, patience)) as deployment:
        return run_kit(kit, deployment, address)


@pytest.fixture(scope="session")
def kit() -> Kit:
    return newest_kit()


@pytest.fixture(scope="session")
def answers(kit: Kit) -> dict[str, Answer]:
    """The answer to each case by its id."""
    ask, given = in_process(create_app().test_client()), list[Answer]()

    def keep(sent: Sent) -> Answer:
        given.append(ask(sent))
        return given[-1]

    report = run_kit(kit, keep, "here")
    assert report["conforms"], report["failures"][:3]
    return {case.id: answer for case, answer in zip(kit.cases, given, strict=True)}
