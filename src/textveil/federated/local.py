"""What one unit does with the weights it is sent: the local step. Recipes inject others (DP-SGD, TextHide).

A local step gets the net with the weights of the round, the unit's own examples and a number to seed public choices (the
order of examples), and returns what should be *added* to the weights: after minus before, or minus a gradient. It returns
one flat vector over the trainable parameters, in their order, without clipping it: that is the client's part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from textveil.core.params import choice, fraction, positive, positive_integer

from .weights import Flat, flat_of, trainable

OPTIMISERS = ("sgd", "momentum", "adam")


@dataclass(frozen=True)
class LocalUpdate:
    """What a unit found: the vector to add, its mean loss on the way (private; nan: not told), and the steps it took."""

    update: Flat
    loss: float
    steps: int = 1


class LocalStep(Protocol):
    """One unit's work in one round. It must be picklable; `part` is a number that no other call of the run has."""

    @property
    def name(self) -> str: ...

    def __call__(self, net: Any, examples: Sequence[Any], *, seed: int, part: int) -> LocalUpdate: ...


@dataclass(frozen=True)
class LocalTraining:
    """Epochs of minibatches on the unit's own examples, the optimiser begun afresh: FedAvg's local work.

    most: examples of a unit that are used in a round (the first of a fresh order); None uses all.
    """

    optimiser: str = "sgd"
    rate: float = 0.5
    batch: int = 16
    epochs: int = 1
    momentum: float = 0.9
    most: int | None = None

    def __post_init__(self) -> None:
        choice("optimiser", self.optimiser, OPTIMISERS)
        positive("rate", self.rate)
        positive_integer("batch", self.batch)
        positive_integer("epochs", self.epochs)
        fraction("momentum", self.momentum)

    @property
    def name(self) -> str:
        return self.optimiser

    def __call__(self, net: Any, examples: Sequence[Any], *, seed: int, part: int) -> LocalUpdate:
        before = flat_of(net)
        net.train()
        learner, total, steps = self._learner(net), 0.0, 0
        for chosen in self.batches(examples, seed):
            losses = net.losses(net.collate(chosen)).mean()
            learner.zero_grad(set_to_none=True)
            losses.backward()
            learner.step()
            total, steps = total + float(losses.detach()), steps + 1
        return LocalUpdate(flat_of(net) - before, total / max(1, steps), steps)

    def batches(self, examples: Sequence[Any], seed: int) -> Iterator[list[Any]]:
        """What each step reads, in a fresh order every epoch."""
        order = np.random.default_rng(seed)
        for _ in range(self.epochs):
            places = order.permutation(len(examples))[: self.most].tolist()
            for start in range(0, len(places), self.batch):
                yield [examples[i] for i in places[start : start + self.batch]]

    def _learner(self, net: Any) -> Any:
        import torch

        parameters = list(trainable(net).values())
        if self.optimiser == "adam":
            return torch.optim.Adam(parameters, lr=self.rate)
        return torch.optim.SGD(parameters, lr=self.rate, momentum=self.momentum * (self.optimiser == "momentum"))


@dataclass(frozen=True)
class LocalGradient:
    """Minus the gradient of the mean loss over all of a unit's examples (or over one batch of them): FedSGD."""

    batch: int | None = None
    chunk: int = 64  # examples in memory at once; changes no result

    name: str = "gradient"

    def __call__(self, net: Any, examples: Sequence[Any], *, seed: int, part: int) -> LocalUpdate:
        import torch

        places = np.random.default_rng(seed).permutation(len(examples))[: self.batch].tolist()
        parameters = list(trainable(net).values())
        for p in parameters:
            p.grad = torch.zeros_like(p)
        net.train()
        total = 0.0
        for start in range(0, len(places), self.chunk):
            losses = net.losses(net.collate([examples[i] for i in places[start : start + self.chunk]])).sum()
            (losses / len(places)).backward()
            total += float(losses.detach())
        gradient = torch.cat([p.grad.reshape(-1) for p in parameters])  # type: ignore[union-attr]
        return LocalUpdate(-np.asarray(gradient.float().numpy()), total / max(1, len(places)))
