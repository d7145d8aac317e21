"""One promise: what is bounded, for whom, under which assumptions, by which theorem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .errors import CannotAdd
from .losses import LimitedPrecision, Loss, Metric, downward, loss_from_json, upward
from .units import Adjacency, Unit

MOST_SURE = 0.95  # how often an even guess may be right where a promise is still said to bound something


@dataclass(frozen=True)
class GuaranteeParts:
    """A promise in plain words, piece by piece. Phrases have no full stop; `bound` and `how_sure` are sentences."""

    protected: str  # whom or what; empty when nothing is promised
    bound: str  # by how much a neighbour may change what is seen, or why nothing is promised
    how_sure: str  # what that means for a guess; empty when nothing can be said
    assumptions: tuple[str, ...]
    not_protected: tuple[str, ...]


@dataclass(frozen=True)
class Guarantee:
    """A promise as a value.

    Promises for different units or adjacencies neither add nor compare:

    >>> from textveil.core import Pure
    >>> word = Guarantee(Pure(1.0), Unit.WORD, Adjacency.REPLACE)
    >>> user = Guarantee(Pure(1.0), Unit.USER, Adjacency.REPLACE)
    >>> word + user
    Traceback (most recent call last):
    ...
    textveil.core.errors.CannotAdd: a promise per word (replace) and one per user (replace) have no sum
    >>> (word + word).loss.epsilon
    2.0
    """

    loss: Loss
    unit: Unit
    adjacency: Adjacency
    assumes: tuple[str, ...] = ()
    source: str = ""

    @property
    def label(self) -> str:
        """guarantee, measured, cryptographic, heuristic, broken or seeded."""
        return self.loss.label

    def __add__(self, other: Guarantee) -> Guarantee:
        if not isinstance(other, Guarantee):
            return NotImplemented
        self._same_question(other, "have no sum")
        assumes = self.assumes + tuple(a for a in other.assumes if a not in self.assumes)
        source = self.source if self.source == other.source else "; ".join(s for s in (self.source, other.source) if s)
        return Guarantee(self.loss.plus(other.loss), self.unit, self.adjacency, assumes, source)

    def covers(self, other: Guarantee) -> bool:
        """True when this promise is kept by whoever keeps `other`."""
        self._same_question(other, "do not compare")
        return self.loss.covers(other.loss)

    def __le__(self, other: Guarantee) -> bool:
        """Smaller means stronger: `a <= b` when a promises at least what b does."""
        if not isinstance(other, Guarantee):
            return NotImplemented
        return other.covers(self)

    def __ge__(self, other: Guarantee) -> bool:
        if not isinstance(other, Guarantee):
            return NotImplemented
        return self.covers(other)

    def _same_question(self, other: Guarantee, what: str) -> None:
        if (self.unit, self.adjacency) != (other.unit, other.adjacency):
            mine, theirs = (f"per {g.unit} ({g.adjacency})" for g in (self, other))
            raise CannotAdd(f"a promise {mine} and one {theirs} {what}")

    @property
    def is_bounding(self) -> bool:
        """True where the promise bounds something: an even guess between any two neighbours stays at or below 95 %.

        A metric promise is judged at its diameter, limited precision at its N counts, which are its neighbours.

        >>> Guarantee(Metric(0.5, "hamming", "ab12", 256.0), Unit.WORD, Adjacency.METRIC).is_bounding
        False
        """
        right = self.loss.even_guess()
        return self.label == "guarantee" and right is not None and right <= MOST_SURE * (1 + 1e-12)

    def parts(self) -> GuaranteeParts:
        """What `explain` says, piece by piece, for a page that lays it out."""
        if self.label != "guarantee":
            return GuaranteeParts("", _capital(self.loss.sentence()), "", self.assumes, (_NOTHING_CLAIMED,))
        match self.loss:
            case LimitedPrecision(_, n, _):
                protected, not_protected = _counts_of(n, self.unit), _not_protected_counts(n)
                bound = _capital(self.loss.sentence())
            case _:
                protected = self.unit.phrase
                not_protected = (*_too_far(self.loss, self.unit), *_NOT_PROTECTED[self.unit])
                bound = (
                    f"Whether it {self.adjacency.phrase} changes what anyone sees only within a bound: "
                    f"{self.loss.sentence()}"
                )
        return GuaranteeParts(protected, bound, _how_sure(self.loss, self.unit), self.assumes, not_protected)

    def explain(self) -> str:
        """Plain sentences for whoever has to decide: what is protected, what is not."""
        parts = self.parts()
        if self.label != "guarantee":
            return f"{parts.bound}."
        lines = [f"Protected: {parts.protected}. {parts.bound}."]
        if parts.how_sure:
            lines.append(f"{parts.how_sure}.")
        if parts.assumptions:
            lines.append("This holds as long as: " + "; ".join(parts.assumptions) + ".")
        lines.append("Not protected: " + "; ".join(parts.not_protected) + ".")
        return " ".join(lines)

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        from .notebook import guarantee_html

        return guarantee_html(self)

    def to_json(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "loss": self.loss.to_json(),
            "unit": str(self.unit),
            "adjacency": str(self.adjacency),
            "assumes": list(self.assumes),
            "source": self.source,
        }

    @classmethod
    def from_json(cls, shown: dict[str, Any]) -> Guarantee:
        return cls(
            loss_from_json(shown["loss"]),
            Unit(shown["unit"]),
            Adjacency(shown["adjacency"]),
            tuple(shown.get("assumes", ())),
            shown.get("source", ""),
        )


def _how_sure(loss: Loss, unit: Unit) -> str:
    """What the number means for someone who guesses between two possibilities that seemed equally likely before."""
    right = loss.even_guess()
    if right is None or (isinstance(loss, Metric) and loss.diameter is None):
        return ""
    if not isinstance(loss, Metric):
        return f"A guess that was even before may be right {often(right)} afterwards, not more"
    things = unit.things
    if right <= MOST_SURE:
        return (
            f"A guess between two {things} that was even before may be right {often(right)} afterwards, not more, "
            "even if they are the two most different ones"
        )
    return (
        f"A guess between two near {things}, at most {downward(near_distance(loss), 3)} apart, that was even before stays at "
        f"or below {MOST_SURE * 100:g} % afterwards"
    )


def near_distance(loss: Metric) -> float:
    """Up to which distance an even guess between two inputs stays at or below 95 %."""
    return math.inf if loss.epsilon == 0 else math.log(MOST_SURE / (1 - MOST_SURE)) / loss.epsilon


def _too_far(loss: Loss, unit: Unit) -> tuple[str, ...]:
    """What a theorem about near inputs leaves open: the far ones."""
    right = loss.even_guess()
    if not isinstance(loss, Metric) or right is None or right <= MOST_SURE:
        return ()
    things = unit.things
    if loss.diameter is None:
        return (f"two {things} that are far apart: how far two of them can be is not known",)
    return (
        f"two {things} that are further apart: between the two most different ones ({upward(loss.diameter)} apart) an even "
        f"guess may be right {often(right)} afterwards",
    )


def often(share: float) -> str:
    """A share of the time, rounded up so that it stays a bound."""
    percent = math.ceil(share * 1000 * (1 - 1e-12)) / 10
    return "practically always" if percent >= 100 else f"{percent:.1f} % of the time"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _counts_of(n: int, unit: Unit) -> str:
    return f"any {n} counts of one {unit}" if n > 1 else f"any single count of one {unit}"


def _not_protected_counts(n: int) -> tuple[str, ...]:
    return (
        f"two documents that differ in more than {n} counts: twice as many counts lose twice as much, and so on, so "
        "documents with different content may be told apart",
        "a person who wrote several of the documents",
    )


_NOTHING_CLAIMED = "no bound on what the output gives away is claimed, for anyone"
_NOT_PROTECTED: dict[Unit, tuple[str, ...]] = {
    Unit.WORD: (
        "the length of the text, the order of its words, punctuation and layout",
        "a word that stands several times: each occurrence is drawn by itself, and whoever takes them together recovers "
        "the word more often",
        "what several words say together: each has its own budget, so a document of n words may lose n times as much",
    ),
    Unit.DOCUMENT_TERM: (
        "which places of a document hold equal words: documents that differ in that have no bound, so neither has one "
        "occurrence that is changed by itself",
        "a word that stands in several documents: each document draws it anew, and whoever takes them together recovers "
        "the word more often",
        "the length of the text, the order of its words, punctuation and layout",
        "what several words say together: each has its own budget, so a document of n different words may lose n times as "
        "much",
    ),
    Unit.TERM: ("which other terms occur, and anything about a document as a whole",),
    Unit.EXAMPLE: ("a person or document that contributed several examples",),
    Unit.PARAGRAPH: ("a document with several paragraphs, or a fact that stands in several of them",),
    Unit.DOCUMENT: ("a person who wrote several of the documents",),
    Unit.USER: ("facts that hold for many users at once",),
    Unit.CLIENT: ("facts that hold for many clients at once",),
    Unit.PARTY: ("what the announced result itself tells",),
}
