"""Sites that train under DP-SGD by themselves (paper 08): the local step of `training`, and what it costs each site.

Claim. A site's updates, together over all rounds, cost each of its examples at most `SitePlans.epsilon(site)`, towards
everybody, the server included: noise is added before anything leaves. Sites hold different examples, so one example is
touched by one site only, and the whole run costs it what its own site costs.
Derivation. A round at a site of N examples is `steps` updates of DP-SGD (Poisson batches of expected size B, clip, noise);
the rounds compose: one plan of rounds * steps updates. N is the site's own: with n sites of N / n examples each, the sampling
rate is n times that of the pool, so 20 sites do not cost what one costs. The optimiser begins afresh in each round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from textveil.accounting.account import PartNoise
from textveil.core import Adjacency, BadInput, Event, Stated, Unit
from textveil.federated.local import LocalUpdate
from textveil.federated.weights import flat_of
from textveil.training.calibrate import calibrate_plan
from textveil.training.plan import TrainingPlan, price_together, steps_for
from textveil.training.private_model import rounded

SOURCE = "Abadi et al. 2016 (DP-SGD at each site); sites hold different examples (parallel composition)"


@dataclass(frozen=True)
class PrivateLocalTraining:
    """DP-SGD on a site's own examples. `plans`: one round, by the number of examples that a site has."""

    plans: dict[int, TrainingPlan]
    noise: PartNoise
    rate: float
    optimiser: str = "adamw"
    micro_batch: int = 64

    name: str = "dp-sgd"

    def __call__(self, net: Any, examples: Sequence[Any], *, seed: int, part: int) -> LocalUpdate:
        from textveil.training.engine import PrivateTrainer

        before = flat_of(net)
        trainer = PrivateTrainer(
            net,
            self.plans[len(examples)],
            optimiser=self.optimiser,
            rate=self.rate,
            source=self.noise.of(part),
            micro_batch=self.micro_batch,
        )
        trainer.fit(list(examples))
        return LocalUpdate(flat_of(net) - before, 0.0, self.plans[len(examples)].steps)


@dataclass(frozen=True)
class SitePlans:
    """What each site does over the whole run, and what that costs it."""

    sizes: tuple[int, ...]  # examples of each site: the true numbers choose the plan, the rounded ones are public
    rounds: int  # in which each site takes part
    batch: int
    epochs: float  # local ones, a round
    clip: float
    delta: float
    noise: float | None = None  # the same for all, or
    target: float | None = None  # each site's noise is found for this epsilon

    def __post_init__(self) -> None:
        if (self.noise is None) == (self.target is None):
            raise BadInput("sites under DP-SGD need --epsilon or --noise, one of them", possible="--epsilon 3")
        smallest = min(self.sizes)
        if smallest < 2:
            raise BadInput(
                "a site has a single example: DP-SGD there has nothing to hide it among",
                possible="sites with more examples, or --strategy dp-fedavg, which protects whole sites",
            )

    @cached_property
    def by_size(self) -> dict[int, TrainingPlan]:
        """The plan of one round, by the true size of a site."""
        return {size: self._round_plan(size) for size in sorted(set(self.sizes))}

    def _round_plan(self, size: int) -> TrainingPlan:
        declared = rounded(size)
        batch = min(self.batch, declared)
        plan = TrainingPlan(
            noise=self.noise or 1.0,
            batch=batch,
            examples=declared,
            steps=steps_for(declared, batch, self.epochs),
            clip=self.clip,
        )
        if self.target is None:
            return plan
        whole = calibrate_plan(replace(plan, steps=plan.steps * self.rounds), self.target, self.delta, tolerance=3e-3)
        return plan.with_noise(whole.noise)

    def site_event(self, size: int, rounds: int | None = None) -> Event:
        """What so many rounds (None: all) cost an example of a site of this size: what its own ledger is charged."""
        plan = self.by_size[size]
        count = self.rounds if rounds is None else rounds
        return replace(replace(plan, steps=plan.steps * count).event(), mechanism="federated.fedavg")

    def epsilon(self, size: int, rounds: int | None = None) -> float:
        return price_together([self.site_event(size, rounds)], self.delta).epsilon

    def epsilons(self) -> list[float]:
        """Each site's own price."""
        prices = {size: self.epsilon(size) for size in self.by_size}
        return [prices[size] for size in self.sizes]

    def event(self, rounds: int | None = None) -> Event:
        """What one ledger over all sites is charged: the one event, where all sites have the same; else the largest price
        of a site as a bare promise."""
        events = {size: self.site_event(size, rounds) for size in self.by_size}
        if len({repr(event.noise) for event in events.values()}) == 1:
            return next(iter(events.values()))
        worst = max(self.epsilon(size, rounds) for size in self.by_size)
        first = next(iter(events.values()))
        return Event(
            Stated(worst, self.delta),
            Unit.EXAMPLE,
            Adjacency.ADD_REMOVE,
            assumes=first.assumes,
            source=SOURCE,
            mechanism=first.mechanism,
        )
