"""From the promise wanted to the noise it needs.

Claim. The answer keeps the promise: it is a multiplier whose own price was computed and found at most the target. It is the
smallest such one up to a relative tolerance, if more noise never costs more (a law that `check_accountant` holds).
Derivation. Bisection on the logarithm of the multiplier. The upper end is always one whose price is known to be low enough,
and the upper end is what is returned, so that rounding and the grid of an accountant can only cost noise, never privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from textveil.core import Adjacency, Approx, BadInput, BadParameter, Event
from textveil.core.params import open_fraction, positive

from .accountant import Accountant
from .conversion import gaussian_mu
from .draws import sensitivity
from .prices import price

BRACKET = (1e-2, 1e5)


def calibrate(
    make_event: Callable[[float], Event],
    target_epsilon: float,
    delta: float | None = None,
    *,
    bracket: tuple[float, float] = BRACKET,
    tolerance: float = 1e-3,
    accountant: Callable[[], Accountant] | None = None,
) -> float:
    """The smallest multiplier in the bracket at which the event costs at most the target.

    >>> from textveil.core import GaussianNoise, Unit
    >>> def event(multiplier):
    ...     return Event(GaussianNoise(multiplier), Unit.USER, Adjacency.ADD_REMOVE, times=10)
    >>> multiplier = calibrate(event, 1.0, 1e-6)
    >>> price(event(multiplier), delta=1e-6).epsilon <= 1.0 < price(event(multiplier * 0.998), delta=1e-6).epsilon
    True
    """
    target = positive("target_epsilon", target_epsilon)
    lowest, highest = positive("bracket", bracket[0]), positive("bracket", bracket[1])
    positive("tolerance", tolerance)
    if lowest >= highest:
        raise BadParameter("bracket", bracket, "a smaller and a larger multiplier")

    def cost(multiplier: float) -> float:
        return _epsilon(make_event(multiplier), delta, accountant)

    low, high = _around(cost, target, lowest, highest)
    while high / low > 1 + tolerance:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if cost(middle) <= target else (middle, high)
    if cost(high) > target:  # an accountant that answers differently the second time must not go unnoticed
        raise BadInput("the price of the calibrated event is not reproducible")
    return high


def laplace_multiplier(epsilon: float, adjacency: Adjacency = Adjacency.ADD_REMOVE) -> float:
    """The Laplace multiplier, relative to the bound on one L1 contribution, that costs at most epsilon.

    >>> laplace_multiplier(0.5), laplace_multiplier(0.5, Adjacency.REPLACE)
    (2.0, 4.0)
    """
    factor = sensitivity(adjacency)
    return _raised(factor / positive("epsilon", epsilon), lambda multiplier: factor / multiplier <= epsilon)


def gaussian_multiplier(epsilon: float, delta: float, adjacency: Adjacency = Adjacency.ADD_REMOVE) -> float:
    """The Gaussian multiplier, relative to the bound on one L2 contribution, that costs at most (epsilon, delta).

    >>> round(gaussian_multiplier(1.0, 1e-6), 4)
    4.2247
    """
    mu = gaussian_mu(positive("epsilon", epsilon), open_fraction("delta", delta))
    factor = sensitivity(adjacency)
    return _raised(factor / mu, lambda multiplier: factor / multiplier <= mu)


def _raised(value: float, enough: Callable[[float], bool]) -> float:
    """The next double, while a division rounded the wrong way."""
    while not enough(value):
        value = math.nextafter(value, math.inf)
    return value


def _epsilon(event: Event, delta: float | None, accountant: Callable[[], Accountant] | None) -> float:
    loss = price(event, delta=delta, accountant=accountant() if accountant else None)
    if not isinstance(loss, Approx):
        raise BadInput(f"a multiplier is calibrated to epsilon and delta, not to a loss of kind '{loss.kind}'")
    if delta is not None and loss.delta > delta:
        raise BadInput(f"the event alone uses delta {loss.delta:.3g} of {delta:.3g}", possible="a larger delta")
    return loss.epsilon


def _around(cost: Callable[[float], float], target: float, lowest: float, highest: float) -> tuple[float, float]:
    """Two multipliers at most a factor 4 apart, the lower too cheap in noise and the upper enough; found from 1 outwards."""
    high = min(max(1.0, lowest), highest)
    while (reached := cost(high)) > target:
        if high == highest:
            raise BadInput(
                f"epsilon {target:.4g} cannot be reached: at the largest multiplier tried ({highest:g}) "
                f"the smallest epsilon is {reached:.4g}"
            )
        high = min(high * 4, highest)
    low = max(high / 4, lowest)
    while low > lowest and cost(low) <= target:
        low, high = max(low / 4, lowest), low
    return (low, low) if low == lowest and cost(low) <= target else (low, high)
