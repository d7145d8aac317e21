"""The help of LibreOffice in German and English, as the Debian packages `libreoffice-help-de` and `-en-us` install it.

Most general sentences at hand are short; those of domains that are kept back are not. Each paragraph of the help has the
same mark in both languages, so the paragraphs are pairs as they are: 36,000, of 13 words in the mean.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

HANDBOOK = Path("/usr/share/libreoffice/help")
_PARAGRAPH = re.compile(r'<(p|h\d)\s+id="([^"]+)"[^>]*>(.*?)</\1>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")

Pair = tuple[str, str]


def handbook_pairs(folder: Path = HANDBOOK) -> list[Pair]:
    """Every paragraph with its translation, each pair once, in the order of the files; not those left in English."""
    pairs = dict[Pair, None]()
    for page in sorted((folder / "de" / "text").rglob("*.html")):
        english = folder / "en-US" / page.relative_to(folder / "de")
        if not english.is_file():
            continue
        sides = [paragraphs(path.read_text(encoding="utf-8")) for path in (page, english)]
        pairs |= {(de, sides[1][mark]): None for mark, de in sides[0].items() if sides[1].get(mark, de) != de}
    return [*pairs]


def paragraphs(page: str) -> dict[str, str]:
    """The text of each paragraph by its mark.

    >>> paragraphs('<p id="par_1" class="a">Die <b>Datei</b> &amp; ihr\\nName.</p><p id="par_2"> </p>')
    {'par_1': 'Die Datei & ihr Name.'}
    """
    plain = {mark: " ".join(html.unescape(_TAG.sub("", text)).split()) for _, mark, text in _PARAGRAPH.findall(page)}
    return {mark: text for mark, text in plain.items() if text}
