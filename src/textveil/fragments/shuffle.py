"""A uniform order of more rows than memory holds.

Each row goes to one of many files by a uniform draw, each file is put into a uniform order by itself, and the files
follow each other. Every order of all rows comes out with the same chance: given the files' sizes, which rows are in
each is uniform, and so is their order.

The files lie in the folder of unfinished work, for their owner alone, and are removed as they are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

FILES = 64


class Shuffle:
    """Rows of JSON values in; the same rows in a uniform order out."""

    def __init__(self, folder: Path, noise: Any, files: int = FILES):
        folder.mkdir(mode=0o700, exist_ok=True)
        self._noise, self.rows = noise, 0
        self._paths = [folder / f"rows{number:03d}.jsonl" for number in range(files)]
        self._open: list[IO[str]] = [open(path, "w", encoding="utf-8") for path in self._paths]  # noqa: SIM115

    def add(self, rows: Sequence[Any]) -> None:
        self.rows += len(rows)
        for row, place in zip(rows, self._noise.below(len(self._paths), len(rows)).tolist(), strict=True):
            self._open[place].write(json.dumps(row, ensure_ascii=False) + "\n")

    def close(self) -> None:
        for file in self._open:
            file.close()

    def groups(self) -> Iterator[list[Any]]:
        """The rows, a file at a time; each file is removed once it is read."""
        self.close()
        for path in self._paths:
            with open(path, encoding="utf-8") as lines:
                rows = [json.loads(line) for line in lines]
            path.unlink()
            if rows:
                yield [rows[i] for i in self._noise.permutation(len(rows))]


__all__ = ["Shuffle"]
