"""Sentences to choose settings on: the infobox articles with the marks of the first pass, tags of the four labels.

They are no part of the gold passages, and no label of theirs is ever trained on.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from textveil.pii.annotate.phrases import Phrases
from textveil.pii.bio import tags_of, token_places

from .articles import articles, marks
from .data import LABELS, Sentence, rows


@lru_cache(maxsize=1)
def article_sentences(data: Path) -> tuple[Sentence, ...]:
    """All sentences of the articles; a mark that reaches over the end of a sentence is left out."""
    gold, texts = marks("first"), articles(data)[0]
    titles = {row["id"]: _title(row["title"]) for row in rows(data, "infobox_articles")}
    return tuple(
        sentence
        for name, text in texts.items()
        for sentence in _sentences(name, text, titles[name], gold.get(name, []))
    )


def _sentences(name: str, text: str, title: tuple[str, ...], gold: list) -> list[Sentence]:
    own = [span for span in gold if span.label in LABELS]
    sentences = []
    for number, (start, end) in enumerate(pairwise([*Phrases(text).sentence_starts, len(text)])):
        places = [(start + a, start + b) for a, b in token_places(text[start:end])]
        tags = tags_of(places, [s for s in own if start <= s.start and s.end <= end])
        if places:
            sentences.append(Sentence(name, number, tuple(text[a:b] for a, b in places), tuple(tags), title))
    return sentences


def _title(title: str) -> tuple[str, ...]:
    return tuple(word.capitalize() if word.islower() else word for word in title.split(" (")[0].split())


__all__ = ["article_sentences"]
