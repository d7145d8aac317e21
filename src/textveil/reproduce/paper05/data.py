"""Paper 05's data: sentences of bloggers by user, public text to start from, and the list of words, which is public too.

Of every sixty users one is kept for testing and one to choose settings on (33 each of 1,969); neither is ever trained on. The
others hold the canaries. In the IID version all sentences are shuffled, canaries among them, and dealt to users of the same
sizes.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from textveil.attacks.federated.sharers import SharedCanaries, Texts, make_shared, plant
from textveil.nets.portable.language_model import words_of
from textveil.noise.source import seeded

BLOGS, REVIEWS, NEWS = "user-blogs", "imdb", "newsgroups20"
KEPT_EVERY = 60
Kept = Sequence[Sequence[str]]  # sentences, user by user
CANARY_USERS = 100  # for the lower limit from one run; about half of them take part


@lru_cache(maxsize=2)
def users(data: Path, most: int) -> tuple[Texts, Kept, Kept]:
    """The first `most` sentences of each user to train on; all of each user kept for testing, and for choosing."""
    train: Texts = {}
    kept: dict[int, list[list[str]]] = {0: [], KEPT_EVERY // 2: []}
    with gzip.open(data / BLOGS / "users.jsonl.gz", "rt", encoding="utf-8") as file:
        for number, row in enumerate(map(json.loads, file)):
            if number % KEPT_EVERY in kept:
                kept[number % KEPT_EVERY].append(row["sentences"])
            else:
                train[str(row["user"])] = row["sentences"][:most]
    test, development = kept.values()
    return train, test, development


def public_sentences(data: Path) -> Iterator[str]:
    """Film reviews and Usenet posts by turns, cut into sentences of 4 to 40 words."""
    readers = [_sentences(data / name / "train.jsonl.gz") for name in (REVIEWS, NEWS)]
    for pair in zip(*readers, strict=False):
        yield from pair


def _sentences(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            text = re.sub(r"<[^>]*>", " ", json.loads(line)["text"])
            for sentence in re.split(r"(?<=[.!?])\s+", text):
                if 4 <= len(sentence.split()) <= 40:
                    yield " ".join(sentence.split())


@lru_cache(maxsize=2)
def public_words(data: Path, count: int) -> tuple[str, ...]:
    """The most frequent words of the public text, ties by spelling: the model's words."""
    counts = Counter(word for text in first(data, 100_000) for word in words_of(text))
    return tuple(sorted(counts, key=lambda word: (-counts[word], word))[:count])


@lru_cache(maxsize=2)
def first(data: Path, count: int) -> tuple[str, ...]:
    """So many public sentences."""
    found = []
    for sentence in public_sentences(data):
        found.append(sentence)
        if len(found) == count:
            break
    return tuple(found)


def secrets_of(words: Sequence[str]) -> list[str]:
    """Words that canaries are drawn from: two letters or more, whole in the model's list."""
    return [word for word in words if word.isalpha() and word.isascii() and len(word) > 1]


def planted(data: Path, words: Sequence[str], most: int, seed: int, *, iid: bool) -> tuple[Texts, SharedCanaries]:
    """Users' sentences with 90 canaries and the canary users, and what was planted."""
    rng = seeded(50_000 + seed)
    made = make_shared(secrets_of(words), rng, users=CANARY_USERS)
    texts, canaries = plant(users(data, most)[0], made, rng)
    return (dealt(texts, seed) if iid else texts), canaries


def dealt(texts: Texts, seed: int) -> Texts:
    """All sentences shuffled and dealt to users of the same sizes."""
    everything = [text for own in texts.values() for text in own]
    order, at, found = seeded(60_000 + seed).permutation(len(everything)).tolist(), 0, {}
    for user, own in texts.items():
        found[user] = [everything[i] for i in order[at : at + len(own)]]
        at += len(own)
    return found
