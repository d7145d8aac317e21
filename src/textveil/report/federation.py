"""The rounds of a federated model: two curves by round, a score and the epsilon spent, and how a round went."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.facts import FederationRun
from .html import esc, number, table, tag

SAMPLINGS = {
    "fixed": "rounds of one size, drawn without replacement",
    "poisson": "each joins a round by a coin",
    "in-turn": "in a public order, each once in a tree of rounds; noise is correlated over rounds",
    "cycle": "one after the other",
}
_HEIGHT, _TOP = 150, 8
Points = Sequence[tuple[float, float]]


def rounds_section(run: FederationRun | None) -> str:
    """The curves side by side with their figures, and each site's own price."""
    if run is None:
        return ""
    drawn = curve(run.scores, f"{run.score} by round") if run.scores else ""
    drawn += curve(run.spent, "epsilon spent by round", from_zero=True) if run.spent else ""
    return drawn + _sites(run) + _refused(run)


def federation_rows(run: FederationRun) -> list[tuple[str, object]]:
    """The plan as names and values."""
    each = "on average" if run.sampling == "poisson" else "each"
    rows: list[tuple[str, object]] = [
        ("rounds", f"{run.rounds:,} with {run.per_round:,} of {run.units:,} {run.unit}s {each}"),
        ("who takes part", SAMPLINGS.get(run.sampling, run.sampling)),
        ("local work", run.local),
    ]
    if run.clip is not None:
        rows.append(("clip of an update", f"{number(run.clip)} ({run.clipping})"))
    if run.noise is not None:
        rows.append(("noise", f"{number(run.noise)} times the clip, drawn once a round"))
    return rows


def curve(points: Points, caption: str, *, from_zero: bool = False) -> str:
    """A line over rounds. It fills any width: the drawing is stretched, its text stands beside it.

    >>> "<polyline" in curve([(1, 5.0), (2, 4.0)], "loss by round")
    True
    """
    xs, ys = [x for x, _ in points], [y for _, y in points]
    low, high = 0.0 if from_zero else min(ys), max(ys)
    left, wide, tall = min(xs), (max(xs) - min(xs)) or 1.0, (high - low) or 1.0
    room = _HEIGHT - 2 * _TOP
    places = [(1000 * (x - left) / wide, _HEIGHT - _TOP - room * (y - low) / tall) for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    if len(places) == 1:
        line += f" 1000,{places[0][1]:.1f}"
    spoken = f"{caption}: from {number(ys[0])} to {number(ys[-1])}"
    svg = (
        f'<svg width="100%" height="{_HEIGHT}" viewBox="0 0 1000 {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{esc(spoken)}"><line class="axis" x1="0" x2="1000" y1="{_HEIGHT - 1}" y2="{_HEIGHT - 1}" '
        'vector-effect="non-scaling-stroke"/>'
        f'<polyline class="curve" points="{line}" vector-effect="non-scaling-stroke"/></svg>'
    )
    span = f"drawn from {number(low)} to {number(high)}"
    ends = f"round {xs[0]:g}: {number(ys[0])}; round {xs[-1]:g}: {number(ys[-1])} ({span})"
    return tag("div", tag("p", esc(_capital(caption))) + svg + tag("p", esc(ends), "small"), "below")


def _sites(run: FederationRun) -> str:
    if not run.site_epsilons:
        return ""
    rows = [(esc(f"site {k}"), esc(number(epsilon))) for k, epsilon in enumerate(run.site_epsilons[:50], start=1)]
    said = "What the training costs an example, by site: each site's price follows from its own number of examples."
    return tag("div", tag("p", said, "small") + table(("Site", "Epsilon of its own examples"), rows), "below")


def _refused(run: FederationRun) -> str:
    if not run.refused:
        return ""
    rows = [(esc(name), esc(f"{count:,}")) for name, count in sorted(run.refused.items())]
    said = "Left out of rounds; whoever is left out contributes zero, which the price covers."
    return tag("div", tag("p", said, "small") + table(("Who and why", "Times"), rows), "below")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
