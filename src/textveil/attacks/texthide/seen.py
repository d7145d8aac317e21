"""What the adversaries of TextHide have: the server of a round, and whoever gets hidden encodings. Never a client's text.

`GradientSeen` and `PlacesSeen` hold the gradient that one client sent in one round, and the embeddings of the encoder that
the server itself had sent out. `HiddenSeen` and `MixedSeen` hold hidden encodings, as the paper's own attacks assume.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.attacks.exposure import Exposure, Members, Truth, check_members
from textveil.core import BadInput

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class FirstLayer:
    """How an encoder of BERT's kind makes the input of its first layer: a normed sum of word, place and segment vectors."""

    words: Floats  # (vocabulary, width)
    places: Floats  # (places, width)
    segment: Floats  # (width,): of the first segment
    scale: Floats  # (width,): of the norm
    shift: Floats  # (width,)
    tiny: float = 1e-12

    def inputs(self, tokens: npt.NDArray[np.integer[Any]], place: int) -> Floats:
        """What the first layer reads for these tokens at this place, one row each."""
        total = self.words[tokens].astype(np.float64) + self.places[place] + self.segment
        centred = total - total.mean(1, keepdims=True)
        return centred / np.sqrt(centred.var(1, keepdims=True) + self.tiny) * self.scale + self.shift


class BatchTokens(Members):
    """1 for each token of the vocabulary that stands in the batch, else 0."""


class BatchPlaces(Members):
    """1 for each pair (token, place), counted token * places + place, that stands in the batch, else 0."""


@dataclass(frozen=True)
class GradientSeen(Exposure):
    """One client's gradient in one round: of the matrices that read the first layer's input, and of the embeddings where
    they learn."""

    first: FirstLayer
    layer: Floats  # (rows, width): the gradients of query, key and value, one under the other
    places: int  # the longest text that the encoder was asked to read
    word_rows: Floats | None = None  # (vocabulary, width): the gradient of the word embeddings
    truth: BatchTokens | None = None

    def __post_init__(self) -> None:
        if self.layer.ndim != 2 or self.layer.shape[1] != self.first.words.shape[1]:
            raise BadInput("the gradient of the first layer needs a column for each number of an embedding")
        check_members(self.truth, len(self.first.words))


@dataclass(frozen=True)
class PlacesSeen(Exposure):
    """The same gradient, where the question is which token stands where."""

    first: FirstLayer
    layer: Floats
    places: int
    word_rows: Floats | None = None
    place_rows: Floats | None = None  # (places, width): the gradient of the place embeddings
    truth: BatchPlaces | None = None

    def __post_init__(self) -> None:
        check_members(self.truth, len(self.first.words) * self.places)


class MaskNumbers(Truth):
    """The number of the mask that hides each encoding."""


class MixedIn(Truth):
    """For each hidden encoding the sentences of the index that are mixed in it, k in a row."""


@dataclass(frozen=True)
class HiddenSeen(Exposure):
    """Hidden encodings, and encodings of public text by the same encoder. The question: which mask hides which?"""

    hidden: Floats  # (n, width)
    public: Floats  # (p, width)
    masks: int  # size of the pool: a public parameter
    mixed: int  # k: another
    truth: MaskNumbers | None = None

    def __post_init__(self) -> None:
        if self.truth is not None and len(self.truth) != len(self.hidden):
            raise BadInput("the truth needs the number of a mask for each hidden encoding")


@dataclass(frozen=True)
class MixedSeen(Exposure):
    """Hidden encodings with an index of encodings, as in the paper's search. The question: which sentences are mixed?"""

    hidden: Floats
    public: Floats
    index: Floats  # (N, width): encodings of candidate sentences
    masks: int
    mixed: int  # k: a public parameter
    truth: MixedIn | None = None

    def __post_init__(self) -> None:
        if self.truth is not None and len(self.truth) != len(self.hidden) * self.mixed:
            raise BadInput("the truth needs k sentences for each hidden encoding")


__all__ = [
    "BatchPlaces",
    "BatchTokens",
    "FirstLayer",
    "GradientSeen",
    "HiddenSeen",
    "MaskNumbers",
    "MixedIn",
    "MixedSeen",
]
__all__ += ["PlacesSeen"]
