"""A private language model: a CIFG-LSTM of 1.3 million parameters over public words, or a masked-word encoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

import numpy as np

from textveil.core import BadInput
from textveil.core.inputs import Texts, texts_of
from textveil.core.params import positive_integer

from .private_model import PrivateModel, SettingNames, Settings


class LanguageModel(PrivateModel):
    """`fit(texts)`; `perplexity(texts)`, `perplexities(texts)`, `next_words(text)`; `score` is minus the mean loss per word.

    Parameters
    ----------
    words
        The vocabulary, public or made under DP (then its event belongs into `also`); None takes the first `size`
        words of the bundled vectors.
    size
        How many of them.
    dimensions
        Length of the word vectors that are learnt.
    hidden
        Units of the LSTM.
    max_words
        Read only so many words of a text.
    encoder
        "minilm" or a Hugging Face folder: a masked-word model instead.

    Examples
    --------
    >>> LanguageModel(epsilon=4.0, hidden=64)
    LanguageModel(hidden=64, epsilon=4.0)
    """

    name: ClassVar[str] = "training.lm"
    defaults: ClassVar[Settings] = Settings(epochs=10, batch=2048, clip=0.5, rate=0.003)

    def __init__(
        self,
        words: Sequence[str] | None = None,
        size: int = 10_000,
        dimensions: int = 96,
        hidden: int = 256,
        max_words: int = 40,
        encoder: str | None = None,
        **settings: Unpack[SettingNames],
    ):
        self.words, self.size, self.dimensions, self.hidden = words, size, dimensions, hidden
        self.max_words, self.encoder = max_words, encoder
        self._take(settings)

    def _examples(self, X: Sequence[str], y: Any) -> list[Any]:
        return texts_of(X)

    def perplexity(self, X: Texts) -> float:
        """exp of the mean loss per word (of an encoder: per masked piece), every text weighing alike."""
        return math.exp(-self.score(X))

    def perplexities(self, X: Texts) -> np.ndarray:
        """The perplexity of each text by itself: how many words it was torn between, at each word."""
        return np.exp(self.losses(texts_of(X)).astype(np.float64))

    def next_words(self, text: str, count: int = 5) -> list[tuple[str, float]]:
        """The likeliest words after a text, with their chances. A masked-word encoder has none."""
        net = self._fitted()
        if not hasattr(net, "next_words"):
            raise BadInput("a masked-word encoder does not continue texts", possible="perplexities(texts)")
        if not isinstance(text, str):
            raise BadInput(f"a text is needed, not a {type(text).__name__}")
        return list(net.next_words(text, positive_integer("count", count)))

    def score(self, X: Texts, y: Any = None) -> float:
        """Minus the mean loss per word: higher is better."""
        return -float(self.losses(texts_of(X)).mean())

    def _public(self) -> tuple[str, ...]:
        if self.encoder:
            return ("the encoder and its vocabulary are public",)
        made = "priced in the same promise" if self.settings.also else "public"
        return (f"the list of words is {made}",)

    def _net(self) -> Any:
        if self.encoder:
            from textveil.nets.encoder import Encoder, encoder_folder

            return Encoder(encoder_folder(self.encoder), "lm", max_pieces=self.max_words + self.max_words // 3)
        from textveil.nets.language_model import CIFGLanguageModel

        return CIFGLanguageModel.of(
            self.word_list(), dimensions=self.dimensions, hidden=self.hidden, max_words=self.max_words
        )

    def word_list(self) -> list[str]:
        """The words of the net, most frequent first."""
        if self.words is not None:
            words = list(dict.fromkeys(self.words))
            if not words:
                raise BadInput(
                    "the list of words is empty: no word was frequent enough to be released",
                    possible="a larger share for the vocabulary (vocab_epsilon), or a public list",
                )
            return words
        from textveil.text.vectors import load

        return list(load("default").words)[: positive_integer("size", self.size)]
