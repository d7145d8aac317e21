"""What turns a noisy gradient into an update: AdamW or SGD of torch, the rate over time, and the average of the iterates.

All of it works on what was released already, so none of it costs anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import Parameter

from textveil.core.params import choice, fraction, non_negative, positive

OPTIMISERS = ("adamw", "sgd")


def make_optimiser(
    name: str, parameters: Sequence[Parameter], rate: float, *, momentum: float = 0.0, decay: float = 0.0
) -> torch.optim.Optimizer:
    """`adamw` (betas .9, .999) or `sgd`; torch's fused versions."""
    choice("optimiser", name, OPTIMISERS)
    positive("rate", rate)
    if name == "sgd":
        momentum = fraction("momentum", momentum)
        return torch.optim.SGD(parameters, rate, momentum=momentum, weight_decay=non_negative("decay", decay))
    return torch.optim.AdamW(parameters, rate, weight_decay=non_negative("decay", decay), fused=True)


class Average:
    """Exponential average of the weights after each update, corrected for its start.

    >>> weight = Parameter(torch.tensor([1.0]))
    >>> average = Average([weight], 0.9)
    >>> average.update(); average.value(0)
    tensor([1.])
    """

    def __init__(self, parameters: Sequence[Parameter], decay: float) -> None:
        self.parameters, self.decay, self.updates = list(parameters), fraction("average", decay), 0
        self.sums = [torch.zeros_like(p) for p in self.parameters]

    def update(self) -> None:
        self.updates += 1
        with torch.no_grad():
            torch._foreach_lerp_(self.sums, [p.detach() for p in self.parameters], 1 - self.decay)

    def value(self, k: int) -> torch.Tensor:
        return self.sums[k] / (1 - self.decay**self.updates) if self.decay else self.sums[k]

    def load_into_net(self) -> None:
        """The net takes the average for its weights."""
        if self.updates:
            with torch.no_grad():
                for k, p in enumerate(self.parameters):
                    p.copy_(self.value(k))

    def state(self) -> dict[str, Any]:
        return {"updates": self.updates, "sums": self.sums}

    def load(self, state: dict[str, Any]) -> None:
        self.updates, self.sums = state["updates"], list(state["sums"])
