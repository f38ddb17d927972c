"""Memory stays flat: ten times the rounds take no more of it."""

import gc
import gzip
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Final

import pytest

from service.audit.records import audit_records
from service.rounds import settle_request
from service.schemas import ROUND, load
from tests.api.calls import rigged, round_body
from tests.api.servers import ROOT
from tests.audit.archive import KEYS, REGISTRY, altered_total, line, outcomes

AUDIT: Final = """\
import json, resource, sys
import orjson
from service.audit.records import Damage, Finding, Tally
from service.audit.terms import Terms
from service.certificate.differences import Difference
from service.cli import main

def counted(lines):  # in place of the recomputation, which takes time and keeps nothing
    rounds, found, damages = 0, [], []
    for number, line in enumerate(lines, 1):
        try:
            round = orjson.loads(line)
        except ValueError as error:
            damages.append(Damage(number, str(error)))
            continue
        rounds += 1
        if not round["totals"]["net"] % 2:
            found.append(Finding(number, None, "trainer-1", Difference("/totals", round, {})))
    return Tally(number, {"trainer-1": {"rounds": rounds, "differing": len(found)}}, found, damages)

Terms.auditor = lambda self: counted
status = main(["audit", *sys.argv[1:]])
peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
json.dump([status, peak], sys.stderr)
"""
ROUNDS: Final = 10_000
MARGIN: Final = 24 * 1024
"""KiB, far less than the tenfold rounds would take if they were kept."""


def peak(name: Path) -> int:
    """The most memory that a process of an audit took, in KiB."""
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, str(name), "--output", str(name.with_suffix(".out"))],
        cwd=ROOT,
        capture_output=True,
        timeout=300,
        check=True,
    )
    status, kibibytes = json.loads(done.stderr.splitlines()[-1])
    assert status == 1
    assert isinstance(kibibytes, int)
    return kibibytes


def test_a_record_leaves_nothing_behind() -> None:
    records = [line(outcome) for outcome in outcomes()[:20]]
    audit_records(records, REGISTRY, KEYS.verifying, True)
    gc.collect()
    tracemalloc.start()
    try:
        audit_records(records * 10, REGISTRY, KEYS.verifying, True)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < len(records[0])
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", [".ndjson", ".gz"])
def test_ten_times_the_rounds_take_no_more_memory(suffix: str, tmp_path: Path) -> None:
    deal = rigged("Ah Ac As 9c 2d", "Kh Jd 7s 4c 2h")
    body = round_body("trainer-1", deal=deal, boxes=[{"box": 1, "ante": 101}])
    outcome = settle_request(load(ROUND, body), REGISTRY)
    right, wrong = line(outcome) + b"\n", line(altered_total(outcome)) + b"\n"
    thousand = right * 997 + wrong + b"{\n" + right
    peaks = []
    for times in (1, 10):
        path = tmp_path / f"{times}{suffix}"
        block = thousand * (ROUNDS // 1000)
        with gzip.open(path, "wb", 1) if suffix == ".gz" else path.open("wb") as file:
            for _ in range(times):
                file.write(block)
        peaks.append(peak(path))
        summary = json.loads((path.with_suffix(".out") / "summary.json").read_bytes())
        rounds = ROUNDS * times
        assert summary["total"]["rounds"] + summary["total"]["damaged"] == rounds
        assert summary["total"]["differing"] == summary["total"]["damaged"] == rounds // 1000
        assert summary["files"][0]["lines"] == rounds
    assert len(thousand) * 90 > 2 * MARGIN * 1024
    assert peaks[1] < peaks[0] + MARGIN
