"""Will this plan teach a model anything? Told from public facts before anything is charged.

Claim. If `most_signal(plan, parameters)` is below 1, the noise of all updates together is longer than all that the examples
can say, however much they agree.
Derivation. One update releases (sum of gradients clipped to C + noise of deviation noise * C per parameter) / batch. The
expected sum holds at most `batch` gradients, each of length at most C, so T updates move the sum of all of them by at most
T * C in any direction. The noise of T updates is a vector of expected length about noise * C / batch * sqrt(T * parameters).
The quotient is batch * sqrt(T) / (noise * sqrt(parameters)). It is an upper limit: real gradients disagree, and fall below
the clip, so a plan above 1 may still be hopeless; one below 1 is.

Few updates are a matter of optimisation: with rate r, Adam moves a weight by about r an update.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from .plan import TrainingPlan

FEWEST = 20  # updates; the shortest plan of the shipped defaults that was seen to learn
HELP = "more data helps most, then a larger epsilon, or a public start (--encoder minilm)"


def most_signal(plan: TrainingPlan, parameters: int) -> float:
    """How long all that the examples say can be, at most, in lengths of the noise that is added to it.

    >>> round(most_signal(TrainingPlan(noise=2.0, batch=100, examples=1000, steps=100), 250_000), 2)
    1.0
    """
    power = sum(phase.steps * (phase.batch / plan.multiplier(phase)) ** 2 for phase in plan.phases)
    return math.sqrt(power / max(1, parameters))


def plan_warnings(plan: TrainingPlan, parameters: int, *, asked_batch: int | None = None) -> Iterator[str]:
    """What the plan alone tells, one sentence each: `asked_batch` is the batch before it was cut to the number of units."""
    if plan.steps < FEWEST:
        yield few_updates(plan, asked_batch)
    if most_signal(plan, parameters) < 1:
        yield (
            f"the noise of all {plan.steps:,} updates together is larger than all that {plan.examples:,} {plan.unit}s can "
            f"say ({parameters:,} parameters, noise {plan.noise:.3g} times the clip, batch {plan.batch:,}): the model will "
            f"hardly learn anything; {HELP}"
        )


def few_updates(plan: TrainingPlan, asked_batch: int | None = None) -> str:
    """Say that there are few updates, why, and what gives more."""
    several = "one update" if plan.steps == 1 else f"{plan.steps:,} updates"
    if asked_batch is not None and asked_batch > plan.examples:
        reason = f", because the batch ({asked_batch:,}) is larger than the number of {plan.unit}s ({plan.examples:,})"
    else:
        reason = ""
    smaller = max(1, plan.batch * plan.steps // (2 * FEWEST))
    return (
        f"the plan has only {several}{reason}, too few for most models: a smaller batch (--batch {smaller}) or more --epochs "
        "give more"
    )


__all__ = ["FEWEST", "few_updates", "most_signal", "plan_warnings"]
