"""A private tagger (names in notes, say): public word vectors, a bidirectional LSTM, a CRF on top.

The defaults are what carried CoNLL-2003 farthest at epsilon 1 to 3 (docs/training.md): large Poisson batches, a small
clip, Adam, an average of the iterates, and everything frozen that public data can fix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

from textveil.core import BadInput
from textveil.core.inputs import texts_of
from textveil.core.params import choice
from textveil.text.spans import Span
from textveil.text.vectors import Vectors, load

from .private_model import PrivateModel, SettingNames, Settings

Sentences = Sequence[Sequence[str]]  # words; where nothing is learnt, strings too, which are cut into words
Raw = Sequence[Sequence[str] | str]
_SCHEME = re.compile(r"[BIESLU]-.")


class Tagger(PrivateModel):
    """`fit(sentences, tags)`, both lists of lists of strings; `score` is the entity-level F1.

    A fitted one reads words or plain text: `predict` gives the tags of all words, `tag` pairs of word and tag, `find` the
    spans of a text with scores.

    Parameters
    ----------
    output
        Tags are chosen for whole sentences ("crf") or word by word ("softmax").
    vectors
        Public word vectors: "default", a file, or `Vectors`.
    hidden
        Units of the LSTM, each way.
    layers
        Layers of the LSTM.
    affix
        Signs for each of four beginnings and endings of a word.
    spelling
        Look at marks of case and digits.
    per_word
        Divide the loss of a sentence by its length.
    tags
        The tags, which are public. None takes all that occur in the training data, which shows a tag that one
        sentence alone has (`passes` says so).
    encoder
        "minilm" or a Hugging Face folder, in the place of vectors and LSTM.

    Examples
    --------
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
        **settings: Unpack[SettingNames],
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

    def predict(self, X: Raw) -> list[list[str]]:
        """Tags for every word; a string is cut into sentences and words first (`tag` shows which)."""
        return list(self._fitted().tag(checked(X)))

    def tag(self, X: Raw) -> list[list[tuple[str, str]]]:
        """Each word with its tag."""
        from textveil.nets.portable.tagger import words_of

        words = [words_of(text) if isinstance(text, str) else list(text) for text in checked(X)]
        return [list(zip(*pair, strict=True)) for pair in zip(words, self.predict(X), strict=True)]

    def tag_chances(self, X: Raw) -> list[list[tuple[str, float]]]:
        """Each word's tag, and the chance that the model gives it."""
        return list(self._fitted().tag_chances(checked(X)))

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of each text, by characters. A span's score is the smallest chance of a tag of its words."""
        from textveil.nets.portable.tagger import places_of

        texts = texts_of(texts)
        return [spans_of(places_of(text), row) for text, row in zip(texts, self.tag_chances(texts), strict=True)]

    @property
    def labels(self) -> tuple[str, ...]:
        """What spans can be called."""
        self._fitted()
        return tuple(dict.fromkeys(t[2:] if _SCHEME.match(t) else t for t in self.classes_ if t != "O"))

    def score(self, X: Raw, y: Sentences) -> float:
        """Entity-level F1."""
        from textveil.nets.entity_scores import entity_score

        return entity_score(y, self.predict(X)).f1

    def _public(self) -> tuple[str, ...]:
        base = "the encoder is public" if self.encoder else "the word vectors are public"
        taken = "" if self.tags is not None else ", though taken from the training data"
        return (f"the set of tags is public{taken}", base)

    def passes(self) -> tuple[str, ...]:
        return () if self.tags is not None else ("the list of tags was taken from the training file",)

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


def checked(X: Raw) -> Raw:
    """Sentences of words, or texts; named by number where they are neither."""
    if isinstance(X, str):
        raise BadInput("a list of sentences is needed, not one text", possible="[text]")
    if isinstance(X, Mapping) or hasattr(X, "columns"):  # whose names would be taken for sentences
        raise BadInput(f"a list of sentences is needed, not '{type(X).__name__}'", possible="one column of it")
    for number, sentence in enumerate(X):
        if not isinstance(sentence, str) and not all(isinstance(word, str) for word in sentence):
            raise BadInput(f"sentence {number} is neither a text nor a list of words")
    return X


def spans_of(places: Sequence[tuple[int, int]], row: Sequence[tuple[str, float]]) -> list[Span]:
    """Spans of tags with chances, over words at these places.

    >>> [(s.start, s.end, s.label, s.score) for s in spans_of([(0, 4), (5, 10)], [("B-PER", 0.9), ("I-PER", 0.7)])]
    [(0, 10, 'PER', 0.7)]
    """
    from textveil.nets.entity_scores import entities

    tags = [tag if tag == "O" or _SCHEME.match(tag) else f"I-{tag}" for tag, _ in row]  # tags without a scheme: runs
    return [
        Span(places[e.first][0], places[e.last][1], e.type, min(p for _, p in row[e.first : e.last + 1]), "model")
        for e in entities(tags)
    ]


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
