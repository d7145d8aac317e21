"""The journey of a tagger: read marked documents, charge an unpriced line, train, release with a card that promises nothing.

Marked documents are jsonl with spans inside or in a file of their own, or BIO files as CoNLL has them. They are held in
memory. The score of a span is how sure its maker was of it: `--noise channel` uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import BadInput, Shape
from textveil.core.facts import Facts, ModelScores
from textveil.core.mechanism import passes_of
from textveil.pii.bio import read_bio
from textveil.pii.spans import check_inside, read_spans, span_of
from textveil.pii.tagger.tagger import Tagger
from textveil.recipes.pii.recall import interval
from textveil.recipes.progress import Bar
from textveil.recipes.publish import publish_job
from textveil.text import readers
from textveil.text.spans import Span, without_overlaps

MODEL = "model"
BIO_ENDINGS = (".conll", ".bio", ".iob")


@dataclass(frozen=True)
class MarkedSource:
    """Documents and where their spans are."""

    source: Path
    spans: Path | None = None
    text_field: str | None = None
    repair_bio: bool = False

    def read(self) -> Iterator[tuple[str, list[Span]]]:
        """All documents with their spans; of spans that overlap the surest stays."""
        name = self.source.name.lower().removesuffix(".gz")
        if name.endswith(BIO_ENDINGS):
            for document in read_bio(self.source):
                yield document.text, document.spans(repair=self.repair_bio, where=self.source)
            return
        yield from self._from_jsonl()

    def _from_jsonl(self) -> Iterator[tuple[str, list[Span]]]:
        by_id = None if self.spans is None else read_spans(self.spans)
        field_name = "spans" if by_id is None else "id"
        reader = readers.open_reader(self.source, text_field=self.text_field, fields=(field_name,), columns=())
        ids = set[str]()
        for record in reader:
            if by_id is None:
                spans = self._inside(record.fields["spans"], reader.record_line)
            else:
                ids.add(str(record.fields["id"]))
                spans = by_id.get(str(record.fields["id"]), [])
            check_inside(spans, len(record.text), where=self.spans or self.source, name=str(reader.record_line))
            yield record.text, without_overlaps(spans)
        strangers = len(set(by_id or ()) - ids)
        if strangers:
            raise BadInput(
                f"names {strangers} documents that are not in {self.source.name}", where=self.spans, field="id"
            )

    def _inside(self, listed: Any, line: int) -> list[Span]:
        if not isinstance(listed, list):
            raise BadInput("is no list of spans", where=self.source, line=line, field="spans", possible="--spans FILE")
        try:
            return [span_of(row) for row in listed]
        except (BadInput, AttributeError) as error:
            what = error.what if isinstance(error, BadInput) else "is no span"
            raise BadInput(what, where=self.source, line=line, field="spans") from None


@dataclass(frozen=True)
class TaggerJob:
    """Marked documents, and how to train on them."""

    marked: MarkedSource
    out: Path
    parameters: dict[str, Any] = field(default_factory=dict)  # of the Tagger
    test: MarkedSource | None = None  # that its owner takes to be public
    seed: int | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False


def train_tagger(job: TaggerJob, *, bar: Bar) -> dict[str, Any]:
    """Train a tagger into a release folder and return what to print."""
    tagger = Tagger(**job.parameters, seed=job.seed)
    tagger.check()
    with publish_job(job, f"pii train {job.marked.source.name}", seed=job.seed) as publication:
        fingerprint, texts, spans = publication.account.fingerprint(), list[str](), list[list[Span]]()
        for text, own in job.marked.read():
            fingerprint.update(text)
            texts.append(text)
            spans.append(own)
        if not any(spans):
            raise BadInput("marks no span", where=job.marked.spans or job.marked.source)
        paid = publication.account.charge(
            tagger.event(Shape()),
            data=fingerprint.hexdigest(),
            binding=publication.bound(source=str(job.marked.source.absolute()), parameters=tagger.public_params()),
        )
        with bar("training", None, "steps") as advance:
            tagger.fit(texts, spans, noise=paid.noise(), advance=advance)
        publication.file(MODEL).mkdir()
        tagger.write(publication.file(MODEL))
        scores = None if job.test is None else score_tagger(tagger, job.test)
        release = publication.finish(
            paid,
            tagger.name,
            tagger.public_params(),
            MODEL,
            passes=passes_of(tagger),
            facts=Facts(
                data=publication.data_facts(job.marked.source),
                scores=scores,
                making=_making(tagger),
                not_protected=("whether a document was among those it learnt from, and what that document says",),
            ),
        )
    return {
        **publication.result(release),
        "kind": tagger.kind,
        "labels": list(tagger.labels),
        "documents": len(texts),
        "spans": sum(map(len, spans)),
        "scores": None if scores is None else scores.values,
        "facts": tagger.backend_.facts,
    }


def _making(tagger: Tagger) -> tuple[str, ...]:
    facts = tagger.backend_.facts
    lines = [f"a {tagger.kind} tagger for {', '.join(tagger.labels)}, trained without noise"]
    if "temperature" in facts:
        lines.append(
            f"scores calibrated on {facts['held_out_documents']:,} documents that were held out: mean gap between score and "
            f"share of right findings {facts['calibration_error']:.3f}"
        )
    return tuple(lines)


def score_tagger(tagger: Tagger, test: MarkedSource) -> ModelScores:
    """Exact spans on a test file: precision, recall and F1, all labels together and each."""
    right, found, marked = dict[str, int](), dict[str, int](), dict[str, int]()
    for text, spans in test.read():
        answers = {(s.start, s.end, s.label) for s in tagger.find([text])[0]}
        truth = {(s.start, s.end, s.label) for s in spans}
        for counts, things in ((right, answers & truth), (found, answers), (marked, truth)):
            for _, _, label in things:
                counts[label] = counts.get(label, 0) + 1
    total = [sum(c.values()) for c in (right, found, marked)]
    if not total[2]:
        raise BadInput("marks no span", where=test.source)
    low, high = interval(total[0], total[2])
    f1 = _f1(*total)
    lines = [
        f"F1 of exact spans {f1:.3f}; recall {total[0] / total[2]:.3f} [{low:.3f}, {high:.3f}] of {total[2]:,} spans"
    ]
    lines += [
        f"{label}: F1 {_f1(right.get(label, 0), found.get(label, 0), marked[label]):.3f} of {marked[label]:,}"
        for label in sorted(marked)
    ]
    return ModelScores(tuple(lines), {"f1": f1, "recall": total[0] / total[2]}, test.source.name)


def _f1(right: int, found: int, marked: int) -> float:
    return 2 * right / (found + marked) if found + marked else 0.0


__all__ = ["MarkedSource", "TaggerJob", "score_tagger", "train_tagger"]
