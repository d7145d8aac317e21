"""Which things of many units may be shown: the noise on their counts, and the threshold that follows from it.

Claim. Each unit (an example, a sentence pair, a user) counts at most D0 different things, each once. For one unit that is
there or not there, the things whose noisy count reaches the threshold, and those counts, keep (epsilon, delta). The
derivation, and the four methods, stand in `training.vocabulary`, the first that used it; nothing in it is about words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from textveil.core import GaussianNoise, LaplaceNoise, Stated
from textveil.core.events import RepeatedNoise
from textveil.core.params import choice, open_fraction, positive, positive_integer

from .calibration import gaussian_multiplier

METHODS = ("gaussian", "laplace", "policy", "paper")
SEARCH = 0.8  # share of the zCDP budget of "policy" that finds words; the rest counts them
SLACK = 1e-5  # raises the deviation for arithmetic: see `training.vocabulary` and `training.vocabulary_policy`
GRID = 2.0**32  # of weights of "policy"
_LEAST_DEVIATION = 2**20  # of Gaussian noise, in grid steps


@dataclass(frozen=True)
class Noising:
    """The noise of one vocabulary: what is charged, and the threshold that follows. Public numbers only."""

    method: str
    distinct: int
    multiplier: float  # of all its Gaussian draws together, relative to the contribution; of Laplace, to D0
    threshold_delta: float

    def parts(self) -> tuple[RepeatedNoise, ...]:
        """The draws, as the accountant composes them."""
        threshold = RepeatedNoise(Stated(0.0, self.threshold_delta))
        if self.method == "policy":
            return RepeatedNoise(GaussianNoise(self.searching)), RepeatedNoise(GaussianNoise(self.counting)), threshold
        kind = GaussianNoise if self.method == "gaussian" else LaplaceNoise
        return RepeatedNoise(kind(self.multiplier)), threshold

    @property
    def searching(self) -> float:
        """The multiplier of policy's first draw: zCDP adds, so both draws cost as much as one of `multiplier`."""
        return self.multiplier / math.sqrt(SEARCH)

    @property
    def counting(self) -> float:
        return self.multiplier / math.sqrt(1 - SEARCH)

    def threshold(self) -> float:
        """The count from which a word is shown, before it is rounded up to a whole number.

        >>> [round(noising(1.0, 1e-6, "laplace", d).threshold()) for d in (1, 128, 256)]
        [14, 2302, 4780]
        >>> [round(noising(1.0, 1e-6, "gaussian", d).threshold()) for d in (1, 128, 256)]
        [22, 286, 412]
        >>> round(noising(1 / 256, 1e-6 / 256, "paper", 1).threshold())   # the paper's rule composed 256 times
        10269
        """
        if self.method == "policy":
            return threshold_of(self.searching * (1 + SLACK), self.threshold_delta, self.distinct)
        if self.method == "paper":
            return 1 + self.multiplier * math.log(2 / self.threshold_delta)
        if self.method == "laplace":
            return 1 + self.scale * math.log(self.distinct / (2 * self.threshold_delta))
        from scipy.special import ndtri_exp

        tail = float(ndtri_exp(math.log(-math.expm1(math.log1p(-self.threshold_delta) / self.distinct))))
        return (
            1 - self.scale * tail + 2 / self.grid
        )  # P(noise >= k) <= P(N >= (k - 1) / s): one grid step, and one to spare

    @property
    def scale(self) -> float:
        """Deviation of the Gaussian, or scale of the Laplace noise, on counts."""
        if self.method == "gaussian":
            return self.multiplier * math.sqrt(self.distinct) * (1 + SLACK)
        return self.multiplier * (self.distinct if self.method == "laplace" else 1.0)

    @property
    def grid(self) -> int:
        """Grid steps a count: a power of two."""
        if self.method != "gaussian":
            return 1
        return 1 << max(0, math.ceil(math.log2(_LEAST_DEVIATION / self.scale)))

    def least(self) -> int:
        """The threshold in grid steps, rounded up; of Laplace noise the smallest that its whole-numbered law allows."""
        at = math.ceil(self.threshold() * self.grid)
        if self.method == "laplace":
            while -math.expm1(self.distinct * math.log1p(-self.tail(at - 1))) > self.threshold_delta:
                at += 1
        return at

    def tail(self, k: int) -> float:
        """P(two-sided geometric noise >= k), k above 0, rounded up."""
        return math.exp(-k / self.scale) / (1 + math.exp(-1 / self.scale)) * (1 + 1e-12)


def noising(epsilon: float, delta: float, method: str = "gaussian", distinct: int = 16) -> Noising:
    """The least noise that keeps (epsilon, delta) by itself.

    >>> noising(1.0, 1e-6, "laplace", 128).least()
    2303
    """
    positive("epsilon", epsilon)
    open_fraction("delta", delta)
    choice("method", method, METHODS)
    positive_integer("distinct", distinct)
    if method == "paper":
        return Noising(method, 1, 2 / epsilon, delta)
    if method == "laplace":
        return Noising(method, distinct, 1 / epsilon, delta)
    return Noising(method, distinct, gaussian_multiplier(epsilon, delta / 2), delta / 2)


def threshold_of(sigma: float, delta: float, distinct: int) -> float:
    """The weight that words of one unit alone reach with chance delta at most.

    >>> round(threshold_of(4.4, 5e-7, 64), 1)
    25.0
    """
    from scipy.special import log_ndtr, ndtri_exp

    t = np.arange(1, distinct + 1)
    # z with P(N > z) = 1 - (1 - delta)^(1/t), through logarithms: delta may be far below the resolution of 1 - delta
    tails = np.log(-np.expm1(np.log1p(-delta) / t))
    z = -ndtri_exp(tails)
    assert np.all(log_ndtr(-z) <= tails + 1e-9)
    return float(np.max(1 / np.sqrt(t) + sigma * z)) + 2 / GRID


__all__ = ["GRID", "METHODS", "SLACK", "Noising", "noising", "threshold_of"]
