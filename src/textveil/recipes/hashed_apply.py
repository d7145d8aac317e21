"""The journey of new documents through a model: read, find, write spans and a page that shows them.

    spans.jsonl       one find per line: id, start, end, label, score, text
    highlights.html   every find in its context, and the whole texts

The output belongs to whoever owns the new documents; it is no release.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.core.release import check_free, new_folder
from textveil.hashed.extractor import load
from textveil.recipes.veil import Bar, check_writable
from textveil.report.highlight import Find, Highlights
from textveil.text import readers

SPANS, PAGE = "spans.jsonl", "highlights.html"


@dataclass(frozen=True)
class ApplyJob:
    model: Path
    source: Path
    out: Path
    text_field: str | None = None
    format: str | None = None
    page: bool = True


def apply_model(job: ApplyJob, *, bar: Bar) -> dict[str, Any]:
    """Find spans in a file of documents and return what to print."""
    check_free(job.out)
    check_writable(job.out)
    model = load(job.model)
    model.extract("ready")  # what is compiled is loaded now, not while the clock runs
    reader = readers.open_reader(job.source, format=job.format, text_field=job.text_field)
    shown = Highlights()
    documents = finds = words = told = 0
    took = 0.0
    with new_folder(job.out) as hidden:
        with open(hidden / SPANS, "w", encoding="utf-8") as out, bar("reading", reader.size, "bytes") as advance:
            for documents, record in enumerate(reader, 1):
                began = time.perf_counter()
                found, size = model.extract_counted(record.text)
                took += time.perf_counter() - began
                words, finds = words + size, finds + len(found)
                name = _name(record.row, reader.format, documents)
                for span in found:
                    line = {"id": name, **span._asdict(), "text": record.text[span.start : span.end]}
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                if job.page:
                    shown.add(str(name), record.text, [Find(*span) for span in found])
                advance(reader.bytes_read - told)
                told = reader.bytes_read
        if job.page:
            title = f"{', '.join(model.table_.labels[1:])} in {job.source.name}"
            (hidden / PAGE).write_text(shown.page(title), encoding="utf-8")
    return {
        "out": str(job.out),
        "documents": documents,
        "words": words,
        "finds": finds,
        "words_per_second": words / took if took else 0.0,
    }


def _name(row: Any, format: str, number: int) -> Any:
    """The record's own id where jsonl gives one, else its number."""
    if format == "jsonl":
        name = json.loads(row[0]).get("id")
        if isinstance(name, str | int):
            return name
    return number
