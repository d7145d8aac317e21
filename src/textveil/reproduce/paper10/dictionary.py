"""The German-English dictionary of TU Chemnitz (Frank Richter; GPL), as the Debian package `trans-de-en` installs it.

A general model of 28 million sentences knows words that 222,000 short ones do not hold. A line of the dictionary is one
entry: forms and idioms apart by `|`, the same number on both sides; other words for each apart by `;`. Remarks on grammar
and field stand in brackets; they are left out, and so are other choices behind a stroke and "somebody", "something".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

DICTIONARY = Path("/usr/share/trans/de-en")
_REMARK = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)|<[^<>]*>|/[^/ ]{1,8}/")
_OTHER = re.compile(r"(?<=\w)\s*/\s*\S+")  # "on / of"
_SOMEBODY = re.compile(r"(?<!\S)(?:(?:etw\.|jd[mns]?\.|sth\.|sb\.(?:['’]s)?)(?:\s*/\s*)?)+(?!\S)")
_BLANK = re.compile(r"\s+")

Pair = tuple[str, str]


def dictionary_pairs(path: Path = DICTIONARY) -> list[Pair]:
    """Every word, form and idiom with its translation, each pair once, in the order of the file."""
    with open(path, encoding="utf-8") as lines:
        return [*dict.fromkeys(pair for line in lines for pair in entry_pairs(line))]


def entry_pairs(line: str) -> Iterator[Pair]:
    """The pairs of one line; other words for the same go in turn, so each of them stands in a pair.

    >>> [*entry_pairs("Leber {f}; Organ {n} [med.] | eine Leber (haben) :: liver | to have a liver")]
    [('Leber', 'liver'), ('Organ', 'liver'), ('eine Leber', 'have a liver')]
    """
    bare = _REMARK.sub(" ", _REMARK.sub(" ", line.rstrip("\n")))  # twice: one in another; they hold separators too
    sides = bare.split(" :: ")
    if line.startswith("#") or len(sides) != 2:
        return
    forms = [side.split("|") for side in sides]
    if len(forms[0]) != len(forms[1]):
        return
    for german, english in zip(*forms, strict=True):
        de = [text for text in map(_plain, german.split(";")) if text]
        en = [text.removeprefix("to ") for text in map(_plain, english.split(";")) if text]
        for i in range(max(len(de), len(en)) if de and en else 0):
            yield de[i % len(de)], en[i % len(en)]


def _plain(text: str) -> str:
    for marked in (_SOMEBODY, _OTHER, _BLANK):
        text = marked.sub(" ", text)
    return text.replace("’", "'").strip()
