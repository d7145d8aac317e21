"""A word mechanism as its adversary can run it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from textveil.attacks.words.two_worlds import Pairs
from textveil.core import Unit
from textveil.noise import Source
from textveil.recipes.words.pairs import word_pairs
from textveil.text.codes import unpack
from textveil.words.mechanism import WordMechanism


@dataclass(frozen=True)
class WordChannel:
    """The mechanism as the adversary can run it: public input row in, drawn row out."""

    mechanism: WordMechanism
    prior: np.ndarray

    def sample(self, rows: np.ndarray, source: Source) -> np.ndarray:
        return self.mechanism.draw(rows, source)

    @property
    def unit(self) -> Unit:
        """What one draw covers."""
        return self.mechanism.unit

    @cached_property
    def points(self) -> np.ndarray:
        """Where the words lie: bits of their codes, or their vectors."""
        if self.mechanism.metric == "hamming":
            codes: Any = getattr(self.mechanism, "codes_", self.mechanism.vectors_.codes)
            return unpack(codes.words64, codes.bits).astype(np.float32)
        return np.asarray(self.mechanism.vectors_.matrix)

    @property
    def stated(self) -> float:
        """The loss per unit of distance that the mechanism states, with or without a promise."""
        return float(self.mechanism.epsilon)

    @property
    def excludes_input(self) -> bool:
        """Whether the algorithm never returns its input: Vickrey as printed."""
        return bool(getattr(self.mechanism, "paper_mode", False))

    def pairs(self, count: int, source: Source) -> Pairs:
        """Words that may be told apart, near ones above all: there a promise allows little."""
        return word_pairs(self.mechanism, count, source)

    def posterior_bound(self, rows: np.ndarray, source: Source) -> np.ndarray:
        """The largest posterior of any word given the noised point: more than any adversary of the output can reach."""
        return self.mechanism.posterior_peak(rows, self.prior, source)
