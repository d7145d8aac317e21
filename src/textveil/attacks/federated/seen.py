"""What the adversary of a next-word model has: its chances of the next word, and the canaries of its training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.exposure import Exposure
from textveil.attacks.federated.sharers import SharedCanaries

Rows = NDArray[np.integer[Any]]
NextLogs = Callable[[Rows], NDArray[np.floating[Any]]]


@dataclass(frozen=True)
class NextWordsSeen(Exposure):
    """Black-box access: for beginnings of one length (rows of numbers of `words`), ln P(next word) for every word."""

    next_logs: NextLogs
    words: Sequence[str]
    canaries: SharedCanaries
