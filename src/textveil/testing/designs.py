"""Small made-up vocabularies on which a fault of a word mechanism has nowhere to hide.

A mechanism shows its noise only through the word it returns, so words must lie so densely that the word tells where the
noised point fell. Distances are in units of 1/epsilon, where a promise is neither empty nor out of reach of counting.

- `lattice(1)`: a line. Too little noise, by any factor, shows as a ratio above exp(epsilon d): there it is exactly attained.
- `lattice(2)`, `lattice(3)`: one Laplace draw per coordinate gives a ratio of exp(epsilon sqrt(n) d) along the diagonal.
  A radius of Gamma shape n-1 has density ~ exp(-epsilon r) / r, which is unbounded near the input: the input's own cell,
  0.4/epsilon wide (0.8/epsilon in three dimensions), then is likelier by a factor of several than the promise allows.
- any of them: an input word that is never returned gives its own cell the ratio infinity.
- `cube`: all codes of six bits, spread over the whole code. The word shows every flipped bit.
- `circle`: equal cells for all words, for laws that must not depend on where a word lies.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

LETTERS = "bcdfghklmnprstvz"
UNKNOWN = ("qyxwjqa", "qyxwjqe")  # in no vocabulary of a natural language
_SPACING = {1: 0.25, 2: 0.4, 3: 0.8}
_STEPS = {1: 20, 2: 10, 3: 3}
_NEAR_FAR = {1: (4, 12), 2: (2, 4), 3: (1, 2)}  # in steps; far is along the diagonal
_CUBE_BITS = 6


@dataclass(frozen=True)
class Design:
    """Words, their vectors and codes, and the rows whose outputs are compared."""

    words: tuple[str, ...]
    matrix: np.ndarray
    codes: np.ndarray
    inputs: tuple[int, ...]

    def twins(self, first: int, second: int) -> Design:
        """The same words, the second one moved onto the first."""
        matrix, codes = self.matrix.copy(), self.codes.copy()
        matrix[second], codes[second] = matrix[first], codes[first]
        return replace(self, matrix=matrix, codes=codes)


def lattice(dimension: int, epsilon: float, blocks: int = 1) -> Design:
    """A lattice about the origin, moved by half a step so that no vector is zero; inputs: centre, near, far.

    >>> lattice(2, 10.0).matrix.shape
    (441, 2)
    """
    steps, spacing = _STEPS[dimension], _SPACING[dimension] / epsilon
    places = np.array(list(itertools.product(range(-steps, steps + 1), repeat=dimension)))
    near, far = _NEAR_FAR[dimension]
    wanted = (np.zeros(dimension), near * np.eye(dimension)[0], np.full(dimension, far))
    inputs = tuple(int(np.flatnonzero((places == w).all(axis=1))[0]) for w in wanted)
    return _design(len(places), ((places + 0.5) * spacing).astype(np.float32), inputs, blocks)


def circle(words: Sequence[str] | int, blocks: int = 1) -> Design:
    """Words at equal steps on a circle of radius 1; inputs: two opposite ones.

    >>> circle(8).inputs
    (0, 4)
    """
    count = words if isinstance(words, int) else len(words)
    angle = 2 * np.pi * (np.arange(count) + 0.25) / count
    matrix = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    made = _design(count, matrix, (0, count // 2), blocks)
    return made if isinstance(words, int) else replace(made, words=tuple(words))


def cube(blocks: int = 1) -> Design:
    """All codes of six bits, spread from the first to the last bit of the code; inputs at distances 1, 3 and 6.

    >>> len(cube().words)
    64
    """
    values = np.arange(2**_CUBE_BITS)
    bits = (values[:, None] >> np.arange(_CUBE_BITS) & 1).astype(np.uint8)
    table = np.tile(np.arange(64 * blocks) % 2, (len(values), 1)).astype(np.uint8)  # constant bits: 0 1 0 1 ...
    table[:, np.linspace(0, 64 * blocks - 1, _CUBE_BITS).astype(int)] = bits
    made = _design(len(values), (2.0 * bits - 1).astype(np.float32), (0, 1, 0b111, 0b111111), blocks)
    return replace(made, codes=_packed(table))


def word_names(count: int) -> tuple[str, ...]:
    """Made-up lower-case words that any tokenizer takes for one word each.

    >>> word_names(2)
    ('bobobo', 'bobobu')
    """
    syllables = [c + v for c in LETTERS for v in "ou"]
    return tuple("".join(s) for s in itertools.islice(itertools.product(syllables, repeat=3), count))


def _design(count: int, matrix: np.ndarray, inputs: tuple[int, ...], blocks: int) -> Design:
    """Distinct codes for whoever wants some: an odd multiplier is a bijection of 64-bit words that scatters the bits."""
    mixed = np.arange(count, dtype=np.uint64)[:, None] + np.arange(1, blocks + 1, dtype=np.uint64)
    return Design(word_names(count), matrix, mixed * np.uint64(0x9E3779B97F4A7C15), inputs)


def _packed(table: np.ndarray) -> np.ndarray:
    return np.packbits(table, axis=1, bitorder="little").view("<u8").astype(np.uint64)
