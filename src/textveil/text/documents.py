"""One row of a file: its private text, and the rest of the row, which nobody but the file's format looks into."""

from __future__ import annotations

from typing import Any, NamedTuple

NO_FIELDS: dict[str, Any] = {}  # shared by all records of readers that were asked for none


class Record(NamedTuple):
    """A row. `text` is what a mechanism may see and replace; `row` belongs to the reader that made the record.

    `fields` holds the further values that the reader was asked for (`fields=`). A missing text (null) is "". In parallel
    text the two sides are one private text, divided by a newline (`sides`); in column files (conll) the tokens of a
    sentence are divided by blanks.
    """

    text: str
    row: Any
    fields: dict[str, Any] = NO_FIELDS
    is_new: bool = False  # the text was replaced: it is spelt afresh, even where it is the old one


def replace(record: Record, text: str) -> Record:
    """The same row with another text; `record` stays as it is.

    >>> replace(Record("old", row=7), "new").text
    'new'
    """
    return Record(text, record.row, record.fields, True)


def sides(text: str) -> tuple[str, str]:
    """Source and target of a parallel record's text.

    >>> sides("good morning\\nguten Morgen")
    ('good morning', 'guten Morgen')
    """
    source, _, target = text.partition("\n")
    return source, target
