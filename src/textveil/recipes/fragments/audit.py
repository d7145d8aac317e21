"""Attack a release of fragments: what of the sentences can be put together again.

The original is read as it was when the fragments were made (fields, languages and how words are divided stand in the
release); of two files the second is looked for beside the first, under the name that it had.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.fragments.seen import FragmentsSeen, Numbers, OriginalPairs, Sentences
from textveil.core import BadInput
from textveil.fragments.sentences import side_of
from textveil.noise import Source
from textveil.recipes.audit import AuditJob, AuditRoom, Filling
from textveil.text.formats.objects import Lines, objects
from textveil.text.pairs import PairFile

MOST = 2_000_000  # fragments that are attacked: the first ones, in the order of the release, which is random
_BATCH = 5_000
_READING = ("source_field", "target_field", "source_language", "target_language", "format", "encoding", "delimiter")


@dataclass(frozen=True, kw_only=True)
class FragmentsAuditJob(AuditJob):
    """An audit that says how the original is read."""

    pairs: PairFile | None = None
    public_pairs: PairFile | None = None


class FragmentsFolder:
    """The fragments of a release."""

    def __init__(self, job: AuditJob, manifest: dict[str, Any]):
        if manifest["mechanism"] != "fragments.phrases":
            raise BadInput(f"holds no fragments (mechanism {manifest['mechanism']})", where=job.folder)
        self._job, self._manifest = job, manifest
        self._tokens = manifest["parameters"].get("tokens", "blanks")
        self._numbers = Numbers(), Numbers()
        counts = _read(job.folder / manifest["data"], bool(manifest["parameters"].get("tags")))
        self._counts = np.array([*counts.values()], np.int64)
        self._sides = [self._words(n, [pair[n] for pair in counts]) for n in (0, 1)]
        for numbers in self._numbers:
            numbers.closed = True

    def _words(self, side: int, texts: list[str]) -> Sentences:
        cut = side_of(texts, self._tokens)
        starts = cut.starts.tolist()
        return self._numbers[side].of([cut.words[a:b] for a, b in pairwise(starts)])

    def with_truth(self, rng: Source) -> FragmentsSeen:
        """The fragments, and the original to score with."""
        assert self._job.truth is not None
        source, target = self._pairs(getattr(self._job, "pairs", None) or self._like(self._job.truth))
        truth = OriginalPairs(np.asarray(source.words), source.starts, target)
        return FragmentsSeen(self._sides[0], self._sides[1], self._counts, truth=truth)

    def with_public(self, rng: Source) -> FragmentsSeen:
        """The same, and public text."""
        assert self._job.public is not None
        public = getattr(self._job, "public_pairs", None) or self._like(self._job.public)
        seen = self.with_truth(rng)
        return FragmentsSeen(seen.source, seen.target, seen.counts, self._pairs(public), seen.truth)

    def _pairs(self, file: PairFile) -> tuple[Sentences, Sentences]:
        """The sentences of a file, each pair once."""
        unique = dict.fromkeys((pair.source, pair.target) for pair in file.open())
        return self._words(0, [s for s, _ in unique]), self._words(1, [t for _, t in unique])

    def _like(self, path: Path) -> PairFile:
        """A file read as the original was."""
        reading = (self._manifest.get("facts", {}).get("data") or {}).get("reading", {})
        target = path.with_name(reading["target_file"]) if "target_file" in reading else None
        if target is not None and not target.exists():
            raise BadInput(f"its translation {target.name} is not beside it", where=path)
        options = {name: reading[name] for name in _READING if name in reading}
        return PairFile(path, target, **options)


def _read(path: Path, tags: bool) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for number, row in enumerate(objects(Lines(path))):
        if number == MOST:
            break
        pair = row["source"], row["target"]
        if tags:
            pair = _untagged(pair[0]), _untagged(pair[1])
        counts[pair] += int(row.get("count", 1))
    if not counts:
        raise BadInput("holds no fragments", where=path)
    return counts


def _untagged(text: str) -> str:
    """
    >>> _untagged("<P> ein Haus </P>")
    'ein Haus'
    """
    return text.removeprefix("<P> ").removesuffix(" </P>")


def reading_of(file: PairFile) -> dict[str, str]:
    """How a file was read, to read it again: names of fields and files, no text."""
    named = {name: getattr(file, name) for name in _READING if getattr(file, name) is not None}
    return {**named, **({} if file.target is None else {"target_file": file.target.name})}


ROOM = AuditRoom(
    FragmentsFolder,
    (
        Filling(FragmentsSeen, FragmentsFolder.with_public, gives=("public",), asks=("truth", "public")),
        Filling(FragmentsSeen, FragmentsFolder.with_truth, asks=("truth",)),
    ),
)
