"""The model's feature in the steps of `fast_align`, compiled. Imports numba, so it is itself imported late."""

from __future__ import annotations

import math

from textveil.text.compiled import compiled


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
