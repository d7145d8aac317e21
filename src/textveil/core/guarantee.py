"""One promise: what is bounded, for whom, under which assumptions, by which theorem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .errors import CannotAdd
from .losses import Approx, LimitedPrecision, Loss, Metric, loss_from_json, times
from .units import Adjacency, Unit


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

    def explain(self) -> str:
        """Plain sentences for whoever has to decide: what is protected, what is not."""
        if self.label != "guarantee":
            return f"{_capital(self.loss.sentence())}."
        lines = [
            f"Protected: {self.unit.phrase}. Whether it {self.adjacency.phrase} changes what anyone sees only within "
            f"a bound: {self.loss.sentence()}."
        ]
        lines += _how_strong(self.loss)
        if self.assumes:
            lines.append("This holds as long as: " + "; ".join(self.assumes) + ".")
        lines.append(f"Not protected: {_NOT_PROTECTED[self.unit]}.")
        return " ".join(lines)

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


def _how_strong(loss: Loss) -> list[str]:
    """What the number means for someone who guesses between two possibilities that seemed equally likely before."""
    match loss:
        case Approx(epsilon, _) | LimitedPrecision(epsilon, _, _):
            pass
        case Metric() if loss.diameter is not None:
            near, far = loss.epsilon * loss.diameter / 10, loss.worst
            return [
                f"A guess between two inputs that was even before may be right {_even_guess(near)} afterwards if they are a "
                f"tenth of the largest distance apart, and {_even_guess(far)} ({times(far)}) if they are the two most "
                f"different ones."
            ]
        case _:
            return []
    return [f"A guess that was even before may be right {_even_guess(epsilon)} afterwards, not more."]


def _even_guess(epsilon: float) -> str:
    """e^eps / (1 + e^eps) as a percentage, rounded up so that it stays a bound."""
    share = 1 / (1 + math.exp(-min(epsilon, 700.0)))
    percent = math.ceil(share * 1000) / 10
    return "practically always" if percent >= 100 else f"{percent:.1f} % of the time"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


_NOT_PROTECTED: dict[Unit, str] = {
    Unit.WORD: (
        "the length of the text, the order of its words, punctuation and layout, and what several words say together: "
        "each word has its own budget, so a document of n words may lose n times as much"
    ),
    Unit.TERM: "which other terms occur, and anything about a document as a whole",
    Unit.EXAMPLE: "a person or document that contributed several examples",
    Unit.DOCUMENT: "a person who wrote several of the documents",
    Unit.USER: "facts that hold for many users at once",
    Unit.CLIENT: "facts that hold for many clients at once",
    Unit.PARTY: "what the announced result itself tells",
}
