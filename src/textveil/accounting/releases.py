"""The charges of a ledger one by one: when, what, of which file into which folder, and what each of them cost by itself.

The single prices do not add up to the total where noise is composed by an accountant: together it costs less. Totals stand
in `Book.totals`.
"""

from __future__ import annotations

from typing import Any

from textveil.core.events import Unpriced
from textveil.core.losses import Loss

from .book import Book, Entry
from .totals import Question, add_up


def release_rows(book: Book, delta: float | None = None) -> list[dict[str, Any]]:
    """Every charge, oldest first, as JSON values; Gaussian noise is read at `delta`, else at that of its budget.

    >>> from textveil.core import Adjacency, Event, MetricNoise, Unit
    >>> import tempfile, pathlib
    >>> from textveil.accounting import Ledger
    >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "notes.ledger")
    >>> event = Event(MetricNoise(0.5, "hamming"), Unit.WORD, Adjacency.METRIC, mechanism="words.brr")
    >>> paid = ledger.charge(event, "veil a.txt")
    >>> [row] = ledger.state()["releases"]
    >>> row["mechanism"], row["note"], row["loss"]["epsilon"], row["label"]
    ('words.brr', 'veil a.txt', 0.5, 'guarantee')
    """
    prices: dict[Any, Loss] = {}
    return [_row(entry, _price(book, entry, delta, prices)) for entry in book.entries]


def unpriced_rows(book: Book) -> list[dict[str, Any]]:
    """The charges that no theorem prices: listed, never summed."""
    return [_row(entry, _unpriced_loss(entry)) for entry in book.entries if not entry.priced]


def _price(book: Book, entry: Entry, delta: float | None, known: dict[Any, Loss]) -> Loss:
    """What one charge cost by itself; equal ones are priced once."""
    event = entry.event
    if not entry.priced:
        return _unpriced_loss(entry)
    key = (event.noise, event.unit, event.adjacency, event.times)
    if key not in known:
        known[key] = add_up([event], book.delta_of(Question.of(event)) if delta is None else delta)
    return known[key]


def _unpriced_loss(entry: Entry) -> Loss:
    noise = entry.event.noise
    assert isinstance(noise, Unpriced)
    return noise.loss


def _row(entry: Entry, loss: Loss) -> dict[str, Any]:
    return {
        "id": entry.id,
        "created": entry.created,
        "mechanism": entry.mechanism,
        "note": entry.note,
        "unit": str(entry.event.unit),
        "adjacency": str(entry.event.adjacency),
        "label": loss.label,
        "loss": loss.to_json(),
    }


__all__ = ["release_rows", "unpriced_rows"]
