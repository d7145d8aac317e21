"""Codes: words of ASCII letters and digits mixed, such as AB12 or 3rd, drawn character by character.

Metric. Two codes of one form (letters and digits at the same places) are as far apart as the number of characters in which
they differ: the Hamming distance, at most their length (24).

Claim. Each character stays with chance e^epsilon / (e^epsilon + k - 1), else it becomes each of the k - 1 others of its class
evenly (k = 26 letters, 10 digits). Then P[M(a) = y] <= exp(epsilon d(a, b)) P[M(b) = y].

Derivation. The chances of one character differ by a factor of e^epsilon at most between two inputs, and by none where they
agree; characters are drawn independently, so the factors multiply over the places that differ. The bound is attained.

Letters are taken in lower case; capitals are written as the policy for letter case has it.
"""

from __future__ import annotations

import math

import numpy as np

from textveil.noise import Source

LETTERS, DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
MOST_CHARACTERS = 24


def distance(first: str, second: str) -> float:
    """
    >>> distance("ab12", "ax13"), distance("ab12", "a112")
    (2.0, inf)
    """
    if form(first) != form(second):
        return math.inf
    return float(sum(a != b for a, b in zip(first, second, strict=True)))


def form(code: str) -> str:
    """Which characters are letters (a) and which are digits (0).

    >>> form("ab12")
    'aa00'
    """
    return "".join("0" if character in DIGITS else "a" for character in code)


def draw(codes: list[str], epsilon: float, noise: Source) -> list[str]:
    """A code of the same form for each."""
    text = "".join(codes)
    sizes = np.array([10 if character in DIGITS else 26 for character in text], dtype=np.int64)
    places = np.array([(DIGITS if c in DIGITS else LETTERS).index(c) for c in text], dtype=np.int64)
    stays = noise.uniforms(len(text)) < 1 / (1 + (sizes - 1) * math.exp(-epsilon))
    others = (places + 1 + noise.below(sizes - 1, len(text))) % sizes
    drawn = np.where(stays, places, others).tolist()
    written = "".join((DIGITS if n == 10 else LETTERS)[i] for i, n in zip(drawn, sizes.tolist(), strict=True))
    ends = np.cumsum([len(code) for code in codes]).tolist()
    return [written[end - len(code) : end] for code, end in zip(codes, ends, strict=True)]
