"""The journey of new documents through a model: read, find, write spans and a page that shows them.

    spans.jsonl       one find per line: id, start, end, label, score, text
    highlights.html   every find in its context, and the whole texts

The output belongs to whoever owns the new documents; it is no release, and only its owner can read it.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.core.release import check_free, check_writable, new_folder
from textveil.hashed.extractor import load
from textveil.recipes.new_documents import NewDocuments
from textveil.recipes.progress import Bar
from textveil.report.highlight import Find, Highlights

SPANS, PAGE = "spans.jsonl", "highlights.html"


@dataclass(frozen=True)
class ApplyJob:
    model: Path
    documents: NewDocuments
    out: Path
    page: bool = True


def apply_model(job: ApplyJob, *, bar: Bar) -> dict[str, Any]:
    """Find spans in a file of documents and return what to print."""
    check_free(job.out)
    check_writable(job.out)
    model = load(job.model)
    model.extract("ready")  # what is compiled is loaded now, not while the clock runs
    shown = Highlights()
    documents = with_finds = finds = words = 0
    took = 0.0
    with new_folder(job.out, private=True) as hidden:
        with open(hidden / SPANS, "w", encoding="utf-8") as out:
            for name, text, _ in job.documents.read(bar):
                documents += 1
                began = time.perf_counter()
                spans, size = model.extract_counted(text)
                took += time.perf_counter() - began
                words, finds, with_finds = words + size, finds + len(spans), with_finds + bool(spans)
                for span in spans:
                    line = {"id": name, **span._asdict(), "text": text[span.start : span.end]}
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                if job.page:
                    shown.add(str(name), text, [Find(*span) for span in spans])
        if job.page:
            title = f"{', '.join(model.table_.labels[1:])} in {job.documents.source.name}"
            (hidden / PAGE).write_text(shown.page(title), encoding="utf-8")
    return {
        "out": str(job.out),
        "documents": documents,
        "words": words,
        "finds": finds,
        "documents_with_finds": with_finds,
        "words_per_second": words / took if took else 0.0,
    }
