"""A run that may be stopped and taken up again: a hidden folder with a plan and the parts that are done.

    plan.json      what makes two runs the same run, and the ledger line that was charged for it
    part-000042.*  veiled records; a part has its name only when it is complete and on disk

Each record is veiled once: a finished part is kept, and the same command is not charged again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from textveil.core import BadInput
from textveil.core.release import settle
from textveil.text import readers, writers
from textveil.text.documents import Record
from textveil.text.formats.parallel import pair_from_name

CHARACTERS_A_PART = (
    1 << 19
)  # about 90,000 words, a second of work: small files are shared out too, large ones make few files
_CHARACTERS_A_RECORD = 32  # what a record costs beside its text

NOT_BEGUN = object()


class Unfinished:
    """The hidden folder of `out`, for records of `like`'s format."""

    def __init__(self, out: Path, like: readers.Reader):
        self.folder = out.with_name(f".{out.name}.unfinished")
        self._like = like
        self._data = readers.data_file_name(like)

    def begin(self, plan: dict[str, Any], entry: str | None) -> None:
        self.folder.mkdir(mode=0o700, parents=True)
        hidden = self.folder / ".plan.tmp"
        hidden.write_text(json.dumps({"plan": plan, "entry": entry}), encoding="utf-8")
        os.replace(hidden, self.folder / "plan.json")

    def resume(self, plan: dict[str, Any]) -> Any:
        """The ledger entry of the unfinished run with this very plan, or NOT_BEGUN."""
        if not self.folder.exists():
            return NOT_BEGUN
        try:
            begun = json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.remove()  # it ended before its plan was written: nothing was drawn yet
            return NOT_BEGUN
        if begun["plan"] != plan:
            raise BadInput(
                "holds the unfinished run of another command",
                where=self.folder,
                possible="repeat that command to finish it, or remove the folder",
            )
        return begun["entry"]

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def finished(self) -> frozenset[int]:
        """The numbers of the parts that are complete."""
        numbers = {int(file.name[5:11]) for file in self.folder.glob("part-[0-9][0-9][0-9][0-9][0-9][0-9]*")}
        return frozenset(n for n in numbers if all(file.exists() for file in _files(self._part(n))))

    def write(self, number: int, records: Iterable[Record]) -> None:
        """Write a part; it appears whole or not at all."""
        with writers.open_writer(self._part(number), like=self._like, part=True) as writer:
            for record in records:
                writer.write(record)

    def put_together(self, count: int) -> Path:
        """Turn `count` parts into the data file, leaving nothing else but the plan."""
        parts = [self._part(number) for number in range(count)]
        target = self.folder / self._data
        writers.concat_parts(parts, target, like=self._like)
        for part in parts:
            for file in _files(part):
                file.unlink()
        return target

    def settle(self, out: Path) -> None:
        """The folder becomes the release."""
        (self.folder / "plan.json").unlink()
        settle(self.folder, out)

    def _part(self, number: int) -> Path:
        """`part-000042.jsonl`; of two files that run in parallel, `part-000042.en+de` for both."""
        return self.folder / f"part-{number:06d}{self._data.removeprefix('data')}"


def _files(part: Path) -> tuple[Path, ...]:
    return pair_from_name(part) or (part,)


def cut_into_parts(records: Iterable[Record]) -> Iterator[tuple[int, list[Record]]]:
    """Numbered runs of records. The cuts depend on the records alone, so that every run of a file makes the same ones."""
    number, part, size = 0, list[Record](), 0
    for record in records:
        part.append(record)
        size += len(record.text) + _CHARACTERS_A_RECORD
        if size >= CHARACTERS_A_PART:
            yield number, part
            number, part, size = number + 1, [], 0
    if part:
        yield number, part
