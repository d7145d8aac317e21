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

import math
from collections import Counter

import numpy as np

from textveil.fragments.aligner import TENSIONS, Corpus
from textveil.text.compiled import compiled

ROUNDS = 4  # updates of the lexicon behind its links
_STEPS, _FACTOR = 8, 20.0


class FastAlignTension:
    """A rule for `Aligner.fit`. exact: the gradient as it should be, with the same steps."""

    def __init__(self, *, exact: bool = False):
        self.exact, self.early = exact, 0 if exact else 1

    def step(self, tensions: np.ndarray, features: np.ndarray, corpus: Corpus) -> np.ndarray:
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


@compiled
def model_feature(table, tension, exact):
    """The model's feature, summed over the words of all sentence pairs; rows: made words, makers, number of pairs."""
    total = 0.0
    for row in range(len(table)):
        made, makers, count = table[row]
        for place in range(1, made + 1):
            weighted = 0.0
            for maker in range(1, makers + 1):
                feature = -abs(maker / makers - place / made)
                weighted += feature * math.exp(tension * feature)
            if exact:
                whole = series(place / made, makers, tension)
            else:
                whole = series(place / makers, made, tension)
            total += count * weighted / whole
    return total


@compiled
def series(centre, size, tension):
    """sum of exp(-tension |i/size - centre|) over i = 1 .. size; without end above, where the centre lies behind it."""
    below = int(centre * size)
    ratio = math.exp(-tension / size)
    total = 0.0
    if below != size:
        first = math.exp(-tension * abs((below + 1) / size - centre))
        total += first * (1.0 - (ratio ** (size - below) if below < size else 0.0)) / (1.0 - ratio)
    if below > 0:
        total += math.exp(-tension * (centre - below / size)) * (1.0 - ratio**below) / (1.0 - ratio)
    return total
