"""The Gaussian mechanism, exactly: between mu, epsilon and delta, rounded towards privacy.

Claim. Two normal laws of variance 1 whose means are mu apart differ by at most (epsilon, delta) iff

    delta >= Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu).

Derivation. The log likelihood ratio is normal with mean mu^2/2 and variance mu^2; the right-hand side is the hockey-stick
divergence. Draws of multipliers m_i compose to mu = factor * sqrt(sum 1/m_i^2), again exactly. zCDP: rho = mu^2 / 2.
Source. Balle and Wang 2018, "Improving the Gaussian mechanism for differential privacy", theorem 8.
"""

from __future__ import annotations

import math

from textveil.core.errors import BadParameter
from textveil.core.params import non_negative, open_fraction, positive

# Both sides are rounded by one part in 10^9, far above what double precision loses and far below what anyone reads.
_SLACK = 1e-9
MOST = 1e12  # epsilon: beyond it double precision has no digits left for the tail


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The smallest delta at this epsilon.

    >>> round(gaussian_delta(1.0, 1.0), 6)
    0.126937
    """
    return math.exp(_log_delta(positive("mu", mu), non_negative("epsilon", epsilon)))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon at this delta, rounded up.

    >>> round(gaussian_epsilon(1.0, 1e-5), 4)
    4.3772
    """
    from scipy.optimize import brentq

    target = math.log(open_fraction("delta", delta)) - _SLACK
    positive("mu", mu)
    if _log_delta(mu, 0.0) <= target:
        return 0.0
    above = mu * mu / 2 + mu * math.sqrt(-2 * target) + 1e-9  # a tail bound: delta <= P[loss > epsilon]
    exact = brentq(lambda e: _log_delta(mu, e) - target, 0.0, above, xtol=1e-14, rtol=1e-14)
    return float(exact) * (1 + _SLACK)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu that keeps (epsilon, delta), rounded down: priced again, it is never above epsilon."""
    if positive("epsilon", epsilon) > MOST:
        raise BadParameter("epsilon", epsilon, f"at most {MOST:g}: what is larger protects nobody")
    low, high = 0.0, 1.0
    while gaussian_epsilon(high, delta) <= epsilon:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_epsilon(middle, delta) <= epsilon else (low, middle)
    return low


def _log_delta(mu: float, epsilon: float) -> float:
    from scipy.special import log_ndtr  # late: only Gaussian noise needs scipy

    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return first + math.log(-math.expm1(second - first)) if second < first else -math.inf
