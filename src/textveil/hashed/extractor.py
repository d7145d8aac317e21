"""The extractor: learns from marked documents, finds such spans in new ones, is saved, loaded and sealed.

It makes no promise by itself: its table holds a trace of every word it was trained on. `seal` fills the table (a measured
protection); the sound variant trains under a guarantee. All three share the file format and `predict`.
"""

from __future__ import annotations

import copy
import os
import secrets
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from textveil.core import Adjacency, BadInput, Estimator, Event, Guarantee, NoPromise, Shape, Unit, Unpriced
from textveil.core.errors import not_fitted
from textveil.core.example import Example
from textveil.core.inputs import Texts, texts_of
from textveil.core.params import choice, fraction, needs, positive, positive_integer
from textveil.core.release import new_folder
from textveil.hashed.clusters import clusters_id
from textveil.hashed.corpus import Corpus, label_tokens
from textveil.hashed.decode import Decoded, Span, decode, spans_of
from textveil.hashed.features import has_numba, slots_of
from textveil.hashed.kinds import TableKind
from textveil.hashed.marked_data import Marked, SpanLike, bounds_of, check_marked, check_pairs
from textveil.hashed.passive_aggressive import PassiveAggressive
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import Tokens, tokenize
from textveil.hashed.table import HEADER, WeightTable
from textveil.hashed.widening import SHARE, widen
from textveil.noise import Source

OUTSIDE = "O"
PLAN = FeaturePlan()
CROWDED = 0.75  # share of features that share their slot with another, above which `fit` warns
MODEL = "model"  # the folder of the table inside a release
WHY = "the table of an unsealed model holds exact traces of the documents: seal it, or train the sound variant"
UNMEASURED = "the table is sealed, but what that costs was not measured: `textveil hashed seal` measures it"
SOURCE = "Fletcher, Roegiest, Hudek: Hash the Universe (2024), before section 4"


class CollisionWarning(UserWarning):
    """The table is too small for the features of the documents."""


