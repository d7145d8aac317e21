"""A page that shows what a model found in documents: each find in its context, then the whole text with its marks.

The page holds the documents' text, so it is for whoever may read them; it loads nothing and runs no script.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .html import esc, page, section, tag

CONTEXT = 160  # characters before and after a find
MOST_TEXT = 8_000_000  # characters of whole texts on one page; beyond it a document shows its finds only
_STYLE = (
    "<style>mark{background:color-mix(in srgb,var(--accent) 28%,transparent);color:inherit;border-radius:3px;padding:0 .1em}"
    "blockquote{margin:0 0 1rem;padding:.2rem 0 .2rem 1rem;border-left:4px solid var(--line)}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;font:.92rem/1.6 var(--serif);max-height:40rem;overflow:auto;"
    "background:var(--sheet);border:1px solid var(--line);border-radius:8px;padding:1rem}"
    "summary{cursor:pointer;font-family:var(--sans);font-size:.9rem;color:var(--soft)}</style>"
)


class Find(NamedTuple):
    start: int
    end: int
    label: str
    score: float


class Highlights:
    """Grows document by document; a text is not held, only what the page shows of it.

    >>> shown = Highlights()
    >>> shown.add("a", "Texas <law> governs.", [Find(0, 11, "LAW", 1.5)])
    >>> "<mark>Texas &lt;law&gt;</mark> governs." in shown.page("LAW")
    True
    """

    def __init__(self, most_text: int = MOST_TEXT) -> None:
        self._left, self._finds = most_text, 0
        self._parts: list[str] = []
        self._without: list[str] = []

    def add(self, name: str, text: str, finds: Sequence[Find]) -> None:
        """One document with its finds, in order and without overlap."""
        if not finds:
            self._without.append(name)
            return
        self._finds += len(finds)
        self._left -= len(text)
        self._parts.append(section(name, *_snippets(text, finds), _whole(text, finds) if self._left >= 0 else ""))

    def page(self, title: str) -> str:
        documents = len(self._parts) + len(self._without)
        head = (
            f'<header><p class="kicker">Textveil extraction</p><h1>{esc(title)}</h1>'
            f'<p class="lead">{self._finds:,} finds in {len(self._parts):,} of {documents:,} documents. '
            "This page holds text of the documents.</p></header>"
        )
        nothing = tag("p", esc(", ".join(self._without)), "small") if self._without else ""
        body = [*self._parts, section("Nothing found in", nothing)]
        return page(title, _STYLE + head + "\n".join(body), "plain")


def _snippets(text: str, finds: Sequence[Find]) -> list[str]:
    shown = []
    for find in finds:
        begin, end = max(0, find.start - CONTEXT), min(len(text), find.end + CONTEXT)
        before = ("… " if begin else "") + esc(text[begin : find.start])
        after = esc(text[find.end : end]) + (" …" if end < len(text) else "")
        note = esc(f"{find.label}, score {find.score:.3g}, characters {find.start:,} to {find.end:,}")
        shown.append(tag("blockquote", f"{before}{_mark(text, find)}{after}<br>{tag('span', note, 'small')}"))
    return shown


def _whole(text: str, finds: Sequence[Find]) -> str:
    parts, at = [], 0
    for find in finds:
        parts += [esc(text[at : find.start]), _mark(text, find)]
        at = find.end
    return f"<details><summary>The whole text</summary><pre>{''.join(parts)}{esc(text[at:])}</pre></details>"


def _mark(text: str, find: Find) -> str:
    return f"<mark>{esc(text[find.start : find.end])}</mark>"
