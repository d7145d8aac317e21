"""What went wrong, counted: errors by kind, labels taken for others, documents with a miss, and what correcting costs.

    right                    boundary and label match
    boundary                 overlaps a gold span of its label
    label                    has the boundary of a gold span of another label
    boundary and label       overlaps a gold span of another label
    missed                   a gold span that nothing found overlaps; with records told apart:
        missing from the record    no value of the record for this label is alike: no matcher of records could find it
        missed                     the record has it
    wrong                    a found span that no gold span is matched to; with texts told apart:
        ambiguous name             one word: a bare name that was somebody or something else
        about another person       several words, or a date: the words are right, the fact is about somebody else

The cost is counted in actions of a reviewer, as the last column of the paper's Table 3 describes them: moving a
boundary and changing a label are one each, deleting is one, and marking what was missed is two (place and label).
Marking everything by hand is two for each gold span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from textveil.pii.annotate.fields import FieldValue, Kind
from textveil.pii.spans import Span

from .intervals import DocumentSpans
from .matching import Pair, matched

ACTIONS = {
    "right": 0,
    "boundary": 1,
    "label": 1,
    "boundary and label": 2,
    "missed": 2,
    "missing from the record": 2,
    "wrong": 1,
    "ambiguous name": 1,
    "about another person": 1,
}
BY_HAND = 2
NOTHING = "-"
ALIKE = 80.0


@dataclass
class ErrorReport:
    """Counts over all documents."""

    kinds: Counter[str] = field(default_factory=Counter)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)  # (gold label, found label), "-": none
    documents: int = 0
    documents_with_gold: int = 0
    documents_complete: int = 0  # every gold span of theirs is covered whole, by whatever label
    spans_covered: int = 0
    gold: int = 0

    @property
    def actions(self) -> int:
        return sum(ACTIONS[kind] * count for kind, count in self.kinds.items())

    def to_json(self) -> dict[str, object]:
        by_hand = BY_HAND * self.gold
        return {
            "errors": dict(sorted(self.kinds.items())),
            "confusion": {f"{g}->{f}": n for (g, f), n in sorted(self.confusion.items())},
            "documents": self.documents,
            "documents_with_gold": self.documents_with_gold,
            "documents_complete": self.documents_complete,
            "document_recall": self.documents_complete / max(1, self.documents_with_gold),
            "cover_recall": self.spans_covered / max(1, self.gold),
            "actions": self.actions,
            "actions_by_hand": by_hand,
            "actions_saved": 1 - self.actions / by_hand if by_hand else 0.0,
        }


def errors_of(
    documents: Iterable[DocumentSpans],
    texts: Mapping[str, str] | None = None,
    values: Mapping[str, list[FieldValue]] | None = None,
) -> ErrorReport:
    """Errors of all documents; kinds that need the texts or the records are told apart where these are given."""
    report = ErrorReport()
    for document in documents:
        text = (texts or {}).get(document.name)
        own = (values or {}).get(document.name) if values is not None else None
        for pair in matched(document.gold, document.found):
            report.kinds[kind_of(pair, text, own)] += 1
            report.confusion[
                (pair.gold.label if pair.gold else NOTHING, pair.found.label if pair.found else NOTHING)
            ] += 1
        covered = [_is_covered(span, document.found) for span in document.gold]
        report.documents += 1
        report.documents_with_gold += bool(covered)
        report.documents_complete += bool(covered) and all(covered)
        report.spans_covered += sum(covered)
        report.gold += len(covered)
    return report


def kind_of(pair: Pair, text: str | None = None, values: list[FieldValue] | None = None) -> str:
    """The kind of error of one pair."""
    gold, found = pair
    if gold is None:
        assert found is not None
        if text is None:
            return "wrong"
        return "ambiguous name" if len(found.of(text).split()) == 1 else "about another person"
    if found is None:
        unknown = text is not None and values is not None and not is_recorded(gold, text, values)
        return "missing from the record" if unknown else "missed"
    boundary, label = (gold.start, gold.end) == (found.start, found.end), gold.label == found.label
    return {(True, True): "right", (False, True): "boundary", (True, False): "label"}.get(
        (boundary, label), "boundary and label"
    )


def is_recorded(gold: Span, text: str, values: list[FieldValue]) -> bool:
    """Whether a value of the record for this label has a part that is like the words of the span."""
    from rapidfuzz import fuzz

    words = gold.of(text).lower()
    own = [v.text.lower() for v in values if v.label == gold.label]
    if any(v.kind is Kind.DATE for v in values if v.label == gold.label):
        return True
    return any(fuzz.token_set_ratio(words, value) >= ALIKE for value in own)


def _is_covered(gold: Span, found: Iterable[Span]) -> bool:
    """Whether found spans together cover the whole gold span: only then does masking hide it."""
    place = gold.start
    for span in sorted(found):
        if span.start <= place < span.end:
            place = span.end
    return place >= gold.end


__all__ = ["ACTIONS", "BY_HAND", "ErrorReport", "errors_of", "is_recorded", "kind_of"]
