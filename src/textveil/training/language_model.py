"""A private language model: a CIFG-LSTM of 1.3 million parameters over public words, or a masked-word encoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from textveil.core import BadInput
from textveil.core.params import positive_integer

from .private_model import PrivateModel, Settings


class LanguageModel(PrivateModel):
    """`fit(texts)`; `perplexity(texts)`; `score` is minus the mean loss per word.

    `words`: the vocabulary, public or made under DP (then put its event into `also`); None takes the first `size` words
    of the bundled vectors. `encoder`: "minilm" or a Hugging Face folder: a masked-word model instead.

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
        **settings: Any,
    ):
        self.words, self.size, self.dimensions, self.hidden = words, size, dimensions, hidden
        self.max_words, self.encoder = max_words, encoder
        self._take(settings)

    def _examples(self, X: Sequence[str], y: Any) -> list[Any]:
        for number, text in enumerate(X):
            if not isinstance(text, str):
                raise BadInput(f"text {number} is a {type(text).__name__}, not a string")
        return list(X)

    def perplexity(self, X: Sequence[str]) -> float:
        """exp of the mean loss per word (of an encoder: per masked piece), every text weighing alike."""
        return math.exp(-self.score(X))

    def score(self, X: Sequence[str], y: Any = None) -> float:
        """Minus the mean loss per word: higher is better."""
        return -float(self.losses(X).mean())

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
        if self.words is not None:
            return list(dict.fromkeys(self.words))
        from textveil.text.vectors import load

        return list(load("default").words)[: positive_integer("size", self.size)]
