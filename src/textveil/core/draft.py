"""What a seed means, said in one place.

Whoever knows or guesses the seed can repeat every draw and undo it, so whatever noise a mechanism is priced for, with a
seed it promises nothing: the event of a seeded run is unpriced, is listed in the ledger and never summed, and its release
is a draft. Mechanisms, journeys and the ledger do not decide this again: `event` never looks at a seed.
"""

from __future__ import annotations

from .events import Event, Unpriced
from .losses import NoPromise

SEEDED = "made with a seed: whoever knows or guesses it can repeat the draws and undo them"


def as_draft(event: Event) -> Event:
    """The same event as a seeded run is charged: without a price.

    >>> from textveil.core import Adjacency, LaplaceNoise, Unit
    >>> draft = as_draft(Event(LaplaceNoise(2.0), Unit.USER, Adjacency.ADD_REMOVE, times=3))
    >>> draft.noise.loss.label, draft.times
    ('seeded', 1)
    """
    return Event(
        Unpriced(NoPromise(SEEDED, "seeded")), event.unit, event.adjacency, 1, (), event.source, event.mechanism
    )


def is_draft(event: Event) -> bool:
    """Whether an event is that of a seeded run."""
    return isinstance(event.noise, Unpriced) and event.noise.loss.label == "seeded"
