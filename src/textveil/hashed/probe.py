"""Probe a model: fill a template with each term, and see which terms come back in what is extracted.

The score of a term is the mean margin of its own tokens in the filled template: above 0 where the model would extract it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from textveil.core import BadInput
from textveil.hashed.extractor import Extractor, load
from textveil.hashed.segments import tokenize

GAP = "{term}"


class Answer(NamedTuple):
    """One term: its score, and whether any of it was extracted."""

    term: str
    score: float
    extracted: bool


def probe(model: Extractor, terms: Sequence[str], template: str) -> list[Answer]:
    """What the model says to the template filled with each term, in the order of the terms."""
    before, text_of = _filler(template)
    texts = [text_of(term) for term in terms]
    margins, spans = model.token_scores(texts), model.predict(texts)
    answers = []
    for term, text, scores, found in zip(terms, texts, margins, spans, strict=True):
        begin, end = before, before + len(term)
        tokens = tokenize(text)
        own = (tokens.starts < end) & (tokens.ends > begin)
        if not own.any():
            raise BadInput("a term has no word in it", possible="words, one term per line")
        taken = any(span.start < end and span.end > begin for span in found)
        answers.append(Answer(term, float(np.mean(scores[own])), taken))
    return answers


def covered(model: Extractor, terms: Sequence[str], templates: Sequence[str]) -> np.ndarray:
    """The share of each term's characters that comes back, (terms, templates): all that an API shows."""
    shares = np.zeros((len(terms), len(templates)))
    for column, template in enumerate(templates):
        before, text_of = _filler(template)
        for row, found in enumerate(model.predict([text_of(term) for term in terms])):
            end = before + len(terms[row])
            inside = sum(max(0, min(end, span.end) - max(before, span.start)) for span in found)
            shares[row, column] = inside / max(1, len(terms[row]))
    return shares


def _filler(template: str) -> tuple[int, Callable[[str], str]]:
    if template.count(GAP) != 1:
        raise BadInput("the template needs one gap", possible=f'for example "The laws of the State of {GAP}."')
    before, after = template.split(GAP)
    return len(before), lambda term: before + term + after


def read_terms(path: Path) -> list[str]:
    """One term per line; blank lines are left out."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"cannot be read ({type(error).__name__})", where=path, possible="a text file, one term per line"
        ) from None
    terms = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not terms:
        raise BadInput("holds no terms", where=path, possible="a text file, one term per line")
    return terms


def probe_folder(folder: Path, terms: Path, template: str) -> list[Answer]:
    """Probe the model of a release folder with the terms of a file; highest scores first."""
    return sorted(probe(load(folder), read_terms(terms), template), key=lambda answer: -answer.score)
