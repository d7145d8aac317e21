"""From an event to the draws that an accountant composes: one canonical form, so order and grouping cannot matter.

Claim. Every priced event is a multiset of draws, each bounded for the event's adjacency:

    GaussianDraw(sampler, rate, multiplier)   Gaussian noise of multiplier * C on a sample of the units
    PureDraw(e)                               an e-private draw
    StatedDraw(e, d)                          a bare (e, d) promise: it adds, and nothing finer is known of it
    MetricNoise, CountNoise                   noise whose price is a distance times epsilon; it adds

Derivation.
- Sensitivity. C bounds one unit's contribution, so two neighbouring sums differ by at most factor * C: 1 when the unit is
  added, removed or zeroed out, 2 when it is replaced (C on one side, -C on the other).
- Laplace of scale m * C on an L1 contribution is pure with e = factor / m, in any dimension.
- Several Gaussians on the same sample are one Gaussian: 1/m^2 = sum of 1/m_i^2 (sufficient statistic).
- Sampling at rate q turns a pure e into ln(1 + q (exp(e) - 1)): Poisson sampling for every adjacency, fixed size for
  replace-one (Balle, Barthe, Gaboardi 2018, "Privacy amplification by subsampling").
- Fixed-size sampling has no add/remove price: the two worlds would have different sizes, while the size is public.
- Fixed size under zero-out is priced as replace-one with 2C. That bounds it, because a unit that contributes nothing is one
  of the units it could be replaced by. The sensitivity C would be too cheap: whoever is drawn in the place of a unit that
  was not drawn also moves the sum, so with all others at -C the three sums are -C, 0 and +C (tests hold the counterexample).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from textveil.core import (
    Adjacency,
    BadInput,
    CountNoise,
    Event,
    FixedSampled,
    GaussianNoise,
    LaplaceNoise,
    MetricNoise,
    Noise,
    PoissonSampled,
    RepeatedNoise,
    Stated,
    Together,
)

SENSITIVITY = {Adjacency.ADD_REMOVE: 1.0, Adjacency.ZERO_OUT: 1.0, Adjacency.REPLACE: 2.0}


@dataclass(frozen=True, order=True)
class GaussianDraw:
    """Gaussian noise on the sum over a sample; the multiplier is relative to the bound C on one contribution."""

    sampler: str  # "none", "poisson" or "fixed"
    rate: float
    multiplier: float


@dataclass(frozen=True, order=True)
class PureDraw:
    epsilon: float


@dataclass(frozen=True, order=True)
class StatedDraw:
    epsilon: float
    delta: float


Draw = GaussianDraw | PureDraw | StatedDraw | MetricNoise | CountNoise
Draws = Counter[Draw]


def sensitivity(adjacency: Adjacency) -> float:
    """How far two neighbouring sums can be apart, in units of the bound on one contribution.

    >>> sensitivity(Adjacency.REPLACE)
    2.0
    """
    if adjacency not in SENSITIVITY:
        raise BadInput(f"noise on a sum has no price under '{adjacency}'", possible=", ".join(SENSITIVITY))
    return SENSITIVITY[adjacency]


def draws_of(event: Event) -> Draws:
    """The draws of an event, each with its count. The only place where `times` is multiplied.

    >>> from textveil.core import Unit
    >>> once = Event(GaussianNoise(2.0), Unit.USER, Adjacency.REPLACE, times=3)
    >>> draws_of(once)
    Counter({GaussianDraw(sampler='none', rate=1.0, multiplier=2.0): 3})
    """
    found: Draws = Counter()
    for draw, count in _once(event.noise, event.adjacency).items():
        found[draw] += count * event.times
    return found


def _once(noise: Noise, adjacency: Adjacency) -> Draws:
    match noise:
        case GaussianNoise(multiplier):
            sensitivity(adjacency)  # refuses an adjacency without one
            return Counter({GaussianDraw("none", 1.0, float(multiplier)): 1})
        case LaplaceNoise(multiplier):
            return Counter({PureDraw(sensitivity(adjacency) / multiplier): 1})
        case Stated(epsilon, delta):
            return Counter({StatedDraw(float(epsilon), float(delta)): 1})
        case PoissonSampled(probability, inner):
            return _sampled("poisson", probability, inner, adjacency)
        case MetricNoise() | CountNoise():
            return Counter({noise: 1})
        case FixedSampled(population, batch, inner):
            if adjacency is Adjacency.ADD_REMOVE:
                raise BadInput(
                    "sampling a fixed number of units has no price under 'add_remove'", possible="replace, zero_out"
                )
            everyone = batch == population
            return _sampled("fixed", batch / population, inner, adjacency if everyone else Adjacency.REPLACE)
        case RepeatedNoise(inner, times):
            return _times(_once(inner, adjacency), times)
        case Together(parts) if parts:
            return _sum(_once(part, adjacency) for part in parts)
    raise BadInput(f"noise of kind '{noise.kind}' has no price")


def _times(draws: Draws, times: int) -> Draws:
    return Counter({draw: count * times for draw, count in draws.items()})


def _sum(parts: Iterable[Draws]) -> Draws:
    total: Draws = Counter()
    for part in parts:
        total.update(part)
    return total


def _sampled(sampler: str, rate: float, inner: Noise, adjacency: Adjacency) -> Draws:
    """Everything inside one sampling step sees the same sample, so it is joined first and amplified afterwards."""
    draws = _once(inner, adjacency)
    if rate == 1:
        return draws
    if all(isinstance(d, GaussianDraw) and d.sampler == "none" for d in draws):
        multiplier = joint_multiplier((d.multiplier, n) for d, n in draws.items() if isinstance(d, GaussianDraw))
        return Counter({GaussianDraw(sampler, float(rate), multiplier): 1})
    if all(isinstance(d, PureDraw) for d in draws):
        epsilon = math.fsum(d.epsilon * n for d, n in draws.items() if isinstance(d, PureDraw))
        return Counter({PureDraw(amplified(epsilon, rate)): 1})
    raise BadInput(
        "a sampling step is priced for Gaussian or for Laplace noise inside it, not for other kinds or a mix"
    )


def joint_multiplier(draws: Iterable[tuple[float, int]]) -> float:
    """The one Gaussian that tells as much as several on the same sum.

    >>> joint_multiplier([(2.0, 4)])
    1.0
    """
    terms = [(multiplier, count) for multiplier, count in draws]
    if len(terms) == 1 and terms[0][1] == 1:
        return terms[0][0]
    return 1 / math.sqrt(math.fsum(count / multiplier**2 for multiplier, count in terms))


def amplified(epsilon: float, rate: float) -> float:
    """ln(1 + rate (exp(epsilon) - 1)), without overflow.

    >>> amplified(1.0, 1.0), round(amplified(1.0, 0.01), 5)
    (1.0, 0.01704)
    """
    if rate == 1:
        return epsilon
    if epsilon > 30:
        return epsilon + math.log(rate) + math.log1p((1 - rate) / rate * math.exp(-epsilon))
    return math.log1p(rate * math.expm1(epsilon))
