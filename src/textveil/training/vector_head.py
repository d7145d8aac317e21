"""A linear head on encodings of a frozen encoder, under DP-SGD."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from textveil.noise import Source

from .calibrate import calibrate_plan
from .engine import PrivateTrainer
from .plan import TrainingPlan, steps_for


class VectorHead(nn.Module):
    """A linear head on encodings, as the private trainer takes it: examples are (vector, class)."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.out = nn.Linear(width, classes)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def collate(self, examples: Any) -> dict[str, Tensor]:
        vectors, target = zip(*examples, strict=True)
        return {"x": torch.from_numpy(np.stack(vectors)), "target": torch.tensor(target)}

    def length(self, example: Any) -> int:
        return 1

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        return self.out(batch["x"])

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        return nn.functional.cross_entropy(self(batch), batch["target"], reduction="none")

    def scores(self, x: np.ndarray) -> np.ndarray:
        """The scores of the classes, one row a vector."""
        with torch.no_grad():
            return np.asarray(self.out(torch.from_numpy(np.float32(x))).numpy())


def train_private_head(
    x: np.ndarray, y: np.ndarray, *, epsilon: float, delta: float, epochs: int, batch: int, rate: float, source: Source
) -> tuple[VectorHead, TrainingPlan]:
    """DP-SGD on a linear head: example-level (epsilon, delta), by the trainer that `textveil train` uses."""
    plan = TrainingPlan(noise=1.0, batch=batch, examples=len(x), steps=steps_for(len(x), batch, epochs), clip=1.0)
    plan = calibrate_plan(plan, epsilon, delta)
    net = VectorHead(x.shape[1], y.shape[1])
    trainer = PrivateTrainer(net, plan, optimiser="adamw", rate=rate, source=source, micro_batch=max(256, batch))
    trainer.fit(list(zip(x.astype(np.float32), y.argmax(1).tolist(), strict=True)))
    return net, plan
