"""A private tagger (names in notes, say): public word vectors, a bidirectional LSTM, a CRF on top.

The defaults are what carried CoNLL-2003 farthest at epsilon 1 to 3 (docs/training.md): large Poisson batches, a small
clip, Adam, an average of the iterates, and everything frozen that public data can fix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textveil.core import BadInput
from textveil.core.params import choice
from textveil.text.vectors import Vectors, load

from .private_model import PrivateModel, Settings

Sentences = Sequence[Sequence[str]]


class Tagger(PrivateModel):
    """`fit(sentences, tags)`, both lists of lists of strings; `predict`; `score` is the entity-level F1.

    `affix`: signs for each of four beginnings and endings of a word; `spelling`: marks of case and digits; `per_word`:
    a sentence's loss is divided by its length. `tags`: the tag set, which is public (None: all that occur, declared
    public). `encoder`: "minilm" or a Hugging Face folder takes the place of vectors and LSTM.

    >>> Tagger(epsilon=3.0, delta=1e-5, output="softmax")
    Tagger(output='softmax', epsilon=3.0)
    """

    name: ClassVar[str] = "training.tagger"
    defaults: ClassVar[Settings] = Settings(epochs=36, batch=2048, clip=0.2, rate=0.007, average=0.96)

    def __init__(
        self,
        output: str = "crf",
        vectors: Vectors | str = "default",
        hidden: int = 100,
        layers: int = 1,
        affix: int = 24,
        spelling: bool = True,
        per_word: bool = True,
        tags: Sequence[str] | None = None,
        encoder: str | None = None,
        **settings: Any,
    ):
        self.output, self.vectors, self.hidden, self.layers, self.affix = output, vectors, hidden, layers, affix
        self.spelling, self.per_word, self.tags, self.encoder = spelling, per_word, tags, encoder
        self._take(settings)

    def _examples(self, X: Sentences, y: Sentences | None) -> list[Any]:
        choice("output", self.output, ("crf", "softmax"))
        if y is None:
            raise BadInput("a tagger needs the tags of every sentence")
        self.classes_ = tag_set(y) if self.tags is None else list(self.tags)
        return aligned(X, y, self.classes_)

    def predict(self, X: Sentences) -> list[list[str]]:
        """Tags for every word."""
        return list(self._fitted().tag(X))

    def score(self, X: Sentences, y: Sentences) -> float:
        """Entity-level F1."""
        from textveil.nets.entity_scores import entity_score

        return entity_score(y, self.predict(X)).f1

    def _public(self) -> tuple[str, ...]:
        base = "the encoder is public" if self.encoder else "the word vectors are public"
        return ("the set of tags is public", base)

    def _net(self) -> Any:
        if self.encoder:
            from textveil.nets.encoder import Encoder, encoder_folder

            return Encoder(encoder_folder(self.encoder), "tagger", self.classes_)
        from textveil.nets.tagger import BiLSTMTagger

        vectors = self.vectors if isinstance(self.vectors, Vectors) else load(self.vectors)
        return BiLSTMTagger.of(
            self.classes_,
            vectors,
            output=self.output,
            hidden=self.hidden,
            layers=self.layers,
            affix=self.affix,
            spelling=self.spelling,
            per_word=self.per_word,
        )


def tag_set(tags: Sentences) -> list[str]:
    """All tags that occur, O first.

    >>> tag_set([["B-X", "O"], ["I-X"]])
    ['O', 'B-X', 'I-X']
    """
    return sorted({t for sentence in tags for t in sentence}, key=lambda t: (t != "O", t[2:], t))


def aligned(sentences: Sentences, tags: Sentences, known: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Pairs of words and tags; the first sentence that does not fit is named by its number, never quoted."""
    if len(sentences) != len(tags):
        raise BadInput(f"there are {len(sentences)} sentences and tags for {len(tags)}")
    allowed, pairs = set(known), []
    for number, (words, own) in enumerate(zip(sentences, tags, strict=True)):
        if isinstance(words, str) or isinstance(own, str):
            raise BadInput(f"sentence {number} is one string", possible="a list of words and a list of tags")
        if len(words) != len(own):
            raise BadInput(f"sentence {number} has {len(words)} words and {len(own)} tags")
        if not allowed.issuperset(own):
            raise BadInput(f"sentence {number} has a tag outside the tag set", possible=", ".join(known))
        pairs.append((list(words), list(own)))
    return pairs
