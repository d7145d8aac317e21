"""Records made from marked values by a fixed, public rewriting: the gold passages have marks and no records.

Of each value about the subject, what stands in the record is another way to write it, taken by turns:

    people   "Last, First"; the first name as an initial; the name as it is
    dates    ISO (1885-04-03); day month year; month day, year
    schools  as they are, and without University, College and the like

The figure that comes of it is called synthetic: who makes both sides of a comparison cannot be surprised by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textveil.pii.annotate.dates import parse_date
from textveil.pii.annotate.wordlists import MONTHS, SCHOOL_WORDS
from textveil.pii.bio import TaggedDocument
from textveil.pii.records import PersonRecord
from textveil.pii.spans import Span

from .data import rows

FIELDS = {"BD": "birth_date", "PR": "parents", "SP": "spouse", "CH": "children", "ED": "education"}


@dataclass(frozen=True)
class SyntheticDocument:
    name: str
    text: str
    gold: list[Span]
    record: PersonRecord


def synthetic_documents(data: Path) -> list[SyntheticDocument]:
    """Passages about a person with at least one value, and their records."""
    made = []
    for row in rows(data, "gold_redocred"):
        document = TaggedDocument(row["tokens"], row["bio_subject"])
        gold = document.spans(repair=True)
        if row["subject_is_person"] and gold:
            made.append(SyntheticDocument(row["id"], document.text, gold, _record(row["title"], document.text, gold)))
    return made


def _record(title: str, text: str, gold: list[Span]) -> PersonRecord:
    record: PersonRecord = {"name": [title.split(" (")[0]]}
    for label, field in FIELDS.items():
        values = list(dict.fromkeys(span.of(text) for span in gold if span.label == label))
        longest = [v for v in values if not any(v != other and v in other for other in values)]
        if longest:
            record[field] = [rewritten(label, value, turn) for turn, value in enumerate(longest)]
    return record


def rewritten(label: str, value: str, turn: int) -> str:
    """Another way to write a value.

    >>> [rewritten("SP", "Anna Meyer", turn) for turn in range(3)], rewritten("BD", "April 3 , 1885", 0)
    (['Meyer, Anna', 'A. Meyer', 'Anna Meyer'], '1885-04-03')
    >>> [rewritten("ED", "University of Jena", turn) for turn in range(2)]
    ['University of Jena', 'of Jena']
    """
    if label == "BD":
        return _rewritten_date(value, turn)
    if label == "ED":
        kept = [word for word in value.split() if word.lower() not in SCHOOL_WORDS or word.islower()]
        return " ".join(kept) if turn % 2 and any(word[0].isupper() for word in kept) else value
    first, *rest = value.split()
    if not rest:
        return value
    return (f"{' '.join(rest)}, {first}", f"{first[0]}. {' '.join(rest)}", value)[turn % 3]


def _rewritten_date(value: str, turn: int) -> str:
    date = parse_date(value.replace(" ,", ","))
    if date is None or not date.day:
        return value
    month = MONTHS[date.month - 1].capitalize()
    iso = f"{date.year}-{date.month:02}-{date.day:02}"
    return (iso, f"{date.day} {month} {date.year}", f"{month} {date.day}, {date.year}")[turn % 3]


__all__ = ["SyntheticDocument", "rewritten", "synthetic_documents"]
