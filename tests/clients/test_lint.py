"""Redocly and Spectral read the contract and have nothing to say; of a damaged one they have."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.clients.conftest import HERE
from tests.contract.document import CONTRACT, load_contract

_OF_LIVEZ = {
    "parameters": ["RequestId"],
    "headers": ["RequestId", "ContentDigest"],
    "schemas": ["Liveness"],
    "examples": ["livez-answer"],
}


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corner of the contract with faults that only a linter notices."""
    contract = load_contract()
    livez = contract["paths"]["/livez"]["get"]
    contract["paths"] = {"/livez": {"get": livez}}
    livez["responses"] = {"200": livez["responses"]["200"]}
    contract["components"] = {
        kind: {name: contract["components"][kind][name] for name in names}
        for kind, names in _OF_LIVEZ.items()
    }
    del contract["info"]["license"]
    del livez["operationId"]
    livez["tags"] = ["operation"]
    contract["components"]["examples"]["livez-answer"]["value"] = {"status": "alive"}
    path = tmp_path_factory.mktemp("damaged") / "openapi.yaml"
    path.write_text(yaml.safe_dump(contract), encoding="utf-8")
    return path


def lint(*command: object) -> Any:
    """What a linter finds."""
    environment = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    done = subprocess.run(
        list(map(str, command)), cwd=HERE, env=environment, capture_output=True, check=False, timeout=120
    )
    assert done.stdout, done.stderr.decode()
    return json.loads(done.stdout)


def redocly(npm: Path, contract: Path) -> set[str]:
    command = (npm / ".bin/redocly", "lint", "--config", HERE / "redocly.yaml", "--format", "json", contract)
    return {problem["ruleId"] for problem in lint(*command)["problems"]}


def spectral(npm: Path, contract: Path) -> set[str]:
    command = (npm / ".bin/spectral", "lint", "--quiet", "--ruleset", HERE / "spectral.yaml")
    return {problem["code"] for problem in lint(*command, "--format", "json", contract)}


def test_redocly_has_nothing_to_say(npm: Path) -> None:
    assert redocly(npm, CONTRACT) == set()


def test_spectral_has_nothing_to_say(npm: Path) -> None:
    assert spectral(npm, CONTRACT) == set()


def test_redocly_finds_what_is_wrong(npm: Path, damaged: Path) -> None:
    assert redocly(npm, damaged) >= {
        *("info-license", "operation-operationId", "no-invalid-media-type-examples"),
    }


def test_spectral_finds_what_is_wrong(npm: Path, damaged: Path) -> None:
    assert spectral(npm, damaged) >= {
        *("info-license", "operation-operationId", "operation-tag-defined", "oas3-valid-media-example"),
    }
