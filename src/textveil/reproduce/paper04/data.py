"""Paper 04: GLUE tasks and public sentences as encodings of a frozen encoder, computed once and kept outside the project.

A sentence is the mean of MiniLM's last layer, scaled to length sqrt(width); a pair is the product of its two vectors,
coordinate by coordinate (their sum is the cosine). Kept in the user's cache folder, addressed by the texts themselves.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from textveil.noise.source import seeded

GLUE, IMDB, NEWS, TWEETS = "glue", "imdb", "newsgroups20", "disaster_tweets"
TASKS = ("CoLA", "SST-2", "MRPC", "RTE", "STS-B")
PAIRS, REGRESSION = ("MRPC", "RTE", "STS-B"), ("STS-B",)
WIDTH, PIECES = 384, 64
DEV = 1_000  # rows of a dev file, at most


@dataclass(frozen=True)
class Encoded:
    """Encodings, targets as rows (one-hot, or one number in [0, 1]), and the first sentences."""

    x: np.ndarray
    y: np.ndarray
    texts: tuple[str, ...]

    def take(self, rows: np.ndarray) -> Encoded:
        return Encoded(self.x[rows], self.y[rows], tuple(self.texts[i] for i in rows))


@lru_cache(maxsize=16)
def task(data: Path, name: str, part: str, most: int) -> Encoded:
    """A random part of one file of a task (the same for every seed), or all of it."""
    rows = task_rows(data, name, part, most)
    first = [row["first"] for row in rows]
    x = encode(first)
    if name in PAIRS:
        x = x * encode([row["sentence2"] for row in rows])
    return Encoded(x, targets(name, rows), tuple(first))


def task_rows(data: Path, name: str, part: str, most: int) -> list[dict[str, Any]]:
    """Rows of one file at random; "first" is the sentence, or the first of two."""
    with gzip.open(data / GLUE / name / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    chosen = [rows[i] for i in seeded(0).permutation(len(rows))[:most]]
    return [{**row, "first": row.get("sentence") or row["sentence1"]} for row in chosen]


def targets(name: str, rows: Sequence[dict[str, Any]]) -> np.ndarray:
    if name in REGRESSION:
        return np.array([[float(row["score"]) / 5] for row in rows], np.float32)
    return np.eye(2, dtype=np.float32)[[int(row["label"]) for row in rows]]


@lru_cache(maxsize=4)
def public_encodings(data: Path, corpus: str, most: int, *, pairs: bool = False) -> np.ndarray:
    """Encodings of sentences of a public corpus, without labels; pairs are of sentences that follow each other."""
    x = encode(public_sentences(data, corpus, most + pairs))
    return x[1:] * x[:-1] if pairs else x


def public_sentences(data: Path, corpus: str, most: int) -> list[str]:
    """Sentences of 4 to 25 words, the first `most` of the training file, one a text."""
    name = "train.jsonl.gz"
    chosen: list[str] = []
    with gzip.open(data / corpus / name, "rt", encoding="utf-8") as file:
        for line in file:
            text = json.loads(line)["text"]
            parts = (" ".join(part.split()) for part in re.split(r"(?<=[.!?])\s+", text.replace("<br />", " ")))
            chosen += [part for part in parts if 4 <= len(part.split()) <= 25][:2]
            if len(chosen) >= most:
                return chosen[:most]
    return chosen


def encode(texts: Sequence[str]) -> np.ndarray:
    """Encodings of texts, from the cache where it has them."""
    name = hashlib.blake2b(json.dumps([PIECES, list(texts)]).encode(), digest_size=16).hexdigest()
    path = cache_folder() / f"{name}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w", encoding="utf-8") as lock:  # one process encodes, the others wait for it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.is_file():
            handle, aside = tempfile.mkstemp(dir=path.parent, suffix=".npy")
            os.close(handle)
            np.save(aside, _encoded(list(texts)).astype(np.float16))
            os.replace(aside, path)
    return np.load(path).astype(np.float32)


def cache_folder() -> Path:
    """Where encodings are kept: of public evaluation data only."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "textveil" / "paper04"


def _encoded(texts: list[str]) -> np.ndarray:
    return np.asarray(encoder().encodings(texts, mean=True) * WIDTH**0.5)


@lru_cache(maxsize=1)
def encoder() -> Any:
    """MiniLM as it comes."""
    from textveil.federated.texthide_net import HiddenNet

    return HiddenNet("minilm", ["0", "1"], max_pieces=PIECES).eval()
