"""The transition matrix of noise-and-nearest mechanisms on a line or in a plane, integrated along rays.

Claim. `by_rays` integrates P[M(x) = y] for words.laplace, words.mahalanobis and words.vickrey in one dimension, where the only error is
that of a Gauss quadrature (reported, about 1e-14), and in two dimensions, where the angle is cut into equal steps and the error is
judged by taking the steps apart.

Derivation. The noised point is z = x + r v, the radius r with law Gamma(n, 1/epsilon) independent of the direction v = A^(1/2) u, u
uniform on the sphere (A = I for Laplace). So P[M(x) = y] is the mean over directions of the integral over r of the Gamma density times the
odds of y at z. Along a ray the squared distance to word y is |x - y|^2 + 2 r v.(x - y) + r^2 |v|^2. The last term is the same for all
words, so the order of the words is the order of straight lines in r: it changes where two lines cross, and one walk along the ray
visits the crossings that change the k lowest lines. Between crossings the odds are smooth, and Gauss's rule on 16 nodes (against 10, which gives
the error) does the rest. A line has two directions, and the mean over them is exact; a plane has a circle of them, and the trapezoid rule
on equal angles is used; half the spread of the four interleaved quarter grids bounds its error in practice (each of them is some 16 times coarser
in error than their mean).

Only positive terms are added, so that odds of any size keep their digits. Words with equal vectors share their odds equally.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from textveil.words.laplace import Laplace
from textveil.words.transition.matrix import Transition, from_odds
from textveil.words.vickrey import Vickrey

ANGLES = 2048
_QUARTERS = 4
_FINE, _COARSE = (np.polynomial.legendre.leggauss(n) for n in (16, 10))
_FARTHEST = 700.0  # in units of 1/epsilon: beyond, doubles underflow
_BEYOND = 45.0  # how far past the last word a ray is followed
_LONGEST, _SHORTEST = 4.0, 1e-3  # of one panel
_CELLS = 1_500_000
_ROUNDING = 1e-14

Odds = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Rule:
    """How a mechanism chooses among the words nearest to the noised point."""

    neighbours: int
    odds: Odds  # (points, neighbours) distances -> odds
    constant: bool  # whether the odds depend on the distances at all
    excludes_input: bool


def rule_of(mechanism: Laplace) -> Rule:
    """The rule of the mechanism: the nearest word, or Vickrey's choice."""
    if not isinstance(mechanism, Vickrey):
        return Rule(1, np.ones_like, True, False)
    others = len(mechanism.vectors_) - mechanism.paper_mode
    wanted = min(mechanism.rank or mechanism.k, others)
    if mechanism.rank is not None:
        return Rule(wanted, _always_last, True, mechanism.paper_mode)
    fixed = wanted == 1 or (mechanism.t in (0, 1) and mechanism.k == 2)
    return Rule(wanted, mechanism.odds_given, fixed, mechanism.paper_mode)


