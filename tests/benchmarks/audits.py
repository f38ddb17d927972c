"""``russian-poker audit`` over files of recorded rounds: how fast it is, and in what memory.

The records are random rounds of one to four boxes under every ruleset. Files larger than the number of
different ones repeat them, of which the audit knows nothing.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import IO, Any, Final, NamedTuple, cast

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

_COMMAND: Final = (sys.executable, "-m", "tests.benchmarks.auditing")
_SAMPLES_EVERY: Final = 0.2  # seconds
_CORES: Final = 2
_FEW: Final = 100  # records that take no time beside the start of an audit
_LEAN: Final = 10  # times as many records in the same time


def missing() -> str | None:
    if find_spec("service.audit") is None:
        return "needs the command russian-poker audit, which this version does not have"
    return None if Path("/proc/self/smaps_rollup").exists() else "needs Linux: memory is read from /proc"


class Audit(NamedTuple):
    """One audit: how long it took, and the most memory of all its processes in MB."""

    rounds: int
    seconds: float
    peak: float


class Auditor:
    """Audits in a process of its own, all by the lean path or all without it."""

    def __init__(self, process: "subprocess.Popen[str]", *, lean: bool) -> None:
        self._process = process
        self._lean = lean

    def audit(self, file: Path, rounds: int, workers: int = _CORES) -> Audit:
        """Audit a file in which every record is right. Raises ``AssertionError`` where it finds otherwise."""
        orders, answers = cast(IO[str], self._process.stdin), cast(IO[str], self._process.stdout)
        with _watched(self._process.pid) as peaks:
            orders.write(json.dumps({"file": str(file), "workers": workers, "lean": self._lean}) + "\n")
            orders.flush()
            told: dict[str, Any] = json.loads(answers.readline() or "{}")
        assert told.get("equal") == rounds, told
        return Audit(rounds, told["seconds"], max(peaks))


@contextmanager
def auditor(*, lean: bool) -> Iterator[Auditor]:
    """An auditor that is ready: what takes half a minute to compile is compiled."""
    process = subprocess.Popen(
        _COMMAND,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process, TemporaryDirectory() as folder:
        ready = Auditor(process, lean=lean)
        ready.audit(write_records(Path(folder) / "one", 1, 4), 1)
        yield ready


@contextmanager
def _watched(pid: int) -> Iterator[list[float]]:
    """Samples of the memory of a process and all that descend from it, taken until the end of the block."""
    samples: list[float] = []
    over = Event()

    def watch() -> None:
        while True:
            with suppress(OSError):  # where one of them has just ended
                samples.append(sum(map(pss, family(pid))))
            if over.wait(_SAMPLES_EVERY):
                return

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield samples
    finally:
        over.set()
        watcher.join()


def rate(run: Audit, start: Audit) -> float:
    """Rounds a second without the start of an audit; with it where the file is too small to tell."""
    longer = run.seconds - start.seconds
    return (run.rounds - start.rounds) / longer if longer > 0 else run.rounds / run.seconds


def run(effort: Effort) -> Part:
    with TemporaryDirectory() as name, auditor(lean=True) as lean, auditor(lean=False) as full:
        folder = Path(name)
        figures = [*_rates(folder, effort, lean, full), _signatures(effort)]
        growth = [_grown(folder, rounds, effort, lean) for rounds in effort.growth]
        charts = [
            _curve("time", "seconds", [(one.rounds, one.seconds) for one in growth]),
            _curve("memory", "MB (Pss) of all processes", [(one.rounds, one.peak) for one in growth]),
            _scaling(folder, effort, lean),
        ]
    return Part([*figures, *_growth(*growth[-2:])], charts)


def _rates(folder: Path, effort: Effort, lean: Auditor, full: Auditor) -> Iterable[Figure]:
    size, distinct = effort.records, effort.distinct
    many = _LEAN * size
    few = write_records(folder / "few", _FEW, distinct)
    plain = write_records(folder / "plain", size, distinct)
    plenty = write_records(folder / "plenty", many, distinct)
    certified = write_records(folder / "certified", size, distinct, certified=True)
    found = in_turns(
        {
            "lean start": partial(lean.audit, few, _FEW),
            "lean": partial(lean.audit, plenty, many),
            "start": partial(full.audit, few, _FEW),
            "plain": partial(full.audit, plain, size),
            "certified": partial(lean.audit, certified, size),
        },
        effort.audits,
    )
    plenty.unlink()
    goal = Goal("≥", 40_000)
    for what, name, start, records, bound in (
        ("plain records by the lean path", "lean", "lean start", many, goal),
        ("plain records by the engine", "plain", "start", size, None),
        ("certified records by the lean path", "certified", "lean start", size, None),
    ):
        yield Figure(
            f"audit of {what}, {_CORES} processes",
            "rounds/s",
            list(map(rate, found[name], found[start])),
            bound,
            f"{records:,} records, the start left out",
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


def _grown(folder: Path, rounds: int, effort: Effort, lean: Auditor) -> Audit:
    file = write_records(folder / "growth", rounds, effort.distinct, (1,))  # of one box, for there are many
    return lean.audit(file, rounds)


def _growth(less: Audit, most: Audit) -> list[Figure]:
    """How an audit of more rounds compares."""
    name = f"audit of {most.rounds:,} rounds against {less.rounds:,}"
    slope = (most.seconds / less.seconds) / (most.rounds / less.rounds)
    seconds = f"{number(most.seconds)} s against {number(less.seconds)} s"
    peaks = f"{number(most.peak)} MB (Pss) in all against {number(less.peak)} MB"
    return [
        Figure(name, "× the time a round", [slope], Goal("≤", 1.1), seconds),
        Figure(name, "× the memory", [most.peak / less.peak], Goal("≤", 1.1), peaks),
    ]


def _curve(what: str, unit: str, points: list[tuple[float, float]]) -> Chart:
    return Chart(f"audit, {_CORES} processes: {what}", "rounds", unit, {what: points}, logarithmic=True)


def _scaling(folder: Path, effort: Effort, lean: Auditor) -> Chart:
    """Rounds a second by processes, for each number of boxes."""
    size = 2 * effort.records
    few = write_records(folder / "few", _FEW, effort.distinct)
    starts = {workers: lean.audit(few, _FEW, workers) for workers in effort.workers}
    lines: dict[str, list[tuple[float, float]]] = {}
    for boxes in effort.boxes:
        file = write_records(folder / "boxes", size, effort.distinct // 4, (boxes,))
        lines[boxes_named(boxes)] = [
            (workers, rate(lean.audit(file, size, workers), starts[workers])) for workers in effort.workers
        ]
    return Chart("audit: rounds a second", "processes", "rounds/s", lines)
