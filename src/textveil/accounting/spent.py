"""What a ledger held right after one of its charges, as a fact for the card of that release.

The total is replayed from the lines up to the charge, so a later one does not change it: two cards of one ledger read in
their order show how it grew. It is made from events, which are public; fingerprints of data are left out.
"""

from __future__ import annotations

import math

from textveil.core.facts import SpentSoFar
from textveil.core.losses import Approx, LimitedPrecision, Loss, Metric
from textveil.core.units import Unit

from .book import Book, Entry
from .ledger import Ledger
from .totals import Question


def spent_at(ledger: Ledger, entry_id: str, delta: float | None = None) -> SpentSoFar:
    """The total for the unit of that charge, read at the delta of its budget, else at `delta`.

    >>> import tempfile, pathlib
    >>> from textveil.core import Adjacency, Event, MetricNoise
    >>> ledger = Ledger.new(pathlib.Path(tempfile.mkdtemp()) / "notes.ledger", unit="word", metric="hamming", epsilon=0.8)
    >>> event = Event(MetricNoise(0.25, "hamming", "ab12"), Unit.WORD, Adjacency.METRIC)
    >>> first, second, third = (ledger.charge(event) for _ in range(3))
    >>> spent = spent_at(ledger, second.id)
    >>> spent.charges, spent.epsilon, spent.what, round(spent.left, 3)
    (2, 0.5, 'per step of hamming distance between two words', 0.3)
    """
    book = ledger.book_until(entry_id)
    entry = book.entries[-1]
    unpriced = sum(not known.priced for known in book.entries)
    if not entry.priced:
        return SpentSoFar(ledger.name, 0, unpriced)
    question = Question.of(entry.event)
    total = book.total(question, book.delta_of(question) or delta)
    budget, left = _tightest(book, entry)
    epsilon, read_at, what = _read(total.loss, question.unit)
    return SpentSoFar(ledger.name, total.charges, unpriced, epsilon, read_at, what, budget, left)


def _read(loss: Loss, unit: Unit) -> tuple[float | None, float, str]:
    match loss:
        case Metric(epsilon, metric):
            return epsilon, 0.0, f"per step of {metric} distance between two {unit.things}"
        case LimitedPrecision(epsilon, n, delta):
            return epsilon, delta, f"for any {n} counts of a {unit}"
        case Approx(epsilon, delta):
            return epsilon, delta, f"for {unit.phrase}"
    return None, 0.0, ""


def _tightest(book: Book, entry: Entry) -> tuple[float | None, float | None]:
    """Of the budgets that the charge drew on, the one with the least left."""
    groups = book.groups()
    rows = [(max(0.0, b.epsilon - b.spent(groups).epsilon), b) for b in book.budgets if b.bears(entry.event)]
    if not rows:
        return None, None
    left, budget = min(rows, key=lambda row: row[0])
    return budget.epsilon, left if math.isfinite(left) else 0.0


__all__ = ["spent_at"]
