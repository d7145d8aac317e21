"""The account of a run under way: steps begun in each phase, and what they cost so far.

So far: the Renyi price of the steps begun (a sum of curves, quick enough for every step), never above the price of the
whole plan when no step was repeated, since fewer steps cost no more. At the end: the best accountant on all steps
begun.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from textveil.accounting.rdp import RDP
from textveil.core import Event

from .plan import TrainingPlan, price_together


class Spent:
    """Counts steps begun; `begun` starts with those of earlier, stopped runs."""

    def __init__(self, plan: TrainingPlan, delta: float, begun: Sequence[int]) -> None:
        self.plan, self.delta, self.begun = plan, delta, list(begun)

    @property
    def repeated(self) -> int:
        """Steps begun beyond the plan."""
        return sum(max(0, n - p.steps) for n, p in zip(self.begun, self.plan.phases, strict=True))

    def begin(self, step: int) -> None:
        self.begun[self.plan.phase_number(step)] += 1

    def event(self) -> Event:
        return self.plan.event(begun=self.begun)

    def total(self) -> float:
        return price_together([self.event()], self.delta).epsilon

    def so_far(self) -> float:
        curve = sum(
            (n * c for n, c in zip(self.begun, self._curves, strict=True) if n), np.zeros(len(self._tool.orders))
        )
        tool = self._tool
        with np.errstate(invalid="ignore"):
            readings = tool._convert(np.array(tool.orders), curve, self.delta)
        rdp = max(0.0, float(np.min(np.where(np.isfinite(curve), readings, np.inf))))
        return rdp if self.repeated else min(rdp, self._whole)

    @functools.cached_property
    def _tool(self) -> RDP:
        return RDP()

    @functools.cached_property
    def _whole(self) -> float:
        return self.plan.epsilon(self.delta)

    @functools.cached_property
    def _curves(self) -> list[np.ndarray]:
        found = []
        for k in range(len(self.plan.phases)):
            one = self.plan.event(begun=[int(k == j) for j in range(len(self.plan.phases))])
            found.append(RDP().compose(one).curve())
        return found
