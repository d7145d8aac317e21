"""Numbers: runs of 1 to 15 digits, drawn among those with as many digits.

Metric. The leading digits of a number, three at most, are its place i on a grid of n = 10, 100 or 1,000 points. Two numbers
of as many digits are 10 |i - i'| / (n - 1) apart: one step is a tenth of the range, and no two are more than ten apart.
Numbers with the same leading digits have distance 0.

Claim. The leading digits are moved by two-sided geometric noise of rate epsilon * 10 / (n - 1), cut off at the ends
(lattice.py); all further digits are drawn evenly. Then P[M(a) = y] <= exp(epsilon d(a, b)) P[M(b) = y].

Derivation. The place has a ratio of at most exp(rate |i - i'|) = exp(epsilon d); the further digits have one law for all
inputs and are independent of it.

The number of digits passes. Leading zeros are digits. "20.50" and "1,234" are two numbers each, as texts are cut.
"""

from __future__ import annotations

import numpy as np

from textveil.noise import Source
from textveil.words.kinds import lattice

MOST_DIGITS, GRID_DIGITS, DIAMETER = 15, 3, 10.0


def distance(first: str, second: str) -> float:
    """
    >>> distance("120", "121") == 10 / 999, distance("0", "9"), distance("12345", "12399")
    (True, 10.0, 0.0)
    """
    if len(first) != len(second):
        return np.inf
    digits = min(len(first), GRID_DIGITS)
    return DIAMETER * abs(int(first[:digits]) - int(second[:digits])) / (10**digits - 1)


def draw(numbers: list[str], epsilon: float, noise: Source) -> list[str]:
    """A number of as many digits for each."""
    digits = np.array([min(len(number), GRID_DIGITS) for number in numbers])
    points = 10**digits
    places = np.array([int(number[:GRID_DIGITS]) for number in numbers])
    drawn = lattice.draw(places, points, epsilon * DIAMETER / (points - 1), noise)
    further = [max(len(number) - GRID_DIGITS, 0) for number in numbers]
    rest = iter(noise.below(10, sum(further)).tolist())
    return [
        f"{place:0{size}d}" + "".join(str(next(rest)) for _ in range(more))
        for place, size, more in zip(drawn.tolist(), digits.tolist(), further, strict=True)
    ]
