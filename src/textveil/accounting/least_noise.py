"""The least noise whose price is at most a target, in few prices: an accountant may take seconds for each.

Claim. What is returned was priced and found at most the target. It is the least such one up to the tolerance if more noise
never costs more.
"""

from __future__ import annotations

import math
from collections.abc import Callable

LARGEST = 1e4  # noise beyond this teaches nothing
SMALLEST = 0.05


def least_noise(cost: Callable[[float], float], target: float, high: float, tolerance: float) -> float:
    """The least multiplier up to the tolerance; `high` is known to be enough, and only such ones are returned.

    Epsilon is nearly a power of the noise, so straight lines between logarithms find it in a few prices. They aim a little
    below the target and end when a price falls between it and a tolerance below; where a line does not help, halving does.
    """
    step, low = 1.25, high / 1.25
    while low > SMALLEST and cost(low) <= target:
        high, step = low, step * step
        low = high / step
    low = max(low, SMALLEST)
    if cost(low) <= target:
        return low
    for turn in range(60):
        if high / low <= 1 + tolerance / 4 or cost(high) >= target * (1 - tolerance):
            break
        middle = math.sqrt(low * high) if turn % 3 == 2 else _on_the_line(cost, target * (1 - tolerance / 2), low, high)
        low, high = (low, middle) if cost(middle) <= target else (middle, high)
    return high


def _on_the_line(cost: Callable[[float], float], aim: float, low: float, high: float) -> float:
    above, below = cost(low), cost(high)
    middle = math.sqrt(low * high)
    if not (math.isfinite(above) and 0 < below < aim < above):
        return middle
    share = math.log(above / aim) / math.log(above / below)
    found = low * (high / low) ** share
    return found if low < found < high else middle
