"""Paper 02: from cells to the numbers that its claims are judged by.

A level is [epsilon, N]; cells are found by N / epsilon, on which alone the noise depends. Differences between arms are taken
within a start and then averaged; several measures of one claim share one level of error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from textveil.counts.mechanism import LimitedPrecision
from textveil.counts.spending import scale_for
from textveil.reproduce.measures import by_name, means
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure

Arms = dict[str, dict[str, float]]
Level = Sequence[float]


def runs_of(results: Results, source: str, level: Level | None = None) -> list[Arms]:
    """The arms of each start, with those of the clear counts (which have no level) and of other shares."""
    runs: dict[int, Arms] = {}
    for kind in (source, f"{source}_clear", f"{source}_share"):
        for cell in results.of(kind):
            own = cell.parameters
            if "epsilon" in own and (level is None or own["precision"] / own["epsilon"] != level[1] / level[0]):
                continue
            runs.setdefault(own["seed"], {}).update(cell.result["arms"])
    return [runs[seed] for seed in sorted(runs)]


def at(level: Level | None) -> str:
    """
    >>> at([0.5, 10]), at(None)
    (', eps 0.5, N 10', '')
    """
    return "" if level is None else f", eps {level[0]:g}, N {level[1]:g}"


def values(
    results: Results, *, source: str, arms: list[str], level: Level | None = None, field: str = "jaccard"
) -> list[Measure]:
    """The arms' means at one level."""
    runs = runs_of(results, source, level)
    return means({f"{arm}{at(level)}": [run[arm][field] for run in runs] for arm in arms})


def _paired(
    results: Results,
    source: str,
    pairs: list[list[str]],
    levels: Sequence[Level | None],
    label: str,
    of: Callable[[dict[str, float], dict[str, float]], float],
) -> list[Measure]:
    return means({
        f"{a} {label} {b}{at(level)}": [of(run[a], run[b]) for run in runs_of(results, source, level)]
        for level in levels
        for a, b in pairs
    })  # fmt: skip


def differences(
    results: Results,
    *,
    source: str,
    pairs: list[list[str]],
    levels: Sequence[Level | None] = (None,),
    field: str = "jaccard",
) -> list[Measure]:
    """First arm less second arm, at each level."""
    return _paired(results, source, pairs, levels, "less", lambda a, b: a[field] - b[field])


def relative(
    results: Results, *, source: str, pairs: list[list[str]], levels: Sequence[Level], field: str = "jaccard"
) -> list[Measure]:
    """First arm over second arm, less 1."""
    return _paired(results, source, pairs, levels, "over", lambda a, b: a[field] / b[field] - 1)


def nearer_in_length(
    results: Results, *, source: str, pairs: list[list[str]], levels: Sequence[Level]
) -> list[Measure]:
    """How much farther the second arm's documents are from their true mean length than the first arm's, in nats."""

    def farther(a: dict[str, float], b: dict[str, float]) -> float:
        return abs(math.log(b["length"])) - abs(math.log(a["length"]))

    return _paired(results, source, pairs, levels, "nearer in length than", farther)


def across(
    results: Results, *, source: str, first: list[Any], seconds: list[list[Any]], field: str = "jaccard"
) -> list[Measure]:
    """One arm at its level less other arms at theirs: the paper's comparison of different N."""
    own = [run[first[0]][field] for run in runs_of(results, source, first[1])]
    gaps = {}
    for arm, level in seconds:
        others = [run[arm][field] for run in runs_of(results, source, level)]
        gaps[f"{first[0]}{at(first[1])} less {arm}{at(level)}"] = [a - b for a, b in zip(own, others, strict=True)]
    return means(gaps)


def from_printed(
    results: Results, *, source: str, arm: str, printed: float, level: Level | None = None
) -> list[Measure]:
    """The arm's Jaccard less a printed figure."""
    gaps = [run[arm]["jaccard"] - printed for run in runs_of(results, source, level)]
    return means({f"{arm}{at(level)} less {printed:g}": gaps})


def from_accuracy(results: Results, *, level: Level, arms: list[str], fields: list[str]) -> list[Measure]:
    """Largest distance of precision, recall and F1 to accuracy, over arms, per start."""
    runs = runs_of(results, "lsa", level)
    far = [max(abs(run[arm][f] - run[arm]["accuracy"]) for arm in arms for f in fields) for run in runs]
    return means({f"largest distance of {', '.join(fields)} to accuracy{at(level)}": far})


# ---- exact ones: promises, not measurements --------------------------------------------------------------------------


def true_total(results: Results, *, epsilon: float, words: int, groups: int) -> list[Measure]:
    """What the printed rule eps' = M eps / K really costs."""
    literal = LimitedPrecision(epsilon, 1, groups, "random", budget="paper", prior="uniform")
    return [Measure.exact(f"true epsilon of {epsilon:g} at {words} to {groups}", literal.spending(words).total)]


def cost_over_cost(results: Results, *, epsilon: float, groups: int) -> list[Measure]:
    """The total cost with groups over that without, at the same noise in every cell."""
    plain = LimitedPrecision(epsilon, 1).spending().total
    grouped = LimitedPrecision(epsilon, 1, groups, "random", prior="uniform").spending().total
    return [Measure.exact("cost with groups over cost without, equal noise per cell", grouped / plain)]


def scale_over_scale(results: Results, *, first: Level, second: Level) -> list[Measure]:
    """Noise scale at one level over that at another."""
    ratio = scale_for(first[0], int(first[1])) / scale_for(second[0], int(second[1]))
    return [Measure.exact(f"noise{at(first)} over noise{at(second)}", ratio)]


MEASURES = by_name(
    values, differences, relative, nearer_in_length, across, from_printed, from_accuracy, true_total, cost_over_cost,
    scale_over_scale,
)  # fmt: skip
