"""When a delta is too large to mean anything.

An (epsilon, delta) promise is kept by a mechanism that publishes each unit in clear with probability delta. With n units,
such a mechanism publishes n * delta of them on average: from delta = 1/n on, somebody's data in clear is within the promise.
"""

from __future__ import annotations

from textveil.core.errors import Refused
from textveil.core.losses import downward
from textveil.core.params import fraction, positive_integer


def check_delta(delta: float, units: int, *, allow: bool = False, option: str = "--allow-large-delta") -> None:
    """Raise Refused for a delta at or above 1 / units, unless `allow` is said. `units` is a declared or rounded number.

    >>> check_delta(1e-6, 10_000)
    >>> check_delta(0.2, 59)
    Traceback (most recent call last):
    ...
    textveil.core.errors.Refused: delta 0.2 is at or above 1/n for 59 units: publishing one of them in clear would keep the
    promise. Choose one well below 0.0169, or say --allow-large-delta.
    """
    fraction("delta", delta)
    positive_integer("units", units)
    if delta * units >= 1 and not allow:
        raise Refused(
            f"delta {delta:g} is at or above 1/n for {units} units: publishing one of them in clear would keep the "
            f"promise. Choose one well below {downward(1 / units, 3)}, or say {option}."
        )
