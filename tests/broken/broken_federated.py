"""One round of DP-FedAvg on updates of one number, by the real code of client and server, and with one fault each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from textveil.core import Event, Shape
from textveil.federated.client import unit_weight
from textveil.federated.clipping import clipped
from textveil.federated.messages import Order, Reply
from textveil.federated.plan import RoundPlan
from textveil.federated.rounds import Federation, aggregate, drawn
from textveil.federated.state import RoundState
from textveil.federated.weights import Layout
from textveil.noise import Source

LAYOUT = Layout(("number",), ((),))
START = np.zeros(1, np.float32)


class SoundRound:
    """data: (update, examples) of each unit."""

    name = "federated.dp_fedavg"
    sampling, noise, weighting = "poisson", 2.0, "equal"  # priced at 1.6; the faults below show 4 and more

    def plan(self) -> RoundPlan:
        return RoundPlan(users=2, per_round=1, rounds=1, sampling=self.sampling, clip=1.0, noise=self.noise)

    def event(self, shape: Shape) -> Event:
        return self.plan().event()

    def units(self, plan: RoundPlan, source: Source, present: int) -> list[int]:
        return drawn(plan, source, 1, present)

    def reply(self, unit: tuple[float, int], source: Source) -> Reply:
        update, examples = unit
        order = Order(1, (0,), clip=1.0, weighting=self.weighting)
        own = clipped(np.float32([update]), 1.0, "flat", LAYOUT) * np.float32(unit_weight(order, examples))
        return Reply(0, (0,), own, 1, 1.0)

    def federation(self, plan: RoundPlan) -> Federation:
        return Federation(plan, LAYOUT, START)

    def apply(self, data: Sequence[Any], *, noise: Source) -> float:
        plan = self.plan()
        replies = [self.reply(data[k], noise) for k in self.units(plan, noise, len(data))]
        mean = aggregate(self.federation(plan), RoundState(0, START, 1.0), replies, noise)
        return float(mean[0])


class SoundFixedRound(SoundRound):
    sampling = "fixed"


class WeightsByExamples(SoundRound):
    """A unit with more text counts more; the server checks no length (it would refuse such a sum)."""

    weighting = "examples"

    def reply(self, unit: tuple[float, int], source: Source) -> Reply:
        sent = super().reply(unit, source)
        return Reply(0, tuple(range(unit[1])), sent.total, unit[1], float(unit[1]))


class NoiseOfEachClient(SoundRound):
    """Noise is drawn once for each unit that comes: where nobody comes there is none."""

    def federation(self, plan: RoundPlan) -> Federation:
        return Federation(RoundPlan(users=2, per_round=1, rounds=1, sampling="poisson", clip=1.0), LAYOUT, START)

    def reply(self, unit: tuple[float, int], source: Source) -> Reply:
        sent = super().reply(unit, source)
        assert sent.total is not None
        noise = np.float32(self.noise) * source.normals(1, np.float32)
        return Reply(0, tuple(range(100)), sent.total + noise, 1, 1.0)


class DrawnWithReplacement(SoundFixedRound):
    """As in the paper's simulation: a unit may be drawn several times, and contributes each time."""

    def plan(self) -> RoundPlan:
        return RoundPlan(users=4, per_round=4, rounds=1, sampling="fixed", clip=1.0, noise=2.0)

    def units(self, plan: RoundPlan, source: Source, present: int) -> list[int]:
        return [int(u) for u in source.below(plan.users, plan.per_round)]
