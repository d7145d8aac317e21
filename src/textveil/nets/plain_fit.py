"""The plain loop for nets with `collate` and `losses`: Adam, shuffled batches, a falling rate. No promise to anyone.

It is the yardstick of private training, and how a head is trained on text that is declared public.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.params import positive, positive_integer
from .fit import own_randomness


def fit_plainly(
    net: Any,
    examples: Sequence[Any],
    *,
    epochs: int = 10,
    batch: int = 32,
    rate: float = 1e-3,
    optimiser: str = "adam",
    decay: bool = True,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, steps: None,
) -> list[float]:
    """Fit and leave the net in evaluation mode; the mean loss of each epoch."""
    import torch

    positive_integer("epochs", epochs)
    positive_integer("batch", batch)
    positive("rate", rate)
    kinds = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
    learner = kinds[optimiser]([p for p in net.parameters() if p.requires_grad], lr=rate)  # type: ignore[operator]
    steps = epochs * -(-len(examples) // batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(learner, lambda step: 1 - step / steps if decay else 1.0)
    net.train()
    history, done = [], 0
    with own_randomness(seed):
        for _ in range(epochs):
            order = torch.randperm(len(examples)).tolist()
            total = 0.0
            for start in range(0, len(order), batch):
                some = [examples[i] for i in order[start : start + batch]]
                losses = net.losses(net.collate(some))
                learner.zero_grad()
                losses.mean().backward()
                learner.step()
                schedule.step()
                total += float(losses.detach().sum())
                done += 1
                progress(done, steps)
            history.append(float(np.float64(total) / max(1, len(examples))))
    net.eval()
    return history
