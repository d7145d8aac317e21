"""BIO: a tag for each token, as CoNLL files hold it, and the spans that the tags stand for.

`B-X` begins a span of label X, `I-X` goes on with it, `O` is outside. An `I-X` that follows nothing, or a span of
another label, has no meaning in this scheme: it is refused, with its line. `repair` reads it as the beginning of a
span instead, which is what the scorer of CoNLL-2003 does.

A file has a token a line, the token in the first column and its tag in the last, and a blank line after each
document. The text of such a document is its tokens with a blank between, and offsets count in that text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from textveil.core import BadInput
from textveil.text.formats.lines import Lines, check_readable
from textveil.text.spans import Span
from textveil.text.tokens import tokenize

OUTSIDE = "O"
_DOCUMENT_MARK = "-DOCSTART-"


class TaggedDocument(NamedTuple):
    """Tokens and tags of one document, and the line where it begins (0: not from a file)."""

    tokens: list[str]
    tags: list[str]
    line: int = 0

    @property
    def text(self) -> str:
        return " ".join(self.tokens)

    def spans(self, *, repair: bool = False, where: object = None) -> list[Span]:
        """What the tags stand for, as characters of `text`."""
        places, start = [], 0
        for token in self.tokens:
            places.append((start, start + len(token)))
            start += len(token) + 1
        return [
            Span(places[first][0], places[last][1], label)
            for first, last, label in runs(self.tags, repair=repair, where=where, line=self.line)
        ]


def runs(
    tags: Sequence[str], *, repair: bool = False, where: object = None, line: int = 0
) -> list[tuple[int, int, str]]:
    """First token, last token and label of each span.

    >>> runs(["B-SP", "I-SP", "O", "B-CH", "B-CH"])
    [(0, 1, 'SP'), (3, 3, 'CH'), (4, 4, 'CH')]
    >>> runs(["O", "I-SP"], repair=True)
    [(1, 1, 'SP')]
    """
    spans: list[tuple[int, int, str]] = []
    label = ""
    for place, tag in enumerate(tags):
        mark, dash, kind = tag.partition("-")
        if tag != OUTSIDE and not (mark in ("B", "I") and dash and kind):
            raise _bad_tag("is no BIO tag", where, line, place)
        if mark == "I" and kind == label:
            spans[-1] = (spans[-1][0], place, kind)
            continue
        if mark == "I" and not repair:
            raise _bad_tag("an I- tag goes on with a span that has not begun", where, line, place)
        label = "" if tag == OUTSIDE else kind
        if label:
            spans.append((place, place, label))
    return spans


def _bad_tag(what: str, where: object, line: int, place: int) -> BadInput:
    at = line + place if line else None
    return BadInput(what, where=where, line=at, possible="O, B-LABEL, or I-LABEL after B-LABEL; --repair-bio")


def tags_of(places: Iterable[tuple[int, int]], spans: Sequence[Span]) -> list[str]:
    """The tags of tokens that stand at `places`; a token belongs to the first span that it overlaps.

    >>> tags_of([(0, 4), (5, 10), (11, 17)], [Span(0, 10, "PERSON")])
    ['B-PERSON', 'I-PERSON', 'O']
    """
    tags: list[str] = []
    ordered, first = sorted(spans), 0
    last: Span | None = None
    for start, end in places:
        while first < len(ordered) and ordered[first].end <= start:
            first += 1
        span = next((s for s in ordered[first:] if s.start < end and start < s.end), None)
        tags.append(OUTSIDE if span is None else f"{'I' if span is last else 'B'}-{span.label}")
        last = span
    return tags


def bio_of(text: str, spans: list[Span]) -> list[tuple[str, str]]:
    """Tokens with their tags.

    >>> bio_of("Anna Meyer called.", [Span(0, 10, "PERSON")])
    [('Anna', 'B-PERSON'), ('Meyer', 'I-PERSON'), ('called', 'O'), ('.', 'O')]
    """
    places = list(token_places(text))
    return [(text[a:b], tag) for (a, b), tag in zip(places, tags_of(places, spans), strict=True)]


def bio_lines(text: str, spans: list[Span]) -> str:
    """A document of a BIO file, the blank line after it included."""
    return "".join(f"{token}\t{tag}\n" for token, tag in bio_of(text, spans)) + "\n"


def token_places(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each word and each sign; white space is no token."""
    place = 0
    for token in tokenize(text):
        if token.is_word:
            yield place, place + len(token.text)
        else:
            yield from ((place + k, place + k + 1) for k, sign in enumerate(token.text) if not sign.isspace())
        place += len(token.text)


def read_bio(path: Path) -> Iterator[TaggedDocument]:
    """The documents of a BIO file, plain or .gz, as they stand: tags are checked when their spans are asked for."""
    check_readable(path)
    lines = Lines(path)
    tokens, tags, begins = list[str](), list[str](), 0
    for line in lines:
        cells = line.split("\t") if "\t" in line else line.split()
        if not line.strip() or cells[0] == _DOCUMENT_MARK:
            if tokens:
                yield TaggedDocument(tokens, tags, begins)
                tokens, tags = [], []
            continue
        if len(cells) < 2:
            raise lines.bad("has a token and no tag")
        begins = begins if tokens else lines.number
        tokens.append(cells[0].strip())
        tags.append(cells[-1].strip())
    if tokens:
        yield TaggedDocument(tokens, tags, begins)


__all__ = ["OUTSIDE", "TaggedDocument", "bio_lines", "bio_of", "read_bio", "runs", "tags_of", "token_places"]
