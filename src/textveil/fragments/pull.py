"""Penalties that keep a fine-tuned model near its start. Imports torch, so it is itself imported late.

    L2     strength * sum (w - w0)^2
    EWC    strength / 2 * sum F (w - w0)^2, F the mean squared gradient of a sentence pair at the start (the diagonal of
           the empirical Fisher information; Kirkpatrick et al. 2017): weights that general text needs are held, others
           may move

F is scaled to a mean of 1 over all weights, so that a strength means about the same for both and for every model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

FISHER_PAIRS = 200


class Pull:
    """The penalty of a model's weights, as a tensor that has a gradient."""

    def __init__(self, model: Any, l2: float = 0.0, ewc: float = 0.0, fisher: Sequence[torch.Tensor] = ()):
        self.weights = [*model.parameters()]
        self.start = [w.detach().clone() for w in self.weights] if l2 or ewc else []
        self.l2, self.ewc, self.fisher = l2, ewc, fisher

    def penalty(self) -> torch.Tensor | float:
        """0 without a strength."""
        total: torch.Tensor | float = 0.0
        if self.l2:
            total = total + self.l2 * sum(((w - s) ** 2).sum() for w, s in zip(self.weights, self.start, strict=True))
        if self.ewc:
            each = zip(self.fisher, self.weights, self.start, strict=True)
            total = total + self.ewc / 2 * sum((f * (w - s) ** 2).sum() for f, w, s in each)
        return total


def fisher_diagonal(model: Any, pairs: Sequence[Any], loss_of: Callable[[Any], torch.Tensor]) -> list[torch.Tensor]:
    """The mean squared gradient of single pairs, scaled to a mean of 1."""
    model.eval()
    squares = [torch.zeros_like(w) for w in model.parameters()]
    for pair in pairs:
        model.zero_grad()
        loss_of(pair).backward()
        for square, weight in zip(squares, model.parameters(), strict=True):
            if weight.grad is not None:
                square += weight.grad**2
    model.zero_grad()
    mean = sum(float(s.sum()) for s in squares) / max(sum(s.numel() for s in squares), 1)
    return [s / mean if mean else s for s in squares]


__all__ = ["FISHER_PAIRS", "Pull", "fisher_diagonal"]
