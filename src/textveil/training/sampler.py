"""Who takes part in an update, drawn exactly as the plan's event says. Indices only; the secure source by default.

Claim. Poisson: each unit takes part with a chance of at most batch / examples, independently of all others and of
earlier updates. A 64-bit word is compared with floor(chance * 2^64), so the chance is rounded down (by less than
2^-64), never up. The number of units present does not enter the chance; it may differ from the declared number.
Fixed: a uniform subset of `batch` indices, the first of a uniform order; the data must hold exactly the declared
number.
"""

from __future__ import annotations

from fractions import Fraction

from textveil.core import BadInput, Event
from textveil.noise import Source
from textveil.noise.subsets import Indices, fixed_subset, poisson_subset

from .plan import Phase, Plan


class Sampler:
    """The sampler that a plan names.

    >>> from textveil.noise import seeded
    >>> plan = Plan(noise=1.0, batch=3, examples=10, steps=1, sampling="fixed")
    >>> len(Sampler(plan, 10, seeded(1)).draw(plan.phases[0]))
    3
    """

    def __init__(self, plan: Plan, present: int, source: Source) -> None:
        if plan.sampling == "fixed" and present != plan.examples:
            raise BadInput(
                f"fixed-size batches need exactly the declared {plan.examples} examples, and there are others",
                possible="sampling poisson, which never uses the true number",
            )
        self.plan, self.present, self.source = plan, present, source

    @property
    def event(self) -> Event:
        """What all draws of a run cost: the event of the plan that this sampler follows, and of no other."""
        return self.plan.event()

    def draw(self, phase: Phase) -> Indices:
        """Indices of those who take part; under Poisson sampling there may be none."""
        if self.plan.sampling == "fixed":
            return fixed_subset(self.source, self.present, phase.batch)
        return poisson_subset(self.source, self.present, Fraction(phase.batch, self.plan.examples))
