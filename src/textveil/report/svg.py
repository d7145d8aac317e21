"""Charts as inline SVG. Lengths along the axis are percentages, so a chart fills any width and its text never shrinks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .html import esc, percent

_HEIGHT = 34
_MIDDLE, _THICK = 14, 16
_ROOM = 0.2  # share of the width that a number takes on a phone


@dataclass(frozen=True)
class Bar:
    """One attack: how often it succeeded, within which limits, against which yardsticks. All are shares of 1."""

    name: str
    detail: str
    value: float
    low: float
    high: float
    chance: float
    allowed: float | None = None
    alarm: bool = False


def success_chart(bars: Iterable[Bar]) -> str:
    """Horizontal bars on one axis from 0 to 100 %, with whiskers, a tick for chance and a diamond for what is allowed."""
    rows = [f"<p>{esc(bar.name)} <span>{esc(bar.detail)}</span></p>{_row(bar)}" for bar in bars]
    return f'<div class="chart">{"".join(rows)}{_axis()}</div>{_legend()}' if rows else ""


def _row(bar: Bar) -> str:
    top = _MIDDLE - _THICK // 2
    css = "bar-alarm" if bar.alarm else "bar"
    spoken = f"success {percent(bar.value)}, between {percent(bar.low)} and {percent(bar.high)}; chance {percent(bar.chance)}"
    parts = [
        f'<rect class="track" x="0" y="{top}" width="100%" height="{_THICK}" rx="3"/>',
        f'<rect class="{css}" x="0" y="{top}" width="{_at(bar.value)}" height="{_THICK}" rx="3"/>',
        _line("chance", bar.chance, bar.chance, top - 5, top + _THICK + 5),
        _line("whisker", bar.low, bar.high, _MIDDLE, _MIDDLE),
        _line("whisker", bar.low, bar.low, _MIDDLE - 4, _MIDDLE + 4),
        _line("whisker", bar.high, bar.high, _MIDDLE - 4, _MIDDLE + 4),
        _diamond(bar.allowed) if bar.allowed is not None else "",
        _value(bar),
    ]
    return f'<svg width="100%" height="{_HEIGHT}" role="img" aria-label="{esc(spoken)}">{"".join(parts)}</svg>'


def _value(bar: Bar) -> str:
    """The number stands behind the whisker (and a diamond close to it), or before the bar's end where there is no room."""
    end = max(bar.high, bar.value, bar.chance)
    if bar.allowed is not None and end <= bar.allowed < end + _ROOM:
        end = bar.allowed
    if end < 1 - _ROOM:
        return f'<text class="value" x="{_at(end)}" dx="11" y="{_MIDDLE + 5}">{percent(bar.value)}</text>'
    place = f'x="{_at(min(bar.value, bar.low))}" dx="-9" y="{_MIDDLE + 5}" text-anchor="end"'
    return f'<text class="value inside" {place}>{percent(bar.value)}</text>'


def _line(css: str, x1: float, x2: float, y1: float, y2: float) -> str:
    return f'<line class="{css}" x1="{_at(x1)}" x2="{_at(x2)}" y1="{y1}" y2="{y2}"/>'


def _diamond(share: float) -> str:
    shape = f"M0 {_MIDDLE - 7}l6 7l-6 7l-6 -7z"
    return f'<svg x="{_at(share)}" y="0" overflow="visible"><path class="allowed" d="{shape}"/></svg>'


def _axis() -> str:
    marks = []
    for share, anchor in ((0.0, "start"), (0.25, "middle"), (0.5, "middle"), (0.75, "middle"), (1.0, "end")):
        marks.append(f'<line class="axis" x1="{_at(share)}" x2="{_at(share)}" y1="4" y2="9"/>')
        marks.append(f'<text x="{_at(share)}" y="23" text-anchor="{anchor}">{share:.0%}</text>')
    line = '<line class="axis" x1="0" x2="100%" y1="4" y2="4"/>'
    return f'<svg width="100%" height="28" aria-hidden="true">{line}{"".join(marks)}</svg>'


def _legend() -> str:
    keys = (
        ('<rect class="bar" y="2" width="18" height="10" rx="2"/>', "attack success"),
        ('<line class="whisker" x1="0" x2="18" y1="7" y2="7"/>', "95 % interval"),
        ('<line class="chance" x1="9" x2="9" y1="0" y2="14"/>', "chance, without the release"),
        ('<path class="allowed" d="M9 1l6 6l-6 6l-6 -6z"/>', "most that the promise allows"),
    )
    inner = "".join(f'<span><svg width="18" height="14" aria-hidden="true">{k}</svg>{t}</span>' for k, t in keys)
    return f'<div class="legend">{inner}</div>'


def histogram(shares: Sequence[float], caption: str) -> str:
    """Columns of equal width, the tallest filling the height."""
    top = max(shares, default=0)
    if top <= 0:
        return ""
    step = 100 / len(shares)
    columns = "".join(
        f'<rect class="bar" x="{i * step + step * 0.08:.3f}%" width="{step * 0.84:.3f}%" '
        f'y="{90 - 90 * share / top:.2f}" height="{90 * share / top:.2f}"><title>{percent(share)}</title></rect>'
        for i, share in enumerate(shares)
    )
    return (
        f'<svg width="100%" height="94" role="img" aria-label="{esc(caption)}">{columns}'
        '<line class="axis" x1="0" x2="100%" y1="91" y2="91"/></svg>'
        f'<p class="small">{esc(caption)}</p>'
    )


def _at(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.3f}%"
