"""A public space of binary codes alone, without vectors: all that BRR needs, small enough for a phone.

50,000 words of 256 bits are 1.6 MB of codes and some 200 KB of compressed words. See docs/on-device.md.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import numpy as np

from textveil.core.errors import BadInput
from textveil.text.codes import Codes
from textveil.text.vectors import Vectors
from textveil.text.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class CodesOnly:
    """Codes in the place of `Vectors`; asking for the vectors is an error that says so.

    >>> space = CodesOnly(Codes.from_bits(["x", "y"], np.array([[0, 1], [1, 1]])))
    >>> len(space), space.prior.tolist(), space.fingerprint == space.codes.fingerprint
    (2, [0.5, 0.5], True)
    """

    codes: Codes
    name: str = "codes"
    language: str = ""  # a file of codes does not state one

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CodesOnly:
        """Read a `.tvc` file."""
        return cls(Codes.load(path), name=str(path))

    @property
    def words(self) -> Vocabulary:
        return self.codes.words

    @property
    def fingerprint(self) -> str:
        return self.codes.fingerprint

    @cached_property
    def prior(self) -> np.ndarray:
        """Uniform: a file of codes carries no other law."""
        return np.full(len(self), 1.0 / len(self))

    @property
    def matrix(self) -> NoReturn:
        raise BadInput(
            "holds binary codes only, no vectors", where=self.name, possible="words.brr, or a file of vectors"
        )

    fallback = dimensions = matrix

    def index(self, word: str) -> int | None:
        """The word's row, or None."""
        return self.codes.index(word)

    def head(self, count: int) -> CodesOnly:
        """The codes of the first `count` words."""
        return CodesOnly(self.codes.head(count), self.name)

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"CodesOnly({self.name}: {len(self)} words, {self.codes.bits} bits, {self.fingerprint})"


PublicWords = Vectors | CodesOnly  # what a word mechanism can be fitted on
