"""``russian-poker audit`` over files of recorded rounds: how fast it is, and in what memory.

The records are random rounds of one to four boxes under every ruleset. Files larger than the number of
different ones repeat them, of which the audit knows nothing.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter
from typing import Any, Final, NamedTuple

from service.certificate.jws import certify, open_certificate
from tests.api.servers import ROOT
from tests.benchmarks.measuring import (
    Chart,
    Effort,
    Figure,
    Goal,
    Part,
    boxes_named,
    cpu_in_turns,
    in_turns,
    number,
)
from tests.benchmarks.servers import family, pss
from tests.benchmarks.specimens import KEYS, full_round, settled, write_records

_COMMAND: Final = (sys.executable, "-m", "service.cli", "audit")
_SAMPLES_EVERY: Final = 0.2  # seconds
_CORES: Final = 2


def missing() -> str | None:
    if find_spec("service.audit") is None:
        return "needs the command russian-poker audit, which this version does not have"
    return None if Path("/proc/self/smaps_rollup").exists() else "needs Linux: memory is read from /proc"


class Audit(NamedTuple):
    """One run of the command: how long it took, and the most memory of all its processes in MB."""

    rounds: int
    seconds: float
    peak: float

    @property
    def rate(self) -> float:
        """Rounds a second."""
        return self.rounds / self.seconds


def audit(file: Path, rounds: int, workers: int) -> Audit:
    """Audit a file in which every record is right. Raises ``AssertionError`` where it does not find that."""
    with TemporaryDirectory() as folder:
        command = [*_COMMAND, str(file), "--workers", str(workers), "--output", f"{folder}/audit"]
        began = perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with _watched(process.pid) as peaks:
            told, _ = process.communicate()
        seconds = perf_counter() - began
    assert process.returncode == 0, told
    assert json.loads(told)["total"]["equal"] == rounds, told
    return Audit(rounds, seconds, max(peaks))


@contextmanager
def _watched(pid: int) -> Iterator[list[float]]:
    """Samples of the memory of a process and all that descend from it, taken until the end of the block."""
    samples: list[float] = []
    over = Event()

    def watch() -> None:
        while not over.wait(_SAMPLES_EVERY):
            with suppress(OSError):  # where one of them has just ended
                samples.append(sum(map(pss, family(pid))))

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield samples
    finally:
        over.set()
        watcher.join()


def rates(file: Path, effort: Effort, size: int, workers: int, turns: int, **records: Any) -> list[float]:
    """Rounds a second, turn by turn: by what many records take longer than few, so without the start."""
    sizes = {"few": size // 20, "many": size}
    files = {
        name: write_records(file.with_suffix(f".{name}"), count, effort.distinct, **records)
        for name, count in sizes.items()
    }
    found = in_turns({name: partial(audit, files[name], sizes[name], workers) for name in sizes}, turns)
    return [
        (sizes["many"] - sizes["few"]) / (many.seconds - few.seconds)
        for few, many in zip(found["few"], found["many"], strict=True)
    ]


def run(effort: Effort) -> Part:
    with TemporaryDirectory() as name:
        file = Path(name) / "records.ndjson"
        figures = [
            _rate("plain records", file, effort, Goal("≥", 40_000)),
            _rate("certified records", file, effort, certified=True),
            _signatures(effort),
        ]
        growth = [
            audit(write_records(file, rounds, effort.distinct), rounds, _CORES) for rounds in effort.growth
        ]
        charts = [
            _grown("time", "seconds", [(one.rounds, one.seconds) for one in growth]),
            _grown("memory", "MB (Pss) of all processes", [(one.rounds, one.peak) for one in growth]),
            _scaling(file, effort),
        ]
    return Part([*figures, *_growth(*growth[-2:])], charts)


def _rate(
    name: str, file: Path, effort: Effort, goal: Goal | None = None, *, certified: bool = False
) -> Figure:
    found = rates(file, effort, effort.records, _CORES, effort.audits, certified=certified)
    return Figure(
        f"audit of {name}, {_CORES} processes",
        "rounds/s",
        found,
        goal,
        f"{effort.records:,} records, the start left out",
    )


def _signatures(effort: Effort) -> Figure:
    """The part of a certified record that no other code of the audit can make faster."""
    certificate = certify(settled(full_round()), KEYS.signer)["certificate"]
    calls = {"open": lambda: open_certificate(certificate, KEYS.verifying)}
    costs = cpu_in_turns(calls, effort.calls, effort.pairs)["open"]
    return Figure(
        "certificates opened and their signatures checked, one core",
        "a second",
        [1 / cost for cost in costs],
        detail=f"{1e6 * median(costs):.0f} µs each",
    )


def _growth(less: Audit, most: Audit) -> list[Figure]:
    """How an audit of ten times as many rounds compares."""
    name = f"audit of {most.rounds:,} rounds against {less.rounds:,}"
    slope = (most.seconds / less.seconds) / (most.rounds / less.rounds)
    seconds = f"{number(most.seconds)} s against {number(less.seconds)} s"
    peaks = f"{number(most.peak)} MB (Pss) in all against {number(less.peak)} MB"
    return [
        Figure(name, "× the time a round", [slope], Goal("≤", 1.1), seconds),
        Figure(name, "× the memory", [most.peak / less.peak], Goal("≤", 1.1), peaks),
    ]


def _grown(what: str, unit: str, points: list[tuple[float, float]]) -> Chart:
    return Chart(f"audit, {_CORES} processes: {what}", "rounds", unit, {what: points}, logarithmic=True)


def _scaling(file: Path, effort: Effort) -> Chart:
    """Rounds a second by processes, for each number of boxes."""
    size = effort.records // 3
    lines = {
        boxes_named(boxes): [
            (float(workers), rates(file, effort, size, workers, 1, boxes=(boxes,))[0])
            for workers in effort.workers
        ]
        for boxes in effort.boxes
    }
    return Chart("audit: rounds a second", "processes", "rounds/s", lines)
