"""How a text becomes the numbers that the network reads: by a public encoder, on the text owner's machine.

    sentence   one vector of a sentence encoder (the paper)                  length = its dimensions, width 1
    pieces     the vectors of the first pieces, zeros behind                 length = pieces, width = dimensions
    words      the mean of public word vectors: the cheap baseline           length = their dimensions, width 1

Vectors are scaled by a public constant so that their numbers are about 1. The facts name the encoder by a hash of its files:
two sides with different encoders would get meaningless labels, so they are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.core.errors import BadInput, Refused

KINDS = ("sentence", "pieces", "words")
PIECES = 32


@dataclass(frozen=True)
class InputFacts:
    """What both owners know of the inputs."""

    kind: str
    encoder: str  # a name for people; the fingerprint decides
    fingerprint: str
    length: int
    width: int
    scale: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Inputs:
    """Texts to rows. `encoder`: "minilm" or a folder; for words "default" or a vector file."""

    def __init__(self, kind: str = "sentence", encoder: str | None = None, pieces: int = PIECES):
        if kind not in KINDS:
            raise BadInput(f"there is no kind of input '{kind}'", possible=", ".join(KINDS))
        self._kind, self._pieces = kind, pieces
        self._name = encoder or ("default" if kind == "words" else "minilm")
        self._reader: Any = None
        if kind == "words":
            from textveil.text import vectors

            self._reader = vectors.load(self._name)
            dimensions, fingerprint = self._reader.dimensions, str(self._reader.fingerprint)
        else:
            from textveil.nets.sentences import SentenceEncoder, encoder_fingerprint

            self._reader = SentenceEncoder(self._name)
            dimensions, fingerprint = self._reader.dimensions, encoder_fingerprint(self._reader.folder)
        length, width = (pieces, dimensions) if kind == "pieces" else (dimensions, 1)
        scale = 1.0 if kind == "words" else round(math.sqrt(dimensions), 6)
        name = self._name.rstrip("/").rpartition("/")[2]
        self.facts = InputFacts(kind, name, fingerprint, length, width, scale)

    def rows(self, texts: Sequence[str], progress: Callable[[int], None] = lambda done: None) -> NDArray[np.float32]:
        """One row a text: `length * width` numbers."""
        if self._kind == "words":
            found = _word_means(self._reader, texts)
            progress(len(texts))
        elif self._kind == "pieces":
            found = self._reader.pieces(texts, self._pieces, progress=progress)
        else:
            found = self._reader.vectors(texts, progress=progress)
        return np.ascontiguousarray(found.reshape(len(texts), -1) * np.float32(self.facts.scale))


def inputs_like(facts: Mapping[str, Any], encoder: str | None) -> Inputs:
    """The inputs that a server's classifier reads, from the encoder of this side; refused where they are not the same."""
    kind = facts.get("kind")
    if kind not in KINDS or type(facts.get("length")) is not int:
        raise BadInput("the server's inputs cannot be read")
    own = Inputs(kind, encoder, facts["length"] if kind == "pieces" else PIECES)
    if own.facts.to_json() | {"encoder": ""} != dict(facts) | {"encoder": ""}:
        named = str(facts.get("encoder"))[:60]
        raise Refused(f"the server's model reads another encoder ('{named}'); give the same one by --encoder")
    return own


def _word_means(vectors: Any, texts: Sequence[str]) -> NDArray[np.float32]:
    from textveil.text import tokens

    rows = np.zeros((len(texts), vectors.dimensions), dtype=np.float32)
    for number, text in enumerate(texts):
        words = [token.lower() for token in tokens.words(text)]
        known = [place for word in words if (place := vectors.index(word)) is not None]
        if known:
            rows[number] = vectors.matrix[known].mean(0)
    return rows


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return any(letter.isalnum() for letter in text)


__all__ = ["InputFacts", "Inputs", "has_words", "inputs_like"]
