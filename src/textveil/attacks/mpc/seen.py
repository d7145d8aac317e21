"""What the adversaries of private classification have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.exposure import Exposure
from textveil.core import BadInput


@dataclass(frozen=True, eq=False)
class ViewsSeen(Exposure):
    """What one party saw, run by run, while the other party's input was one of two: bytes after decryption, one row a run.

    Rows hold what it received, and the sums of what it sent and received, which is what the two of them opened.
    """

    first: NDArray[np.uint8]
    second: NDArray[np.uint8]

    def __post_init__(self) -> None:
        if self.first.ndim != 2 or self.second.ndim != 2 or self.first.shape[1] != self.second.shape[1]:
            raise BadInput("the views of two worlds need rows of one length")
        if min(len(self.first), len(self.second)) < 8:
            raise BadInput("the views of two worlds need eight runs each")


@dataclass(frozen=True, eq=False)
class LabelsSeen(Exposure):
    """Inputs of the adversary's own (as the encoder gives them), and the class that the model gave to each."""

    rows: NDArray[Any]
    labels: NDArray[Any]

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or len(self.rows) != len(self.labels):
            raise BadInput("every row of inputs needs its label")


__all__ = ["LabelsSeen", "ViewsSeen"]
