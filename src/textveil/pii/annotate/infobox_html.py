"""An infobox as a rendered page holds it (Figure 1 of the paper): a table of class `infobox`, a label and a value a row.

Read with the parser of the standard library. Hidden birth dates (`<span class="bday">`), line breaks, list items and
hidden style sheets are understood; citation brackets are dropped.
"""

from __future__ import annotations

from html.parser import HTMLParser

from textveil.pii.records import PersonRecord

from .dates import parse_date
from .infobox_labels import SHOWN, field_of, split_values, without_citations

_BREAKS = ("br", "li", "p", "div")
_SILENT = ("style", "script", "sup")
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


class _InfoboxParser(HTMLParser):
    """Collects (label, value, bday) of the first infobox."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[tuple[str, str, str]] = []
        self.caption = ""
        self._depth = 0  # of tables, 1 inside the infobox
        self._done = False
        self._silent = 0
        self._into: str | None = None
        self._label, self._value, self._bday, self._title = "", "", "", ""
        self._bday_open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        if tag == "table":
            self._depth += 1 if self._depth or ("infobox" in classes and not self._done) else 0
        if not self._depth:
            return
        if tag in _SILENT:
            self._silent += 1
        elif tag == "tr" and self._depth == 1:
            self._label, self._value, self._bday = "", "", ""
        elif tag == "th" and self._depth == 1:
            is_title = "infobox-above" in classes or (not self.rows and dict(attrs).get("colspan"))
            self._into = "title" if is_title else "label"
        elif tag == "td" and self._depth == 1:
            self._into = "value"
        elif tag in _BREAKS and self._into == "value":
            self._value += "\n"
        if "bday" in classes and tag not in _VOID:
            self._bday_open = True

    def handle_endtag(self, tag: str) -> None:
        if not self._depth:
            return
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag in ("th", "td"):
            self._into = None
        elif tag == "tr" and self._depth == 1 and self._label and self._value.strip():
            self.rows.append((self._label.strip(), self._value, self._bday))
        elif tag == "span":
            self._bday_open = False
        elif tag == "table":
            self._depth -= 1
            self._done = self._done or not self._depth

    def handle_data(self, data: str) -> None:
        if not self._depth or self._silent:
            return
        if self._bday_open:
            self._bday += data
        elif self._into == "label":
            self._label += data
        elif self._into == "value":
            self._value += data
        elif self._into == "title":
            self.caption += data


def record_of_html(page: str) -> PersonRecord:
    """The record that a page's infobox stands for; empty where it has none.

    >>> rows = "<tr><th>Spouse(s)</th><td>Anna Meyer<sup>[1]</sup><br>Eva Lang</td></tr>"
    >>> record_of_html(f'<table class="infobox">{rows}</table>')
    {'spouse': ['Anna Meyer', 'Eva Lang']}
    """
    parser = _InfoboxParser()
    parser.feed(page)
    parser.close()
    record: PersonRecord = {"name": [without_citations(parser.caption)]} if parser.caption.strip() else {}
    for label, value, bday in parser.rows:
        field = field_of(label, SHOWN)
        if field == "birth_date":
            _add(record, field, _birth_dates(value, bday))
        elif field is not None:
            _add(record, field, split_values(field, value))
    return record


def _birth_dates(value: str, bday: str) -> list[str]:
    """A row "Born" holds a name, a date and a place; only a date is taken."""
    if bday.strip():
        return [bday.strip()]
    for line in without_citations(value).split("\n"):
        if parse_date(line) is not None:
            return [line.strip()]
    return []


def _add(record: PersonRecord, field: str, values: list[str]) -> None:
    if values:
        record[field] = list(dict.fromkeys([*record.get(field, []), *values]))


__all__ = ["record_of_html"]
