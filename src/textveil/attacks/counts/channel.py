"""Noisy counts as their attacker sees them: known candidate documents, two-sided geometric noise, perhaps clamped at 0.

log P(y | x) of a cell is log((1-a)/(1+a)) - rate |y - x|, a = e^-rate; where negatives were clamped, y = 0 stands for all
outcomes up to 0, and log P(0 | x) = -rate x - log(1 + a) for x >= 0. Cells are independent, so a row's is their sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.core import BadInput
from textveil.core.params import positive
from textveil.noise.discrete import geometric
from textveil.noise.table import LARGEST_SCALE, table_geometric

Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class CountChannel:
    """`documents` are the candidates, one row each; `released` the rows that were published, if any.

    >>> from textveil.noise import seeded
    >>> channel = CountChannel(50.0, np.array([[0, 2], [1, 0]]))
    >>> channel.sample(np.array([1, 0]), seeded(1)).tolist()
    [[1, 0], [0, 2]]
    >>> channel.log_odds(np.array([[0, 2]])).argmax(axis=1).tolist()
    [0]
    """

    rate: float
    documents: Ints
    clamp: bool = True
    released: Ints | None = None

    def __post_init__(self) -> None:
        positive("rate", self.rate)
        if self.documents.ndim != 2 or (
            self.released is not None and self.released.shape[1:] != self.documents.shape[1:]
        ):
            raise BadInput("candidates and released rows must be tables with the same columns")

    def sample(self, ids: Ints, source: Any) -> Ints:
        """Fresh runs of the public mechanism on candidates."""
        rows = self.documents[ids]
        scale = 1 / self.rate
        noise = (
            table_geometric(source, rows.shape, scale)
            if scale <= LARGEST_SCALE
            else geometric(rows.shape, scale, source)
        )
        out = rows + noise
        return np.maximum(out, 0) if self.clamp else out

    def log_odds(self, outputs: Ints) -> NDArray[np.float64]:
        """Log-likelihood of each output (row) under each candidate (column), up to a constant per output."""
        found = np.zeros((len(outputs), len(self.documents)))
        for column, document in enumerate(self.documents):
            cells = np.flatnonzero(document)  # elsewhere a document looks like an empty one
            seen, counts = outputs[:, cells], document[cells]
            found[:, column] = (self._cell(seen, counts) - self._cell(seen, np.zeros_like(counts))).sum(axis=1)
        return found

    def _cell(self, seen: Ints, counts: Ints) -> NDArray[np.float64]:
        a = math.exp(-self.rate)
        exact = math.log1p(-a) - math.log1p(a) - self.rate * np.abs(seen - counts)
        if not self.clamp:
            return exact
        return np.where(seen <= 0, -self.rate * counts - math.log1p(a), exact)

    @property
    def largest_distance(self) -> float:
        """An upper bound of the L1 distance between two candidates."""
        if len(self.documents) == 2:
            return float(np.abs(self.documents[0] - self.documents[1]).sum())
        lengths = np.sort(self.documents.sum(axis=1))
        return float(lengths[-2:].sum())
