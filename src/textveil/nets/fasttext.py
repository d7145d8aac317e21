"""A classifier in the manner of fastText: the mean of word and word-pair vectors, then one linear layer.

Pairs of neighbouring words share a fixed number of rows by hash. A text is one bag, so its length costs no padding.

Source: Joulin, Grave, Bojanowski, Mikolov, "Bag of Tricks for Efficient Text Classification" (2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .classifier import TextClassifier
from .data import WordTable, bags, with_pairs
from .fit import FitPlan


class FastText(TextClassifier):
    """Bag-of-words classifier; `pairs` is the number of rows for word pairs (0: words alone).

    >>> FastText(epochs=3)
    FastText(epochs=3)
    """

    def __init__(
        self,
        dimensions: int = 16,
        pairs: int = 2**17,
        min_count: int = 2,
        epochs: int = 4,
        batch_size: int = 128,
        rate: float = 0.02,
        seed: int = 0,
    ):
        self.dimensions, self.pairs, self.min_count = dimensions, pairs, min_count
        self.epochs, self.batch_size, self.rate, self.seed = epochs, batch_size, rate, seed

    def _table(self, texts: Sequence[str]) -> WordTable:
        return WordTable.of(texts, min_count=self.min_count)

    def _code(self, text: str) -> np.ndarray:
        return with_pairs(self.table_.rows(text), len(self.table_), self.pairs)

    def _build(self, classes: int) -> Any:
        from torch import nn

        embed = nn.EmbeddingBag(len(self.table_) + self.pairs, self.dimensions, mode="mean")
        nn.init.uniform_(embed.weight, -1 / self.dimensions, 1 / self.dimensions)
        return nn.ModuleDict({"embed": embed, "out": nn.Linear(self.dimensions, classes)})

    def _scores(self, net: Any, coded: Sequence[np.ndarray]) -> Any:
        import torch

        flat, starts = bags(coded)
        return net["out"](net["embed"](torch.from_numpy(flat), torch.from_numpy(starts)))

    def _plan(self) -> FitPlan:
        return FitPlan(self.epochs, self.batch_size, self.rate)
