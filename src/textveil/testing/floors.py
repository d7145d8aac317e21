"""What an attacker can certainly do: floors under every honest price, from two worlds whose laws are known in closed form.

Claim. Each floor is the exact epsilon, at a given delta, of one pair of neighbouring worlds that the event allows. Every
accountant that promises less is wrong.

Derivation. In units of C, with noise of multiplier m and v = 1/m^2, the first world draws from a mixture P, the second from
Q, and the smallest delta at epsilon is the integral of (P - e^eps Q)+. Each P - e^eps Q below changes sign once:

    plain, mu apart        gaussian_delta(mu, eps)
    Poisson, one draw      (1-q) N(0) + q N(s) against N(0): the likelihood ratio grows in x, one threshold. s = 1 for
                           add/remove and zero-out; for replace-one a floor as well, since the unit may contribute nothing
    fixed size, replace    all others at -1, the unit at +1 or -1: (1-q) N(-1) + q N(1) against N(-1), so s = 2
    fixed size, zero-out   all others at -1, the unit at +1 or 0: (1-q) N(-1) + q N(1) against (1-q) N(-1) + q N(0). With
                           y = e^(xv) and a = e^eps: q (y^2 - a y e^(v/2)) = (a-1)(1-q), a quadratic with one positive root
"""

from __future__ import annotations

import math
from collections.abc import Callable

from textveil.accounting.conversion import gaussian_delta


def plain_floor(mu: float, delta: float) -> float:
    """Gaussian noise on everybody, the two worlds mu standard deviations apart.

    >>> round(plain_floor(1.0, 1e-5), 4)
    4.3772
    """
    return _smallest(lambda epsilon: gaussian_delta(mu, epsilon), delta)


def sampled_floor(rate: float, mu: float, delta: float) -> float:
    """One draw on a sample, the sampled unit shifting the sum by mu standard deviations.

    >>> sampled_floor(1.0, 1.0, 1e-5) == plain_floor(1.0, 1e-5)
    True
    """
    if rate == 1:
        return plain_floor(mu, delta)

    def smallest_delta(epsilon: float) -> float:
        cut = math.log1p(math.expm1(epsilon) / rate) / mu + mu / 2
        return rate * _above(cut - mu) - (math.expm1(epsilon) + rate) * _above(cut)

    return _smallest(smallest_delta, delta)


def zero_out_floor(rate: float, multiplier: float, delta: float) -> float:
    """One draw on a sample of fixed size; the unit pulls against all others, or contributes nothing."""
    v = 1 / multiplier**2

    def smallest_delta(epsilon: float) -> float:
        a, rest = math.exp(epsilon), math.expm1(epsilon) * (1 - rate) / rate
        half = a * math.exp(v / 2) / 2
        cut = math.log(half + math.sqrt(half * half + rest)) / v
        at = [_above((cut - centre) / multiplier) for centre in (-1.0, 0.0, 1.0)]
        return rate * (at[2] - a * at[1]) - math.expm1(epsilon) * (1 - rate) * at[0]

    return _smallest(smallest_delta, delta)


def _above(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2


def _smallest(delta_at: Callable[[float], float], delta: float) -> float:
    """The largest epsilon found at which delta is still exceeded: bisection from below, so the floor is not overstated."""
    low, high = 0.0, 1.0
    if delta_at(0.0) <= delta:
        return 0.0
    while delta_at(high) > delta:
        low, high = high, high * 2
        if high > 300:
            return low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at(middle) > delta else (low, middle)
    return low
