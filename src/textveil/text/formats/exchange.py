"""TMX and XLIFF, as translation tools export them: a stream of sentence pairs, inline tags left out.

TMX 1.4: `<tu><tuv xml:lang="de"><seg>..</seg></tuv>..</tu>`. The source is the language asked for, else `srclang` of
the header, else the first of a unit; the target is the language asked for, else the first other one. Languages
compare by their beginning: `de` is `de-CH` too. XLIFF 1.2: `<trans-unit><source>..</source><target>..</target>`; 2.0:
`<segment>` with the same. Units without a target are passed over.

Inline tags (`<bpt>`, `<ept>`, `<ph>`, `<it>`, `<x/>`, `<bx/>`) hold codes of the layout and are no text: they are
left out, and a blank stands for one between two words. `<g>`, `<hi>`, `<mrk>`, `<pc>`, `<sub>` stand around text,
which stays.

Entities declared inside of a file are refused by the parser's own limits; none are fetched.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from textveil.core.errors import BadInput
from textveil.text.formats.opening import READ_ERRORS, not_read, open_raw, unpacked
from textveil.text.formats.packing import packing_of

EXCHANGE = {"tmx": "tmx", "xlf": "xliff", "xliff": "xliff", "sdlxliff": "xliff", "mqxliff": "xliff"}
_CODES = frozenset(("bpt", "ept", "ph", "it", "ut", "x", "bx", "ex", "sc", "ec", "cp"))
_LANG = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")
_UNITS = frozenset(("tu", "trans-unit", "segment"))

Languages = tuple[str | None, str | None]


def exchange_pairs(path: Path, kind: str, languages: Languages = (None, None)) -> Iterator[tuple[str, str]]:
    """The sentence pairs of a file, one unit in memory at a time."""
    wanted, count = languages, 0
    try:
        with open_raw(path, packing_of(path.name)) as file:
            for event, element in ElementTree.iterparse(unpacked(file, packing_of(path.name)), ("start", "end")):
                name = _name(element)
                if event == "start":
                    if name == "header" and wanted[0] is None and element.get("srclang") not in (None, "*all*"):
                        wanted = (element.get("srclang"), wanted[1])
                    continue
                if name in _UNITS:
                    pair = _memory_pair(element, wanted) if name == "tu" else _exchange_pair(element)
                    if pair is not None:
                        count += 1
                        yield pair
                    element.clear()
                elif name in ("body", "file"):
                    element.clear()
    except ElementTree.ParseError as error:
        raise BadInput(f"is not well-formed {kind.upper()}", where=path, line=error.position[0]) from None
    except READ_ERRORS as error:
        raise not_read(error, path, packing_of(path.name)) from None
    if not count:
        what = "holds no unit in both languages"
        asked = " and ".join(lang for lang in languages if lang)
        raise BadInput(
            what + (f" ({asked})" if asked else ""), where=path, possible="--source-language, --target-language"
        )


def _memory_pair(unit: ElementTree.Element, wanted: Languages) -> tuple[str, str] | None:
    sides = list[tuple[str, str]]()
    for variant in unit:
        if _name(variant) == "tuv":
            language = next((variant.get(key, "") for key in _LANG if variant.get(key)), "")
            segment = next((child for child in variant if _name(child) == "seg"), None)
            if segment is not None:
                sides.append((language, _plain(segment)))
    source = next((n for n, (lang, _) in enumerate(sides) if _is(lang, wanted[0])), None)
    if source is None:
        return None
    target = next((n for n, (lang, _) in enumerate(sides) if n != source and _is(lang, wanted[1])), None)
    return None if target is None else (sides[source][1], sides[target][1])


def _exchange_pair(unit: ElementTree.Element) -> tuple[str, str] | None:
    source, target = (next((c for c in unit if _name(c) == name), None) for name in ("source", "target"))
    return None if source is None or target is None else (_plain(source), _plain(target))


def _is(language: str, wanted: str | None) -> bool:
    """
    >>> _is("de-CH", "de"), _is("DE", "de"), _is("en", "de"), _is("en", None)
    (True, True, False, True)
    """
    return wanted is None or language.lower() == wanted.lower() or language.lower().startswith(f"{wanted.lower()}-")


def _plain(element: ElementTree.Element) -> str:
    """The text of a segment; what stands for a code between two words is a blank."""
    parts = [element.text or ""]
    for child in element:
        parts.append(" " if _name(child) in _CODES else _plain(child))
        parts.append(child.tail or "")
    return " ".join("".join(parts).split())


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


__all__ = ["EXCHANGE", "exchange_pairs"]
