"""The journey of `pii find`: documents in, spans out. Nothing is released: the spans are as private as the documents."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from textveil.core.errors import BadInput
from textveil.recipes.new_documents import NewDocument, NewDocuments
from textveil.recipes.pii.recogniser_choice import RecogniserChoice
from textveil.recipes.progress import Bar
from textveil.text.atomic import AtomicFile
from textveil.text.spans import Span
from textveil.text.tokens import words

CHARACTERS_A_BATCH, TEXTS_A_BATCH = 1 << 16, 256
Item = TypeVar("Item")


@dataclass(frozen=True)
class FindJob:
    """Documents to look through, and where the spans go."""

    documents: NewDocuments
    out: Path
    choice: RecogniserChoice


def find_spans(job: FindJob, *, bar: Bar) -> dict[str, Any]:
    """Write the spans of all documents, for their owner alone, and return what to print."""
    if job.out.exists():
        raise BadInput("exists already", where=job.out, possible="another name")
    recogniser = job.choice.open()
    counts, documents, count_of_words, took = Counter[str](), 0, 0, 0.0
    with AtomicFile(job.out, private=True) as out:
        for batch in batches(job.documents.read(bar), _size):
            began = time.perf_counter()
            found = recogniser.find([document.text for document in batch])
            took += time.perf_counter() - began
            for document, spans in zip(batch, found, strict=True):
                documents, count_of_words = documents + 1, count_of_words + len(words(document.text))
                counts.update(span.label for span in spans)
                out.write("".join(span_line(document.name, span) for span in spans).encode())
    return {
        "out": str(job.out),
        "documents": documents,
        "words": count_of_words,
        "spans": counts.total(),
        "labels": dict(counts.most_common()),
        "words_per_second": count_of_words / took if took else 0.0,
        "models": list(job.choice.models),
    }


def span_line(name: Any, span: Span) -> str:
    """A span as it is written: where, what, how sure, by which rule, beside which words; never the value."""
    shown = {"id": name, **span.to_json(), **({"context": list(span.context)} if span.context else {})}
    return json.dumps(shown, ensure_ascii=False) + "\n"


def batches(items: Iterable[Item], size: Any) -> Iterator[list[Item]]:
    """Runs of items that are large enough to be worth a call, and never much larger."""
    batch, total = list[Item](), 0
    for item in items:
        batch.append(item)
        total += size(item)
        if total >= CHARACTERS_A_BATCH or len(batch) >= TEXTS_A_BATCH:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def _size(document: NewDocument) -> int:
    return len(document.text)


__all__ = ["FindJob", "batches", "find_spans", "span_line"]
