"""Measures that every study shares: from cells to the numbers that claims are judged by.

A claims file names a measure and hands it arguments. `kind` is the kind of the cells, further names pick cells by their
parameters, and `number` is where a number stands in a cell's result: a name, or a list of names (and places) that leads
into nested results. Where a list of numbers stands there (folds, draws), all of them count.

    mean_over(kind="table", number="token_f1", output="crf", noise=1.0, label="CRF at noise 1")

A paper's own measures are built of `sample`, `by_axis`, `by_seed` and `means`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from textveil.attacks.evidence import lower_limit, upper_limit
from textveil.core.errors import BadInput
from textveil.reproduce.study import CellResult, Results
from textveil.reproduce.verdicts import Measure, mean_of, shared_level

Number = str | Sequence[str | int]
Cells = Mapping[str, Any]  # parameters by which cells are picked
MeasureFunction = Callable[..., list[Measure]]

# ---- what measures are built of --------------------------------------------------------------------------------------


def by_name(*functions: MeasureFunction) -> dict[str, MeasureFunction]:
    """Measures by the names that claims files call them.

    >>> list(by_name(mean_over))
    ['mean_over']
    """
    return {function.__name__: function for function in functions}


def values_of(cell: CellResult, number: Number) -> list[float]:
    """All that stands at a place of a cell's result; JSON has no infinity, so that one is written as a word.

    >>> values_of(CellResult({}, {"f1": {"crf": [0.5, 0.75]}}), ["f1", "crf"])
    [0.5, 0.75]
    """
    value: Any = cell.result
    for step in [number] if isinstance(number, str) else number:
        value = value[step]
    return [float(v) for v in value] if isinstance(value, list) else [float(value)]


def value_of(cell: CellResult, number: Number) -> float:
    """The one number at a place of a cell's result."""
    (value,) = values_of(cell, number)
    return value


def sample(results: Results, kind: str, number: Number, **wanted: Any) -> list[float]:
    """A number of all cells of a kind, in the order of the plan."""
    return [value for cell in results.of(kind, **wanted) for value in values_of(cell, number)]


def by_seed(results: Results, kind: str, number: Number, **wanted: Any) -> dict[Any, float]:
    """A number of each cell by its seed (None where cells have no seed)."""
    cells = results.of(kind, **wanted)
    values = {cell.parameters.get("seed"): value_of(cell, number) for cell in cells}
    if len(values) < len(cells):
        raise BadInput(f"several cells of '{kind}' have the same seed", possible="name further parameters")
    return values


def by_axis(results: Results, kind: str, axis: str, number: Number, **wanted: Any) -> dict[float, dict[Any, float]]:
    """A number by a parameter (epsilon, noise) and, within it, by seed; the parameter grows."""
    places = sorted({float(cell.parameters[axis]) for cell in results.of(kind, **wanted)})
    return {place: by_seed(results, kind, number, **{**wanted, axis: place}) for place in places}


def means(samples: Mapping[str, Sequence[float]]) -> list[Measure]:
    """The mean of every labelled sample; their intervals hold together.

    >>> [round(m.high, 2) for m in means({"a": [1.0, 2.0, 3.0], "b": [0.0, 0.0, 0.0]})]
    [5.58, 0.0]
    """
    level = shared_level(len(samples))
    return [mean_of(label, values, level=level) for label, values in samples.items()]


# ---- over cells ------------------------------------------------------------------------------------------------------


def mean_over(
    results: Results, *, kind: str, number: Number, label: str, less: Number = "", scale: float = 1.0, **wanted: Any
) -> list[Measure]:
    """The mean over cells (clause types, document sets, seeds), of one number or of its difference to another."""
    values = [scale * value for value in _differences(results, kind, number, less, **wanted)]
    if any(math.isinf(v) for v in values):
        finite = sum(map(math.isfinite, values))
        return [Measure.exact(f"{label} (finite in {finite} of {len(values)})", math.inf)]
    return [mean_of(label, values)]


def _differences(results: Results, kind: str, number: Number, less: Number, **wanted: Any) -> list[float]:
    first = sample(results, kind, number, **wanted)
    second = sample(results, kind, less, **wanted) if less else [0.0] * len(first)
    return [a - b for a, b in zip(first, second, strict=True)]


def ratio(results: Results, *, kind: str, number: Number, over: Number, label: str, **wanted: Any) -> list[Measure]:
    """The mean over cells of one number over another."""
    pairs = zip(sample(results, kind, number, **wanted), sample(results, kind, over, **wanted), strict=True)
    return [mean_of(label, [a / b for a, b in pairs])]


def paired(
    results: Results,
    *,
    kind: str,
    number: Number,
    first: Cells | Sequence[Cells],
    second: Cells,
    label: str,
    second_kind: str = "",
    how: str = "less",
    **wanted: Any,
) -> list[Measure]:
    """First cells less (or over) second ones, seed by seed; a second cell without a seed stands against every seed.

    Several `first` give a measure each. Those that were not run are left out.
    """
    if second_kind:
        against = by_seed(results, second_kind, number, **second)
    else:
        against = by_seed(results, kind, number, **wanted, **second)
    samples = {}
    for cells in [first] if isinstance(first, Mapping) else first:
        name = label if isinstance(first, Mapping) else f"{label}, {_named(cells)}"
        samples[name] = _seed_by_seed(by_seed(results, kind, number, **wanted, **cells), against, how)
    return means({name: values for name, values in samples.items() if values})


