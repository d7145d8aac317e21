"""The section about the data: which file, how many records, when, and which of its columns left with the release."""

from __future__ import annotations

from typing import Any

from ..core.facts import DataFacts, Facts
from .html import pairs

COLUMN = "column "  # how the name of a column begins among what passes: column 'city', column 3
DONE = {
    "words": "every word of the text was replaced by a word drawn at random, near ones more often",
    "counts": "the words of each document were counted, and noise was added to the counts",
    "hashed.seal": "a model that finds marked passages was sealed: every slot of its table was filled",
    "hashed.update": "a sealed model that finds marked passages was trained on and sealed again",
    "hashed.sound": "a model was trained, under noise, that finds marked passages",
    "hashed": "a model was trained that finds marked passages",
    "pii.mask": "personal data was masked where a recogniser found it",
    "pii.tagger": "a model was trained that finds personal data",
    "training.tagger": "a model was trained that tags words",
    "training.classifier": "a model was trained that sorts texts into classes",
    "training.lm": "a language model was trained",
    "training.translation": "a translation model was trained further",
    "training.vocab": "a list of words was made, for a tokenizer",
}


def what_was_done(mechanism: str) -> str:
    """In plain words, for a reader who does not know the mechanism.

    >>> what_was_done("training.tagger")
    'a model was trained that tags words'
    """
    return DONE.get(mechanism) or DONE.get(mechanism.partition(".")[0]) or f"released by {mechanism}"


def columns_that_left(manifest: dict[str, Any]) -> list[str] | None:
    """The names of the columns that left as they were; None where the release does not say.

    >>> columns_that_left({"passes": ["column 'city'", "column 3", "letter case"]})
    ["'city'", '3']
    """
    passes = manifest.get("passes")
    if not isinstance(passes, list):
        return None
    return [str(name).removeprefix(COLUMN) for name in passes if str(name).startswith(COLUMN)]


def data_section(manifest: dict[str, Any], facts: Facts) -> str:
    """Name, size and day of the data; what was done to it; what left beside it."""
    rows: list[tuple[str, object]] = []
    if facts.data is not None:
        rows += [("file", facts.data.file), ("records", _records(facts, facts.data))]
        rows += [(name, value) for name, value in _more(facts.data) if value]
    rows.append(("what was done", what_was_done(str(manifest["mechanism"]))))
    rows.append(("columns that left as they were", _columns(manifest)))
    released_on = str(manifest.get("created") or "")[:10]
    if facts.data is not None and facts.data.read_on not in ("", released_on):
        rows.append(("read on", facts.data.read_on))
    if released_on:
        rows.append(("released on", released_on))
    return pairs(rows)


def _more(data: DataFacts) -> list[tuple[str, object]]:
    return [("words", data.words), ("text field", data.text_field)]


def _records(facts: Facts, data: DataFacts) -> str:
    """How many: a number stands here only where it is public."""
    if data.records is not None:
        return f"{data.records:,}"
    if facts.training is not None:
        return f"{facts.training.examples:,} as declared (the true number is not published)"
    return "not published: the number is a fact of the private data"


def _columns(manifest: dict[str, Any]) -> str:
    columns = columns_that_left(manifest)
    if columns is None:
        return "not known: the release was made before they were listed"
    return ", ".join(columns) or "none"
