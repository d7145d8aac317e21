"""The infobox articles: their texts, records from their infoboxes, and the spans that were marked in them by hand."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from textveil.pii.annotate.infobox_wikitext import record_of_wikitext
from textveil.pii.records import PersonRecord
from textveil.pii.spans import Span, read_spans

from .data import rows


def marks(name: str) -> dict[str, list[Span]]:
    """The spans of one pass over the articles, by id."""
    return read_spans(Path(str(files(__package__) / "marks" / f"infobox_articles_{name}.jsonl")))


def articles(data: Path) -> tuple[dict[str, str], dict[str, list[PersonRecord]]]:
    """Texts of the infobox articles (paragraphs divided by a blank line), and records from their infoboxes."""
    texts, records = {}, {}
    for row in rows(data, "infobox_articles"):
        record = record_of_wikitext(row["wikitext_infobox"])
        record["name"] = list(dict.fromkeys([row["title"], *record.get("name", [])]))
        texts[row["id"]], records[row["id"]] = "\n\n".join(row["paragraphs"]), [record]
    return texts, records


__all__ = ["articles", "marks"]
