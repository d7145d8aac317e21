"""Labelled documents as compact arrays, block by block, so that 20 million words train in a few gigabytes.

A token costs about 52 bytes (12 slots of 4 bytes, a start and a label). Beyond `memory` bytes, blocks move to a temporary
file that has no name in any folder: nobody else can open it, and it is gone when the process ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, NamedTuple

import numpy as np

from textveil.hashed.features import Slots, has_numba, slots_of
from textveil.hashed.plain_words import WordNumbers, plain_slots
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import Tokens, tokenize

TOKENS_A_BLOCK = 1 << 18
MEMORY = 4 << 30


class Block(NamedTuple):
    """Sequences (paragraphs) in a row: sequence s holds tokens bounds[s] to bounds[s + 1]."""

    indices: np.ndarray  # uint32
    starts: np.ndarray  # int64, one more than tokens
    labels: np.ndarray  # uint8, one per token
    bounds: np.ndarray  # int64


class Corpus:
    """Grows document by document; `blocks()` is what a trainer reads."""

    def __init__(self, plan: FeaturePlan, *, memory: int = MEMORY):
        self.plan, self.tokens, self.count, self.relevant = plan, 0, 0, 0
        self.documents = np.zeros(plan.slots, np.uint16)
        self._stamp = np.zeros(plan.slots, np.int32)
        self._numbers, self._words = WordNumbers(), list[np.ndarray]()
        self._waiting, self._waiting_tokens = list[Block](), 0
        self._blocks: list[Block] = []
        self._memory, self._held, self._spill = memory, 0, _Spill()

    def add(self, text: str, spans: Iterable[tuple[int, int, int]] = ()) -> None:
        """One document; spans are (start, end, number of the label)."""
        tokens = tokenize(text)
        self.add_tokens(tokens, slots_of(tokens, self.plan), label_tokens(tokens, spans))

    def add_tokens(self, tokens: Tokens, slots: Slots, labels: np.ndarray) -> None:
        self.count += 1
        self._count(slots.indices)
        if not len(tokens.words):
            return
        self._words.append(self._numbers.add(tokens.words))
        self.tokens += len(tokens.words)
        self.relevant += int(np.count_nonzero(labels))
        self._waiting.append(Block(slots.indices, slots.starts, labels, tokens.paragraphs.astype(np.int64)))
        self._waiting_tokens += len(labels)
        if self._waiting_tokens >= TOKENS_A_BLOCK:
            self._flush()

    def blocks(self) -> Sequence[Block]:
        self._flush()
        return self._blocks

    def _count(self, indices: np.ndarray) -> None:
        if has_numba():
            from textveil.hashed.pa_kernel import count_documents

            count_documents(indices, self._stamp, self.count, self.documents)
            return
        once = np.unique(indices)
        self.documents[once] = np.minimum(self.documents[once].astype(np.int64) + 1, 65535)

    def plain(self) -> np.ndarray:
        """How many documents hold each slot in plain words (see plain_words): known when all documents are."""
        counts = np.zeros(self.plan.slots, np.uint16)
        blocked, counted = np.zeros((2, self.plan.slots), np.int32)
        for number, (plain, slots) in enumerate(self._documents(), start=1):
            if has_numba():
                from textveil.hashed.plain_kernel import count_plain

                count_plain(slots.indices, slots.starts, plain, blocked, counted, number, counts)
                continue
            once = plain_slots(plain, slots)
            counts[once] = np.minimum(counts[once].astype(np.int64) + 1, 65535)
        return counts

    def _documents(self) -> Iterator[tuple[np.ndarray, Slots]]:
        """Whether its tokens are plain, and the slots, of each document; no document is in two blocks."""
        plain, words = self._numbers.plain(), iter(self._words)
        for block in self.blocks():
            at = 0
            while at < len(block.labels):
                own = plain[next(words)]
                starts = np.asarray(block.starts[at : at + len(own) + 1])
                yield own, Slots(np.asarray(block.indices[starts[0] : starts[-1]]), starts - starts[0])
                at += len(own)

    def _flush(self) -> None:
        if not self._waiting:
            return
        block = _joined(self._waiting)
        self._waiting, self._waiting_tokens = [], 0
        size = sum(part.nbytes for part in block)
        if self._held + size > self._memory:
            block = Block(*(self._spill.keep(part) for part in block))
        else:
            self._held += size
        self._blocks.append(block)


class _Spill:
    """Arrays in a file without a name."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def keep(self, array: np.ndarray) -> np.ndarray:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="textveil-")  # noqa: SIM115 (it lives as long as this)
        place = self._file.seek(0, 2)
        place = self._file.seek(place + -place % 8)
        self._file.write(np.ascontiguousarray(array).tobytes())
        self._file.flush()
        return np.memmap(self._file, array.dtype, "r", offset=place, shape=array.shape)

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()  # what is mapped stays mapped as long as it is used


def label_tokens(tokens: Tokens, spans: Iterable[tuple[int, int, int]]) -> np.ndarray:
    """The label of each token: that of the last span that overlaps it, 0 outside all spans."""
    labels = np.zeros(len(tokens.words), np.uint8)
    for start, end, label in spans:
        labels[np.searchsorted(tokens.ends, start, "right") : np.searchsorted(tokens.starts, end, "left")] = label
    return labels


def _joined(parts: list[Block]) -> Block:
    """One block of many, places shifted."""
    if len(parts) == 1:
        return parts[0]
    tokens = np.cumsum([0, *(len(p.labels) for p in parts)])
    slots = np.cumsum([0, *(len(p.indices) for p in parts)])
    return Block(
        np.concatenate([p.indices for p in parts]),
        np.concatenate([[0], *(p.starts[1:] + at for p, at in zip(parts, slots, strict=False))]).astype(np.int64),
        np.concatenate([p.labels for p in parts]),
        np.concatenate([[0], *(p.bounds[1:] + at for p, at in zip(parts, tokens, strict=False))]).astype(np.int64),
    )
