"""From pages of Wikipedia to records: the infobox of each page, rendered (HTML) or as wikitext."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.files import write_whole
from textveil.pii.annotate.infobox_html import record_of_html
from textveil.pii.annotate.infobox_wikitext import record_of_wikitext
from textveil.text import readers


def infobox_records(
    pages: Path, out: Path, *, page_field: str | None = None, title_field: str | None = None
) -> dict[str, Any]:
    """Write one record a page; a page that begins with a tag is HTML, any other wikitext."""
    if out.exists():
        raise BadInput("exists already", where=out, possible="another name")
    fields = ("id", *((title_field,) if title_field else ()))
    reader = readers.open_reader(pages, text_field=page_field, fields=fields, columns=())
    lines, without = [], 0
    for page in reader:
        is_html = page.text.lstrip().startswith("<")
        record = record_of_html(page.text) if is_html else record_of_wikitext(page.text)
        if title_field and page.fields[title_field]:
            record["name"] = list(dict.fromkeys([str(page.fields[title_field]), *record.get("name", [])]))
        without += not set(record) - {"name"}
        lines.append(json.dumps({"id": str(page.fields["id"]), **record}, ensure_ascii=False) + "\n")
    write_whole(out, "".join(lines), mode=0o600)
    return {"out": str(out), "pages": len(lines), "pages_without_values": without}


__all__ = ["infobox_records"]
