"""A private text classifier: a text CNN over public word vectors, or a transformer encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np

from textveil.core import BadInput
from textveil.core.inputs import Texts, check_texts, texts_of
from textveil.core.sklearn_tags import classifier_tags
from textveil.text.vectors import Vectors, load

from .private_model import PrivateModel, SettingNames, Settings


class Classifier(PrivateModel):
    """`fit(texts, labels)`, `predict`, `predict_proba`; `score` is the accuracy.

    Labels are strings, numbers or booleans, and are predicted as what they are.

    Parameters
    ----------
    vectors
        Public word vectors: "default", a file, or `Vectors`.
    channels
        Filters of each width.
    widths
        Widths of the filters, in words.
    max_words
        Read only so many words of a text.
    classes
        The classes, which are public. None takes all that occur in the training data, which shows a class that one
        text alone has (`passes` says so).
    encoder
        "minilm" or a Hugging Face folder, in the place of vectors and CNN.
    adapters
        With an encoder: let it rest, and learn the head and LoRA adapters of this rank in its attention. 0: the head
        alone; None: the encoder learns too.

    Examples
    --------
    >>> Classifier(epsilon=2.0, channels=32)
    Classifier(channels=32, epsilon=2.0)
    """

    _estimator_type: ClassVar[str] = "classifier"  # for scikit-learn before its tags
    name: ClassVar[str] = "training.classifier"
    defaults: ClassVar[Settings] = Settings(epochs=20, batch=1024, clip=0.2, rate=0.002)

    def __init__(
        self,
        vectors: Vectors | str = "default",
        channels: int = 64,
        widths: Sequence[int] = (2, 3, 4),
        max_words: int = 256,
        classes: Sequence[Any] | None = None,
        encoder: str | None = None,
        adapters: int | None = None,
        **settings: Unpack[SettingNames],
    ):
        self.vectors, self.channels, self.widths, self.max_words = vectors, channels, widths, max_words
        self.classes, self.encoder, self.adapters = classes, encoder, adapters
        self._take(settings)

    def _examples(self, X: Sequence[str], y: Sequence[Any] | None) -> list[Any]:
        labels = labels_of(() if y is None else y)
        declared = labels if self.classes is None else labels_of(self.classes)
        self.classes_ = np.array(list(dict.fromkeys(sorted(declared) if self.classes is None else declared)))
        if len(self.classes_) < 2:
            raise BadInput("a classifier needs two classes or more")
        return labelled(X, labels, self.classes_.tolist())

    def predict_proba(self, X: Texts) -> np.ndarray:
        """The chance of each class, one row a text; columns follow `classes_`."""
        return np.asarray(self._fitted().chances(texts_of(X)))

    def predict(self, X: Texts) -> np.ndarray:
        """The likeliest class of each text."""
        return self.classes_[self.predict_proba(X).argmax(1)]

    def score(self, X: Texts, y: Any) -> float:
        """The share of texts whose class is predicted."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def __sklearn_tags__(self) -> Any:
        return classifier_tags(super().__sklearn_tags__())

    def _public(self) -> tuple[str, ...]:
        base = "the encoder is public" if self.encoder else "the word vectors are public"
        taken = "" if self.classes is not None else ", though taken from the training data"
        return (f"the set of classes is public{taken}", base)

    def passes(self) -> tuple[str, ...]:
        return () if self.classes is not None else ("the list of classes was taken from the training file",)

    def save(self, folder: str | Path) -> Path:
        """The model folder; adapters are put into the encoder's own layers."""
        if self.adapters:
            from .adapters import merge_adapters

            merge_adapters(self._fitted())
        return super().save(folder)

    def _net(self) -> Any:
        names = self.classes_.tolist()
        if self.encoder:
            from textveil.nets.encoder import Encoder, encoder_folder

            from .adapters import adapt_encoder

            net = Encoder(encoder_folder(self.encoder), "classifier", names, max_pieces=self.max_words)
            return adapt_encoder(net, self.adapters)
        if self.adapters is not None:
            raise BadInput("adapters belong to an encoder", possible="encoder='minilm'")
        from textveil.nets.text_cnn import TextCNN

        vectors = self.vectors if isinstance(self.vectors, Vectors) else load(self.vectors)
        return TextCNN.of(names, vectors, channels=self.channels, widths=tuple(self.widths), max_words=self.max_words)


def labels_of(given: Sequence[Any]) -> list[Any]:
    """Labels as plain Python values, all of one kind, so that they can be sorted, stored and given back as they came.

    >>> labels_of(np.array([2, 0])), labels_of(("b", "a"))
    ([2, 0], ['b', 'a'])
    """
    if isinstance(given, (str, bytes)):
        raise BadInput("the labels are one string", possible="a list of labels, one for each text")
    labels = [label.item() if isinstance(label, np.generic) else label for label in given]
    for number, label in enumerate(labels):
        if not isinstance(label, (str, int, float)) or label != label:
            raise BadInput(
                f"label {number} is a {type(label).__name__}", possible="strings, numbers, or True and False"
            )
        if isinstance(label, str) is not isinstance(labels[0], str):
            raise BadInput(f"label {number} is of another kind than the first", possible="all strings, or all numbers")
    return labels


def labelled(texts: Sequence[str], labels: Sequence[Any], known: Sequence[Any]) -> list[tuple[str, Any]]:
    """Pairs of text and class; the first that does not fit is named by its number, never quoted."""
    check_texts(texts)
    if len(texts) != len(labels):
        raise BadInput(f"there are {len(texts)} texts and {len(labels)} labels")
    allowed = set(known)
    for number, label in enumerate(labels):
        if label not in allowed:
            raise BadInput(f"text {number} has a label outside the classes", possible=", ".join(map(repr, known)))
    return list(zip(texts, labels, strict=True))
