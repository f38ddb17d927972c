"""schemathesis as an integrator runs it, over the wire: `make contract`, or `python -m tests.contract.live`.

Starts the service as it is deployed, lets `st run` try it by `schemathesis.toml`, and says what was tried:
how many examples, with which checks, and how often a new seed went all the way along the contract's links.
Fails if anything went wrong, or if too little was tried.
"""

import base64
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from tests.api.servers import ROOT, serving

LEAST: Final = 1000
"""Fewest examples that are a long run."""
WAY: Final = ("/v1/fairness/seeds", "/v1/rounds/step", "/v1/rounds/settle", "/v1/rounds/verify")
"""The way of a round: each of these gives what the next one needs."""


class Tried(NamedTuple):
    """What a run tried: examples by phase and by path, checks by name, and how often the whole way."""

    examples: Counter[str]
    paths: Counter[str]
    checks: Counter[str]
    ways: int

    def shortcomings(self) -> Iterator[str]:
        """What is missing for a long run."""
        if self.examples.total() < LEAST:
            yield f"{self.examples.total()} examples are fewer than {LEAST}"
        for phase in ("examples", "coverage", "fuzzing", "stateful"):
            if not self.examples[phase]:
                yield f"the phase {phase} tried nothing"
        if not self.ways:
            yield f"no chain of links led from {WAY[0]} to {WAY[-1]}"

    def __str__(self) -> str:
        def table(title: str, counted: Counter[str]) -> list[str]:
            return [title, *(f"{number:>8,}  {name}" for name, number in sorted(counted.items()))]

        lines = [
            *table("Examples by path", self.paths),
            *table("Checks made", self.checks),
            *table("Examples by phase", self.examples),
            f"{self.examples.total():>8,}  in all",
            f"{self.ways:>8,}  seeds → step → settle → verify, each answered 200, and valid in the end",
        ]
        return "\n".join(lines)


def tried(events: Iterable[str]) -> Tried:
    """What a report of events says, one in JSON a line (``st run --report ndjson``)."""
    found = Tried(Counter(), Counter(), Counter(), 0)
    for line in events:
        scenario = json.loads(line).get("ScenarioFinished", {})
        recorder = scenario.get("recorder", {})
        cases = recorder.get("cases", {})
        for id, case in cases.items():
            found.examples[scenario["phase"]] += 1
            found.paths[case["value"]["path"]] += 1
            ends = went_all_the_way(id, cases, recorder["interactions"])
            found = found._replace(ways=found.ways + ends)
        for checks in recorder.get("checks", {}).values():
            found.checks.update(check["name"] for check in checks)
    return found


def went_all_the_way(id: str | None, cases: Mapping[str, Any], interactions: Mapping[str, Any]) -> bool:
    """Whether a request is the last of a chain along the way, each link applied, each answer a success."""
    answer = None
    for path in reversed(WAY):
        if id is None or cases[id]["value"]["path"] != path:
            return False
        response = interactions.get(id, {}).get("response") or {}
        if response.get("status_code") != 200:
            return False
        if path != WAY[0] and not cases[id]["is_transition_applied"]:
            return False
        answer = answer or json.loads(base64.b64decode(response["content"]["$base64"]))
        id = cases[id].get("parent_id")
    return answer is not None and answer["valid"] is True


def main() -> int:
    """Run and report; returns the exit status."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "events.ndjson"
        with serving(Path(folder)) as server:
            run = [sys.executable, "-m", "schemathesis.cli", "run", *sys.argv[1:]]
            run += ["--report-ndjson-path", str(report), f"http://127.0.0.1:{server.port}/openapi.yaml"]
            status = subprocess.run(run, cwd=ROOT, check=False).returncode
        with report.open(encoding="utf-8") as events:
            done = tried(events)
    short = list(done.shortcomings())
    sys.stdout.write("\n".join([str(done), *short, ""]))
    return status or bool(short)


if __name__ == "__main__":
    sys.exit(main())
