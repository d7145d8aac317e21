"""When a further charge still keeps a budget, although it may have been chosen in view of earlier results.

A ledger that stops at its budget is a privacy filter: each charge may depend on what was released before. The price of the
charges made, read as if they had been planned, is then no proof: with optimal composition (privacy loss distributions) the
rule "stop when the composed price reaches the budget" is false in general ("f-Differential Privacy Filters", 2026), because
whoever has seen the first results may choose, result by result, the noise that hurts most. So a budget check asks only
these rules, each proven for choices that depend on results, and which one applies is fixed before any noise of it is drawn.

    sums      Events without Gaussian noise: epsilons add and deltas add, path by path. Proof by the last charge: an (e_i,
              d_i) promise is, with probability 1 - d_i, a loss of at most e_i; what is left is (e - e_i, d - d_i), whatever
              was seen (Rogers, Roth, Ullman, Vadhan 2016). So the first event with Gaussian noise finds a budget (e', d')
              that is fixed before its own noise, and that event, itself known before its noise, fixes the terms of the
              two rules below for itself and all that follows.
    renyi     At ONE order, the one at which the budget would take the first event most often: divergences add, path by path,
              up to what converts to (e', d_r - s) (Feldman, Zrnic 2021; a minimum over orders is not covered, different
              results could rely on different orders). Bare promises after it add their deltas up to s, which is set aside
              beforehand: half of d_r (approximate filters, Whitehouse, Ramdas, Rogers, Wu 2023; directly: no promise
              fails with probability at least 1 - s, and given that the factors (1 - d_i) of both worlds cancel).
    plan      Repetitions of the first event, or parts of them, while the best price of c repetitions at d_p is within e'.
              Claim: any plan S, fixed beforehand, bounds whatever part of it is run, in whatever order results suggest.
              Proof: each draw of S has a dominating pair, so (Blackwell) its output is made from one sample of that pair
              by a rule that does not know the data. Draw one sample for each draw of S at the start: everything that
              anyone will see is made from these, and their law is one of two product laws, whose divergence is the price
              of S. (Draws that only have Renyi prices: at every order a path spends at most what S does, so all orders
              hold at once.) The plans "c repetitions" lie in each other, so the largest that fits is fixed beforehand.
              Plain Gaussian noise alone needs no plan: mu^2 adds with the same parameters as without adaptivity (Smith,
              Thakurta 2022, "Fully adaptive composition for Gaussian DP"), so any multipliers may follow each other.

Together. A charge is taken if either rule takes it, with d_r = d' / 10 and d_p = 9 d' / 10. Proof: a path (what was charged
and seen) ends within the renyi rule or within the plan. Each rule also takes everything before the end of such a path, so
on these paths the ledger behaves like one that has this rule only, and they contribute at most d_r, or d_p, to
sum over paths of (P - e^e' Q)_+. If the renyi rule does not even take the first event, it never takes anything, and the plan
has all of d': a training that was calibrated to a budget fits it exactly.

What this does not cover: a budget that is raised in view of results (a new promise from then on, which is why both lines
stay in the chain), and what is learnt from charges for units that no conversion ties to this one.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from textveil.core.errors import BadInput
from textveil.core.events import Event
from textveil.core.units import Adjacency, Unit

from .accountants import Best
from .conversion import gaussian_epsilon
from .draws import Draw, GaussianDraw, PureDraw, StatedDraw, draws_of, sensitivity
from .rdp import ORDERS, ROUNDING, sampled_curve

Bearing = tuple[Draw, Adjacency]  # a draw, and the adjacency it is priced under for the unit in question
Counts = Counter[Bearing]

RENYI_SHARE = 0.1  # of delta; the rest is the plan's
RESERVE = 0.5  # of the renyi rule's delta, for bare promises
_AHEAD = 1.25  # how far beyond the present count a plan is priced, so that the next charges need not be


@dataclass(frozen=True)
class Tally:
    """The charges that bear on one unit under one adjacency, in their order, as far as the rules need it."""

    sums: Counts = field(default_factory=Counter)  # before the first Gaussian noise
    first: frozenset[tuple[Bearing, int]] = frozenset()  # the event that brought it
    rest: Counts = field(default_factory=Counter)  # that event and all after it

    def plus(self, event: Event) -> Tally:
        """The tally after one more event; this one stays as it is."""
        counts = Counter({(draw, event.adjacency): n for draw, n in draws_of(event).items()})
        if self.first:
            return Tally(self.sums, self.first, self.rest + counts)
        if any(isinstance(draw, GaussianDraw) for draw, _ in counts):
            return Tally(self.sums, frozenset(counts.items()), counts)
        return Tally(self.sums + counts, self.first, self.rest)

    def fits(self, epsilon: float, delta: float) -> bool:
        """True when the charges keep (epsilon, delta) whatever each of them depended on."""
        epsilon_left = epsilon - _sum_of_epsilons(self.sums)
        delta_left = delta - _sum_of_deltas(self.sums)
        if epsilon_left < 0 or delta_left < 0:
            return False
        return not self.first or (delta_left > 0 and _fits_with_noise(self, epsilon_left, delta_left))


def _fits_with_noise(tally: Tally, epsilon: float, delta: float) -> bool:
    terms = _renyi_terms(tally.first, epsilon, RENYI_SHARE * delta)
    if terms is not None and terms.take(tally.rest):
        return True
    share = delta if terms is None else (1 - RENYI_SHARE) * delta
    if all(isinstance(draw, GaussianDraw) and draw.sampler == "none" for draw, _ in tally.rest):
        return _gaussian_price(tally.rest, share) <= epsilon
    return _fits_plan(tally.first, tally.rest, epsilon, share)


def _gaussian_price(counts: Counts, delta: float) -> float:
    squares = (n * (sensitivity(adjacency) / draw.multiplier) ** 2 for (draw, adjacency), n in _gaussians(counts))
    return gaussian_epsilon(math.sqrt(math.fsum(squares)), delta)


def _gaussians(counts: Counts) -> list[tuple[tuple[GaussianDraw, Adjacency], int]]:
    return [((draw, adjacency), n) for (draw, adjacency), n in counts.items() if isinstance(draw, GaussianDraw)]


@dataclass(frozen=True)
class RenyiTerms:
    """One order and what may be spent at it, fixed before the first noise."""

    place: int  # of the order in the grid
    most: float  # of the divergence at that order
    reserve: float  # of delta, for bare promises

    def take(self, counts: Mapping[Bearing, int]) -> bool:
        spent = math.fsum(n * float(_curve(draw, adjacency)[self.place]) for (draw, adjacency), n in counts.items())
        return spent <= self.most * (1 + 1e-12) and _sum_of_deltas(counts) <= self.reserve * (1 + 1e-12)


@functools.lru_cache(maxsize=256)
def _renyi_terms(first: frozenset[tuple[Bearing, int]], epsilon: float, delta: float) -> RenyiTerms | None:
    """The order at which the budget takes the first event most often; None when it does not take it at all."""
    counts = dict(first)
    reserve, orders = RESERVE * delta, np.array(ORDERS)
    conversion = np.log1p(-1 / orders) - np.log((delta - reserve) * orders) / (orders - 1)
    most = epsilon - np.maximum(conversion, 0.0)
    curve = sum(n * _curve(draw, adjacency) for (draw, adjacency), n in counts.items())
    with np.errstate(divide="ignore", invalid="ignore"):
        often = np.where((most > 0) & np.isfinite(curve), most / curve, 0.0)
    place = int(np.argmax(often))
    terms = RenyiTerms(place, float(most[place]), reserve)
    return terms if terms.take(counts) else None


@functools.lru_cache(maxsize=1024)
def _curve(draw: Draw, adjacency: Adjacency) -> np.ndarray:
    """A bound on the Renyi divergence of one draw at every order of the grid.

    Poisson sampling under 'replace' goes through the world without the unit, by the weak triangle inequality:
    D_a(P, R) <= (a - 1/2) / (a - 1) D_2a(P, Q) + D_(2a-1)(Q, R)   (Mironov 2017, proposition 11, with p = q = 2).
    """
    orders = np.array(ORDERS)
    match draw:
        case GaussianDraw("none", _, multiplier):
            curve = orders * (sensitivity(adjacency) / multiplier) ** 2 / 2
        case GaussianDraw("poisson", rate, multiplier) if adjacency is Adjacency.REPLACE:
            doubled, below = tuple(2 * orders), tuple(2 * orders - 1)
            curve = (orders - 0.5) / (orders - 1) * sampled_curve("poisson", rate, multiplier, doubled) + sampled_curve(
                "poisson", rate, multiplier, below
            )
            curve = curve + 2 * ROUNDING * orders / (orders - 1)
        case GaussianDraw(sampler, rate, multiplier):
            curve = sampled_curve(sampler, rate, multiplier, ORDERS) + ROUNDING
        case PureDraw(epsilon) | StatedDraw(epsilon):
            curve = np.minimum(epsilon, orders * epsilon**2 / 2)
        case _:
            curve = np.full(len(orders), np.inf)
    return np.where(np.isfinite(curve) & (curve >= 0), curve, np.inf)


@dataclass
class _Known:
    """How many repetitions of a plan were found to fit, and not to."""

    fits: float = 0.0
    fails: float = math.inf


def _fits_plan(first: frozenset[tuple[Bearing, int]], counts: Counts, epsilon: float, delta: float) -> bool:
    once = dict(first)
    if any(bearing not in once for bearing in counts):
        return False
    repeats = max(n / once[bearing] for bearing, n in counts.items())
    known = _known(first, epsilon, delta)
    if repeats > known.fits and repeats < known.fails:
        ahead = repeats * _AHEAD if math.isinf(known.fails) else (repeats + known.fails) / 2
        for tried in (ahead, repeats):
            if _plan_price(once, tried, delta) <= epsilon:
                known.fits = max(known.fits, tried)
                break
            known.fails = min(known.fails, tried)
    return repeats <= known.fits


def _plan_price(once: Mapping[Bearing, int], repeats: float, delta: float) -> float:
    """The best price of so many repetitions, begun ones counted whole."""
    _, adjacency = next(iter(once))  # one event, so one adjacency
    tool = Best()
    tool.draws = Counter({draw: math.ceil(n * repeats) for (draw, _), n in once.items()})
    tool.question = (Unit.USER, adjacency)
    try:
        return tool.epsilon(delta)
    except BadInput:
        return math.inf


@functools.lru_cache(maxsize=256)
def _known(first: frozenset[tuple[Bearing, int]], epsilon: float, delta: float) -> _Known:
    return _Known()


def _sum_of_epsilons(counts: Mapping[Bearing, int]) -> float:
    return math.fsum(n * draw.epsilon for (draw, _), n in counts.items() if isinstance(draw, (PureDraw, StatedDraw)))


def _sum_of_deltas(counts: Mapping[Bearing, int]) -> float:
    return math.fsum(n * draw.delta for (draw, _), n in counts.items() if isinstance(draw, StatedDraw))
