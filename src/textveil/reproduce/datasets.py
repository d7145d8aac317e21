"""The evaluation data as studies need it: vectors, word lists, labelled texts.

Texts stay in memory: what a cell gives back are numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from textveil.noise.source import seeded
from textveil.text import tokens
from textveil.text.vectors import Vectors, from_arrays, load

GLOVE, WORD2VEC, LEXICON = "glove-100d", "word2vec-news-300d", "opinion_lexicon"
TWEETS, REVIEWS = "disaster_tweets", "imdb"
_FILES = {
    "glove": (GLOVE, "glove.6B.100d.100k.f16.npz"),
    "word2vec": (WORD2VEC, "word2vec-googlenews-300d.26k.f16.npz"),
}

# word2vec's rows come with length 1; this puts them on the scale of GloVe's (mean length about 6), so that an epsilon
# means about as much noise as in a 300-dimensional GloVe. It only renames epsilon.
STRETCH = {"glove": 1.0, "word2vec": 6.0}


@dataclass(frozen=True)
class Labelled:
    """Texts and their labels (0 or 1)."""

    texts: list[str]
    labels: np.ndarray

    def take(self, rows: np.ndarray) -> Labelled:
        return Labelled([self.texts[i] for i in rows], self.labels[rows])

    def sample(self, count: int, seed: int) -> Labelled:
        """A random part of this size, or everything."""
        return self.take(seeded(seed).permutation(len(self.texts))[:count])

    def split(self, share: float, seed: int) -> tuple[Labelled, Labelled]:
        """Two parts, at random; the first holds `share` of the texts."""
        order = seeded(seed).permutation(len(self.texts))
        edge = round(share * len(order))
        return self.take(order[:edge]), self.take(order[edge:])


@lru_cache(maxsize=2)
def embedding(data: Path, name: str) -> Vectors:
    """ "glove" (100,000 words, 100 dimensions) or "word2vec" (26,423 words, 300 dimensions, stretched)."""
    folder, file = _FILES[name]
    vectors = load(data / folder / file)
    if STRETCH[name] == 1:
        return vectors
    return from_arrays(vectors.words, vectors.matrix * np.float32(STRETCH[name]), name=f"{name}, stretched")


def part_of(vectors: Vectors, words: list[str]) -> Vectors:
    """The metric space of some words alone; those without a vector are left out."""
    rows = sorted(row for word in set(words) if (row := vectors.index(word)) is not None)
    names = list(vectors.words)
    return from_arrays([names[r] for r in rows], vectors.matrix[rows], name=f"part of {vectors.name}")


def lexicon(data: Path) -> dict[str, bool]:
    """Opinion words: True for positive ones. Words on both lists are left out."""
    lists = [_word_list(data / LEXICON / f"{side}-words.txt") for side in ("positive", "negative")]
    both = lists[0] & lists[1]
    return {
        word: positive for positive, words in ((True, lists[0]), (False, lists[1])) for word in sorted(words - both)
    }


def _word_list(path: Path) -> set[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith(";")}


def tweets(data: Path) -> Labelled:
    return _labelled(data / TWEETS / "train.jsonl.gz", "target")


def reviews(data: Path, part: str) -> Labelled:
    """`train` (10,000) or `dev` (2,500, of the original test part)."""
    return _labelled(data / REVIEWS / f"{part}.jsonl.gz", "label")


def _labelled(path: Path, label: str) -> Labelled:
    import gzip
    import json

    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return Labelled([row["text"] for row in rows], np.array([int(row[label]) for row in rows]))


def first_words(text: str, most: int) -> str:
    """A text's beginning, cut after so many words.

    >>> first_words("One, two, three!", 2)
    'One, two'
    """
    pieces, places = tokens.split(text)
    return text if len(places) <= most else "".join(pieces[: places[most - 1] + 1]).lstrip()


def bundled() -> Vectors:
    """The default vectors with their codes."""
    return load("default")


__all__ = ["Labelled", "bundled", "embedding", "first_words", "lexicon", "part_of", "reviews", "tweets"]
