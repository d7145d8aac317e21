"""Topics from noisy counts by someone who knows the noise: Poisson factorisation that deconvolves it.

Model. x_dv ~ Poisson(lambda_dv), lambda = theta phi (documents x topics, topics x words), y = x + two-sided geometric noise
of rate r (a = e^-r). Counts must not have been clamped. Everything here is post-processing: it costs nothing.

Expectation, in closed form. P(x | y) ~ lambda^x / x! a^|y - x|. With Z(y) = sum_x lambda^x / x! a^|y - x|,
    E[x | y] = lambda Z(y - 1) / Z(y),      Z(y) = a^y e^(lambda/a) Q(y + 1, lambda/a) + a^-y e^(lambda a) P(y + 1, lambda a)
for y >= 0 (P, Q the regularised incomplete gamma functions), and lambda a for y < 0: the shift x -> x - 1 in the sum.
Maximisation. The expected counts are shared out over topics, as in Poisson factorisation: theta <- alpha + theta (R phi^T),
phi ~ eta + phi (theta^T R), R = E[x | y] / lambda.

Start. At a few words per cell of noise the likelihood is nearly flat, and a random start goes nowhere. The second moments are
not: noise of different cells is independent with mean 0, so sum_d y_di y_dj (i != j) is an unbiased estimate of the true
co-occurrence, and the diagonal is put right by n Var + sum_d y_di. Its leading directions, made non-negative, are the start.

With compression, cells are groups of words: phi is learnt on groups and dealt out to words by their public or noisy weights.

Source. Schein, Wu, Schofield, Zhou, Wallach 2019 (whose sampler draws x through Bessel variables; here EM with the same law);
moments: Arora et al. 2013; KL factorisation: Lee and Seung 2001.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from textveil.core import BadInput, Estimator
from textveil.core.params import positive, positive_integer
from textveil.counts.public_randomness import public_source

_LOWEST, _HIGHEST, _GRID = -14.0, 9.0, 461  # log lambda, 20 points to a factor e
_TINY, _UNDERFLOW = 1e-12, 1e-280


class NoiseAwareTopics(Estimator):
    """Topics of unclamped noisy counts.

    `components_` holds word chances per topic after `fit`.

    Parameters
    ----------
    topics
        Number of topics.
    rate
        The epsilon / N of the noise on the counts.
    groups
        Group of each word, where the counts are those of groups; topics are then dealt out to words.
    weights
        Public or noisy weight of each word, for dealing out.
    iterations
        Rounds of expectation and maximisation.
    alpha
        Prior of documents over topics.
    eta
        Prior of topics over words.
    seed
        Of the random start; nothing private depends on it.

    Examples
    --------
    >>> truth = np.repeat([[6, 6, 0, 0], [0, 0, 6, 6]], 200, axis=0)
    >>> model = NoiseAwareTopics(2, rate=0.5, iterations=30, seed=1)
    >>> from textveil.noise import seeded
    >>> from textveil.noise.table import table_geometric
    >>> model = model.fit(truth + table_geometric(seeded(1), truth.shape, 2.0))
    >>> sorted(sorted(np.argsort(-t)[:2].tolist()) for t in model.components_)
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        topics: int = 10,
        rate: float = 1.0,
        *,
        groups: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        iterations: int = 100,
        alpha: float = 0.1,
        eta: float = 0.01,
        seed: int | None = None,
    ):
        self.topics = topics
        self.rate = rate
        self.groups = groups
        self.weights = weights
        self.iterations = iterations
        self.alpha = alpha
        self.eta = eta
        self.seed = seed

    def fit(self, Y: Any, y: Any = None) -> Self:
        """Learn topics; `Y` holds noisy counts of words, or of groups where `groups` is given."""
        counts = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
        if counts.ndim != 2 or counts.dtype.kind not in "iu" or counts.shape[0] < 2:
            raise BadInput("noise-aware topics need a table of whole noisy counts of two documents or more")
        topics, rate = positive_integer("topics", self.topics), positive("rate", self.rate)
        phi = moment_topics(counts, topics, rate, seed=self.seed)
        mean_length = max(1.0, float(counts.sum(axis=1).mean()))
        theta = np.full((len(counts), topics), mean_length / topics)
        mean = PosteriorMean(rate, int(counts.max(initial=0)))
        for _ in range(positive_integer("iterations", self.iterations)):
            theta, phi = self._step(counts, theta, phi, mean)
        self.doc_topics_, self.cell_components_ = theta, phi
        self.components_ = phi if self.groups is None else deal_topics(phi, self.groups, self.weights)
        return self

    def _step(
        self, counts: np.ndarray, theta: np.ndarray, phi: np.ndarray, mean: PosteriorMean
    ) -> tuple[np.ndarray, np.ndarray]:
        """One round of expectation and maximisation, in blocks of documents."""
        new_theta, gathered = np.empty_like(theta), np.zeros_like(phi)
        step = max(1, 2_000_000 // counts.shape[1])
        for start in range(0, len(counts), step):
            some = slice(start, start + step)
            rates = np.maximum(theta[some] @ phi, _TINY)
            ratio = mean.over_rate(counts[some], rates)
            new_theta[some] = self.alpha + theta[some] * (ratio @ phi.T)
            gathered += theta[some].T @ ratio
        new_phi = self.eta + phi * gathered
        return new_theta, new_phi / new_phi.sum(axis=1, keepdims=True)


class PosteriorMean:
    """E[x | y, lambda] / lambda = Z(y - 1) / Z(y), tabulated over y and log lambda and interpolated.

    >>> table = PosteriorMean(0.5, 20)
    >>> rate = 1.3
    >>> odds = [rate**x / math.factorial(x) * math.exp(-0.5 * abs(4 - x)) for x in range(60)]
    >>> exact = sum(x * p for x, p in enumerate(odds)) / sum(odds)
    >>> bool(abs(rate * table.over_rate(np.array([4]), np.array([rate]))[0] - exact) < 1e-3)
    True
    """

    def __init__(self, rate: float, largest: int):
        self._grid = np.linspace(_LOWEST, _HIGHEST, _GRID)
        self._below = math.exp(-rate)  # y < 0: E[x] = lambda a
        lambdas = np.exp(self._grid)
        self._table = ratio_of_sums(np.arange(largest + 1), lambdas, rate)

    def over_rate(self, seen: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """E[x | y, lambda] / lambda for each cell."""
        place = (np.log(rates) - _LOWEST) * ((_GRID - 1) / (_HIGHEST - _LOWEST))
        np.clip(place, 0, _GRID - 1.001, out=place)
        left = place.astype(np.int64)
        place -= left
        flat = np.maximum(seen, 0).astype(np.int64) * _GRID + left
        table = self._table.ravel()
        out = table.take(flat)
        out += place * (table.take(flat + 1) - out)
        return np.where(seen < 0, self._below, out)


def ratio_of_sums(y: np.ndarray, lambdas: np.ndarray, rate: float) -> np.ndarray:
    """Z(y - 1) / Z(y) for y >= 0 (rows) and rates (columns), by logarithms."""
    below = y[:, None] - 1
    return np.exp(_log_sum(below, lambdas, rate) - _log_sum(y[:, None], lambdas, rate))


def _log_sum(y: np.ndarray, lambdas: np.ndarray, rate: float) -> np.ndarray:
    """log Z(y), y >= -1."""
    a = math.exp(-rate)
    above = rate * y + lambdas * a + _log_lower_gamma(y + 1, lambdas * a)
    below = -rate * y + lambdas / a + _log_upper_gamma(np.maximum(y + 1, 1), lambdas / a)
    return np.where(y < 0, rate * y + lambdas * a, np.logaddexp(above, np.where(y < 0, -np.inf, below)))


def _log_lower_gamma(s: np.ndarray, x: np.ndarray) -> np.ndarray:
    """log P(s, x); where it underflows, the first terms of its series for x far below s."""
    from scipy.special import gammainc, gammaln

    value = gammainc(np.maximum(s, 1), x)
    series = s * np.log(x) - x - gammaln(s + 1) + np.log1p(x / (s + 1))
    return np.where(value > _UNDERFLOW, np.log(np.maximum(value, _UNDERFLOW)), series)


def _log_upper_gamma(s: np.ndarray, x: np.ndarray) -> np.ndarray:
    """log Q(s, x); where it underflows, the leading terms of its expansion for x far above s."""
    from scipy.special import gammaincc, gammaln

    value = gammaincc(s, x)
    far = (s - 1) * np.log(x) - x - gammaln(s) - np.log1p(-np.minimum((s - 1) / x, 0.9))
    return np.where(value > _UNDERFLOW, np.log(np.maximum(value, _UNDERFLOW)), far)


def moment_topics(
    counts: np.ndarray, topics: int, rate: float, *, seed: int | None = None, rounds: int = 200
) -> np.ndarray:
    """Non-negative factors of the co-occurrences with the noise's part taken out; rows are chances of cells."""
    a = math.exp(-rate)
    variance = 2 * a / (1 - a) ** 2
    table = counts.astype(np.float64)
    together = table.T @ table
    together[np.diag_indices_from(together)] -= len(counts) * variance + table.sum(axis=0)
    values, axes = np.linalg.eigh(together)
    keep = np.argsort(-values)[:topics]
    smooth = np.maximum((axes[:, keep] * np.maximum(values[keep], 0)) @ axes[:, keep].T, 0) + _TINY
    random = public_source(seed)
    width = table.shape[1]
    left, right = (0.5 + random.uniforms((width, topics)) for _ in range(2))
    scale = math.sqrt(smooth.mean() / (left @ right.T).mean())
    left, right = left * scale, right * scale
    for _ in range(rounds):  # Lee and Seung's multiplicative rule for squared error
        left *= (smooth @ right) / (left @ (right.T @ right) + _TINY)
        right *= (smooth.T @ left) / (right @ (left.T @ left) + _TINY)
    phi = (left + right).T + _TINY
    return phi / phi.sum(axis=1, keepdims=True)


def deal_topics(phi: np.ndarray, groups: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Word chances from group chances: within a group in proportion to the weights."""
    groups = np.asarray(groups)
    shares = np.ones(len(groups)) if weights is None else np.maximum(np.asarray(weights, np.float64), 0)
    totals = np.bincount(groups, shares, minlength=phi.shape[1])
    sizes = np.bincount(groups, minlength=phi.shape[1])
    within = np.where(totals[groups] > 0, shares / np.maximum(totals[groups], _TINY), 1 / np.maximum(sizes[groups], 1))
    return phi[:, groups] * within
