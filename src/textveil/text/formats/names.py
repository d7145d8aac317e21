"""Names of fields: which one holds the text, and whether a message may list them.

A file without a header, or with line ends that are not understood, has private cells where names should be. So names are
listed only where they look like names, and cells of a first row only where some of them are words that headers use.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from textveil.core.errors import BadInput

_MOST_NAMES = 30  # that a message lists
_NAME = re.compile(r"[^\W\d][\w.:/#-]*(?: [\w.:/#()-]+){0,2}")
_LONGEST_NAME = 32
_HEADER_WORDS = frozenset(
    "address age amount answer author body category cat channel city class clause comment comments company content "
    "country created customer data date day description doc document email end entity feedback from gender group id "
    "idx index input item key kind label labels lang language length line mail message mood msg n name ner note notes "
    "number offset output patient person phone pos post product question rating record response review row score sent "
    "sentence sentiment source spans split stars start state status subject summary tag tags target text texts time "
    "timestamp title to token tokens topic type uid url user utterance uuid value version word words x y year".split()
)


def are_names(names: Collection[str]) -> bool:
    """Whether all of these look like names of fields: short, distinct, beginning with a letter.

    >>> are_names(["id", "customer name"]), are_names(["17", "Dear Sir, I write to you today."])
    (True, False)
    """
    return len(set(names)) == len(names) and all(len(n) <= _LONGEST_NAME and _NAME.fullmatch(n) for n in names)


def looks_like_header(names: Sequence[str]) -> bool:
    """Whether a first row is surely a header: all of it names, and half of them known from other headers.

    >>> looks_like_header(["id", "body"]), looks_like_header(["ann", "bern"]), looks_like_header(["user_id", "review_text"])
    (True, False, True)
    """
    return are_names(names) and 2 * sum(map(_is_header_word, names)) >= len(names) > 0


def _is_header_word(name: str) -> bool:
    """Whether headers use this name: each of its words, for a short text may well hold one of them by chance."""
    words = [re.split(r"[_.:/#()-]+", word) for word in name.lower().split()]
    return all(not _HEADER_WORDS.isdisjoint(parts) for parts in words)


def listed(names: Collection[str]) -> str | None:
    """The names for the end of a message; None where one of them may be private text."""
    if not are_names(names):
        return None
    return ", ".join([*names][:_MOST_NAMES]) + (" ..." if len(names) > _MOST_NAMES else "")


def choose_field(
    fields: dict[str, bool], *, asked: str | None, path: Path, line: int | None = None, possible: str | None = None
) -> str:
    """The field that holds the text: the one asked for, `text`, or the only one of strings (`fields` says which are).

    >>> choose_field({"id": False, "body": True}, asked=None, path=Path("notes.jsonl"))
    'body'
    """
    if possible is None:
        possible = listed(fields)
    if asked is not None:
        check_field(asked, fields, path=path, line=line, possible=possible)
        return asked
    if "text" in fields:
        return "text"
    candidates = [name for name, is_string in fields.items() if is_string]
    if len(candidates) == 1:
        return candidates[0]
    what = "which field holds the text must be said (--text-field)"
    raise BadInput(what, where=path, line=line, possible=possible)


def check_field(
    name: str, known: Collection[str], *, path: Path, line: int | None = None, possible: str | None = None
) -> None:
    """Refuse a field that the file does not have."""
    if name not in known:
        raise BadInput("there is no such field", where=path, line=line, field=name, possible=possible)
