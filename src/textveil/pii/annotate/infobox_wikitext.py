"""An infobox as wikitext: a template whose name begins with "Infobox", a key and a value a line.

Read with mwparserfromhell (MIT), imported late. Dates of `{{birth date|1809|2|12}}` and its kin are put together,
`{{marriage|...}}` gives the name, lists (`{{plainlist}}`, `{{hlist}}`, `<br>`, `*`) give several values, references
and comments are dropped. A link gives both what it shows and what it leads to: [[Hans Albert Einstein|Hans Albert]]
is known by two names.
"""

from __future__ import annotations

import re
from typing import Any

from textveil.core import BadInput
from textveil.pii.records import PersonRecord

from .infobox_html import _add
from .infobox_labels import WRITTEN, field_of, split_values
from .wordlists import MONTHS

_LISTS = re.compile(
    r"^(?:plainlist|plain list|hlist|flatlist|ublist|ubl|unbulleted list|bulleted list|longitem|collapsible list)$"
)
_WRAPPERS = re.compile(
    r"^(?:nowrap|small|nobold|no self-redirect|avoid wrap|lang|ill|interlanguage link|linktext|native name)$"
)
_BIRTH = re.compile(r"^(?:birth[- ]?date|bda|dob|birth date)", re.IGNORECASE)
_MARRIAGE = re.compile(r"^(?:marriage|married)$")
_DEGREE = re.compile(r"\b(?:Bachelor|Master|Doctor|Diploma|Magister|Laurea)\b")


def record_of_wikitext(wikitext: str) -> PersonRecord:
    """The record that the first infobox of a page stands for; empty where it has none.

    >>> record_of_wikitext("{{Infobox person | name = A. Meyer | spouse = [[Eva Lang]]<br>{{marriage|Ida Berg|1901}}"
    ...                    " | birth_date = {{birth date|1870|5|3}}<ref>x</ref> | birth_place = [[Ulm]] }}")
    {'name': ['A. Meyer'], 'spouse': ['Eva Lang', 'Ida Berg'], 'birth_date': ['3 May 1870']}
    """
    box = _infobox(wikitext)
    record: PersonRecord = {}
    for parameter in box.params if box is not None else ():
        field = field_of(str(parameter.name).strip(), WRITTEN)
        if field is None:
            continue
        shown, aliases = _plain(parameter.value)
        values = [shown.split("\n")[0].strip()] if field == "birth_date" else split_values(field, shown)
        known = [alias for alias in aliases if field != "birth_date" and field != "name"]
        _add(record, field, [value for value in (*values, *known) if value])
    return record


def _infobox(wikitext: str) -> Any:
    try:
        import mwparserfromhell
    except ImportError:
        raise BadInput("reading wikitext needs mwparserfromhell", possible="pip install 'textveil[pii]'") from None
    templates = mwparserfromhell.parse(wikitext).filter_templates(recursive=True)
    return next((t for t in templates if str(t.name).strip().lower().startswith("infobox")), None)


def _plain(code: Any) -> tuple[str, list[str]]:
    """What a value shows, with a line break between its items; and other names of what it links to."""
    pieces: list[str] = []
    aliases: list[str] = []
    for node in code.nodes:
        shown, more = _node(node)
        pieces.append(shown)
        aliases += more
    text = re.sub(r"'{2,}", "", "".join(pieces)).replace("&nbsp;", " ")
    text = re.sub(r"(?m)^\s*\*+\s*", "\n", text)
    return re.sub(r"[ \t]+", " ", re.sub(r"\s*\n\s*", "\n", text)).strip(), aliases


def _node(node: Any) -> tuple[str, list[str]]:
    kind = type(node).__name__
    if kind == "Wikilink":
        return _link(node)
    if kind == "Template":
        return _template(node)
    if kind == "Tag":
        tag = str(node.tag).strip().lower()
        if tag == "br":
            return "\n", []
        if tag in ("ref", "style", "sup"):
            return "", []
        if tag == "li":
            return "\n", []
        return _plain(node.contents) if node.contents is not None else ("", [])
    if kind == "ExternalLink":
        return _plain(node.title) if node.title is not None else ("", [])
    return ("" if kind == "Comment" else str(node)), []


def _link(node: Any) -> tuple[str, list[str]]:
    target = str(node.title).split("#")[0].strip()
    if re.match(r"(?:File|Image|Category):", target, re.IGNORECASE):
        return "", []
    if node.text is None:
        return target, []
    shown, _ = _plain(node.text)
    bare = re.sub(r"\s*\([^)]*\)$", "", target)
    is_name = bare != shown and bare[:1].isupper() and not _DEGREE.search(bare)
    return shown, [bare] if is_name else []


def _template(node: Any) -> tuple[str, list[str]]:
    name = str(node.name).strip().lower()
    unnamed = [p for p in node.params if not p.showkey]
    if _BIRTH.match(name):
        return _date(unnamed), []
    if _MARRIAGE.match(name):
        shown, aliases = _plain(unnamed[0].value) if unnamed else ("", [])
        return f"{shown}\n", aliases
    if _LISTS.match(name):
        items = [_plain(p.value) for p in unnamed]
        return "\n" + "\n".join(shown for shown, _ in items) + "\n", [a for _, more in items for a in more]
    if _WRAPPERS.match(name):
        chosen = unnamed[1:] if name in ("lang", "ill", "interlanguage link") else unnamed
        shown, aliases = _plain(chosen[0].value) if chosen else ("", [])
        return shown, [] if name == "small" else aliases
    return "", []


def _date(unnamed: list[Any]) -> str:
    numbers = [int(text) for p in unnamed if (text := str(p.value).strip()).isdigit()]
    if not numbers:
        return " ".join(str(p.value).strip() for p in unnamed)
    year, month, day = (*numbers, 0, 0)[:3]
    parts = [str(day) if day else "", MONTHS[month - 1].capitalize() if 1 <= month <= 12 else "", str(year)]
    return " ".join(part for part in parts if part) + "\n"


__all__ = ["record_of_wikitext"]
