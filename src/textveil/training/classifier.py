"""A private text classifier: a text CNN over public word vectors, or a transformer encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from textveil.core import BadInput
from textveil.text.vectors import Vectors, load

from .private_model import PrivateModel, Settings


class Classifier(PrivateModel):
    """`fit(texts, labels)`, `predict`, `predict_proba`; `score` is the accuracy.

    `classes`: the classes, which are public (None: all that occur, declared public). `encoder`: "minilm" or a Hugging Face
    folder takes the place of vectors and CNN.

    >>> Classifier(epsilon=2.0, channels=32)
    Classifier(channels=32, epsilon=2.0)
    """

    name: ClassVar[str] = "training.classifier"
    defaults: ClassVar[Settings] = Settings(epochs=20, batch=1024, clip=0.2, rate=0.002)

    def __init__(
        self,
        vectors: Vectors | str = "default",
        channels: int = 64,
        widths: Sequence[int] = (2, 3, 4),
        max_words: int = 256,
        classes: Sequence[str] | None = None,
        encoder: str | None = None,
        **settings: Any,
    ):
        self.vectors, self.channels, self.widths, self.max_words = vectors, channels, widths, max_words
        self.classes, self.encoder = classes, encoder
        self._take(settings)

    def _examples(self, X: Sequence[str], y: Sequence[Any] | None) -> list[Any]:
        names = [str(label) for label in (() if y is None else y)]
        self.classes_ = np.array(sorted(set(names)) if self.classes is None else [str(c) for c in self.classes])
        if len(self.classes_) < 2:
            raise BadInput("a classifier needs two classes or more")
        return labelled(X, names, self.classes_)

    def predict_proba(self, X: Sequence[str]) -> np.ndarray:
        """The chance of each class, one row a text; columns follow `classes_`."""
        return np.asarray(self._fitted().chances(list(X)))

    def predict(self, X: Sequence[str]) -> np.ndarray:
        """The likeliest class of each text."""
        return self.classes_[self.predict_proba(X).argmax(1)]

    def score(self, X: Sequence[str], y: Sequence[Any]) -> float:
        """The share of texts whose class is predicted."""
        return float(np.mean(self.predict(X) == np.array([str(label) for label in y])))

    def _public(self) -> tuple[str, ...]:
        base = "the encoder is public" if self.encoder else "the word vectors are public"
        return ("the set of classes is public", base)

    def _net(self) -> Any:
        names = self.classes_.tolist()
        if self.encoder:
            from textveil.nets.encoder import Encoder, encoder_folder

            return Encoder(encoder_folder(self.encoder), "classifier", names, max_pieces=self.max_words)
        from textveil.nets.text_cnn import TextCNN

        vectors = self.vectors if isinstance(self.vectors, Vectors) else load(self.vectors)
        return TextCNN.of(names, vectors, channels=self.channels, widths=tuple(self.widths), max_words=self.max_words)


def labelled(texts: Sequence[str], labels: Sequence[str], known: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of text and class; the first that does not fit is named by its number, never quoted."""
    if len(texts) != len(labels):
        raise BadInput(f"there are {len(texts)} texts and {len(labels)} labels")
    allowed = set(known)
    for number, (text, label) in enumerate(zip(texts, labels, strict=True)):
        if not isinstance(text, str):
            raise BadInput(f"text {number} is a {type(text).__name__}, not a string")
        if label not in allowed:
            raise BadInput(f"text {number} has a label outside the classes", possible=", ".join(map(str, known)))
    return list(zip(texts, labels, strict=True))
