"""A promise for a larger unit bounds the smaller ones inside it: which unit lies in which, and by which conversion.

Containment, with what it assumes. Two data sets that differ inside one small unit differ inside one large unit, if

    a word       stands in one paragraph, one document, one training example   (no text is fed in twice)
    a word of a document, at all its places there,   stands in one document
    a paragraph  stands in one document
    an example, a document   belongs to one user, and is held by one client

An example is whatever a trainer was given as such, so it lies in no paragraph and no document, and neither lies in it. A
client may hold several users and a user may sit at several clients: no relation. A term is spread over all documents, and
a party is a matter of protocols: no relation. What is not listed here is not converted.

A word at all its places of a document (document_term) and one occurrence of it (word) bear on each other without a bound.
Its neighbours hold equal words at the same places, so one occurrence that is changed by itself is no neighbour: it changes
which places are equal, which passes. And charges for single occurrences count as often as the word stands in the document,
a number that nobody declared. Its places may lie in several paragraphs and in several training examples: no relation.

Claim. Let A and B be two data sets that differ inside one small unit, whichever way (a part is replaced, added, removed or
zeroed out). Then A and B differ by replacing one large unit L by L'. So whatever is promised for replacing the large unit
is promised for any change of the small one. And a promise for adding or removing the large unit gives one for replacing it:

    P_A(S) <= e^eps P_0(S) + delta <= e^eps (e^eps P_B(S) + delta) + delta,    0 being the data set without L

which is (2 eps, (1 + e^eps) delta); zero-out alike, with L zeroed out in the middle. Noise that is known more closely keeps
its own law: a sum with noise of multiplier m on contributions of at most C moves by at most 2C when a unit is replaced, and
the price table has that case. It never costs more than the general rule, which stays for bare promises.

Counts. Limited precision (eps, N) is a loss of eps / N per count (L1). Replacing one word lowers one count by 1 and raises
another by 1: distance 2, so the word loses 2 eps / N. A paragraph moves a number of counts that nobody declared: no
conversion. A promise in a metric on larger units says nothing about a part, unless the metric does: no conversion. And an
(eps, delta) for a word does not shrink with distance, so it goes into no metric line and no metric budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from textveil.core.events import CountNoise, Event, MetricNoise, Noise, RepeatedNoise, Stated, Together, Unpriced
from textveil.core.losses import LimitedPrecision
from textveil.core.units import Adjacency, Unit

INSIDE: dict[Unit, tuple[Unit, ...]] = {
    Unit.PARAGRAPH: (Unit.WORD,),
    Unit.EXAMPLE: (Unit.WORD,),
    Unit.DOCUMENT: (Unit.WORD, Unit.DOCUMENT_TERM, Unit.PARAGRAPH),
    Unit.USER: (Unit.WORD, Unit.DOCUMENT_TERM, Unit.PARAGRAPH, Unit.EXAMPLE, Unit.DOCUMENT),
    Unit.CLIENT: (Unit.WORD, Unit.DOCUMENT_TERM, Unit.PARAGRAPH, Unit.EXAMPLE, Unit.DOCUMENT),
}
WITHOUT_BOUND: dict[Unit, tuple[Unit, ...]] = {  # bear on each other, and no conversion is possible
    Unit.WORD: (Unit.DOCUMENT_TERM,),
    Unit.DOCUMENT_TERM: (Unit.WORD,),
}


def for_part(event: Event, unit: Unit) -> Event | None:
    """What an event costs a smaller unit inside its own, as an event under 'replace'; None where no conversion is known.

    >>> from textveil.core.events import LaplaceNoise
    >>> for_part(Event(Stated(1.0), Unit.DOCUMENT, Adjacency.ADD_REMOVE), Unit.WORD).noise
    Stated(epsilon=2.0, delta=0.0)
    >>> for_part(Event(CountNoise(1.0, 10), Unit.DOCUMENT, Adjacency.METRIC), Unit.WORD).noise
    Stated(epsilon=0.2, delta=0.0)
    >>> for_part(Event(LaplaceNoise(1.0), Unit.WORD, Adjacency.REPLACE), Unit.DOCUMENT) is None
    True
    """
    if unit not in INSIDE.get(event.unit, ()):
        return None
    match event.noise:
        case Unpriced() | MetricNoise():
            return None
        case CountNoise(epsilon, precision, delta):
            if unit is not Unit.WORD:
                return None
            at_two = LimitedPrecision(epsilon, precision, delta).at(2)
            noise: Noise = Stated(at_two.epsilon, at_two.delta)
        case _:
            noise = event.noise if event.adjacency is Adjacency.REPLACE else _replaced(event.noise)
    return replace(event, noise=noise, unit=unit, adjacency=Adjacency.REPLACE)


def parts_of(events: Iterable[Event], unit: Unit) -> list[Event]:
    """All that is known to bear on a smaller unit, from charges on larger ones."""
    return [part for event in events if (part := for_part(event, unit)) is not None]


def _replaced(noise: Noise) -> Noise:
    """Bare promises doubled; noise on sums keeps its form, and the price table takes 2C for C under 'replace'."""
    match noise:
        case Stated(epsilon, delta):
            return Stated(2 * epsilon, min(1.0, delta * (1 + math.exp(min(epsilon, 700.0)))))
        case RepeatedNoise(inner, times):
            return RepeatedNoise(_replaced(inner), times)
        case Together(parts):
            return Together(tuple(RepeatedNoise(_replaced(part.noise), part.times) for part in parts))
    return noise
