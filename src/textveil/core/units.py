"""Whom a promise is about, and which two worlds it compares.

A loss is meaningless without both: epsilon 1 for a word and epsilon 1 for a user are different promises. The names below
never change their meaning; a new meaning gets a new name.
"""

from __future__ import annotations

from enum import StrEnum


class Unit(StrEnum):
    """What one neighbour owns: the part of the data that may change between the two worlds."""

    WORD = "word"  # one occurrence, at one place of the text
    DOCUMENT_TERM = "document_term"  # one word of one document, at all the places where it stands there
    TERM = "term"  # a vocabulary entry with all its occurrences, in the whole data set
    EXAMPLE = "example"  # one training example, whatever the trainer was given as such
    PARAGRAPH = "paragraph"  # what the public splitter cuts a document into
    DOCUMENT = "document"
    USER = "user"
    CLIENT = "client"
    PARTY = "party"

    @property
    def phrase(self) -> str:
        return _UNIT_PHRASES[self]

    @property
    def things(self) -> str:
        """What a metric between two such units compares."""
        return "words" if self in (Unit.WORD, Unit.DOCUMENT_TERM) else "inputs"


class Adjacency(StrEnum):
    """How the two worlds differ in that one unit."""

    ADD_REMOVE = "add_remove"
    REPLACE = "replace"
    ZERO_OUT = "zero_out"
    METRIC = "metric"

    @property
    def phrase(self) -> str:
        return _ADJACENCY_PHRASES[self]


_UNIT_PHRASES = {
    Unit.WORD: "one occurrence of a word",
    Unit.DOCUMENT_TERM: "one word of a document, at all the places where it stands there",
    Unit.TERM: "one vocabulary term with all its occurrences",
    Unit.EXAMPLE: "one training example",
    Unit.PARAGRAPH: "one paragraph of a document",
    Unit.DOCUMENT: "one whole document",
    Unit.USER: "everything one person wrote",
    Unit.CLIENT: "everything one client holds",
    Unit.PARTY: "everything one party holds",
}

_ADJACENCY_PHRASES = {
    Adjacency.ADD_REMOVE: "is there or is not there",
    Adjacency.REPLACE: "is replaced by any other",
    Adjacency.ZERO_OUT: "contributes or contributes nothing",
    Adjacency.METRIC: "is replaced by another at some distance",
}
