"""The example on which every word mechanism is checked: six words in a plane, with codes, and texts of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from textveil.core.example import Example
from textveil.text.vectors import from_arrays

if TYPE_CHECKING:
    from textveil.words.mechanism import WordMechanism

WORDS = ("cold", "cool", "warm", "hot", "the", "and")
PLACES = ((-2.0, 1.0), (-1.0, 1.0), (1.0, 1.0), (2.0, 1.0), (0.5, -1.0), (-0.5, -1.0))
CODES = (1, 3, 7, 15, 31, 63)
TEXTS = ("The cold and the warm.", "Hot, cool: cold?", "warm hot cool cold and the hot and the cool")


def word_example(kind: type[WordMechanism]) -> Example:
    """The mechanism at an epsilon where its promise is neither empty nor out of reach of counting."""
    vectors = from_arrays(list(WORDS), np.array(PLACES), np.array(CODES, dtype=np.uint64)[:, None])
    epsilon = 0.5 if kind.metric == "hamming" else 2.0
    return Example(kind(epsilon=epsilon).fit(vectors), list(TEXTS))  # type: ignore[call-arg]
