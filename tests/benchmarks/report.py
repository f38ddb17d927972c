"""What the benchmarks found: as JSON, as tables, as a plot, and within README.md and docs/performance.md."""

import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from tests.api.servers import ROOT
from tests.benchmarks.measuring import Chart, Figure, Part, number
from tests.benchmarks.plot import svg

README = ROOT / "README.md"
GUIDE = ROOT / "docs" / "performance.md"
PLOT = Path(__file__).with_name("performance.svg")


@dataclass(frozen=True)
class Machine:
    """What the numbers were measured on; ``load`` is that of the minute before, in processes."""

    cpu: str
    cores: int
    python: str
    load: float

    def __str__(self) -> str:
        return f"{self.cpu}, {self.cores} cores, Python {self.python}, load before {self.load:.1f}"


def this_machine() -> Machine:
    cpu = platform.processor() or platform.machine()
    if (known := Path("/proc/cpuinfo")).exists():
        cpu = re.findall(r"^model name\s*:\s*(.*)$", known.read_text(), re.MULTILINE)[0]
    return Machine(cpu, os.cpu_count() or 1, platform.python_version(), os.getloadavg()[0])


@dataclass(frozen=True)
class Report:
    """One run: what each part found, and why others were left out."""

    day: date
    machine: Machine
    parts: Mapping[str, Part]
    left_out: Mapping[str, str]

    @property
    def figures(self) -> list[Figure]:
        return [figure for part in self.parts.values() for figure in part.figures]

    @property
    def charts(self) -> list[Chart]:
        return [chart for part in self.parts.values() for chart in part.charts]

    def write(self, folder: Path) -> None:
        """Write ``results.json`` and ``bench.svg``."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results.json").write_text(self.json(), encoding="utf-8")
        (folder / "bench.svg").write_text(self.svg(), encoding="utf-8")

    def svg(self) -> str:
        return svg(self.figures, self.charts)

    def json(self) -> str:
        document = {
            "date": self.day.isoformat(),
            "machine": asdict(self.machine),
            "figures": [
                {"part": name, **_figure_document(figure)}
                for name, part in self.parts.items()
                for figure in part.figures
            ],
            "charts": [asdict(chart) for chart in self.charts],
            "left_out": dict(self.left_out),
        }
        return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"

    def table(self) -> str:
        """Day and machine, every figure, and what was left out."""
        return "\n\n".join(
            [
                f"{self.day.isoformat()}, {self.machine}:",
                _table(("measured", "median", "middle half", "goal", "from"), map(_row, self.figures)),
                *(f"Left out: {name}, which {why}." for name, why in self.left_out.items()),
            ]
        )

    def scaling(self) -> str:
        """A table for each chart."""
        return "\n\n".join(
            f"{chart.title[0].upper()}{chart.title[1:]}\n\n{_chart(chart)}" for chart in self.charts
        )

    def publish(self) -> None:
        """Put table and plot into README.md, the tables of growth into docs/performance.md."""
        plot = f"![The goals and what was measured, and how it grows]({PLOT.relative_to(README.parent)})"
        for file, text in ((README, f"{self.table()}\n\n{plot}"), (GUIDE, self.scaling())):
            file.write_text(filled(file.read_text(encoding="utf-8"), text), encoding="utf-8")
        PLOT.write_text(self.svg(), encoding="utf-8")


def filled(document: str, text: str) -> str:
    """A document with this text between its two marks, links of Markdown that are never shown."""
    first, last = '[measured]: # "from here"\n', '[/measured]: # "to here"\n'
    found, count = re.subn(
        f"{re.escape(first)}.*?{re.escape(last)}",
        lambda _: f"{first}\n{text}\n\n{last}",
        document,
        flags=re.DOTALL,
    )
    assert count == 1, "a document has two marks"
    return found


def _figure_document(figure: Figure) -> dict[str, Any]:
    goal = figure.goal
    return {
        "name": figure.name,
        "unit": figure.unit,
        "median": figure.median,
        "quartiles": figure.quartiles,
        "goal": str(goal) if goal else None,
        "met": goal.met(figure.median) if goal else None,
        "detail": figure.detail,
        "values": list(figure.values),
    }


def _row(figure: Figure) -> Sequence[str]:
    low, high = map(number, figure.quartiles)
    goal = figure.goal
    verdict = f"{goal}: {'met' if goal.met(figure.median) else 'missed'}" if goal else ""
    half = f"{low} to {high}" if len(figure.values) > 1 else ""
    return figure.name, f"{number(figure.median)} {figure.unit}", half, verdict, figure.detail


def _chart(chart: Chart) -> str:
    places = sorted({x for line in chart.lines.values() for x, _ in line})
    rows = [(name, *(_cell(line, x) for x in places)) for name, line in chart.lines.items()]
    return _table((f"{chart.y}, by {chart.x}", *map(number, places)), rows)


def _cell(line: Sequence[tuple[float, float]], place: float) -> str:
    return next((number(y) for x, y in line if x == place), "")


def _table(header: Sequence[str], rows: Any) -> str:
    lines = [header, ["-" * len(cell) for cell in header], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
