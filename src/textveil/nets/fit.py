"""The plain fit loop: cross entropy, shuffled batches, a rate that falls linearly to zero. It promises nobody anything.

Everything random (weights, order, dropout) is drawn inside `own_randomness`, so equal seeds give equal networks and the
caller's torch generator is left as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.params import positive, positive_integer
from .data import Rows

Scores = Callable[[Any, Sequence[Any]], Any]  # (network, some coded texts) -> tensor (texts, classes)


@dataclass(frozen=True)
class FitPlan:
    """How long and how fast to learn."""

    epochs: int = 5
    batch_size: int = 64
    rate: float = 0.01

    def __post_init__(self) -> None:
        positive_integer("epochs", self.epochs)
        positive_integer("batch_size", self.batch_size)
        positive("rate", self.rate)


@contextmanager
def own_randomness(seed: int) -> Iterator[None]:
    """Within, torch draws from `seed`; afterwards its generator is where it was."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def fit(
    net: Any,
    scores: Scores,
    coded: Sequence[Any],
    targets: Rows,
    plan: FitPlan,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[float]:
    """Fit `net` and leave it in evaluation mode; the mean loss of each epoch. Call it inside `own_randomness`."""
    import torch

    steps = plan.epochs * -(-len(coded) // plan.batch_size)
    optimiser = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=plan.rate)
    decay = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    lengths = np.array([len(text) for text in coded])
    net.train()
    losses, done = [], 0
    for _ in range(plan.epochs):
        total = 0.0
        for batch in _batches(lengths, plan.batch_size):
            loss = torch.nn.functional.cross_entropy(
                scores(net, [coded[i] for i in batch]), torch.from_numpy(targets[batch])
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            decay.step()
            total += float(loss.detach()) * len(batch)
            done += 1
            if progress is not None:
                progress(done, steps)
        losses.append(total / len(coded))
    net.eval()
    return losses


def probabilities(net: Any, scores: Scores, coded: Sequence[Any], batch_size: int = 256) -> np.ndarray:
    """Chances of the classes for each text, in the order given; texts of similar length are computed together."""
    import torch

    order = np.argsort([len(text) for text in coded], kind="stable")
    parts = []
    with torch.no_grad():
        for start in range(0, len(order), batch_size):
            batch = [coded[i] for i in order[start : start + batch_size]]
            parts.append(torch.softmax(scores(net, batch).double(), dim=1).numpy())
    found = np.concatenate(parts)
    return found[np.argsort(order, kind="stable")]


def _batches(lengths: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Random batches of texts of similar length, in random order: little padding, every text once."""
    import torch

    shuffled = torch.randperm(len(lengths)).numpy()
    pool = size * 32
    parts = []
    for start in range(0, len(shuffled), pool):
        some = shuffled[start : start + pool]
        some = some[np.argsort(lengths[some], kind="stable")]
        parts += [some[i : i + size] for i in range(0, len(some), size)]
    for number in torch.randperm(len(parts)).tolist():
        yield parts[number]
