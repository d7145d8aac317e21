"""Text becomes tokens, sentences and paragraphs, all with their places in the text.

Sentences are split after Kiss and Strunk's Punkt idea, with a fixed public list in place of statistics of private text: a
full stop ends a sentence unless it belongs to an abbreviation, an initial or the number of a heading. Contracts made the
list: "Inc.", "No. 5", "Section 5.2.", "5.2. Governing Law.", "U.S.", "e.g.".

Paragraphs end at a blank line, and at a line break after the end of a sentence, a colon or a semicolon; another line
break is a wrapped line. A paragraph's tokens depend on nothing outside the paragraph, which the sound variant relies on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from textveil.hashed.abbreviations import ABBREVIATIONS, BEFORE_NUMBER, HEADING_WORDS, STARTERS

# A word keeps its inner apostrophes, a number its inner points and commas; a run of one fill symbol ("____") is one token.
_TOKEN = re.compile(r"[^\W_]+(?:(?:['’]|(?<=\d)[.,](?=\d))[^\W_]+)*|_+|\.+|-+|\*+|=+|#+|~+|[^\w\s]")
_SPACES = np.array([chr(code).isspace() for code in range(0x3002)])  # all of Unicode's white space, and one more
_LINE_END = re.compile(r"\n\s*")
_SENTENCE_END = re.compile(r"([.!?])[\"')\]”’]*\s+(?=\S)")
_WORD_BEFORE = re.compile(r"[^\W_]*&[^\W_]+$|(?:[^\W_]\.)*[^\W\d_][^\W\d_]*$|\(?\d+(?:\.\d+)*\)?$")
_NEXT = re.compile(r"[\"'“‘(\[]*([^\W_]+)?")
_ITEM = re.compile(r"\((?:[a-z]{1,4}|\d{1,3})\)\s")  # "(b) " after a stop opens an item of a list
_NUMERAL = re.compile(r"\(?(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])\)?", re.IGNORECASE)
_LONGEST_WORD = 40  # how far back an abbreviation may begin


class Tokens(NamedTuple):
    """words[i] == text[starts[i]:ends[i]]; sentence k holds tokens sentences[k] to sentences[k + 1], paragraphs alike."""

    words: list[str]
    starts: np.ndarray
    ends: np.ndarray
    sentences: np.ndarray
    paragraphs: np.ndarray


def tokenize(text: str) -> Tokens:
    """Tokens of a text.

    >>> found = tokenize("Acme Inc. may sell. No. 5 stays.\\n\\n5.2. Law. It rules.")
    >>> [" ".join(found.words[a:b]) for a, b in zip(found.sentences, found.sentences[1:])]
    ['Acme Inc . may sell .', 'No . 5 stays .', '5.2 . Law .', 'It rules .']
    >>> found.paragraphs.tolist()
    [0, 11, 18]
    """
    words = _TOKEN.findall(text)
    places = _places(text, words)
    paragraphs = [m.end() for m in _LINE_END.finditer(text) if _ends_paragraph(text, m)]
    sentences = _sentence_starts(text, paragraphs)
    return Tokens(
        words, places[:, 0].copy(), places[:, 1].copy(), _bounds(places, sentences), _bounds(places, paragraphs)
    )


def _places(text: str, words: list[str]) -> np.ndarray:
    """Where each token starts and ends. Only white space lies between tokens, so the sizes of the tokens tell."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    solid = np.flatnonzero(~_SPACES[np.minimum(codes, len(_SPACES) - 1)])
    ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)))
    starts = np.concatenate([[0], ends[:-1]]) if len(words) else ends
    return np.stack([solid[starts], solid[ends - 1] + 1], axis=1).astype(np.int32)


def _bounds(places: np.ndarray, starts: list[int]) -> np.ndarray:
    """Character places of beginnings as token bounds, without empty pieces."""
    n = len(places)
    if n == 0:
        return np.zeros(1, np.int32)
    inner = np.searchsorted(places[:, 0], np.asarray(starts, np.int64))
    return np.unique(np.concatenate([[0], inner, [n]])).astype(np.int32)


def _ends_paragraph(text: str, match: re.Match[str]) -> bool:
    """A blank line, or a line break after what ends a sentence or opens a list."""
    before = text[max(0, match.start() - _LONGEST_WORD) : match.start()].rstrip()
    return "\n" in match.group()[1:] or before[-1:] in tuple(".:;!?")


def _sentence_starts(text: str, paragraphs: list[int]) -> list[int]:
    """Where sentences begin; every paragraph begins one."""
    opened = set(paragraphs)
    starts: list[int] = []
    begin, ahead = 0, iter([*paragraphs, len(text) + 1])
    next_paragraph = next(ahead)
    for match in _SENTENCE_END.finditer(text):
        while next_paragraph <= match.start():
            begin, next_paragraph = next_paragraph, next(ahead)
        if match.end() in opened or _ends_sentence(text, match, begin):
            begin = match.end()
            starts.append(begin)
    return sorted(opened.union(starts))


def _ends_sentence(text: str, match: re.Match[str], begin: int) -> bool:
    """Whether the stop ends the sentence that began at `begin`."""
    following = _NEXT.match(text, match.end())
    after = (following and following.group(1)) or ""
    lower = after[:1].islower() and not _ITEM.match(text, match.end())
    if match.group(1) != ".":
        return not lower
    if lower or _is_heading(text[begin : match.start()]):
        return False
    found = _WORD_BEFORE.search(text, max(begin, match.start() - _LONGEST_WORD), match.start())
    before = found.group().lower() if found else ""
    if before in BEFORE_NUMBER and after[:1].isdigit():
        return False
    if before in ABBREVIATIONS or (before.isalpha() and len(before) == 1) or (before[:1].isalpha() and "." in before):
        return after in STARTERS and before not in ("v", "vs")
    return True


def _is_heading(so_far: str) -> bool:
    """A number that opens a sentence names it: "5.2.", "IV." or "Section 5.2." """
    if len(so_far) > _LONGEST_WORD:
        return False
    *before, last = so_far.split() or [""]
    return bool(_NUMERAL.fullmatch(last)) and (not before or [w.lower() in HEADING_WORDS for w in before] == [True])
