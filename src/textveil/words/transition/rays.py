"""The transition matrix of noise-and-nearest mechanisms on a line or in a plane, integrated along rays.

Claim. `by_rays` integrates P[M(x) = y] for words.laplace, words.mahalanobis and words.vickrey in one dimension, where
the only error is that of a Gauss quadrature (reported, about 1e-14), and in two dimensions, where the angle is cut
into equal steps and the error is judged by taking the steps apart.

Derivation. The noised point is z = x + r v, the radius r with law Gamma(n, 1/epsilon) independent of the direction v
= A^(1/2) u, u uniform on the sphere (A = I for Laplace). So P[M(x) = y] is the mean over directions of the integral
over r of the Gamma density times the odds of y at z. Along a ray the squared distance to word y is |x - y|^2 + 2 r
v.(x - y) + r^2 |v|^2. The last term is the same for all words, so the order of the words is the order of straight
lines in r: it changes where two lines cross, and one walk along the ray visits the crossings that change the k lowest
lines. Between crossings the odds are constant (the Gamma law then has a closed form) or smooth (Gauss's rule, against
one with fewer nodes, which gives the error). A line has two directions, and the mean over them is exact; a plane has
a circle of them, and the trapezoid rule on equal angles is used, whose error is judged by half the spread of four
interleaved quarter grids: each of them errs some 16 times more than their mean.

Only positive terms are added, so that odds of any size keep their digits. Words with equal vectors share their odds
equally.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from textveil.words.laplace import Laplace
from textveil.words.transition.matrix import Transition, from_odds
from textveil.words.vickrey import Vickrey

ANGLES = 1024
_QUARTERS = 4
_NODES = {1: (16, 11), 2: (8, 6)}  # in a plane the angles err far more than these
_FARTHEST = 700.0  # in units of 1/epsilon: beyond, doubles underflow
_BEYOND = 45.0  # how far past the last word a ray is followed
_LONGEST = {1: 4.0, 2: 2.0}  # panel, in units of 1/epsilon
_SHORTEST = 0.03
_CELLS = 1_500_000
_ROUNDING = 1e-14

Odds = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Rule:
    """How a mechanism chooses among the words nearest to the noised point."""

    neighbours: int
    odds: Odds  # (points, neighbours) distances -> odds
    scale: (
        Odds | None
    )  # how far from the next singularity of the odds the distances put us; None: the odds are constant
    excludes_input: bool


def rule_of(mechanism: Laplace) -> Rule:
    """The rule of the mechanism: the nearest word, or Vickrey's choice."""
    if not isinstance(mechanism, Vickrey):
        return Rule(1, np.ones_like, None, False)
    others = len(mechanism.vectors_) - mechanism.paper_mode
    wanted = min(mechanism.rank or mechanism.k, others)
    if mechanism.rank is not None:
        return Rule(wanted, _always_last, None, mechanism.paper_mode)
    if wanted == 1 or (mechanism.k == 2 and mechanism.t in (0, 1)):
        return Rule(wanted, mechanism.odds_given, None, mechanism.paper_mode)
    if mechanism.k == 2 and not mechanism._is_list():
        t = float(mechanism.t)  # type: ignore[arg-type]
        return Rule(wanted, mechanism.odds_given, lambda d: d @ np.array([t, 1 - t]), mechanism.paper_mode)
    longest = 1 / max(*mechanism._list(), 1e-9)
    return Rule(wanted, mechanism.odds_given, lambda d: np.full(len(d), longest), mechanism.paper_mode)


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
    return from_odds(_share_equals(parts.mean(axis=0), words), _share_equals(error, words), impossible, _ROUNDING)


