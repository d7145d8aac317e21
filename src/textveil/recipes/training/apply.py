"""The journey of new texts through a trained model: read, ask the model, write what it says of each record.

    tagger       spans.jsonl    id, start, end, label, score      highlights.html   every find in its context
                 tags.conll     a word and its tag a line (on wish)
    classifier   labels.jsonl   id, label, score (and the chance of every class, on wish)
    lm           scores.jsonl   id, perplexity, next: the likeliest next words with their chances (not of encoders)

Offsets count characters of the record's text; of a conll sentence, of its tokens divided by blanks. The output is about
the texts that were read: it is no release, and only its owner can read it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from textveil.core import BadInput
from textveil.core.release import check_free, check_writable, new_folder
from textveil.recipes.new_documents import NewDocument, NewDocuments
from textveil.recipes.progress import Bar
from textveil.report.highlight import Find, Highlights
from textveil.training.classifier import Classifier
from textveil.training.language_model import LanguageModel
from textveil.training.saved import load
from textveil.training.tagger import Tagger, spans_of

SPANS, PAGE, TAGS, LABELS, SCORES = "spans.jsonl", "highlights.html", "tags.conll", "labels.jsonl", "scores.jsonl"
TOGETHER = 256  # records that the model reads at once


@dataclass(frozen=True)
class ApplyJob:
    """A model, the texts to use it on, and what to write beside its answers."""

    model: Path
    documents: NewDocuments
    out: Path
    page: bool = True
    conll: bool = False
    chances: bool = False
    next_words: int = 5


class Answers(Protocol):
    """What is written for one kind of model."""

    kind: str
    file: str

    def lines(self, documents: Sequence[NewDocument]) -> Iterator[dict[str, Any]]: ...

    def finish(self) -> None: ...


def apply_model(job: ApplyJob, *, bar: Bar) -> dict[str, Any]:
    """Use a model on a file and return what to print."""
    check_free(job.out)
    check_writable(job.out)
    model = load(job.model)
    records = written = 0
    took = 0.0
    with new_folder(job.out, private=True) as hidden:
        answers = _answers(model, job, hidden)
        with open(hidden / answers.file, "w", encoding="utf-8") as out:
            reading = job.documents.read(bar)
            while documents := list(islice(reading, TOGETHER)):
                began = time.perf_counter()
                for line in answers.lines(documents):
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                    written += 1
                took += time.perf_counter() - began
                records += len(documents)
        answers.finish()
    rate = records / took if took else 0.0
    result = {"out": str(job.out), "kind": answers.kind, "file": answers.file, "records": records}
    return {**result, "answers": written, "records_per_second": rate}


def _answers(model: Any, job: ApplyJob, folder: Path) -> Answers:
    if isinstance(model, Tagger):
        return _Found(model, job, folder)
    if job.conll:
        raise BadInput("--conll is for taggers, and this model is none", where=job.model)
    if isinstance(model, Classifier):
        return _Labelled(model, job.chances)
    if isinstance(model, LanguageModel):
        return _Scored(model, job.next_words)
    raise BadInput("holds a vocabulary, which answers nothing", where=job.model, possible="a tagger, classifier or lm")


class _Found:
    """Spans of a tagger, with a page that shows them and, on wish, every word with its tag."""

    kind, file = "tagger", SPANS

    def __init__(self, model: Tagger, job: ApplyJob, folder: Path):
        self.model, self.folder = model, folder
        self.shown = Highlights() if job.page else None
        self.title = f"{', '.join(model.labels)} in {job.documents.source.name}"
        self.writes_tags = job.conll

    def lines(self, documents: Sequence[NewDocument]) -> Iterator[dict[str, Any]]:
        from textveil.nets.portable.tagger import places_of

        rows = self.model.tag_chances([d.text if d.words is None else d.words for d in documents])
        places = [places_of(d.text) if d.words is None else places_of_words(d.words) for d in documents]
        if self.writes_tags:
            with open(self.folder / TAGS, "a", encoding="utf-8") as tags:
                tags.writelines(map(conll_block, documents, places, rows))
        for document, where, row in zip(documents, places, rows, strict=True):
            spans = spans_of(where, row)
            if self.shown is not None:
                finds = [Find(s.start, s.end, s.label, s.score) for s in spans]
                self.shown.add(str(document.name), document.text, finds)
            for span in spans:
                yield {"id": document.name, **{k: v for k, v in span.to_json().items() if k != "rule"}}

    def finish(self) -> None:
        if self.shown is not None:
            (self.folder / PAGE).write_text(self.shown.page(self.title), encoding="utf-8")


class _Labelled:
    kind, file = "classifier", LABELS

    def __init__(self, model: Classifier, all_chances: bool):
        self.model, self.all_chances = model, all_chances

    def lines(self, documents: Sequence[NewDocument]) -> Iterator[dict[str, Any]]:
        classes = self.model.classes_.tolist()
        for document, odds in zip(documents, self.model.predict_proba([d.text for d in documents]), strict=True):
            best = int(odds.argmax())
            line = {"id": document.name, "label": classes[best], "score": float(odds[best])}
            if self.all_chances:
                line["chances"] = {str(c): float(p) for c, p in zip(classes, odds, strict=True)}
            yield line

    def finish(self) -> None:
        """Nothing else is written."""


class _Scored:
    kind, file = "lm", SCORES

    def __init__(self, model: LanguageModel, next_words: int):
        self.model, self.next_words = model, 0 if model.encoder else next_words

    def lines(self, documents: Sequence[NewDocument]) -> Iterator[dict[str, Any]]:
        for document, value in zip(documents, self.model.perplexities([d.text for d in documents]), strict=True):
            line: dict[str, Any] = {"id": document.name, "perplexity": float(value)}
            if self.next_words:
                line["next"] = [list(pair) for pair in self.model.next_words(document.text, self.next_words)]
            yield line

    def finish(self) -> None:
        """Nothing else is written."""


def conll_block(document: NewDocument, places: Sequence[tuple[int, int]], row: Sequence[tuple[str, float]]) -> str:
    """The words of a document with their tags, one a line, and the empty line that ends it."""
    pairs = zip(places, row, strict=True)
    return "".join(f"{document.text[start:end]} {tag}\n" for (start, end), (tag, _) in pairs) + "\n" * bool(row)


def places_of_words(words: Sequence[str]) -> list[tuple[int, int]]:
    """Where words stand in the text that joins them by blanks.

    >>> places_of_words(["Anna", "rests"])
    [(0, 4), (5, 10)]
    """
    places, start = [], 0
    for word in words:
        places.append((start, start + len(word)))
        start += len(word) + 1
    return places