class Extractor(Estimator):
    """Finds spans of text like those it was shown.

    Parameters
    ----------
    label
        Name of spans that are given without one.
    plan
        Which features fall into how many slots (`FeaturePlan`).
    epochs
        Passes over the documents.
    c
        The largest step of one update.
    widen
        "sentence": finds become whole sentences; "none": they stay as they are.
    share
        Share of the tokens of a sentence that must be found for it to be taken.
    shuffle
        Train in random order; otherwise in the order of the documents.
    seed
        Of that order; None draws a secret one.

    Examples
    --------
    >>> texts = ["The fee is due in May. Texas law governs this paper."] * 3
    >>> model = Extractor(label="LAW", plan=FeaturePlan(bits=12)).fit(texts, [[(23, 52)]] * 3)
    >>> [texts[0][s.start : s.end] for s in model.predict(texts[:1])[0]]
    ['Texas law governs this paper.']
    """

    name = "hashed.extractor"

    def __init__(
        self,
        label: str = "CLAUSE",
        plan: FeaturePlan = PLAN,
        epochs: int = 10,
        c: float = 0.001,
        widen: str = "sentence",
        share: float = SHARE,
        shuffle: bool = False,
        seed: int | None = None,
    ):
        self.label, self.plan, self.epochs, self.c = label, plan, epochs, c
        self.widen, self.share, self.shuffle, self.seed = widen, share, shuffle, seed

    def public_params(self) -> dict[str, Any]:
        """Parameters as they may be published: all but the seed, which would tell the order of the documents."""
        return {**super().public_params(), "plan": self.plan.to_json()}

    def fit(
        self,
        documents: Texts,
        spans: Sequence[Sequence[SpanLike]],
        *,
        advance: Callable[[float], None] | None = None,
        noise: Source | None = None,
    ) -> Self:
        """Learn from documents and the spans marked in each: (start, end), or (start, end, label).

        `noise` gives the secret order if `shuffle` is set; without it the seed does.
        """
        self.check()
        labels = self._labels(documents, spans)
        corpus = Corpus(self.plan)
        for number, (text, marked) in enumerate(zip(documents, spans, strict=True)):
            corpus.add(text, _numbered(marked, text, number, labels, self.label))
        return self.fit_corpus(corpus, labels, advance=advance, noise=noise)

    def fit_corpus(
        self,
        corpus: Corpus,
        labels: tuple[str, ...],
        *,
        advance: Callable[[float], None] | None = None,
        noise: Source | None = None,
    ) -> Self:
        """Learn from a corpus that has been hashed already."""
        self.require_two_labels(corpus)
        self.collision_rate_ = warn_if_crowded(corpus.documents)
        self.table_ = self.trainer(noise).train(corpus.blocks(), self.plan.slots, labels, advance=advance)
        self.table_.documents = corpus.plain()
        return self

    @staticmethod
    def require_two_labels(corpus: Corpus) -> None:
        """Refuse documents that leave nothing to tell apart."""
        if not 0 < corpus.relevant < corpus.tokens:
            which = "no token is inside a span" if corpus.relevant == 0 else "all tokens are inside spans"
            raise BadInput(
                f"there is a single label in the training data: {which}",
                possible="documents with text in and outside spans",
            )

    def predict(self, documents: Texts) -> list[list[Span]]:
        """The spans found in each document, in order, with scores."""
        return [self.extract(text) for text in texts_of(documents)]

    def extract(self, text: str) -> list[Span]:
        """The spans found in one document."""
        return self.extract_counted(text)[0]

    def extract_counted(self, text: str) -> tuple[list[Span], int]:
        """The spans found in one document, and how many tokens it has."""
        tokens, decoded = self._widened(text)
        return spans_of(tokens, *decoded, self._table().labels), len(tokens.words)

    def _widened(self, text: str) -> tuple[Tokens, Decoded]:
        tokens, decoded = self._decode(text)
        if self.widen == "sentence":
            decoded = decoded._replace(labels=widen(decoded.labels, tokens.sentences, self.share))
        return tokens, decoded

    def score(self, documents: Texts, spans: Sequence[Sequence[SpanLike]]) -> float:
        """F1 of tokens, all documents together: a token of a marked span is right if it is found with the span's label."""
        names = tuple(dict.fromkeys((*self._table().labels, *self._labels(documents, spans))))
        right = marked = found = 0
        for number, (text, own) in enumerate(zip(documents, spans, strict=True)):
            tokens, decoded = self._widened(text)
            truth = label_tokens(tokens, _numbered(own, text, number, names, self.label))
            right += int(((truth == decoded.labels) & (truth > 0)).sum())
            marked, found = marked + int((truth > 0).sum()), found + int((decoded.labels > 0).sum())
        return 2 * right / max(1, marked + found)

    def token_scores(self, documents: Texts) -> list[np.ndarray]:
        """The margin of each token of each document: above 0 where the model finds it, before widening."""
        return [self._decode(text)[1].margins for text in texts_of(documents)]

    def seal(self, **options: Any) -> Extractor:
        """A copy whose table is filled; see `textveil.hashed.seal`."""
        from textveil.hashed.seal import seal

        return self.with_table(seal(self._table(), **options))

    def with_table(self, table: WeightTable) -> Extractor:
        """The same extractor on another table."""
        other = copy.copy(self)
        other.table_ = table
        return other

    @property
    def guarantee_(self) -> Guarantee:
        """What is promised: nothing, unless the table was sealed or trained soundly."""
        table = getattr(self, "table_", None)
        kept = None if table is None else table.facts.get("guarantee")
        if kept is not None:
            return Guarantee.from_json(kept)
        why = WHY if table is None or table.is_open else UNMEASURED
        return Guarantee(NoPromise(why), Unit.DOCUMENT, Adjacency.ADD_REMOVE, (), SOURCE)

    def passes(self) -> tuple[str, ...]:
        """What stands in the model's folder without protection, by name; before `fit`, what will stand there."""
        table = getattr(self, "table_", None)
        names = f"the name of the label: {self.label if table is None else ', '.join(table.labels[1:])}"
        steps = "the weights between labels (transitions), as trained"
        if table is not None and table.kind is TableKind.SOUND:
            return (names,)
        if table is None or table.kind is TableKind.OPEN:
            return (
                names,
                "the words and word pairs of the training documents, as slots that hold weights (weights.bin, present.bin)",
                "in how many training documents each slot stands (documents.bin)",
                steps,
            )
        plan = table.facts.get("seal", {})
        rows = (
            "all rows of trained words, as trained"
            if plan.get("mode") == "paper"
            else f"the rows of ordinary words in {plan.get('min_documents', 1)} training documents or more"
        )
        return (names, rows, steps, "costs measured on the trained rows, and with them how many rows were kept")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "table_")

    def check_data(self, data: Marked, shape: Shape) -> None:
        """Refuse what is no pair of documents and spans, and settings outside their range."""
        self.check()
        check_marked(data)

    def event(self, shape: Shape) -> Event:
        """An unpriced one: nothing is promised about an open table."""
        return Event(Unpriced(NoPromise(WHY)), Unit.DOCUMENT, Adjacency.ADD_REMOVE, source=SOURCE, mechanism=self.name)

    def apply(self, data: Marked, *, noise: Source | None = None) -> Extractor:
        """A fitted copy, from (documents, spans)."""
        check_marked(data)
        return copy.copy(self).fit(*data, noise=noise)

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on."""
        draws_nothing = {
            "noise comes from the given source": "training an open table draws no noise, and promises nothing"
        }
        made = cls(label="LAW", plan=FeaturePlan(bits=10), epochs=2)
        return Example(made, marked_example(), see=lambda model: model.table_.weights, exempt=draws_nothing)

    def save(self, folder: str | os.PathLike[str], *, dtype: str = "float32") -> Path:
        """Write the model into a new folder; `load` reads it back."""
        with new_folder(folder) as hidden:
            self.write(hidden, dtype=dtype)
        return Path(folder)

    def write(self, folder: Path, *, dtype: str = "float32") -> None:
        """Write the model's files into a folder that exists."""
        table = copy.copy(self._table())
        table.facts = {**table.facts, "extractor": self._settings()}
        table.save(folder, dtype=dtype)

    def _settings(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "plan": self.plan.to_json(),
            "clusters": clusters_id(self.plan.clusters) if "cluster" in self.plan.families else None,
            "widen": self.widen,
            "share": self.share,
            "epochs": self.epochs,
            "c": self.c,
            "shuffle": self.shuffle,
        }

    def check(self) -> None:
        """Refuse settings outside their range, and missing packages, before anything is read."""
        positive_integer("epochs", self.epochs)
        positive("c", self.c)
        choice("widen", self.widen, ("sentence", "none"))
        fraction("share", self.share)
        if not has_numba():
            needs("hashed", "mmh3")

    def _labels(self, documents: Sequence[str], spans: Sequence[Sequence[SpanLike]]) -> tuple[str, ...]:
        check_pairs(documents, spans)
        found = {str(s[2]) if len(s) > 2 else self.label for marked in spans for s in marked}
        return (OUTSIDE, *sorted(found or {self.label}))

    def trainer(self, noise: Source | None = None) -> PassiveAggressive:
        """The trainer with these settings."""
        return PassiveAggressive(self.epochs, self.c, self._order(noise))

    def _order(self, noise: Source | None) -> int | None:
        if not self.shuffle:
            return None
        if noise is not None:
            return int(noise.words(1)[0])
        return secrets.randbits(64) if self.seed is None else self.seed

    def _table(self) -> WeightTable:
        if not hasattr(self, "table_"):
            raise not_fitted(self, "fit(documents, spans), or hashed.load(folder)")
        return self.table_

    def _decode(self, text: str) -> tuple[Tokens, Decoded]:
        table = self._table()
        if table.bits != self.plan.bits:
            raise BadInput(f"the table has 2^{table.bits} slots, the plan 2^{self.plan.bits}")
        tokens = tokenize(text)
        if table.kind is TableKind.SOUND:
            from textveil.hashed.sound_decode import decode_sentences

            return tokens, decode_sentences(tokens, self.plan, table)
        return tokens, decode(slots_of(tokens, self.plan), tokens.paragraphs, table)


