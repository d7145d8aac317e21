"""Which document to look at next: the one whose marks are least certain, as far as the review itself has shown.

A score is what a matcher or model thinks of its own find. The review tells how often its kind is right: for each rule and
label, confirmed and rejected marks so far give the odds by which the scores of the rest are corrected,

    logit p(mark) = logit(score) + log((confirmed + c) / (rejected + c)) - log((expected + c) / (unexpected + c)),

where expected and unexpected are the sums of score and of 1 - score over the reviewed marks of the kind, and c is a
pseudo-count. Without reviews p = score. A document is as uncertain as the entropies of its marks together; one without
marks comes last, since only reading finds what was missed there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from .marks import KEPT, Mark, Status
from .store import ReviewStore

PSEUDO_COUNT = 2.0
_EDGE = 1e-3


@dataclass
class KindTally:
    """Verdicts on the marks of one rule and label, and what their scores had promised."""

    confirmed: float = 0.0
    rejected: float = 0.0
    expected: float = 0.0

    def shift(self) -> float:
        """By how much the log-odds of further marks of this kind are corrected.

        >>> KindTally().shift()
        0.0
        >>> KindTally(confirmed=0, rejected=8, expected=6).shift() < -1
        True
        """
        unexpected = self.confirmed + self.rejected - self.expected
        return (
            math.log(self.confirmed + PSEUDO_COUNT)
            - math.log(self.rejected + PSEUDO_COUNT)
            - math.log(self.expected + PSEUDO_COUNT)
            + math.log(unexpected + PSEUDO_COUNT)
        )


@dataclass
class Certainty:
    """What the review has shown so far about each kind of mark."""

    tallies: dict[tuple[str, str], KindTally] = field(default_factory=lambda: defaultdict(KindTally))

    def learn(self, proposed: Iterable[Mark], reviewed: Iterable[Mark]) -> None:
        """Take a finished document into account: a proposal is right if the same span stands in the end."""
        standing = {(m.span.start, m.span.end, m.span.label) for m in reviewed if m.status in KEPT}
        for mark in proposed:
            tally = self.tallies[mark.span.rule, mark.span.label]
            right = (mark.span.start, mark.span.end, mark.span.label) in standing
            tally.confirmed += right
            tally.rejected += not right
            tally.expected += mark.span.score

    def probability(self, mark: Mark) -> float:
        """How likely a mark is right."""
        score = min(max(mark.span.score, _EDGE), 1 - _EDGE)
        odds = math.log(score / (1 - score)) + self.tallies[mark.span.rule, mark.span.label].shift()
        return 1 / (1 + math.exp(-odds))

    def uncertainty(self, marks: Iterable[Mark]) -> float:
        """The entropies of the undecided marks of a document, in bits.

        >>> from textveil.text.spans import Span
        >>> Certainty().uncertainty([Mark(Span(0, 1, "A", 0.5)), Mark(Span(2, 3, "A", 0.5))])
        2.0
        """
        undecided = [self.probability(mark) for mark in marks if mark.status is Status.PROPOSED]
        return sum(-p * math.log2(p) - (1 - p) * math.log2(1 - p) for p in undecided)


def queue(store: ReviewStore, reviewer: str) -> list[int]:
    """The documents that a reviewer has not finished, most uncertain first; ties in the order of the file."""
    done, certainty = store.done_numbers(reviewer), Certainty()
    for number in sorted(done):
        state = store.state(reviewer, number)
        certainty.learn(state.document.marks, state.marks)
    open_numbers = [number for number in range(len(store)) if number not in done]
    return sorted(open_numbers, key=lambda n: (-certainty.uncertainty(store.document(n).marks), n))


__all__ = ["Certainty", "KindTally", "queue"]
