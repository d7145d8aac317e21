"""The tagger: learns from marked documents, finds such spans in new ones, is saved and loaded.

Claim. None. It is trained without noise, so its weights tell about the documents it learnt from: the slots of their words
hold weights. Its release is labelled heuristic and says so; `train tagger` trains under a promise.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from textveil.core import Adjacency, BadInput, Estimator, Event, Guarantee, NoPromise, Shape, Unit, Unpriced
from textveil.core.example import Example
from textveil.core.params import choice, fraction, positive, positive_integer
from textveil.core.release import new_folder
from textveil.pii.tagger.backends import BACKENDS, Backend, backend_of
from textveil.text.spans import Span

KINDS = tuple(BACKENDS)
NOISES = ("channel", "ignore")
WHY = "trained without noise, the model may tell what its training documents hold; train tagger trains one under a promise"
SOURCE = "plain training; no theorem"
Marked = tuple[Sequence[str], Sequence[Sequence[Any]]]  # texts, and the spans of each


class Tagger(Estimator):
    """Finds spans of text like those it was shown.

    Parameters
    ----------
    kind
        "crf" (hashed, quick, needs no torch), "bilstm" or "transformer".
    epochs
        Passes over the documents; None: what suits the kind.
    rate
        Size of the steps; None: what suits the kind.
    bits
        crf: its table has 2^bits slots.
    noise
        "channel": the scores of the spans are confidences, and labels are taken for noisy sights of the true ones; "ignore":
        every label is taken for right.
    outside
        The confidence of tokens that no span marks, under "channel".
    holdout
        Share of the documents that only calibrate the scores.
    encoder
        transformer: "minilm", or the folder of an encoder.
    seed
        Of the order of training; None: a secret one.

    Examples
    --------
    >>> texts = [f"My name is {name} and I live here." for name in ("Anna", "Bo", "Carl", "Dora")] * 5
    >>> spans = [[Span(11, text.index(" and"), "PERSON")] for text in texts]
    >>> model = Tagger(epochs=5, bits=12, holdout=0).fit(texts, spans)
    >>> [s.of("My name is Emil and so on.") for s in model.find(["My name is Emil and so on."])[0]]
    ['Emil']
    """

    name = "pii.tagger"
    is_model = True

    def __init__(
        self,
        kind: str = "crf",
        epochs: int | None = None,
        rate: float | None = None,
        bits: int = 18,
        noise: str = "channel",
        outside: float = 1.0,
        holdout: float = 0.1,
        encoder: str = "minilm",
        seed: int | None = None,
    ):
        self.kind = kind
        self.epochs = epochs
        self.rate = rate
        self.bits = bits
        self.noise = noise
        self.outside = outside
        self.holdout = holdout
        self.encoder = encoder
        self.seed = seed

    def fit(
        self,
        documents: Sequence[str],
        spans: Sequence[Sequence[Any]],
        *,
        advance: Callable[[float], None] | None = None,
        noise: Any = None,
    ) -> Self:
        """Learn from documents and the spans marked in each: `Span`, or (start, end, label)."""
        self.check_data((documents, spans), Shape())
        marked = [[s if isinstance(s, Span) else Span(*s) for s in own] for own in spans]
        self.backend_: Backend = backend_of(self.kind)(self).fit(list(documents), marked, self._order(noise), advance)
        self.thresholds_: dict[str, float] = {}
        return self

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of each text, with calibrated scores."""
        return [
            [s for s in spans if s.score >= self.thresholds_.get(s.label, 0.0)] for spans in self._fitted().find(texts)
        ]

    predict = find

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it finds."""
        return tuple(dict.fromkeys(tag[2:] for tag in self._fitted().tags if tag != "O"))

    @property
    def guarantee_(self) -> Guarantee:
        """What is promised: nothing."""
        return Guarantee(NoPromise(WHY), Unit.DOCUMENT, Adjacency.ADD_REMOVE, (), SOURCE)

    def event(self, shape: Shape) -> Event:
        """An unpriced one."""
        return Event(Unpriced(NoPromise(WHY)), Unit.DOCUMENT, Adjacency.ADD_REMOVE, source=SOURCE, mechanism=self.name)

    def passes(self) -> tuple[str, ...]:
        """What leaves unprotected: all of it."""
        return ("the weights of the model, as trained", "the names of the labels")

    def check(self) -> None:
        """Refuse settings outside their range, before anything is read."""
        choice("kind", self.kind, KINDS)
        choice("noise", self.noise, NOISES)
        if self.epochs is not None:
            positive_integer("epochs", self.epochs)
        if self.rate is not None:
            positive("rate", self.rate)
        if not 8 <= positive_integer("bits", self.bits) <= 26:
            raise BadInput(f"bits must be 8 to 26, not {self.bits}")
        positive("outside", self.outside)
        fraction("outside", self.outside)
        if fraction("holdout", self.holdout) > 0.5:
            raise BadInput(f"holdout must be at most 0.5, not {self.holdout}")

    def check_data(self, data: Marked, shape: Shape) -> None:
        """Refuse what is no pair of documents and spans."""
        self.check()
        documents, spans = data
        if isinstance(documents, str) or len(documents) != len(spans):
            raise BadInput("a tagger takes documents and a list of spans for each")

    def apply(self, data: Marked, *, noise: Any = None) -> Tagger:
        """A fitted copy, from (documents, spans)."""
        return copy.copy(self).fit(*data, noise=noise)

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on."""
        texts = [f"Dear {name}, the fee is due." for name in ("Anna", "Bo", "Carl")] * 3
        spans = [[(5, text.index(","), "PERSON")] for text in texts]
        quiet = {"noise comes from the given source": "the noise orders the documents only; nothing is promised"}
        made = cls(bits=10, epochs=2, holdout=0.0)
        return Example(made, (texts, spans), see=lambda model: model.backend_.crf.weights, exempt=quiet)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the model into a new folder; `tv.pii.load` reads it back."""
        with new_folder(folder) as hidden:
            self.write(hidden)
        return Path(folder)

    def write(self, folder: Path) -> None:
        """Write the model's files into a folder that exists."""
        from textveil.pii.model_folder import write_tagger

        write_tagger(self, folder)

    def _order(self, noise: Any) -> int:
        if noise is not None:
            return int(noise.words(1)[0]) >> 1
        return int.from_bytes(os.urandom(7), "big") if self.seed is None else self.seed

    def _fitted(self) -> Backend:
        if not hasattr(self, "backend_"):
            raise BadInput("the tagger has not been fitted", possible="fit(documents, spans), or tv.pii.load(folder)")
        return self.backend_


__all__ = ["KINDS", "NOISES", "Tagger"]