def load(folder: str | os.PathLike[str], *, verify: bool = True) -> Extractor:
    """The extractor of a model folder, or of a release folder that holds one."""
    target = Path(folder)
    if not (target / HEADER).is_file() and (target / MODEL / HEADER).is_file():
        target = target / MODEL
    table = WeightTable.open(target, verify=verify)
    facts = dict(table.facts)
    kept = facts.pop("extractor", None)
    if kept is None:
        raise BadInput("is a table without the settings of an extractor", where=target)
    plan = FeaturePlan.from_json(kept["plan"])
    if kept["clusters"] is not None and clusters_id(plan.clusters) != kept["clusters"]:
        raise BadInput("was trained with other word clusters than those found here", where=target)
    table.facts = facts
    names = ("label", "widen", "share", "epochs", "c", "shuffle")
    return Extractor(plan=plan, **{name: kept[name] for name in names}).with_table(table)


def marked_example() -> tuple[list[str], list[list[tuple[int, int]]]]:
    """A few made-up documents and the clause marked in each."""
    texts = ["The fee is due in May.\n\nTexas law governs this paper.", "Ohio law governs all of it.\n\nPay in June."]
    return texts * 2, [[(24, 53)], [(0, 27)]] * 2


def warn_if_crowded(documents: np.ndarray) -> float:
    """The share of features that share their slot with another one, and a warning where it is large.

    n features fall into R slots; a slot stays empty with chance (1 - 1/R)^n, so the share of occupied slots estimates
    1 - exp(-n / R), which is also the chance that a feature meets one of the others.
    """
    rate = float(np.count_nonzero(documents)) / len(documents)
    if rate > CROWDED:
        bits = len(documents).bit_length() - 1
        warnings.warn(
            f"2^{bits} slots are few for these documents: {rate:.0%} of their features share a slot with another one; "
            "use more bits",
            CollisionWarning,
            stacklevel=3,
        )
    return rate


def _numbered(
    marked: Sequence[SpanLike], text: str, number: int, labels: tuple[str, ...], default: str
) -> Iterator[tuple[int, int, int]]:
    """Spans with the number of their label, checked against the text."""
    for span, (start, end) in zip(marked, bounds_of(marked, text, number), strict=True):
        yield start, end, labels.index(str(span[2]) if len(span) > 2 else default)
