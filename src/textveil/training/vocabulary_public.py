"""Public words fill what the private counts leave free: they cost nothing, and a word that is not found is rarely a
common one.

A public word that was not found gets the count that its public frequency suggests, but at most half of the smallest
count that shows at all: otherwise it would have been found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from textveil.core import BadInput

from .vocabulary_words import Words


def public_frequencies(named: str) -> dict[str, float]:
    """Shares of public words: "default" (the bundled English vectors), "none", or a file with one word a line, frequent
    first.

    >>> frequencies = public_frequencies("default")
    >>> frequencies["the"] > frequencies["house"] > frequencies["turbine"] > 0
    True
    """
    if named == "none":
        return {}
    if named == "default":
        from textveil.text.vectors import load

        vectors = load("default")
        listed = zip(vectors.words, vectors.prior.tolist(), strict=True)
    else:
        try:
            lines = Path(named).read_text(encoding="utf-8").split()
        except (OSError, UnicodeDecodeError):
            raise BadInput(
                "cannot be read as a list of words", where=named, possible="default, none, or a text file"
            ) from None
        listed = zip(lines, (1.0 / (rank + 10) for rank in range(len(lines))), strict=True)  # Zipf's law by rank
    split, shares = Words(), Counter[str]()
    for word, share in listed:
        for part in split(word):
            shares[part] += share
    total = sum(shares.values()) or 1.0
    return {word: share / total for word, share in shares.items()}


def filled(counts: Mapping[str, float], public: Mapping[str, float], least: float) -> dict[str, float]:
    """Noisy counts with public words beside them; `least` is the threshold of the release.

    >>> filled({"ward": 400.0}, {"ward": 0.1, "the": 0.6, "odd": 0.001}, least=100.0)
    {'ward': 400.0, 'the': 50.0, 'odd': 0.4}
    """
    total = sum(counts.values()) or 2 * least
    more = {word: min(share * total, least / 2) for word, share in public.items() if word not in counts}
    return {**counts, **more}
