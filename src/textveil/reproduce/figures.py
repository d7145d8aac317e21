"""Line charts as SVG, in the shape of a paper's figures: panels in a grid, series with intervals, one legend.

Own code, because the core has no plotting library and a result page should look the same wherever it was made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from textveil.reproduce.heat import HeatMap
from textveil.reproduce.verdicts import mean_of

# Okabe and Ito's colours: told apart by nearly everybody, and each series has a marker of its own as well.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
_MARKERS = ("circle", "square", "triangle", "diamond", "cross", "ring")
_WIDTH, _HEIGHT = 380, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 34, 48
_LEGEND = 24
_ROOM = 30  # characters of all marks along a logarithmic axis


@dataclass(frozen=True)
class Series:
    """Points of one arm; `low` and `high` are the ends of its error bars."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    steps: bool = False  # a curve without markers (densities, odds)
    dashed: bool = False
    joined: bool = True  # not: points without an order, such as runs

    @classmethod
    def of(cls, name: str, samples: Mapping[float, Sequence[float]], *, dashed: bool = False) -> Series:
        """Means with 95 % intervals of the runs at each place; places without a run are left out.

        >>> Series.of("crf", {1.0: [0.25, 0.75], 3.0: []}).y
        [0.5]
        """
        points = {x: mean_of(name, runs) for x, runs in samples.items() if len(runs)}
        heights, low, high = ([getattr(m, end) for m in points.values()] for end in ("value", "low", "high"))
        return cls(name, list(points), heights, low, high, dashed=dashed)


@dataclass(frozen=True)
class Panel:
    """One plot. `lines` are horizontal references: (name, height)."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    lines: Sequence[tuple[str, float]] = ()
    log_x: bool = False
    y_range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: its file name, its caption, its panels."""

    name: str
    caption: str
    panels: Sequence[Panel | HeatMap]
    columns: int = 2


