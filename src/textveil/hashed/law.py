"""The law that missing weights are drawn from: fitted to rows of the trained table, then sampled for every other slot.

Two laws over rows of d weights:

    GaussianLaw   N(m, S) of the fitted rows, correlations kept. Whole rows are m + L z with L the Cholesky root of S. A
                  row of which only the weights o are known gets the others m' from their conditional law
                      N(m_m + S_mo S_oo^-1 (x_o - m_o),  S_mm - S_mo S_oo^-1 S_om)
                  again by Cholesky (section 4.2 of the paper).
    KernelLaw     a fitted row chosen at random, plus Gaussian noise of bandwidth h in every column (kernel density
                  estimate), and with chance `floor` a uniform value instead. Known weights tilt the choice of the row
                  by their own kernel. Zeros (slots seen in training but never part of a mistake) are drawn as exact
                  zeros: an atom stays an atom, or the exact zeros of the trained table would stand out.

Trained rows are not Gaussian: most are near 0, a few are large. The kernel law has the right tails, so that a large
trained weight does not stand out; the Gaussian is the paper's, and has a closed divergence.

Why the floor: without it a single removed outlier would leave a gap where the neighbouring law has no mass, and the
divergence would be infinite.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from textveil.core.errors import BadInput
from textveil.noise.source import Source

FLOOR = 1e-5
FEWEST_ROWS = 8  # below that no law is worth its name
_MOST_CENTRES = 1024  # for rows that are partly known


class Law(Protocol):
    """What fills a table."""

    def draw(self, count: int, noise: Source) -> np.ndarray: ...

    def complete(self, rows: np.ndarray, known: np.ndarray, noise: Source) -> np.ndarray: ...


@dataclass(frozen=True)
class GaussianLaw:
    """One Gaussian over whole rows.

    >>> from textveil.noise import seeded
    >>> law = GaussianLaw.fit(np.array([[1.0, -1.0], [3.0, -3.0], [2.0, -2.5], [0.0, 0.5]] * 2))
    >>> np.round(law.mean, 2).tolist(), law.draw(5, seeded(1)).shape
    ([1.5, -1.5], (5, 2))
    """

    mean: np.ndarray
    covariance: np.ndarray

    @classmethod
    def fit(cls, rows: np.ndarray) -> GaussianLaw:
        rows = np.asarray(enough_rows(rows), np.float64)
        mean = rows.mean(axis=0)
        centred = rows - mean
        return cls(mean, centred.T @ centred / len(rows))

    def draw(self, count: int, noise: Source) -> np.ndarray:
        """Independent rows."""
        return self.mean + noise.normals((count, len(self.mean))) @ _root(self.covariance).T

    def complete(self, rows: np.ndarray, known: np.ndarray, noise: Source) -> np.ndarray:
        """The rows with their unknown weights drawn given the known ones; known weights are copied bit by bit."""
        out = np.array(rows, np.float64)
        for pattern, places in _patterns(known):
            if pattern.all():
                continue
            unknown = ~pattern
            mean, root = self.conditional(out[np.ix_(places, pattern)], pattern)
            out[np.ix_(places, unknown)] = mean + noise.normals((len(places), int(unknown.sum()))) @ root.T
        return out

    def conditional(self, values: np.ndarray, pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means (one row per row of `values`) and Cholesky root of the unknown weights, given the known ones."""
        s, unknown = self.covariance, ~pattern
        across = s[np.ix_(unknown, pattern)] @ np.linalg.pinv(s[np.ix_(pattern, pattern)], hermitian=True)
        mean = self.mean[unknown] + (values - self.mean[pattern]) @ across.T
        return mean, _root(s[np.ix_(unknown, unknown)] - across @ s[np.ix_(pattern, unknown)])


@dataclass(frozen=True)
class KernelLaw:
    """Kernel density of the fitted rows, cut at -bound and bound in each column (values beyond are moved to the edge).

    >>> from textveil.noise import seeded
    >>> law = KernelLaw.fit(np.linspace(-1, 1, 50)[:, None])
    >>> law.draw(4, seeded(1)).shape
    (4, 1)
    """

    rows: np.ndarray
    bandwidth: np.ndarray
    bound: np.ndarray
    floor: float = FLOOR

    @classmethod
    def fit(cls, rows: np.ndarray, floor: float = FLOOR) -> KernelLaw:
        rows = np.asarray(enough_rows(rows), np.float64)
        return cls(rows, bandwidth_of(rows), bound_of(rows), floor)

    def draw(self, count: int, noise: Source) -> np.ndarray:
        return self._around(self.rows[noise.below(len(self.rows), count)], noise)

    def complete(self, rows: np.ndarray, known: np.ndarray, noise: Source) -> np.ndarray:
        """As for the Gaussian; at most 1,024 fitted rows, chosen at random, stand for all of them."""
        out = np.array(rows, np.float64)
        centres = self.rows
        if len(centres) > _MOST_CENTRES:
            centres = centres[noise.permutation(len(centres))[:_MOST_CENTRES]]
        for pattern, places in _patterns(known):
            if pattern.all():
                continue
            chosen = _tilted(out[np.ix_(places, pattern)], centres[:, pattern], self.bandwidth[pattern], noise)
            out[np.ix_(places, ~pattern)] = self._around(centres[chosen], noise)[:, ~pattern]
        return out

    def _around(self, drawn: np.ndarray, noise: Source) -> np.ndarray:
        """Kernel noise around weights that are not zero, and the uniform part."""
        drawn += noise.normals(drawn.shape) * self.bandwidth * (drawn != 0)
        if self.floor:
            lifted = np.flatnonzero(noise.uniforms(len(drawn)) < self.floor)
            drawn[lifted] = (2 * noise.uniforms((len(lifted), drawn.shape[1])) - 1) * self.bound
        return np.clip(drawn, -self.bound, self.bound, out=drawn)


