"""How much is measured, and what becomes of it: costs taken in turns, medians, quartiles, goals."""

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median, quantiles
from time import process_time
from typing import Literal, NamedTuple, TypeVar

T = TypeVar("T")
RANDOM = Random("benchmarks")


class Effort(NamedTuple):
    """How much is measured."""

    pairs: int
    """Turns of two programs in this process."""
    calls: int
    """Calls of a turn."""
    bursts: int
    """Turns of a server under load."""
    seconds: int
    """Length of a burst."""
    hands: int
    """Hands of a turn."""
    distinct: int
    """Different records; files of more repeat them."""
    records: int
    """Records of one audit."""
    audits: int
    """Runs of an audit."""
    growth: tuple[int, ...]
    """Records of the audits that show how time and memory grow."""
    workers: tuple[int, ...]
    boxes: tuple[int, ...]
    requests: int
    """Requests before memory is read."""
    starts: int
    """Starts of the service."""


FULL = Effort(
    pairs=200,
    calls=20,
    bursts=6,
    seconds=2,
    hands=2_000,
    distinct=8_000,
    records=24_000,
    audits=2,
    growth=(10_000, 100_000, 1_000_000),
    workers=(1, 2, 4),
    boxes=(1, 2, 3, 4),
    requests=100_000,
    starts=5,
)
QUICK = FULL._replace(
    pairs=20,
    bursts=2,
    seconds=1,
    distinct=1_000,
    records=6_000,
    audits=1,
    growth=(1_000, 10_000),
    workers=(1, 2),
    boxes=(4,),
    requests=2_000,
    starts=2,
)


class Goal(NamedTuple):
    """A bound for a median."""

    sign: Literal["≤", "≥"]
    bound: float

    def met(self, value: float) -> bool:
        return value <= self.bound if self.sign == "≤" else value >= self.bound

    def __str__(self) -> str:
        return f"{self.sign} {number(self.bound)}"


@dataclass(frozen=True)
class Figure:
    """One line of the table: what was measured, several times.

    ``unit`` stands behind the numbers, ``detail`` says what they came from.
    """

    name: str
    unit: str
    values: Sequence[float]
    goal: Goal | None = None
    detail: str = ""

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def quartiles(self) -> tuple[float, float]:
        if len(self.values) == 1:
            return self.values[0], self.values[0]
        low, _, high = quantiles(self.values, n=4, method="inclusive")
        return low, high


@dataclass(frozen=True)
class Chart:
    """Lines over a common axis: points by the name of their line."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    logarithmic: bool = False


@dataclass(frozen=True)
class Part:
    """What one part of the benchmarks found."""

    figures: Sequence[Figure]
    charts: Sequence[Chart] = field(default=())


def in_turns(measures: Mapping[str, Callable[[], T]], turns: int) -> dict[str, list[T]]:
    """What each measure gave in each turn; within a turn they follow one another in random order."""
    found: dict[str, list[T]] = {name: [] for name in measures}
    for _ in range(turns):
        for name in RANDOM.sample(list(measures), len(measures)):
            found[name].append(measures[name]())
    return found


def cpu_in_turns(calls: Mapping[str, Callable[[], object]], times: int, turns: int) -> dict[str, list[float]]:
    """CPU seconds of each call in each turn: the mean of a block of so many, begun without garbage."""
    gc.collect()
    gc.freeze()  # so that the collections before each block look at the garbage of the last one only
    try:
        return in_turns({name: _block(call, times) for name, call in calls.items()}, turns)
    finally:
        gc.unfreeze()


def _block(call: Callable[[], object], times: int) -> Callable[[], float]:
    def measure() -> float:
        gc.collect()
        began = process_time()
        for _ in range(times):
            call()
        return (process_time() - began) / times

    return measure


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Turn by turn, so that whatever slows the machine for a while slows both."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def number(value: float) -> str:
    """A number to be read: three significant digits, thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def boxes_named(boxes: int) -> str:
    return "1 box" if boxes == 1 else f"{boxes} boxes"
