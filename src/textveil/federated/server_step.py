"""From the mean update of a round to the next weights: added as it is, with momentum, or by Adam. Free: it is released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from textveil.core.params import choice, fraction, positive

from .weights import Flat

KINDS = ("average", "momentum", "adam")


@dataclass(frozen=True)
class ServerStep:
    """average: weights + rate * mean (FedAvg with rate 1); momentum and adam treat minus the mean as a gradient
    (Reddi et al. 2021, "Adaptive federated optimization"; `decay` makes adam AdamW).

    >>> step = ServerStep("average", rate=0.5)
    >>> step(np.float32([2.0]), {}).tolist()
    [1.0]
    """

    kind: str = "average"
    rate: float = 1.0
    momentum: float = 0.9
    second: float = 0.99
    tiny: float = 1e-3
    decay: float = 0.0

    def __post_init__(self) -> None:
        choice("server step", self.kind, KINDS)
        positive("rate", self.rate)
        fraction("momentum", self.momentum)

    def __call__(self, mean: Flat, memory: dict[str, Any], weights: Flat | None = None) -> Flat:
        """What to add to the weights; `memory` is kept from round to round."""
        if self.kind == "average":
            return np.float32(self.rate) * mean
        first = memory["first"] = self.momentum * memory.get("first", np.float32(0)) + (
            mean if self.kind == "momentum" else (1 - self.momentum) * mean
        )
        if self.kind == "momentum":
            return (self.rate * first).astype(np.float32)
        count = memory["count"] = memory.get("count", 0) + 1
        second = memory["second"] = self.second * memory.get("second", np.float32(0)) + (1 - self.second) * mean**2
        corrected = first / (1 - self.momentum**count)
        root = np.sqrt(second / (1 - self.second**count)) + self.tiny
        shrink = self.rate * self.decay * weights if self.decay and weights is not None else 0.0
        return (self.rate * corrected / root - shrink).astype(np.float32)
