"""Paper 01: from cells to the numbers that its claims are judged by. Every cell gives flat numbers by name."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from textveil.attacks.evidence import lower_limit, upper_limit
from textveil.reproduce.study import Found, Results
from textveil.reproduce.verdicts import Measure, mean_of


def value_of(found: Found, number: str) -> float:
    """A number of a cell; JSON has no infinity, so that one is written as a word."""
    return float(found.result[number])


def mean_over(results: Results, *, kind: str, number: str, label: str, less: str = "", **wanted: Any) -> list[Measure]:
    """The mean over cells (clause types, or document sets), of one number or of its difference to another."""
    values = [value_of(f, number) - (value_of(f, less) if less else 0.0) for f in results.of(kind, **wanted)]
    if any(math.isinf(v) for v in values):
        finite = sum(map(math.isfinite, values))
        return [Measure.exact(f"{label} (finite in {finite} of {len(values)})", math.inf)]
    return [mean_of(label, values)]


def median_over(results: Results, *, kind: str, number: str, label: str, **wanted: Any) -> list[Measure]:
    """The median over cells with the exact interval of order statistics (95 % or more)."""
    from scipy.stats import binom

    values = np.sort([value_of(f, number) for f in results.of(kind, **wanted)])
    n = len(values)
    below = int(binom.ppf(0.025, n, 0.5))
    low, high = (values[below - 1], values[n - below]) if below >= 1 else (-math.inf, math.inf)
    return [Measure(label, float(np.median(values)), float(low), float(high), n)]


def each(
    results: Results, *, kind: str, number: str, label: str = "", name: str = "clause", **wanted: Any
) -> list[Measure]:
    """The number of every cell, as it is."""
    return [
        Measure.exact(f"{label} {f.parameters.get(name, '')}".strip(), value_of(f, number))
        for f in results.of(kind, **wanted)
    ]


def extremes(results: Results, *, kind: str, number: str, label: str, **wanted: Any) -> list[Measure]:
    """Smallest and largest over cells."""
    values = [value_of(f, number) for f in results.of(kind, **wanted)]
    return [Measure.exact(f"smallest {label}", min(values)), Measure.exact(f"largest {label}", max(values))]


def counted(
    results: Results,
    *,
    kind: str,
    number: str,
    label: str,
    low: float = -math.inf,
    high: float = math.inf,
    less: str = "",
) -> list[Measure]:
    """In how many cells the (rounded) number lies between two limits."""
    values = [round(value_of(f, number) - (value_of(f, less) if less else 0.0), 6) for f in results.of(kind)]
    return [Measure.exact(f"{label} (of {len(values)})", sum(low <= v <= high for v in values))]


def share(results: Results, *, kind: str, hits: str, tries: str, label: str, **wanted: Any) -> list[Measure]:
    """A count summed over cells, with the exact binomial interval."""
    found = results.of(kind, **wanted)
    own, total = (sum(int(value_of(f, name)) for f in found) for name in (hits, tries))
    if total == 0:
        return []
    return [
        Measure(label, own / total, lower_limit(own, total, 0.975), upper_limit(own, total, 0.975), total),
    ]


def evidence(results: Results, *, kind: str, attack: str, label: str, **wanted: Any) -> list[Measure]:
    """What an attack found, with its own interval."""
    return [
        Measure(label, *(float(f.result[attack][k]) for k in ("value", "low", "high")), int(f.result[attack]["tries"]))
        for f in results.of(kind, **wanted)
        if attack in f.result
    ]


def least(results: Results, *, kind: str, attack: str, label: str, **wanted: Any) -> list[Measure]:
    """The lower limit (95 %, two-sided) of what an attack reached: only if it exceeds a bound is the bound refuted."""
    return [
        Measure.exact(f"{label}; {m.label}: {m.value:.3f}", m.low)
        for m in evidence(results, kind=kind, attack=attack, label="value", **wanted)
    ]


def falling(results: Results, *, kind: str, numbers: list[str], label: str) -> list[Measure]:
    """In how many cells the numbers fall from each to the next."""
    rows = [[value_of(f, n) for n in numbers] for f in results.of(kind)]
    falls = sum(all(a > b for a, b in pairwise(row)) for row in rows)
    return [Measure.exact(f"{label} (of {len(rows)} models)", falls / len(rows))]


def ratio(results: Results, *, kind: str, number: str, over: str, label: str, **wanted: Any) -> list[Measure]:
    """The mean over cells of one number over another."""
    return [mean_of(label, [value_of(f, number) / value_of(f, over) for f in results.of(kind, **wanted)])]


def rank_correlation(results: Results, *, kind: str, number: str, with_number: str, label: str) -> list[Measure]:
    """Spearman's, over cells, with Fisher's interval."""
    from scipy.stats import spearmanr

    found = results.of(kind)
    n = len(found)
    rho = float(spearmanr([value_of(f, number) for f in found], [value_of(f, with_number) for f in found]).statistic)
    reach = 1.96 / math.sqrt(max(1, n - 3))
    middle = math.atanh(max(-0.999, min(0.999, rho)))
    return [Measure(label, rho, math.tanh(middle - reach), math.tanh(middle + reach), n)]


MEASURES: dict[str, Any] = {
    "mean_over": mean_over,
    "median_over": median_over,
    "each": each,
    "extremes": extremes,
    "counted": counted,
    "share": share,
    "evidence": evidence,
    "falling": falling,
    "least": least,
    "ratio": ratio,
    "rank_correlation": rank_correlation,
}
