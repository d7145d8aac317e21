"""Which words are (part of) names, by a recogniser of personal data; and the glossary of terms that may pass."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from textveil.fragments.cutter import Marks
from textveil.fragments.sentences import Side
from textveil.pii.recognisers import Recognisers
from textveil.text.formats.lines import Lines, check_readable


def name_marks(recogniser: Recognisers) -> Marks:
    """What a cutter asks: for each word of a side, whether a recognised value touches it."""

    def marks(side: Side) -> np.ndarray:
        marked = np.zeros(len(side.words), bool)
        starts = side.starts.tolist()
        filled = [(a, b) for a, b in pairwise(starts) if b > a]
        texts = [side.text[side.begins[a] : side.ends[b - 1]] for a, b in filled]
        for (a, b), spans in zip(filled, recogniser.find(texts), strict=True):
            offset = side.begins[a]
            for span in spans:
                inside = (side.begins[a:b] < offset + span.end) & (side.ends[a:b] > offset + span.start)
                marked[a:b] |= inside
        return marked

    return marks


def read_glossary(path: Path | None) -> frozenset[str]:
    """Terms, one a line (or a term and its translation, divided by a tab)."""
    if path is None:
        return frozenset()
    check_readable(path)
    terms = (" ".join(term.split()) for line in Lines(path) for term in line.split("\t"))
    return frozenset(term for term in terms if term)


__all__ = ["name_marks", "read_glossary"]
