"""What the adversary of a trained model has: the model, and examples or canaries that may have been trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from textveil.attacks.exposure import Exposure, Members, check_members
from textveil.attacks.training.canaries import Canaries

Losses = Callable[[Sequence[Any]], Any]  # examples in, the loss of each out


@dataclass(frozen=True)
class ModelSeen(Exposure):
    """The model's losses on examples that may have been trained on, and examples of the adversary that were not."""

    losses: Losses
    examples: Sequence[Any]
    own_examples: Sequence[Any]
    references: Sequence[Losses] | None = None  # losses of models that saw none of `examples`
    truth: Members | None = None

    def __post_init__(self) -> None:
        check_members(self.truth, len(self.examples))


@dataclass(frozen=True)
class CanariesSeen(Exposure):
    """The model's losses and the canaries of its training. Which went in, and with what secret, is what is guessed."""

    losses: Losses
    canaries: Canaries