def svg(figure: Figure) -> str:
    """The figure as one SVG document.

    >>> svg(Figure("f", "A line", [Panel("p", "x", "y", [Series("s", [0, 1], [0, 1])])]))[:4]
    '<svg'
    """
    columns = min(figure.columns, len(figure.panels))
    rows = math.ceil(len(figure.panels) / columns)
    names = list(dict.fromkeys(s.name for panel in figure.panels for s in panel.series))
    style = {name: (COLOURS[i % len(COLOURS)], _MARKERS[i % len(_MARKERS)]) for i, name in enumerate(names)}
    legend, legend_height = _legend(style, columns * _WIDTH)
    width, height = columns * _WIDTH, rows * _HEIGHT + legend_height
    inner = []
    for i, panel in enumerate(figure.panels):
        x, y = (i % columns) * _WIDTH, (i // columns) * _HEIGHT
        inner.append(f'<g transform="translate({x} {y})">{_inside(panel, style)}</g>')
    inner.append(f'<g transform="translate(0 {rows * _HEIGHT})">{legend}</g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="{escape(figure.caption)}">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(inner)}</svg>\n'
    )


class _Scale:
    """Data to pixels along one axis."""

    def __init__(self, low: float, high: float, start: float, stop: float, log: bool = False):
        self.log = log
        self.low, self.high = low, high if high > low else low + 1
        self._start, self._stop = start, stop

    def __call__(self, value: float) -> float:
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self._start + min(1.0, max(0.0, share)) * (self._stop - self._start)

    def ticks(self) -> list[float]:
        if self.log:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            for steps in ((1, 2, 5), (1,)):
                every = [m * 10.0**e for e in range(first, last + 1) for m in steps]
                shown = [t for t in every if self.low <= t <= self.high * 1.0001]
                if sum(len(_number(t)) for t in shown) <= _ROOM:
                    break
            return shown
        step = _round_step((self.high - self.low) / 5)
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _round_step(rough: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten, upwards."""
    power = 10 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)


def _inside(panel: Panel | HeatMap, style: dict[str, tuple[str, str]]) -> str:
    return panel.drawn(_WIDTH, _HEIGHT) if isinstance(panel, HeatMap) else _panel(panel, style)


def _panel(panel: Panel, style: dict[str, tuple[str, str]]) -> str:
    xs = [v for s in panel.series for v in s.x]
    ys = [v for s in panel.series for v in (*s.y, *(s.low or ()), *(s.high or ())) if math.isfinite(v)]
    ys += [height for _, height in panel.lines]
    low, high = panel.y_range or _padded(ys)
    x = _Scale(min(xs), max(xs), _LEFT, _WIDTH - _RIGHT, panel.log_x)
    y = _Scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    parts = [_axes(panel, x, y)]
    parts += [_reference(name, height, y, i) for i, (name, height) in enumerate(panel.lines)]
    parts += [_series(s, *style[s.name], x, y) for s in panel.series]
    return "".join(parts)


def _padded(values: Iterable[float]) -> tuple[float, float]:
    values = list(values) or [0.0, 1.0]
    low, high = min(values), max(values)
    room = 0.06 * (high - low or abs(high) or 1.0)
    return (0.0 if 0 <= low < 2 * room else low - room), high + room


def _axes(panel: Panel, x: _Scale, y: _Scale) -> str:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = [f'<text x="{_LEFT}" y="20" font-weight="600">{escape(panel.title)}</text>']
    for tick in y.ticks():
        at = y(tick)
        parts.append(f'<line x1="{_LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#e3e3e3"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end" fill="#444">{_number(tick)}</text>')
    for tick in x.ticks():
        at = x(tick)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{bottom}" y2="{bottom + 4}" stroke="#444"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 17}" text-anchor="middle" fill="#444">{_number(tick)}</text>')
    parts.append(f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#444"/>')
    middle = (_LEFT + right) / 2
    parts.append(f'<text x="{middle}" y="{bottom + 36}" text-anchor="middle">{escape(panel.x_label)}</text>')
    centre = (_TOP + bottom) / 2
    parts.append(
        f'<text transform="translate(15 {centre}) rotate(-90)" text-anchor="middle">{escape(panel.y_label)}</text>'
    )
    return "".join(parts)


def _reference(name: str, height: float, y: _Scale, number: int) -> str:
    at, right = y(height), _WIDTH - _RIGHT
    return (
        f'<line x1="{_LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#555" stroke-dasharray="5 4"/>'
        f'<text x="{right - 4}" y="{at - 4:.1f}" text-anchor="end" fill="#555" font-size="11">{escape(name)}</text>'
    )


def _series(series: Series, colour: str, marker: str, x: _Scale, y: _Scale) -> str:
    points = [(x(a), y(b)) for a, b in zip(series.x, series.y, strict=True)]
    path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
    dash = ' stroke-dasharray="6 3"' if series.dashed else ""
    parts = [f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.7"{dash}/>'] if series.joined else []
    if series.low is not None and series.high is not None:
        for (a, _), low, high in zip(points, series.low, series.high, strict=True):
            if math.isfinite(low) and math.isfinite(high):
                parts.append(_whisker(a, y(low), y(high), colour))
    if not series.steps:
        parts += [_marker(marker, a, b, colour) for a, b in points]
    return f"<g><title>{escape(series.name)}</title>{''.join(parts)}</g>"


def _whisker(at: float, low: float, high: float, colour: str) -> str:
    path = f"M{at:.1f} {low:.1f}V{high:.1f}M{at - 3:.1f} {low:.1f}h6M{at - 3:.1f} {high:.1f}h6"
    return f'<path d="{path}" stroke="{colour}" stroke-width="1.2" fill="none"/>'


def _marker(kind: str, x: float, y: float, colour: str) -> str:
    if kind in ("circle", "ring"):
        fill = colour if kind == "circle" else "#fff"
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{fill}" stroke="{colour}" stroke-width="1.4"/>'
    paths = {
        "square": "m-3 -3h6v6h-6z",
        "triangle": "m0 -4l4 7h-8z",
        "diamond": "m0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z",
        "cross": "m-3.2 -3.2l6.4 6.4m0 -6.4l-6.4 6.4",
    }
    fill = "none" if kind == "cross" else colour
    return f'<path d="M{x:.1f} {y:.1f}{paths[kind]}" fill="{fill}" stroke="{colour}" stroke-width="1.4"/>'


def _legend(style: dict[str, tuple[str, str]], width: int) -> tuple[str, int]:
    """Names in rows, as many as fit."""
    x: float = _LEFT
    parts, y = [], 0
    for name, (colour, marker) in style.items():
        needed = 46 + 6.6 * len(name)
        if x > _LEFT and x + needed > width:
            x, y = _LEFT, y + _LEGEND
        line = f'<path d="M{x} {y + 8}h26" stroke="{colour}" stroke-width="1.7"/>'
        parts.append(
            f'{line}{_marker(marker, x + 13, y + 8, colour)}<text x="{x + 32}" y="{y + 12}">{escape(name)}</text>'
        )
        x += needed
    return "".join(parts), y + _LEGEND + 6


def _number(value: float) -> str:
    """
    >>> _number(0.30000000000000004), _number(20.0), _number(0.05), _number(1e6)
    ('.3', '20', '.05', '1M')
    """
    if abs(value) >= 1e6:
        return f"{value / 1e6:.6g}M"
    text = f"{value:.6g}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
