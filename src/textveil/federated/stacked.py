"""Local training of many units in one pass: the steps of `LocalTraining`, unit by unit, within rounding.

Units are stacked along a first dimension of the weights (`nets.stacked`), so no unit's update depends on another's. A unit
with fewer steps than the others rests at its last; one with a smaller batch is filled up with examples of weight zero.
A net that cannot be stacked is trained unit by unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .local import LocalTraining, LocalUpdate
from .weights import trainable


@dataclass(frozen=True)
class StackedTraining(LocalTraining):
    """LocalTraining, `at_once` units at a time."""

    at_once: int = 10

    def many(self, net: Any, units: Sequence[Sequence[Any]], seeds: Sequence[int]) -> list[LocalUpdate]:
        """The update of each unit; none for a net that cannot be stacked."""
        if not hasattr(net, "stacked_losses"):
            return []
        import torch

        plans = [list(self.batches(own, seed)) for own, seed in zip(units, seeds, strict=True)]
        net.train()
        weights, moving = _stacked(net, len(units))
        begun = [p.detach().clone() for p in moving]
        learner, losses = _Learner(self, moving), torch.zeros(len(units))
        for step in range(max(map(len, plans))):
            active = torch.tensor([float(step < len(own)) for own in plans])
            batch, shares = _joined(net, [own[min(step, len(own) - 1)] for own in plans])
            loss = (net.stacked_losses(weights, len(units), batch) * shares).sum(1)
            learner.step(torch.autograd.grad(loss.sum(), moving), active)
            losses += active * loss.detach()
        change = torch.cat([(p.detach() - b).flatten(1) for p, b in zip(moving, begun, strict=True)], 1).numpy()
        return [
            LocalUpdate(np.ascontiguousarray(own), float(loss) / len(plan), len(plan))
            for own, loss, plan in zip(change, losses, plans, strict=True)
        ]


def _stacked(net: Any, units: int) -> tuple[dict[str, Any], list[Any]]:
    """The weights by name, those that learn once for every unit; and these alone, in their order."""
    own = {name: p.detach().expand(units, *p.shape).contiguous().requires_grad_() for name, p in trainable(net).items()}
    shared = {name: p.detach() for name, p in net.named_parameters() if name not in own}
    return {**shared, **own}, list(own.values())


def _joined(net: Any, batches: Sequence[Sequence[Any]]) -> tuple[Any, Any]:
    """One batch of all units, equally many examples of each, and what share of its unit's mean each example is."""
    import torch

    most = max(map(len, batches))
    filled = [example for own in batches for example in (*own, *[own[0]] * (most - len(own)))]
    shares = [[(place < len(own)) / len(own) for place in range(most)] for own in batches]
    return net.collate(filled), torch.tensor(shares)


class _Learner:
    """SGD, with momentum or not, or Adam, as torch has them, on stacked weights; units that rest do not move."""

    def __init__(self, settings: LocalTraining, weights: list[Any]) -> None:
        self.settings, self.weights, self.steps = settings, weights, 0
        self.first: list[Any] = [0.0] * len(weights)
        self.second: list[Any] = [0.0] * len(weights)

    def step(self, gradients: Sequence[Any], active: Any) -> None:
        import torch

        self.steps += 1
        with torch.no_grad():
            for number, (weight, gradient) in enumerate(zip(self.weights, gradients, strict=True)):
                move = self._direction(number, gradient)
                if not active.all():
                    move = move * active.view(-1, *[1] * (move.dim() - 1))
                weight.sub_(move, alpha=self.settings.rate)

    def _direction(self, number: int, gradient: Any) -> Any:
        if self.settings.optimiser == "sgd":
            return gradient
        if self.settings.optimiser == "momentum":
            self.first[number] = self.settings.momentum * self.first[number] + gradient
            return self.first[number]
        one, two, tiny = 0.9, 0.999, 1e-8  # torch's own
        self.first[number] = one * self.first[number] + (1 - one) * gradient
        self.second[number] = two * self.second[number] + (1 - two) * gradient.square()
        root = (self.second[number] / (1 - two**self.steps)).sqrt() + tiny
        return self.first[number] / (1 - one**self.steps) / root