def bandwidth_of(rows: np.ndarray) -> np.ndarray:
    """Scott's rule on the weights that are not 0, column by column, rounded to a power of two: so a neighbouring table
    (a few rows less) has the same bandwidth, nearly always.

    >>> bandwidth_of(np.linspace(-1, 1, 50)[:, None]).tolist()
    [0.25]
    """
    moved = rows != 0
    counts = np.maximum(moved.sum(axis=0), 1)
    mean = rows.sum(axis=0) / counts
    spread = np.sqrt((np.square(rows - mean) * moved).sum(axis=0) / counts)
    scott = spread * counts ** (-1.0 / (rows.shape[1] + 4))
    return np.exp2(np.round(np.log2(np.maximum(scott, 1e-30))))


def bound_of(rows: np.ndarray) -> np.ndarray:
    """The power of two at or above the largest weight of each column: like the bandwidth, the same for nearly all
    neighbours.

    >>> bound_of(np.array([[0.3], [-0.6]])).tolist()
    [1.0]
    """
    return np.exp2(np.ceil(np.log2(np.maximum(np.abs(rows).max(axis=0), 1e-30))))


def enough_rows(rows: np.ndarray) -> np.ndarray:
    """The rows (or their places), or one sentence that says why no law can be fitted to them."""
    if len(rows) < FEWEST_ROWS:
        raise BadInput(
            f"only {len(rows)} rows of weights are left to fit the law of the seal to, at least {FEWEST_ROWS} are needed",
            possible="more documents, or a smaller --min-documents",
        )
    return rows


def _root(covariance: np.ndarray) -> np.ndarray:
    """Cholesky root; where columns are exactly dependent (two labels mirror each other) the diagonal is lifted a hair."""
    size = float(np.trace(covariance)) / len(covariance)
    if size <= 0:
        return np.zeros_like(covariance)
    lift = 0.0
    while True:
        try:
            return np.linalg.cholesky(covariance + lift * size * np.eye(len(covariance)))
        except np.linalg.LinAlgError:
            lift = 1e-14 if lift == 0 else lift * 10


def _patterns(known: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each pattern of known weights, with the places of the rows that have it."""
    codes = known @ (1 << np.arange(known.shape[1], dtype=np.int64))
    found = np.unique(codes)
    return [((int(c) >> np.arange(known.shape[1])) % 2 == 1, np.flatnonzero(codes == c)) for c in found]


def _tilted(values: np.ndarray, centres: np.ndarray, bandwidth: np.ndarray, noise: Source) -> np.ndarray:
    """For each row of known values a centre, with chance proportional to the kernel between them.

    Values are first rounded to 1/16 of a bandwidth, so that rows with the same rounded values share one table of
    chances.
    """
    if values.shape[1] == 0:
        return noise.below(len(centres), len(values))
    steps, back = np.unique(np.round(values / bandwidth * 16).astype(np.int64), axis=0, return_inverse=True)
    order = np.argsort(back.ravel(), kind="stable")
    edges = np.searchsorted(back.ravel()[order], np.arange(len(steps) + 1))
    uniforms = noise.open_uniforms(len(values))
    picked = np.empty(len(values), np.int64)
    scaled = centres / bandwidth
    for level, (start, end) in enumerate(itertools.pairwise(edges.tolist())):
        gaps = steps[level] / 16 - scaled
        log = -0.5 * np.einsum("ij,ij->i", gaps, gaps)
        odds = np.cumsum(np.exp(log - log.max()))
        rows = order[start:end]
        picked[rows] = np.searchsorted(odds, uniforms[rows] * odds[-1])
    return np.minimum(picked, len(centres) - 1)


def kernel_mass(reach: int, step: float, bandwidth: float) -> np.ndarray:
    """Chance that Gaussian noise of this bandwidth, rounded to a grid of `step`, moves by -reach .. reach steps."""
    edges = (np.arange(-reach, reach + 2) - 0.5) * step / bandwidth
    heights = np.array([0.5 * math.erfc(-e / math.sqrt(2)) for e in edges])
    return np.diff(heights)
