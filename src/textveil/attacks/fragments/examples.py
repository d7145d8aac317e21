"""Made-up fragments on which attacks are checked: those of the sentences, or of other ones."""

from __future__ import annotations

import numpy as np

from textveil.attacks.fragments.seen import FragmentsSeen, OriginalPairs, Sentences
from textveil.noise import secure

SENTENCES, WORDS, WINDOW = 40, 14, 5


def fragments_told(tells: str) -> FragmentsSeen:
    """All windows of five words of sentences whose words stand nowhere else; or those of other sentences."""
    order = secure().permutation(SENTENCES * WORDS)
    texts = order.reshape(SENTENCES, WORDS)
    cut = texts if tells == "all" else secure().permutation(SENTENCES * WORDS).reshape(SENTENCES, WORDS)
    windows = np.lib.stride_tricks.sliding_window_view(cut, WINDOW, axis=1).reshape(-1, WINDOW)
    windows = windows[secure().permutation(len(windows))]
    pieces = Sentences(np.ascontiguousarray(windows).ravel(), np.arange(len(windows) + 1) * WINDOW)
    starts = np.arange(SENTENCES + 1) * WORDS
    truth = OriginalPairs(order, starts, Sentences(order, starts))
    return FragmentsSeen(pieces, pieces, np.ones(len(windows), np.int64), truth=truth)


__all__ = ["fragments_told"]
