"""From "I want epsilon, delta, epochs" to the noise: the multiplier is priced again, so it errs only towards privacy.

Claim. `calibrated(...)` returns a plan whose joint price with `also` (the vocabulary's events, say) is at most epsilon
at delta.
Derivation. Both are draws on the same data, so the accountant composes them; the multiplier is bracketed, the upper end
always one whose price was computed. The cheap Renyi price brackets the answer first: it is an upper bound, so what
keeps the promise under it keeps it under the better accountant too. No noise brings the price below that of `also`
alone, which is what the refusal of an unreachable epsilon says.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from textveil.accounting.least_noise import LARGEST, least_noise
from textveil.core import BadInput, Event, TextveilError
from textveil.core.params import open_fraction, positive

from .plan import TrainingPlan, price_together, steps_for


def calibrated(
    epsilon: float,
    delta: float,
    *,
    batch: int,
    examples: int,
    epochs: float | None = None,
    steps: int | None = None,
    also: Sequence[Event] = (),
    tolerance: float = 1e-3,
    **more: Any,
) -> TrainingPlan:
    """The plan with the least noise that, together with `also`, costs at most epsilon at delta.

    >>> plan = calibrated(1.0, 1e-5, batch=256, examples=14041, epochs=10)
    >>> plan.steps, round(plan.noise, 2), plan.epsilon(1e-5) <= 1.0
    (549, 1.81, True)
    """
    if (epochs is None) == (steps is None):
        raise BadInput("a plan needs epochs or steps, one of them")
    count = steps if steps is not None else steps_for(examples, batch, float(epochs or 0))
    start = TrainingPlan(noise=1.0, batch=batch, examples=examples, steps=count, **more)
    return calibrate_plan(start, epsilon, delta, also=also, tolerance=tolerance)


def calibrate_plan(
    plan: TrainingPlan, epsilon: float, delta: float, *, also: Sequence[Event] = (), tolerance: float = 1e-3
) -> TrainingPlan:
    """The same plan (a schedule keeps its ratios) with the least noise that keeps the promise."""
    target = positive("epsilon", epsilon)
    open_fraction("delta", delta)

    def by(name: str) -> Callable[[float], float]:
        @functools.cache
        def cost(noise: float) -> float:
            return price_together([*also, plan.with_noise(noise).event()], delta, name).epsilon

        return cost

    best = by("best")
    upper = _upper(plan, by("rdp"), best, target)
    if upper is None:
        raise BadInput(_unreachable(plan, target, delta, also, best(LARGEST)))
    noise = least_noise(best, target, upper, tolerance)
    if price_together([*also, plan.with_noise(noise).event()], delta).epsilon > target:
        raise BadInput("the price of the calibrated plan is not reproducible")
    return plan.with_noise(noise)


def _upper(
    plan: TrainingPlan, rdp: Callable[[float], float], best: Callable[[float], float], target: float
) -> float | None:
    """A multiplier that keeps the promise, near the smallest one: by Renyi where that prices the draws, else by the best."""
    try:
        rdp(1.0)
    except TextveilError:
        rdp = best
    for cost in (rdp, best):
        high = 1.0
        while cost(high) > target and high < LARGEST:
            high = min(4 * high, LARGEST)
        if cost(high) <= target:
            return least_noise(cost, target, high, 0.05)
    return None


def _unreachable(plan: TrainingPlan, target: float, delta: float, also: Sequence[Event], least: float) -> str:
    text = f"epsilon {target:.4g} cannot be reached at delta {delta:g}: "
    if also:
        return text + f"with what else is charged the smallest is {_up(least)} (noise {LARGEST:g})"
    return text + f"the smallest for {plan.steps} steps is {_up(least)} (noise {LARGEST:g})"


def _up(value: float) -> str:
    """Rounded up to three digits, so that the figure printed can itself be reached."""
    if not math.isfinite(value) or value <= 0:
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{math.ceil(value / unit) * unit:.4g}"
