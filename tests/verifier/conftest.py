import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.registry import load_rulesets
from tests.verifier.house_rules import write_house_rules
from tests.verifier.random_rounds import Json, write_rounds

HERE = Path(__file__).parent
ROUNDS = 10_400


@pytest.fixture(scope="session")
def node() -> Callable[..., Any]:
    """Runs a script of this folder and returns the JSON that it prints."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")

    def run(script: str, *arguments: object, given: str = "") -> Any:
        command = ["node", str(HERE / script), *map(str, arguments)]
        done = subprocess.run(command, check=False, input=given, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Says something that is to be read after a good run, too."""

    def say(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{text}\n")

    return say


@pytest.fixture(scope="session")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with many random rounds and their rulesets."""
    folder = tmp_path_factory.mktemp("rounds")
    write_rounds(ROUNDS, folder)
    return folder


@pytest.fixture(scope="session")
def rulesets(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """All ruleset documents by id, house rules included."""
    folder = tmp_path_factory.mktemp("rules")
    write_house_rules(folder)
    return {id: dict(published.document) for id, published in load_rulesets(folder).items()}
