"""Annotation from records: candidates, votes, and for each kind of value a label model that says how sure a span is.

The models are fitted on the documents themselves (`learn`, vote patterns only) and then applied (`annotate`). Where
spans overlap the surest is kept. Two people with one name: where values of different labels fit the same words
equally well, the one that stands first in the records is kept, its score is at most a half, and its rule ends in a
question mark.

Candidates are runs of capitalised words, and what a recogniser (`finder`, a tagger of our own for example) marks as a person
or an organisation: names in lower case are found only so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from textveil.pii.masking.pseudonyms import ORGANISATIONS, PERSONS
from textveil.pii.records import PersonRecord
from textveil.pii.spans import Span, without_overlaps
from textveil.text.spans import Finder

from .candidates import Candidate, Subject, candidates
from .fields import FieldRule, Kind, values_of
from .label_model import LabelModel, Pattern, fit_label_model
from .phrases import Phrases
from .votes import VOTERS, Ballot

THRESHOLD = 0.5
_FORM_ORDER = tuple("full whole exact family nickname surname given maiden part month short year other".split())


@dataclass
class Annotator:
    """Marks values of records in texts.

    >>> annotator = Annotator()
    >>> people = [{"name": ["Ada Byron"], "spouse": ["William King"], "birth_date": ["10 December 1815"]}]
    >>> text = "Ada Byron (born December 10, 1815) married William King; Mr. King became an earl."
    >>> [(span.of(text), span.label) for span in annotator.annotate(text, people)]
    [('December 10, 1815', 'BD'), ('William King', 'SP'), ('King', 'SP')]
    """

    rules: dict[str, FieldRule] = field(default_factory=dict)
    threshold: float = THRESHOLD
    models: dict[Kind, LabelModel] = field(default_factory=dict)
    finder: Finder | None = None

    def learn(self, documents: Iterable[tuple[str, list[PersonRecord]]]) -> int:
        """Fit the models on the votes of some documents; how many candidates there were."""
        counts: dict[Kind, Counter[Pattern]] = {}
        for text, people in documents:
            for candidate, votes in self._votes(text, people):
                counts.setdefault(candidate.value.kind, Counter())[votes] += 1
        self.models = {kind: fit_label_model(patterns, VOTERS) for kind, patterns in counts.items()}
        return sum(sum(patterns.values()) for patterns in counts.values())

    def annotate(self, text: str, people: list[PersonRecord]) -> list[Span]:
        """The spans of a text, none overlapping another, in order."""
        scored = [(self._chance(c, votes), c) for c, votes in self._votes(text, people)]
        kept = [(score, candidate) for score, candidate in scored if score >= self.threshold]
        return without_overlaps(_settled(kept))

    def _votes(self, text: str, people: list[PersonRecord]) -> list[tuple[Candidate, Pattern]]:
        values = values_of(people, self.rules)
        subject, phrases = Subject.of(values), self._phrases(text)
        found = candidates(phrases, values, subject)
        ballot = Ballot(phrases, found, subject)
        return [(candidate, ballot.votes(candidate)) for candidate in found]

    def _phrases(self, text: str) -> Phrases:
        marked = [] if self.finder is None else self.finder.find([text])[0]
        return Phrases(text, [s for s in marked if s.label in PERSONS], [s for s in marked if s.label in ORGANISATIONS])

    def _chance(self, candidate: Candidate, votes: Pattern) -> float:
        model = self.models.get(candidate.value.kind)
        return (model or _believed()).chance(votes)


def _believed() -> LabelModel:
    return fit_label_model({}, VOTERS)


def _settled(scored: list[tuple[float, Candidate]]) -> list[Span]:
    """One span for each place: the best form, then the surest; equal ones of two labels are marked as doubtful."""
    places: dict[tuple[int, int], list[tuple[float, Candidate]]] = {}
    for score, candidate in scored:
        places.setdefault((candidate.start, candidate.end), []).append((score, candidate))
    spans = []
    for (start, end), rivals in places.items():
        rivals.sort(key=lambda r: (-round(r[0], 6), _FORM_ORDER.index(r[1].form.split()[0]), r[1].value.person))
        score, best = rivals[0]
        equal = {c.value.label for s, c in rivals if round(s, 6) == round(score, 6) and c.form == best.form}
        doubtful = len(equal) > 1
        rule = f"record:{best.value.field}:{best.form}" + ("?" if doubtful else "")
        spans.append(Span(start, end, best.value.label, round(min(score, 0.5) if doubtful else score, 4), rule))
    return spans


__all__ = ["THRESHOLD", "Annotator"]
