"""The plot: every goal with what was measured, and a panel for each chart. SVG, written by hand."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import ceil, floor, log2, log10
from typing import Final

from tests.benchmarks.measuring import Chart, Figure, number

_WIDTH: Final = 960
_PANEL: Final = (_WIDTH // 2, 280)
_MARGINS: Final = (70, 40, 40, 50)
"""Left, above, right, below."""
_ROW: Final = 24
_LABELS: Final = 470
_COLOURS: Final = ("#1f5fa8", "#c2571a", "#2e7d4f", "#8a3b8f")
_STYLE: Final = (
    "text{font:12px sans-serif;fill:#222}.title{font-weight:bold}.axis{stroke:#999}.grid{stroke:#ddd}"
    ".end{text-anchor:end}.middle{text-anchor:middle}"
)
Scale = Callable[[float], float]


def svg(figures: Sequence[Figure], charts: Sequence[Chart]) -> str:
    """A picture of all that has a goal and of all charts."""
    measured = [figure for figure in figures if figure.goal]
    head = 60 + _ROW * len(measured)
    height = head + _PANEL[1] * ceil(len(charts) / 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>Benchmarks</title><style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        *_goals(measured),
    ]
    for place, chart in enumerate(charts):
        x, y = place % 2 * _PANEL[0], head + place // 2 * _PANEL[1]
        parts += [f'<g transform="translate({x} {y})">', *_panel(chart), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _goals(figures: Sequence[Figure]) -> Iterable[str]:
    """A line for each figure: median and middle half as multiples of the goal, which is met left of 1."""
    yield _text(10, 20, "measured by goal: met left of the line, each step a factor of two", "title")
    shares = [[_share(figure, value) for value in (figure.median, *figure.quartiles)] for figure in figures]
    powers = [-1, 0, *(log2(share) for row in shares for share in row)]
    steps = range(floor(min(powers)), ceil(max(powers)) + 2)
    bottom = 40 + _ROW * len(figures)

    def scale(share: float) -> float:
        return _linear(steps[0], steps[-1], _LABELS, _WIDTH - 40)(log2(share))

    for step in steps:
        yield _line(scale(2**step), 30, scale(2**step), bottom, "axis" if step == 0 else "grid")
    yield _text(scale(1), bottom + 14, "goal", "middle")
    for place, (figure, (median, *quartiles)) in enumerate(zip(figures, shares, strict=True)):
        y = 44 + _ROW * place
        colour = _COLOURS[2] if median <= 1 else _COLOURS[1]
        low, high = sorted(map(scale, quartiles))
        label = f"{figure.name} ({figure.goal} {figure.unit})".replace("`", "")
        yield _text(_LABELS - 10, y + 4, label, "end")
        yield f'<path d="M{low:.1f} {y}H{high:.1f}" stroke="{colour}" stroke-width="6" stroke-opacity=".35"/>'
        yield f'<circle cx="{scale(median):.1f}" cy="{y}" r="4" fill="{colour}"/>'
        yield _text(max(high, scale(median)) + 8, y + 4, number(figure.median))


def _share(figure: Figure, value: float) -> float:
    """The value as a multiple of the goal's bound, or the bound as one of the value: 1 at most where met."""
    assert figure.goal
    return value / figure.goal.bound if figure.goal.sign == "≤" else figure.goal.bound / value


def _panel(chart: Chart) -> Iterable[str]:
    left, top, right, bottom = _MARGINS[0], _MARGINS[1], _PANEL[0] - _MARGINS[2], _PANEL[1] - _MARGINS[3]
    points = [point for line in chart.lines.values() for point in line]
    x_ticks, x = _axis([point[0] for point in points], chart.logarithmic, left, right)
    y_ticks, y = _axis([point[1] for point in points], chart.logarithmic, bottom, top)
    yield _text(left, 20, chart.title, "title")
    for tick in y_ticks:
        yield _line(left, y(tick), right, y(tick), "grid")
        yield _text(left - 6, y(tick) + 4, number(tick), "end")
    for tick in x_ticks if chart.logarithmic else sorted({point[0] for point in points}):
        yield _text(x(tick), bottom + 16, number(tick), "middle")
    yield _line(left, bottom, right, bottom, "axis")
    yield _text(right, bottom + 34, f"{chart.x}; upwards: {chart.y}", "end")
    for place, (name, line) in enumerate(chart.lines.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        path = " ".join(f"{x(one):.1f},{y(other):.1f}" for one, other in line)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for one, other in line:
            yield f'<circle cx="{x(one):.1f}" cy="{y(other):.1f}" r="3" fill="{colour}"/>'
        yield f'<text x="{left + 8 + 90 * place}" y="{top - 4}" style="fill:{colour}">{escape(name)}</text>'


def _axis(values: Sequence[float], logarithmic: bool, start: float, end: float) -> tuple[list[float], Scale]:
    """Where an axis has its ticks, and where on it a value lies."""
    if logarithmic:
        low, high = floor(log10(min(values))), ceil(log10(max(values)))
        high = max(high, low + 1)
        scale = _linear(low, high, start, end)
        return [10.0**power for power in range(low, high + 1)], lambda value: scale(log10(value))
    step = 10 ** floor(log10(max(values)))
    if max(values) / step < 3:
        step /= 2
    ticks = [step * count for count in range(ceil(max(values) / step) + 1)]
    return ticks, _linear(0, ticks[-1], start, end)


def _linear(low: float, high: float, start: float, end: float) -> Scale:
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}">{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, style: str) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" class="{style}"/>'