def _seed_by_seed(first: Mapping[Any, float], second: Mapping[Any, float], how: str) -> list[float]:
    same = {seed: second.get(seed, second.get(None)) for seed in first}
    pairs = [(first[seed], other) for seed, other in sorted(same.items()) if other is not None]
    return [a / b if how == "over" else a - b for a, b in pairs]


def _named(cells: Cells) -> str:
    return ", ".join(f"{name} {value:g}" if isinstance(value, float) else f"{value}" for name, value in cells.items())


def median_over(results: Results, *, kind: str, number: Number, label: str, **wanted: Any) -> list[Measure]:
    """The median over cells with the exact interval of order statistics (95 % or more)."""
    from scipy.stats import binom

    values = np.sort(sample(results, kind, number, **wanted))
    n = len(values)
    below = int(binom.ppf(0.025, n, 0.5))
    low, high = (values[below - 1], values[n - below]) if below >= 1 else (-math.inf, math.inf)
    return [Measure(label, float(np.median(values)), float(low), float(high), n)]


def rank_correlation(results: Results, *, kind: str, number: Number, with_number: Number, label: str) -> list[Measure]:
    """Spearman's, over cells, with Fisher's interval."""
    from scipy.stats import spearmanr

    values = sample(results, kind, number)
    rho = float(spearmanr(values, sample(results, kind, with_number)).statistic)
    reach = 1.96 / math.sqrt(max(1, len(values) - 3))
    middle = math.atanh(max(-0.999, min(0.999, rho)))
    return [Measure(label, rho, math.tanh(middle - reach), math.tanh(middle + reach), len(values))]


# ---- counts and attacks, which bring intervals of their own ----------------------------------------------------------


def share(results: Results, *, kind: str, hits: str, tries: str, label: str, **wanted: Any) -> list[Measure]:
    """A count summed over cells, with the exact binomial interval."""
    own, total = (int(sum(sample(results, kind, name, **wanted))) for name in (hits, tries))
    if total == 0:
        return []
    return [Measure(label, own / total, lower_limit(own, total, 0.975), upper_limit(own, total, 0.975), total)]


def evidence(results: Results, *, kind: str, attack: str, label: str, **wanted: Any) -> list[Measure]:
    """What an attack found, with its own interval."""
    measures = []
    for cell in results.of(kind, **wanted):
        if attack in cell.result:
            value, low, high, tries = (value_of(cell, [attack, name]) for name in ("value", "low", "high", "tries"))
            measures.append(Measure(label, value, low, high, int(tries)))
    return measures


def least(results: Results, *, kind: str, attack: str, label: str, **wanted: Any) -> list[Measure]:
    """The lower limit (95 %, two-sided) of what an attack reached: only if it exceeds a bound is the bound refuted."""
    return [
        Measure.exact(f"{label}; {m.label}: {m.value:.3f}", m.low)
        for m in evidence(results, kind=kind, attack=attack, label="value", **wanted)
    ]


# ---- exact ones: what needs no luck, or is said of these very cells --------------------------------------------------


def each(
    results: Results, *, kind: str, number: Number, label: str = "", name: str = "clause", **wanted: Any
) -> list[Measure]:
    """The number of every cell, as it is: for what no draw could change."""
    return [
        Measure.exact(f"{label} {cell.parameters.get(name, '')}".strip(), value)
        for cell in results.of(kind, **wanted)
        for value in values_of(cell, number)
    ]


def extremes(results: Results, *, kind: str, number: Number, label: str, **wanted: Any) -> list[Measure]:
    """Smallest and largest over cells."""
    values = sample(results, kind, number, **wanted)
    return [Measure.exact(f"smallest {label}", min(values)), Measure.exact(f"largest {label}", max(values))]


def counted(
    results: Results,
    *,
    kind: str,
    number: Number,
    label: str,
    low: float = -math.inf,
    high: float = math.inf,
    less: Number = "",
) -> list[Measure]:
    """In how many cells the (rounded) number lies between two limits."""
    values = [round(value, 6) for value in _differences(results, kind, number, less)]
    return [Measure.exact(f"{label} (of {len(values)})", sum(low <= v <= high for v in values))]


def falling(results: Results, *, kind: str, numbers: Iterable[Number], label: str) -> list[Measure]:
    """In how many cells the numbers fall from each to the next."""
    rows = list(zip(*(sample(results, kind, number) for number in numbers), strict=True))
    falls = sum(all(a > b for a, b in pairwise(row)) for row in rows)
    return [Measure.exact(f"{label} (of {len(rows)} models)", falls / len(rows))]


MEASURES = by_name(
    mean_over, ratio, paired, median_over, rank_correlation, share, evidence, least, each, extremes, counted, falling
)
