"""The journey of a score: gold spans and found spans in, from jsonl or BIO files; figures out, and no text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.params import needs
from textveil.pii.annotate.fields import FieldValue, values_of
from textveil.pii.bio import TaggedDocument, read_bio
from textveil.pii.records import read_records
from textveil.pii.scores.errors import errors_of
from textveil.pii.scores.intervals import DocumentSpans, scores_of, sums_of
from textveil.pii.scores.rewards import Scheme
from textveil.pii.spans import Span, check_apart, check_inside, read_spans
from textveil.text import readers

_BIO_ENDINGS = ("conll", "bio", "iob")


@dataclass(frozen=True)
class ScoreJob:
    """What is right, what was found, and how they are compared."""

    gold: Path
    found: Path
    documents: Path | None = None
    records: Path | None = None
    scheme: Scheme = Scheme.PAPER
    repair_bio: bool = False
    only_marked: bool = False
    labels: tuple[str, ...] = ()
    text_field: str | None = None
    format: str | None = None
    header: bool | None = None


def score_files(job: ScoreJob) -> dict[str, Any]:
    """All figures of a comparison."""
    needs("pii", "rapidfuzz")
    texts = None if job.documents is None else _texts(job)
    compared = _compared(job, texts)
    if job.labels:
        compared = [DocumentSpans(d.name, _of(d.gold, job.labels), _of(d.found, job.labels)) for d in compared]
    if job.only_marked:
        compared = [d for d in compared if d.gold]
    if not any(d.gold for d in compared):
        raise BadInput("holds no gold span to score against", where=job.gold)
    labels = sorted({span.label for d in compared for span in (*d.gold, *d.found)})
    return {
        "scheme": str(job.scheme),
        "documents": len(compared),
        "gold": sum(len(d.gold) for d in compared),
        "found": sum(len(d.found) for d in compared),
        "scores": {name: s.to_json() for name, s in scores_of(sums_of(compared, job.scheme)).items()},
        "labels": {label: _label_row(compared, job.scheme, label) for label in labels},
        **errors_of(compared, texts, _values(job)).to_json(),
    }


def _label_row(compared: list[DocumentSpans], scheme: Scheme, label: str) -> dict[str, Any]:
    """Figures of one label alone: spans of other labels on neither side."""
    sums = sums_of(compared, scheme, label)
    scores = scores_of(sums)
    row: dict[str, Any] = {"gold": int(sums[:, 0].sum()), "found": int(sums[:, 1].sum())}
    return {**row, **{m: scores[m].to_json() for m in ("strict", "type")}}


def _of(spans: Any, labels: tuple[str, ...]) -> list[Span]:
    return [span for span in spans if span.label in labels]


def _texts(job: ScoreJob) -> dict[str, str]:
    assert job.documents is not None
    reader = readers.open_reader(
        job.documents, format=job.format, text_field=job.text_field, fields=("id",), columns=(), header=job.header
    )
    return {str(record.fields["id"]): record.text for record in reader}


def _values(job: ScoreJob) -> Mapping[str, list[FieldValue]] | None:
    if job.records is None:
        return None
    if job.documents is None:
        raise BadInput("errors are told apart by records only with the texts", possible="--documents FILE")
    return {name: values_of(people) for name, people in read_records(job.records).items()}


def _compared(job: ScoreJob, texts: Mapping[str, str] | None) -> list[DocumentSpans]:
    bio = [path.name.lower().removesuffix(".gz").rpartition(".")[2] in _BIO_ENDINGS for path in (job.gold, job.found)]
    if all(bio):
        if texts is not None:
            raise BadInput("BIO files hold their texts", possible="leave --documents out")
        return list(_bio_pairs(job))
    if any(bio):
        raise BadInput("one file is BIO and the other jsonl: their offsets count different texts", where=job.found)
    gold, found = read_spans(job.gold), read_spans(job.found)
    names = sorted(set(gold) | set(found)) if texts is None else list(texts)
    if texts is not None:
        for where, spans in ((job.gold, gold), (job.found, found)):
            strangers = len(set(spans) - set(texts))
            if strangers:
                raise BadInput(f"names {strangers} documents that are not in {job.documents}", where=where, field="id")
            for name, own in spans.items():
                check_inside(own, len(texts[name]), where=where, name=name)
    for name, own in gold.items():
        check_apart(own, where=job.gold, name=name)
    return [DocumentSpans(name, gold.get(name, []), found.get(name, [])) for name in names]


def _bio_pairs(job: ScoreJob) -> Iterator[DocumentSpans]:
    pairs = zip_longest(read_bio(job.gold), read_bio(job.found))
    for number, (gold, found) in enumerate(pairs, 1):
        _check_same(job, number, gold, found)
        yield DocumentSpans(
            str(number),
            gold.spans(repair=job.repair_bio, where=job.gold),
            found.spans(repair=job.repair_bio, where=job.found),
        )


def _check_same(job: ScoreJob, number: int, gold: TaggedDocument | None, found: TaggedDocument | None) -> None:
    if gold is None or found is None:
        fewer = job.gold if gold is None else job.found
        raise BadInput(f"has fewer documents than the other file: no {number}. one", where=fewer)
    if gold.tokens != found.tokens:
        raise BadInput(f"document {number} has other tokens than in {job.gold.name}", where=job.found, line=found.line)


__all__ = ["ScoreJob", "score_files"]
