"""A second opinion on what breaks a promise: specmatic reads contracts in its own way, and mostly agrees.

``docs/versioning.md`` says what it is shown instead of the contract itself, and which of the two is right
where it and our comparison disagree.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterable
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import need
from tests.contract.compatibility import breaches
from tests.contract.document import CONTRACT_DOCUMENT, nodes
from tests.contract.planted import Change, Contract, changed, harmless, operations_of, without
from tests.contract.test_compatibility import PLANTED, RELEASED, SCHEMAS

_VERDICTS = {0: "(COMPATIBLE)", 1: "(INCOMPATIBLE)"}


class Opinion(NamedTuple):
    """What specmatic says of a contract that takes the place of an older one, its report on one line."""

    compatible: bool
    report: str


@pytest.fixture(scope="module")
def jar(npm: Path) -> Path:
    need("git", "java")
    return npm / "specmatic" / "specmatic.jar"


def opinion(jar: Path, folder: Path, old: Contract, new: Contract) -> Opinion:
    """Let specmatic compare two contracts, the older of which it wants to find in a repository's history."""
    contract = folder / "openapi.yaml"
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "SPECMATIC_DISABLE_TELEMETRY": "true"}

    def run(*command: object) -> subprocess.CompletedProcess[str]:
        words = list(map(str, command))
        return subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    contract.write_text(json.dumps(shown(old), indent=1), encoding="utf-8")
    author = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    for command in (("init",), ("add", contract), (*author, "commit", "--message", "old")):
        run("git", *command).check_returncode()
    # A line more, for a file without any change would not be looked at.
    contract.write_text(json.dumps(shown(new), indent=1) + "\n", encoding="utf-8")
    check = ("backward-compatibility-check", "--base-branch", "HEAD", "--repo-dir", ".")
    # This JVM lives for seconds, too short for the better of the two compilers to pay.
    done = run("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", jar, *check)
    report = " ".join(re.sub(r"\(openapi\.yaml:\d+:\d+\)", "", done.stdout).split())
    assert _VERDICTS[done.returncode] in report, report + done.stderr
    return Opinion(done.returncode == 0, report)


def shown(part: Any) -> Any:
    """A part of a contract as specmatic is shown it."""
    if isinstance(part, list):
        return [shown(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "integer" and "minimum" in part and part["minimum"] == part.get("maximum"):
        return {"type": "integer", "enum": [part["minimum"]]}
    hidden = {"examples", "enum", "oneOf"} if part.get("x-open") else {"examples"}
    return {name: shown(inner) for name, inner in part.items() if name not in hidden}


def cut(contract: Contract, *paths: str) -> Contract:
    """A contract of these paths alone, with the components that they lead to."""
    kept = {path: contract["paths"][path] for path in paths}
    components: dict[str, dict[str, Any]] = {}
    unread: list[Any] = [kept]
    while unread:
        for value in [value for _, node in nodes(unread.pop()) for value in node.values()]:
            if isinstance(value, str) and value.startswith("#/components/"):
                _, _, kind, name = value.split("/")
                if name not in components.setdefault(kind, {}):
                    components[kind][name] = contract["components"][kind][name]
                    unread.append(components[kind][name])
    return {**contract, "paths": kept, "components": components}


def test_specmatic_sees_no_promise_broken_either(jar: Path, tmp_path: Path) -> None:
    latest = RELEASED[max(RELEASED, key=lambda version: [int(number) for number in version.split(".")])]
    found = opinion(jar, tmp_path, latest, CONTRACT_DOCUMENT)
    assert found.compatible, found.report
    assert found.report.count("Verdict: PASS") == len(list(operations_of(latest)))


# Planted changes, many at once, in two operations: a run takes ten seconds, however little it compares.

SMALL = cut(CONTRACT_DOCUMENT, "/v1/rounds/settle", "/v1/rounds/void")
# What the planted credentials would be.
SMALL["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}


def without_clause(bet: Any) -> Any:
    properties, required = without("clause")(bet["properties"]), set(bet["required"]) - {"clause"}
    return {**bet, "properties": properties, "required": sorted(required)}


BREAKING: dict[str, tuple[str, Change, str, str]] = {
    **PLANTED,
    "a member less that was always there": (
        f"{SCHEMAS}/SettledBet",
        without_clause,
        "member",
        f"{SCHEMAS}/SettledBet/properties/clause",
    ),
    "a result less": (
        f"{SCHEMAS}/SettledBox/properties/result/enum",
        lambda results: results[1:],
        "value-removed",
        f"{SCHEMAS}/SettledBox/properties/result",
    ),
    "a far smaller ante": (
        f"{SCHEMAS}/BoxStake/properties/ante/maximum",
        lambda bound: 10,
        "narrowed",
        f"{SCHEMAS}/BoxStake/properties/ante",
    ),
}

_GONE = "This API exists in the old contract but not in the new contract"
_ASKED = "New specification expects"
_EXPECTED = "The old specification expects"
REFUSED = {
    "an operation less": f"POST /v1/rounds/void -> 200 {_GONE}",
    "credentials": f'REQUEST.PARAMETERS.HEADER.Authorization {_ASKED} header "Authorization"',
    "a refusal less": f"POST /v1/rounds/settle -> 422 {_GONE}",
    "a member required": f'REQUEST.BODY.deal (when SeedDeal object).nonce {_ASKED} property "nonce"',
    "an action less": 'but "buy_sixth" in the old specification',
    "a deal less": f'REQUEST.BODY.deal (when SeedDeal object).server_seed {_ASKED} property "server_seed"',
    "a far smaller ante": "REQUEST.BODY.boxes[0].ante This is type number <= 10 in the new specification",
    "a result more": '"fold" or "jackpot") in the new specification response',
    "a member that may be missing": f'RESPONSE.BODY.totals.staked {_EXPECTED} property "staked"',
    "a member less that was always there": f'RESPONSE.BODY.boxes.bets.clause {_EXPECTED} property "clause"',
    "null for a number": "RESPONSE.BODY.boxes.odds This is null in the new specification response",
}
"""What specmatic refuses, and the words of its report that show it."""

OVERLOOKED = [name for name in BREAKING if name not in REFUSED]


def broken(names: Iterable[str]) -> Contract:
    """The small contract with these changes, all of which our comparison finds."""
    contract = reduce(lambda contract, name: changed(contract, *BREAKING[name][:2]), names, SMALL)
    assert {(one.rule, one.pointer) for one in breaches(SMALL, contract)} == {
        BREAKING[name][2:] for name in names
    }
    return contract


def test_both_refuse_what_breaks_a_promise(jar: Path, tmp_path: Path) -> None:
    found = opinion(jar, tmp_path, SMALL, broken(REFUSED))
    assert not found.compatible
    assert [name for name, words in REFUSED.items() if words not in found.report] == []


def test_our_comparison_finds_what_specmatic_overlooks(jar: Path, tmp_path: Path) -> None:
    found = opinion(jar, tmp_path, SMALL, broken(OVERLOOKED))
    assert found.compatible, found.report


def test_both_let_pass_what_breaks_none(jar: Path, tmp_path: Path) -> None:
    clashing = {"minimum narrowed", "maximum narrowed"}  # where there is but one number, none would be left
    plants = [plant for plant in harmless(SMALL) if plant.what not in clashing]
    contract = reduce(lambda contract, plant: plant.into(contract), plants, SMALL)
    assert len(plants) > 200
    assert breaches(SMALL, contract) == []
    found = opinion(jar, tmp_path, SMALL, contract)
    assert found.compatible, found.report
