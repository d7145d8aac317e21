"""Statistical checks with a declared false-alarm rate.

Each check states a null hypothesis and returns an `Outcome`. If the hypothesis is true, it is rejected with probability at
most `alpha` (for chi-square: close to `alpha`, the law of the statistic being asymptotic; cells are merged until each
expects 25 or more). With the default of one in a million a suite of a thousand checks raises a false alarm once in a
thousand runs, on fresh randomness each time. A check that does not reject proves nothing about the sampler: next to it
belongs one that shows a plausible mistake being rejected by the same check on the same number of draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

ALPHA = 1e-6
SMALLEST_CELL = 25.0

Array = npt.ArrayLike


@dataclass(frozen=True)
class Outcome:
    """A test's statistic, its p-value, and the false-alarm rate it was run at.

    >>> Outcome("ks", 0.2, 1e-9, alpha=1e-6).rejects
    True
    """

    test: str
    statistic: float
    p_value: float
    alpha: float = ALPHA

    @property
    def rejects(self) -> bool:
        return self.p_value < self.alpha

    def __str__(self) -> str:
        return f"{self.test}: statistic {self.statistic:.6g}, p-value {self.p_value:.3g}, alpha {self.alpha:g}"


def ks_test(sample: Array, cdf: Callable[..., Any], alpha: float = ALPHA) -> Outcome:
    """Null hypothesis: the draws are independent with this continuous distribution function. False alarms: at most alpha.

    >>> ks_test((np.arange(1000) + 0.5) / 1000, lambda x: x).rejects
    False
    """
    from scipy import stats

    result = stats.kstest(np.ravel(sample), cdf)
    return Outcome("Kolmogorov-Smirnov", float(result.statistic), float(result.pvalue), alpha)


def two_sample_test(first: Array, second: Array, alpha: float = ALPHA) -> Outcome:
    """Null hypothesis: two independent samples follow the same continuous law. False alarms: about alpha.

    >>> two_sample_test(range(1000), range(2000, 3000)).rejects
    True
    """
    from scipy import stats

    result = stats.ks_2samp(np.ravel(first), np.ravel(second), method="asymp")
    return Outcome("two-sample Kolmogorov-Smirnov", float(result.statistic), float(result.pvalue), alpha)


def chi_square_test(observed: Array, probabilities: Array, alpha: float = ALPHA) -> Outcome:
    """Null hypothesis: counts are multinomial with these cell probabilities. False alarms: about alpha.

    Neighbouring cells that expect too little are merged, from the left. What the probabilities lack to 1 is one more cell,
    for which `observed` may hold a last count. A single hit in a cell of probability 0 rejects.

    >>> chi_square_test([480, 520], [0.5, 0.5]).rejects
    False
    """
    from scipy import stats

    counts, expected = _with_tail(np.asarray(observed, float), np.asarray(probabilities, float))
    if (impossible := counts[expected == 0].sum()) > 0:
        return Outcome("chi-square (hits in cells of probability 0)", float(impossible), 0.0, alpha)
    counts, expected = _merged(counts, expected)
    statistic = float((((counts - expected) ** 2) / expected).sum())
    return Outcome("chi-square", statistic, float(stats.chi2.sf(statistic, len(counts) - 1)), alpha)


def binomial_test(hits: int, tries: int, probability: float, alpha: float = ALPHA) -> Outcome:
    """Null hypothesis: hits ~ Binomial(tries, probability). Exact and two-sided; false alarms: at most alpha.

    >>> binomial_test(700, 1000, 0.5).rejects
    True
    """
    from scipy import stats

    below = stats.binom.cdf(hits, tries, probability)
    above = stats.binom.sf(hits - 1, tries, probability)
    return Outcome("binomial", hits / tries if tries else 0.0, min(1.0, 2.0 * float(min(below, above))), alpha)


def at_once(outcomes: Sequence[Outcome]) -> Outcome:
    """The most extreme of several tests, its p-value multiplied by their number: together they keep one false-alarm rate.

    >>> at_once([Outcome("a", 1.0, 0.02), Outcome("b", 2.0, 0.5)]).p_value
    0.04
    """
    worst = min(outcomes, key=lambda o: o.p_value)
    name = f"{worst.test} (worst of {len(outcomes)})"
    return Outcome(name, worst.statistic, min(1.0, worst.p_value * len(outcomes)), worst.alpha)


def assert_accepted(outcome: Outcome, what: str = "") -> None:
    """Fail, naming statistic, p-value and alpha, if the null hypothesis is rejected."""
    if outcome.rejects or math.isnan(outcome.p_value):
        raise AssertionError(f"{what + ': ' if what else ''}rejected by {outcome}")


def assert_rejected(outcome: Outcome, what: str = "") -> None:
    """Fail if the null hypothesis is NOT rejected: a check's power on a known mistake."""
    if not outcome.rejects:
        raise AssertionError(f"{what + ': ' if what else ''}not rejected by {outcome}")


def assert_ks(sample: Array, cdf: Callable[..., Any], alpha: float = ALPHA) -> None:
    """`ks_test`, as an assertion with false-alarm rate alpha."""
    assert_accepted(ks_test(sample, cdf, alpha))


def assert_two_sample(first: Array, second: Array, alpha: float = ALPHA) -> None:
    """`two_sample_test`, as an assertion with false-alarm rate about alpha."""
    assert_accepted(two_sample_test(first, second, alpha))


def assert_chi_square(observed: Array, probabilities: Array, alpha: float = ALPHA) -> None:
    """`chi_square_test`, as an assertion with false-alarm rate about alpha."""
    assert_accepted(chi_square_test(observed, probabilities, alpha))


def assert_binomial(hits: int, tries: int, probability: float, alpha: float = ALPHA) -> None:
    """`binomial_test`, as an assertion with false-alarm rate alpha."""
    assert_accepted(binomial_test(hits, tries, probability, alpha))


def _with_tail(
    counts: npt.NDArray[np.float64], probabilities: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Counts and what they are expected to be, with a cell for the probability that was not listed."""
    if counts.ndim != 1 or probabilities.ndim != 1 or (probabilities < 0).any() or probabilities.sum() > 1 + 1e-9:
        raise ValueError("counts and probabilities must be one-dimensional, and probabilities must not exceed 1 in sum")
    if len(counts) not in (len(probabilities), len(probabilities) + 1):
        raise ValueError("there must be one count per probability, and at most one more for the rest")
    rest = 1.0 - probabilities.sum()
    listed = np.zeros(len(probabilities) + 1)
    listed[: len(counts)] = counts
    return listed, np.append(probabilities, rest if rest > 1e-12 else 0.0) * counts.sum()


def _merged(
    counts: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Neighbouring cells joined until each expects enough; a last small cell joins the one before it."""
    cells: list[list[float]] = [[0.0, 0.0]]
    for count, mean in zip(counts, expected, strict=True):
        if cells[-1][1] >= SMALLEST_CELL:
            cells.append([0.0, 0.0])
        cells[-1][0] += count
        cells[-1][1] += mean
    if len(cells) > 1 and cells[-1][1] < SMALLEST_CELL:
        count, mean = cells.pop()
        cells[-1][0] += count
        cells[-1][1] += mean
    if len(cells) < 2:
        raise ValueError(f"too few draws: two cells that expect {SMALLEST_CELL:g} or more are needed")
    merged = np.array(cells)
    return merged[:, 0], merged[:, 1]