class _Walk:
    """Many rays at once, each followed from crossing to crossing."""

    def __init__(self, mechanism: Laplace, rule: Rule, which: np.ndarray, ways: np.ndarray):
        self.words = mechanism.vectors_.matrix.astype(np.float64)
        self.points, self.ways = np.vstack([self.words, mechanism.vectors_.fallback[None]])[which], ways
        self.rule, self.epsilon, self.dimension = rule, float(mechanism.epsilon), self.words.shape[1]
        self.barred = np.zeros((len(which), len(self.words)), dtype=bool)
        if rule.excludes_input:
            self.barred = which[:, None] == np.arange(len(self.words))
        self.odds, self.errors = np.zeros(self.barred.shape), np.zeros(self.barred.shape)
        self.reach = min(self.epsilon * mechanism.diameter() + _BEYOND, _FARTHEST) / self.epsilon

    def run(self) -> None:
        """Walk all rays to the end, adding up the odds of each word."""
        rays, r = np.arange(len(self.points)), np.zeros(len(self.points))
        top = self._first_order()
        while len(rays):
            place, crossing = self._next_crossing(rays, r, top)
            end = np.minimum(np.minimum(crossing, self._tame_until(rays, r, top)), self.reach)
            self._integrate(rays, r, end, top)
            self._swap(rays, top, place, end == crossing)
            going = end < self.reach
            rays, r, top = rays[going], end[going], top[going]

    def _first_order(self) -> np.ndarray:
        """The nearest words of each ray's start; of equally near ones those first that come nearer first."""
        level = ((self.points[:, None] - self.words) ** 2).sum(axis=2)
        level[self.barred] = np.inf
        slope = -self.ways @ self.words.T
        return np.lexsort((slope, level), axis=1)[:, : self.rule.neighbours]

    def _next_crossing(self, rays: np.ndarray, r: np.ndarray, top: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the next word overtakes: a place q in 0..k-2 (its successor does), or k-1 + the word from outside.

        |x-w|^2 - |x-l|^2 is taken as (w-l).(w+l-2x), so that near words far away keep their digits.
        """
        ranked = self.words[top]
        inner = self._crossings(rays, ranked[:, :-1], ranked[:, 1:])
        outer = self._crossings(rays, ranked[:, -1:], self.words[None])
        outer[self.barred[rays]] = np.inf
        np.put_along_axis(outer, top, np.inf, 1)
        at = np.concatenate([inner, outer], axis=1)
        place = at.argmin(axis=1)
        return place, np.maximum(at[np.arange(len(rays)), place], r)

    def _crossings(self, rays: np.ndarray, ahead: np.ndarray, behind: np.ndarray) -> np.ndarray:
        """The radius at which each word behind passes the one ahead of it; inf if it never does."""
        gap, speed = 0.0, 0.0
        for axis in range(self.dimension):
            apart = behind[:, :, axis] - ahead[:, :, axis]
            gap = gap + apart * (behind[:, :, axis] + ahead[:, :, axis] - 2 * self.points[rays, axis, None])
            speed = speed + 2 * self.ways[rays, axis, None] * apart
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(speed > 0, gap / speed, np.inf)

    def _tame_until(self, rays: np.ndarray, r: np.ndarray, top: np.ndarray) -> np.ndarray:
        """Where to end a panel. The distance to a word has a kink (in a plane: bends sharply) where the ray passes it;
        before that the odds are tame for about as long as the words at hand, or the pole of the odds, are far."""
        if self.rule.scale is None:
            return np.full(len(rays), np.inf)
        distance = self._distances(rays, r[:, None], top)[:, 0]
        if self.dimension == 1:
            step = 0.6 * self.rule.scale(distance)
        else:
            step = np.maximum(0.7 * distance[:, 0], _SHORTEST / self.epsilon)
        ways = self.ways[rays]
        offset = self.words[top] - self.points[rays, None]
        foot = np.einsum("rkd,rd->rk", offset, ways) / (ways**2).sum(axis=1, keepdims=True)
        passed = np.where(foot > r[:, None], foot, np.inf).min(axis=1)
        longest = _LONGEST[self.dimension] / self.epsilon
        return np.minimum(r + np.clip(step, 1e-12 * self.reach, longest), passed)

    def _distances(self, rays: np.ndarray, r: np.ndarray, top: np.ndarray) -> np.ndarray:
        """Distances of the top words at radii r (rays, nodes): (rays, nodes, k)."""
        square = 0.0
        for axis in range(self.dimension):
            place = self.points[rays, axis, None] + self.ways[rays, axis, None] * r
            square = square + (place[:, :, None] - self.words[top, axis][:, None, :]) ** 2
        return np.sqrt(square)

    def _integrate(self, rays: np.ndarray, start: np.ndarray, end: np.ndarray, top: np.ndarray) -> None:
        if self.rule.scale is None:
            mass = self._mass(start, end)
            odds = self.rule.odds(self._distances(rays, start[:, None], top)[:, 0])
            np.add.at(self.odds, (rays[:, None], top), mass[:, None] * odds)
            return
        fine, coarse = (self._gauss(nodes, rays, start, end, top) for nodes in _NODES[self.dimension])
        np.add.at(self.odds, (rays[:, None], top), fine)
        np.add.at(self.errors, (rays[:, None], top), np.abs(fine - coarse))

    def _mass(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The chance of a radius from start to end: e^-x, times 1 + x in a plane, between the ends."""
        x, step = self.epsilon * start, self.epsilon * (end - start)
        if self.dimension == 1:
            return -np.exp(-x) * np.expm1(-step)
        return np.exp(-x) * np.maximum(-np.expm1(-step) * (1 + x) - step * np.exp(-step), 0.0)

    def _gauss(self, nodes: int, rays: np.ndarray, start: np.ndarray, end: np.ndarray, top: np.ndarray) -> np.ndarray:
        places, weights = np.polynomial.legendre.leggauss(nodes)
        half = (end - start)[:, None] / 2
        r = start[:, None] + half * (places + 1)
        law = self.epsilon * np.exp(-self.epsilon * r) * (self.epsilon * r) ** (self.dimension - 1)
        distance = self._distances(rays, r, top)
        odds = self.rule.odds(distance.reshape(-1, distance.shape[2])).reshape(distance.shape)
        return np.einsum("rg,rgk->rk", half * weights * law, odds)

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
