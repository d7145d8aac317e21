"""Chances of the next word after many beginnings of one length: what a keyboard shows, and all that a black box tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .portable.language_model import EDGE, FIRST


@torch.no_grad()
def next_word_logs(net: Any, rows: NDArray[np.integer[Any]], batch_size: int = 512) -> NDArray[np.float32]:
    """ln P(next word) for every word of the net, (beginnings, words); `rows` are numbers of its words, without marks.

    >>> from .language_model import CIFGLanguageModel
    >>> net = CIFGLanguageModel.of(["the", "cat"], dimensions=4, hidden=5)
    >>> next_word_logs(net, np.array([[0], [1], [0]])).shape
    (3, 2)
    """
    begun = torch.from_numpy(np.asarray(rows, dtype=np.int64)) + FIRST
    begun = torch.cat([torch.full((len(begun), 1), EDGE), begun], 1)
    parts = []
    for start in range(0, len(begun), batch_size):
        last = net.cell(net.vectors(begun[start : start + batch_size]))[:, -1]
        parts.append(torch.log_softmax(net.out(net.project(last)), 1)[:, FIRST:])
    return torch.cat(parts).numpy() if parts else np.empty((0, len(net.names)), np.float32)
