"""How far two reviewers agree: over characters (Cohen's kappa) and over whole spans (F1 of one against the other).

Kappa corrects the agreement of labels, character by character with "no mark" as a label of its own, for what two reviewers
with the same shares of labels would reach by chance. Most characters carry no mark, so the plain share says little. The F1
counts a span as agreed if both have it with the same ends and label; it does not depend on who is taken as the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from textveil.text.spans import Span

from .marks import kept_spans
from .store import ReviewStore

OUTSIDE = ""


@dataclass(frozen=True)
class Agreement:
    """Agreement of two reviewers over the documents that both have finished; kappa is None where it is undefined."""

    documents: int
    kappa: float | None
    span_f1: float | None
    share: float | None


def agreement(pairs: Iterable[tuple[int, list[Span], list[Span]]]) -> Agreement:
    """From (length of the text, spans of one, spans of the other) of each document.

    >>> agreement([(10, [Span(0, 4, "A")], [Span(0, 4, "A")]), (5, [], [])])
    Agreement(documents=2, kappa=1.0, span_f1=1.0, share=1.0)
    >>> agreement([(4, [Span(0, 2, "A")], [Span(2, 4, "A")])]).kappa
    -1.0
    """
    both: Counter[tuple[str, str]] = Counter()
    documents = agreed = marked = 0
    for length, one, other in pairs:
        documents += 1
        both.update(zip(_labels(length, one), _labels(length, other), strict=True))
        first, second = {(s.start, s.end, s.label) for s in one}, {(s.start, s.end, s.label) for s in other}
        agreed, marked = agreed + len(first & second), marked + len(first) + len(second)
    total = both.total()
    if not total:
        return Agreement(documents, None, None, None)
    share = sum(count for (a, b), count in both.items() if a == b) / total
    left, right = Counter[str](), Counter[str]()
    for (a, b), count in both.items():
        left[a] += count
        right[b] += count
    chance = sum(left[label] * right[label] for label in left) / total**2
    kappa = None if chance == 1 else (share - chance) / (1 - chance)
    return Agreement(documents, kappa, 2 * agreed / marked if marked else None, share)


def _labels(length: int, spans: list[Span]) -> list[str]:
    labels = [OUTSIDE] * length
    for span in spans:
        labels[span.start : span.end] = [span.label] * (span.end - span.start)
    return labels


def agreement_of(store: ReviewStore, one: str, other: str) -> Agreement:
    """Agreement of two reviewers of a store."""
    shared = sorted(store.done_numbers(one) & store.done_numbers(other))
    states = ((store.state(one, number), store.state(other, number)) for number in shared)
    return agreement((len(a.document.text), kept_spans(a.marks), kept_spans(b.marks)) for a, b in states)


__all__ = ["Agreement", "agreement", "agreement_of"]