def by_rays(mechanism: Laplace, angles: int = ANGLES) -> Transition:
    """Integrate the transition matrix of a mechanism on one- or two-dimensional vectors.

    >>> from textveil.text.vectors import from_arrays
    >>> made = by_rays(Laplace(epsilon=1.0).fit(from_arrays(["a", "b"], [[1.0], [3.0]])))
    >>> np.exp(made.log_odds[0]).round(6).tolist()     # 1 - e^-1 / 2
    [0.81606, 0.18394]
    """
    rule, words = rule_of(mechanism), mechanism.vectors_.matrix.astype(np.float64)
    inputs, dimension = len(words) + 1, words.shape[1]
    directions = _directions(dimension, angles) @ getattr(mechanism, "_root", np.eye(dimension))
    groups = _QUARTERS if dimension == 2 else 1
    sums, errors = np.zeros((groups, inputs, len(words))), np.zeros((inputs, len(words)))
    rays = np.arange(inputs * len(directions))
    block = max(1, _CELLS // (len(words) + 40 * rule.neighbours))
    for start in range(0, len(rays), block):
        which, way = np.divmod(rays[start : start + block], len(directions))
        walk = _Walk(mechanism, rule, which, directions[way])
        walk.run()
        np.add.at(sums, (way[:, None] % groups, which[:, None], np.arange(len(words))[None]), walk.odds)
        np.add.at(errors, which, walk.errors)
    parts = sums / (len(directions) / groups)
    error = errors / len(directions) + (parts.max(axis=0) - parts.min(axis=0)) / 2
    impossible = np.eye(inputs, len(words), dtype=bool) if rule.excludes_input else None
    return from_odds(*(_share_equals(a, words) for a in (parts.mean(axis=0), error)), impossible, _ROUNDING)


class _Walk:
    """Many rays at once, each followed from crossing to crossing."""

    def __init__(self, mechanism: Laplace, rule: Rule, which: np.ndarray, ways: np.ndarray):
        words = mechanism.vectors_.matrix.astype(np.float64)
        points = np.vstack([words, mechanism.vectors_.fallback[None]])[which]
        self.rule, self.epsilon, self.dimension = rule, float(mechanism.epsilon), words.shape[1]
        self.level = ((points[:, None] - words) ** 2).sum(axis=2)  # squared distance at r = 0
        self.slope = 2 * np.einsum("rd,rwd->rw", ways, points[:, None] - words)
        self.bend = (ways**2).sum(axis=1)
        if rule.excludes_input:
            known = which < len(words)
            self.level[known, which[known]], self.slope[known, which[known]] = np.inf, 0.0
        self.odds, self.errors = np.zeros_like(self.level), np.zeros_like(self.level)
        self.reach = min(self.epsilon * mechanism.diameter() + _BEYOND, _FARTHEST) / self.epsilon

    def run(self) -> None:
        """Walk all rays to the end, adding up the odds of each word."""
        rays, r = np.arange(len(self.level)), np.zeros(len(self.level))
        top = np.lexsort((self.slope, self.level), axis=1)[:, : self.rule.neighbours]
        while len(rays):
            place, crossing = self._next_crossing(rays, r, top)
            end = np.minimum(np.minimum(crossing, r + self._panel(rays, r, top)), self.reach)
            self._integrate(rays, r, end, top)
            self._swap(rays, top, place, end == crossing)
            going = end < self.reach
            rays, r, top = rays[going], end[going], top[going]

    def _next_crossing(self, rays: np.ndarray, r: np.ndarray, top: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the next word overtakes: a place q in 0..k-2 (its successor in the order does), or k + the word from outside."""
        level, slope = self.level[rays], self.slope[rays]
        high, steep = np.take_along_axis(level, top, 1), np.take_along_axis(slope, top, 1)
        outside = level - high[:, -1:], steep[:, -1:] - slope
        np.put_along_axis(outside[1], top, -1.0, 1)
        gap = np.concatenate([np.diff(high, axis=1), outside[0]], axis=1)
        speed = np.concatenate([-np.diff(steep, axis=1), outside[1]], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(speed > 0, gap / speed, np.inf)
        place = at.argmin(axis=1)
        return place, np.maximum(at[np.arange(len(rays)), place], r)

    def _panel(self, rays: np.ndarray, r: np.ndarray, top: np.ndarray) -> np.ndarray:
        """How far the integrand is tame: in units of 1/epsilon, and near a word in units of the distance to it."""
        if self.rule.constant:
            return np.full(len(rays), _LONGEST / self.epsilon)
        near = self._distances(rays, r[:, None], top)[:, 0, 0]
        return np.clip(0.7 * near, _SHORTEST / self.epsilon, _LONGEST / self.epsilon)

    def _distances(self, rays: np.ndarray, r: np.ndarray, top: np.ndarray) -> np.ndarray:
        """Distances of the top words at radii r (rays, nodes): (rays, nodes, k)."""
        level, slope = (np.take_along_axis(a[rays], top, 1)[:, None, :] for a in (self.level, self.slope))
        at = r[:, :, None]
        return np.sqrt(np.maximum(level + slope * at + self.bend[rays][:, None, None] * at**2, 0.0))

    def _integrate(self, rays: np.ndarray, start: np.ndarray, end: np.ndarray, top: np.ndarray) -> None:
        fine, coarse = (self._gauss(rule, rays, start, end, top) for rule in (_FINE, _COARSE))
        np.add.at(self.odds, (rays[:, None], top), fine)
        np.add.at(self.errors, (rays[:, None], top), np.abs(fine - coarse))

    def _gauss(
        self, rule: tuple[np.ndarray, np.ndarray], rays: np.ndarray, start: np.ndarray, end: np.ndarray, top: np.ndarray
    ) -> np.ndarray:
        half = (end - start)[:, None] / 2
        r = start[:, None] + half * (rule[0] + 1)
        law = self.epsilon * np.exp(-self.epsilon * r) * (self.epsilon * r) ** (self.dimension - 1)
        distance = self._distances(rays, r, top)
        odds = self.rule.odds(distance.reshape(-1, distance.shape[2])).reshape(distance.shape)
        return np.einsum("rg,rgk->rk", half * rule[1] * law, odds)

    def _swap(self, rays: np.ndarray, top: np.ndarray, place: np.ndarray, now: np.ndarray) -> None:
        """Put the overtaking word in its new place."""
        inner = top.shape[1] - 1
        inside, outside = np.flatnonzero(now & (place < inner)), np.flatnonzero(now & (place >= inner))
        q = place[inside]
        top[inside, q], top[inside, q + 1] = top[inside, q + 1], top[inside, q]
        top[outside, -1] = place[outside] - inner


def _always_last(distance: np.ndarray) -> np.ndarray:
    odds = np.zeros_like(distance)
    odds[:, -1] = 1.0
    return odds


def _directions(dimension: int, angles: int) -> np.ndarray:
    if dimension == 1:
        return np.array([[1.0], [-1.0]])
    turn = 2 * np.pi * (np.arange(angles) + 0.5) / angles
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _share_equals(odds: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Columns of words with equal vectors, averaged."""
    _, group, count = np.unique(words, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    if count.max() == 1:
        return odds
    summed = np.zeros((len(odds), len(count)))
    np.add.at(summed.T, group, odds.T)
    return (summed / count)[:, group]
