"""Numbers of words in files, so that a corpus of any size is aligned in the same memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .aligner import Corpus
from .sentences import Side, WordNumbers


class CorpusFile:
    """Sentence pairs as numbers, written batch by batch. The files hold no words; they never leave."""

    def __init__(self, folder: Path, words: tuple[WordNumbers, WordNumbers]):
        folder.mkdir(mode=0o700, exist_ok=True)
        self.words = words
        self._paths = [folder / name for name in ("source.ids", "target.ids")]
        self._sizes: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        for path in self._paths:
            path.write_bytes(b"")

    def add(self, source: Side, target: Side) -> None:
        """One batch."""
        for number, side in enumerate((source, target)):
            with open(self._paths[number], "ab") as file:
                self.words[number].of(side.words).tofile(file)
            self._sizes[number].append(np.diff(side.starts).astype(np.int32))

    def corpus(self) -> Corpus:
        """All of them, as arrays that stay on disk."""
        arrays = []
        for path, sizes in zip(self._paths, self._sizes, strict=True):
            empty = path.stat().st_size == 0
            words = np.zeros(0, np.int32) if empty else np.memmap(path, np.int32, "r")
            arrays += [words, np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *sizes]))])]
        return Corpus(arrays[0], arrays[1].astype(np.int64), arrays[2], arrays[3].astype(np.int64))

    def remove(self) -> None:
        for path in self._paths:
            path.unlink(missing_ok=True)


__all__ = ["CorpusFile"]
