"""Marked documents as sentences in rows, each with its label and the unit that owns it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from textveil.hashed.corpus import label_tokens
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import Tokens, tokenize
from textveil.hashed.sound_features import RowPlan, Rows, rows_of

# Units with a clause, from the curve over 90, 180 and 360 contracts (docs/hashed-sound.md, reproduce/paper01/sound_curve.py).
WANTED, FEW = 360, 180


@dataclass(frozen=True, eq=False)
class Examples:
    """Sentence s is row s; `units` names its paragraph or document, in rising order."""

    rows: Any  # sparse, sentences x slots; every row of length 1
    labels: np.ndarray  # bool
    units: np.ndarray  # int64, 0 to count - 1, each at least once
    documents: int = 0
    words: int = 0

    @cached_property
    def columns(self) -> Any:
        """The transpose, kept: every step needs both."""
        return self.rows.T.tocsr()

    @property
    def count(self) -> int:
        return int(self.units[-1]) + 1 if len(self.units) else 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """For the owner of the documents alone, never for the folder: why the model will be of no use."""
        if self.labels.any() and not self.labels.all():
            return tuple(self._too_few())
        which = "all sentences are" if len(self.labels) and self.labels.all() else "no sentence is"
        return (f"there is a single label in the training data: {which} mostly inside spans",)

    def _too_few(self) -> list[str]:
        marked = len(np.unique(self.units[self.labels]))
        if marked >= FEW:
            return []
        return [
            f"{marked:,} {'unit holds' if marked == 1 else 'units hold'} a marked sentence, and this variant wants about "
            f"{WANTED}: with {FEW} it found less, with 90 about half (docs/hashed-sound.md). More marked documents help, a "
            "larger epsilon hardly does. With few documents an open model that is sealed finds more; it is measured, not "
            "promised"
        ]

    def take(self, kept: np.ndarray) -> Examples:
        """Only the units whose place in `kept` is True (units are numbered anew)."""
        chosen = kept[self.units]
        units = np.unique(self.units[chosen], return_inverse=True)[1].astype(np.int64)
        return Examples(self.rows[chosen], self.labels[chosen], units, self.documents, self.words)

    def without(self, unit: int) -> Examples:
        """The neighbouring data set that lacks one unit."""
        kept = np.ones(self.count, bool)
        kept[unit] = False
        return self.take(kept)


class ExampleReader:
    """Grows document by document."""

    def __init__(self, plan: FeaturePlan, rows: RowPlan, unit: str):
        self.plan, self.row_plan, self.unit = plan, rows, unit
        self._rows: list[Rows] = []
        self._labels: list[np.ndarray] = []
        self._units: list[np.ndarray] = []
        self._next = self.documents = self.words = 0

    def add(self, text: str, spans: Iterable[tuple[int, int]]) -> None:
        tokens = tokenize(text)
        self.documents += 1
        self.words += len(tokens.words)
        if not tokens.words:
            return
        self._rows.append(rows_of(tokens, self.plan, self.row_plan))
        self._labels.append(marked_sentences(tokens, spans))
        own = _paragraph_of(tokens) if self.unit == "paragraph" else np.zeros(len(tokens.sentences) - 1, np.int64)
        self._units.append(own + self._next)
        self._next += int(own[-1]) + 1

    def examples(self) -> Examples:
        """All of them, whatever they hold.

        Documents without any clause, or without any word, are trained on like others: if they were refused, removing the
        one unit with a clause would turn a release into a refusal, which is seen with certainty whatever epsilon is.
        `warnings` tells their owner.
        """
        from scipy import sparse

        if not self._rows:
            nothing = sparse.csr_array((0, self.plan.slots))
            return Examples(nothing, np.zeros(0, bool), np.zeros(0, np.int64), self.documents, self.words)
        rows = sparse.vstack([r.matrix(self.plan.slots) for r in self._rows], format="csr")
        return Examples(rows, np.concatenate(self._labels), np.concatenate(self._units), self.documents, self.words)


def marked_sentences(tokens: Tokens, spans: Iterable[tuple[int, int]]) -> np.ndarray:
    """Which sentences lie inside spans with more than half of their tokens."""
    inside = label_tokens(tokens, [(start, end, 1) for start, end in spans]).astype(np.int64)
    return 2 * np.add.reduceat(inside, tokens.sentences[:-1]) > np.diff(tokens.sentences)


def _paragraph_of(tokens: Tokens) -> np.ndarray:
    return np.searchsorted(tokens.paragraphs, tokens.sentences[:-1], "right").astype(np.int64) - 1
