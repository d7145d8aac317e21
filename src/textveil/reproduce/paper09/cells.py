"""Paper 09: the marks, the matcher beside them, and recognisers that learn from automatic labels."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from textveil.pii.annotate.annotator import Annotator
from textveil.pii.annotate.fields import values_of
from textveil.pii.annotate.infobox_labels import SHOWN, field_of
from textveil.pii.scores.errors import errors_of
from textveil.pii.scores.intervals import DocumentSpans, sums_of
from textveil.pii.scores.rewards import MEASURES, Scheme, reward
from textveil.pii.spans import Span

from .articles import articles, marks
from .data import LABELS, Sentence, automatic, education_count, manual
from .scored import scored
from .synthetic import synthetic_documents

PASSES = ("first", "second")
TAG_OF = {"birth_date": "BD", "parents": "PR", "spouse": "SP", "children": "CH", "education": "ED"}
PRINTED_LABELS = {
    "BD": ("Born", "Born:"),
    "PR": ("Parent", "Parent(s)", "Parents", "Father", "Father's name", "Mother", "Mother's name"),
    "SP": ("Spouse", "Spouse(s)", "Spouses"),
    "CH": ("Children",),
    "ED": (
        "Education",
        "High school",
        "High school:",
        "Law School",
        "School",
        "Schools",
        "College",
        "College(s)",
        "Colleges",
        "Alma mater",
        "Almat mater",
    ),
}
ROWS = {
    "name": Span(0, 11, "NAME"),
    "boundary": Span(5, 11, "NAME"),
    "type": Span(0, 11, "PLACE"),
    "both": Span(5, 11, "PLACE"),
}


def table_1(data: Path | None) -> dict[str, Any]:
    """How many of the printed infobox labels our map gives the printed tag."""
    pairs = [(label, tag) for tag, labels in PRINTED_LABELS.items() for label in labels]
    right = sum(TAG_OF.get(field_of(label, SHOWN) or "") == tag for label, tag in pairs)
    return {"right": right, "labels": len(pairs), "share": right / len(pairs)}


def table_3(data: Path | None) -> dict[str, Any]:
    """Rewards of the printed examples, in both schemes; gold is a name of two words."""
    gold = Span(0, 11, "NAME")
    return {
        str(scheme): {row: {m: reward(gold, found, m, scheme) for m in MEASURES} for row, found in ROWS.items()}
        for scheme in Scheme
    }


def counts(data: Path) -> dict[str, Any]:
    """Table 2's shape: mentions by class in the rows that stand in for each part."""
    parts = automatic(data, repair=False)
    gold = manual(data)
    return {
        "training": _counted(parts.train),
        "development": _counted(parts.development),
        "test_automatic": _counted(parts.test),
        "test_manual": {**_counted(gold), "ED": education_count(data), "pages": len({s.document for s in gold})},
    }


def _counted(sentences: tuple[Sentence, ...]) -> dict[str, Any]:
    classes = Counter(tag[2:] for s in sentences for tag in s.tags if tag.startswith("B-"))
    return {**{label: classes[label] for label in LABELS}, "sentences": sum(s.has_entity for s in sentences)}


def agreement(data: Path | None) -> dict[str, Any]:
    """The second pass scored against the first."""
    first, second = (marks(name) for name in PASSES)
    names = sorted({*first, *second})
    sums = sums_of([DocumentSpans(n, first.get(n, []), second.get(n, [])) for n in names], Scheme.PAPER)
    return {**scored(sums), "first": int(sums[:, 0].sum()), "second": int(sums[:, 1].sum())}


def matcher(data: Path, *, marked: str) -> dict[str, Any]:
    """Table 4: our matcher end to end, from wikitext infoboxes to spans, beside one pass of marks."""
    gold = marks(marked)
    texts, records = articles(data)
    annotator = Annotator()
    candidates = annotator.learn((texts[name], records[name]) for name in texts)
    compared = [DocumentSpans(n, gold.get(n, []), annotator.annotate(texts[n], records[n])) for n in texts]
    values = {name: values_of(people) for name, people in records.items()}
    return {
        **scored(sums_of(compared, Scheme.PAPER)),
        "labels": {label: scored(sums_of(compared, Scheme.PAPER, label)) for label in (*LABELS, "ED")},
        **errors_of(compared, texts, values).to_json(),
        "candidates": candidates,
    }


def synthetic(data: Path) -> dict[str, Any]:
    """The matcher on gold passages, with records made from the marked values by a fixed rewriting."""
    made = synthetic_documents(data)
    annotator = Annotator()
    annotator.learn((d.text, [d.record]) for d in made)
    compared = [DocumentSpans(d.name, d.gold, annotator.annotate(d.text, [d.record])) for d in made]
    return {**scored(sums_of(compared, Scheme.PAPER)), "documents": len(made)}
