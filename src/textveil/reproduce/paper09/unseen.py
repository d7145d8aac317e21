"""The matcher on sentences that its rules were not written on: first sentences of WikiBio with their infoboxes.

Of the 240 people of the sample those 51 whose infobox has a field of family or education. Their sentences were marked once,
by one reader, from the sentences alone, before the matcher was run on them; what the first run gave stands in the notes of
the study, with the one mend that followed. They are lower case, so names cannot be found by their capitals, and
nearly all marks are birth dates: a figure for dates, not for names.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from textveil.pii.annotate.annotator import Annotator
from textveil.pii.annotate.infobox_labels import WRITTEN, field_of, split_values
from textveil.pii.records import PersonRecord
from textveil.pii.scores.intervals import DocumentSpans, sums_of
from textveil.pii.scores.rewards import Scheme
from textveil.pii.spans import Span, read_spans

from .data import LABELS, rows
from .scored import scored

FAMILY = ("spouse", "children", "parents", "parent", "father", "mother", "education", "alma_mater", "alma mater")


def unseen(data: Path) -> dict[str, Any]:
    """Table 4's shape on these sentences, beside their marks."""
    gold = sentence_marks()
    texts, records = sentences(data)
    annotator = Annotator()
    annotator.learn((texts[name], records[name]) for name in texts)
    compared = [DocumentSpans(n, gold.get(n, []), annotator.annotate(texts[n], records[n])) for n in texts]
    by_label = {label: scored(sums_of(compared, Scheme.PAPER, label)) for label in (*LABELS, "ED")}
    counts = {label: sum(s.label == label for spans in gold.values() for s in spans) for label in by_label}
    return {**scored(sums_of(compared, Scheme.PAPER)), "labels": by_label, "marks": counts}


def sentence_marks() -> dict[str, list[Span]]:
    """The spans of the one reading of the sentences, by id."""
    return read_spans(Path(str(files(__package__) / "marks" / "wikibio_sentences.jsonl")))


def sentences(data: Path) -> tuple[dict[str, str], dict[str, list[PersonRecord]]]:
    """The sentences, and records from their infoboxes."""
    texts, records = {}, {}
    for row in rows(data, "wikibio_infobox_sample"):
        if any(key in row["infobox"] for key in FAMILY):
            texts[row["id"]], records[row["id"]] = row["first_sentence"], [_record(row["infobox"])]
    return texts, records


def _record(infobox: dict[str, str]) -> PersonRecord:
    record: PersonRecord = {"name": [infobox.get("article_title", "")]}
    for key, value in infobox.items():
        field = field_of(key, WRITTEN)
        if field is not None:
            record[field] = [*record.get(field, []), *split_values(field, value)]
    return record


__all__ = ["sentence_marks", "sentences", "unseen"]
