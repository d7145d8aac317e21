"""How fast_align fits the tension, which made the published links: not quite by the gradient of its own model.

Dyer et al. (2013) move the tension along the gradient of the likelihood, that is expected less model's feature, where the
feature of word j of n made by word i of m is -|i/m - j/n|. Read in its program, two things differ from that:

    expected   j counts from 0 there; everywhere else it counts from 1
    model's    sum_i f exp(tension f) / Z has a Z that is computed with the two lengths exchanged; where i/m then lies behind
               the end, the count of the words above it is negative, in a type without a sign: that series has no end

Eight steps of 20 times the difference, per word, after each round but the first, within the limits; and the links are those
of the fifth round before its chances are updated, so after four updates.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from textveil.fragments.aligner import TENSIONS, Corpus

ROUNDS = 4  # updates of the lexicon behind its links
_STEPS, _FACTOR = 8, 20.0


class FastAlignTension:
    """A rule for `Aligner.fit`. exact: the gradient as it should be, with the same steps."""

    def __init__(self, *, exact: bool = False):
        self.exact, self.early = exact, 0 if exact else 1

    def step(self, tensions: np.ndarray, features: np.ndarray, corpus: Corpus) -> np.ndarray:
        from textveil.reproduce.paper10.fast_align_kernel import model_feature

        lengths = [np.diff(starts) for starts in (corpus.target_starts, corpus.source_starts)]
        moved = np.array(tensions, float)
        for side in (0, 1):
            pairs = Counter(zip(lengths[side].tolist(), lengths[1 - side].tolist(), strict=True))
            table = np.array([(made, makers, count) for (made, makers), count in pairs.items() if made and makers])
            words = float((table[:, 0] * table[:, 2]).sum())
            for _ in range(_STEPS):
                gap = (features[side, 0] - model_feature(table, moved[side], self.exact)) / words
                moved[side] = min(max(moved[side] + _FACTOR * gap, TENSIONS[0]), TENSIONS[1])
        return moved
