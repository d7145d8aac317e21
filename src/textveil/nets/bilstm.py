"""A text classifier that reads in both directions: word vectors, one bidirectional LSTM, the largest value of each unit.

Texts of a batch are packed, so padding is never read and a text scores the same alone as in any batch. With given
vectors every word of theirs is known from the start, and by default they rest; without, words of the training texts are
learnt from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..text.vectors import Vectors
from .classifier import TextClassifier
from .data import FIRST, PADDING, UNKNOWN, WordTable, pad
from .fit import FitPlan


class BiLSTM(TextClassifier):
    """Bidirectional LSTM classifier over the first `max_words` words of a text.

    >>> BiLSTM(hidden=32)
    BiLSTM(hidden=32)
    """

    def __init__(
        self,
        hidden: int = 64,
        vectors: Vectors | None = None,
        freeze: bool = True,
        dimensions: int = 64,
        max_words: int = 160,
        dropout: float = 0.3,
        min_count: int = 2,
        epochs: int = 4,
        batch_size: int = 64,
        rate: float = 0.002,
        seed: int = 0,
    ):
        self.hidden, self.vectors, self.freeze, self.dimensions = hidden, vectors, freeze, dimensions
        self.max_words, self.dropout, self.min_count = max_words, dropout, min_count
        self.epochs, self.batch_size, self.rate, self.seed = epochs, batch_size, rate, seed

    def _table(self, texts: Sequence[str]) -> WordTable:
        if self.vectors is None:
            return WordTable.of(texts, min_count=self.min_count)
        if self.freeze:  # unseen words have vectors too
            return WordTable(self.vectors.words)
        return WordTable(w for w in WordTable.of(texts).words if w in self.vectors.words)

    def _code(self, text: str) -> np.ndarray:
        return self.table_.rows(text, self.max_words)

    def _build(self, classes: int) -> Any:
        from torch import nn

        embed = self._embedding()
        return nn.ModuleDict(
            {
                "embed": embed,
                "drop": nn.Dropout(self.dropout),
                "lstm": nn.LSTM(embed.embedding_dim, self.hidden, batch_first=True, bidirectional=True),
                "out": nn.Linear(2 * self.hidden, classes),
            }
        )

    def _embedding(self) -> Any:
        import torch
        from torch import nn

        if self.vectors is None:
            return nn.Embedding(len(self.table_), self.dimensions, padding_idx=PADDING)
        start = np.zeros((len(self.table_), self.vectors.dimensions), dtype=np.float32)
        start[UNKNOWN] = self.vectors.fallback
        start[FIRST:] = self.vectors.matrix[[self.vectors.index(word) for word in self.table_.words]]
        return nn.Embedding.from_pretrained(torch.from_numpy(start), freeze=self.freeze, padding_idx=PADDING)

    def _scores(self, net: Any, coded: Sequence[np.ndarray]) -> Any:
        import torch
        from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

        rows, lengths = (torch.from_numpy(part) for part in pad(coded))
        words = net["drop"](net["embed"](rows))
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(net["lstm"](packed)[0], batch_first=True, padding_value=-torch.inf)
        return net["out"](net["drop"](states.max(dim=1).values))

    def _plan(self) -> FitPlan:
        return FitPlan(self.epochs, self.batch_size, self.rate)
