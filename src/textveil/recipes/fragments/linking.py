"""Where the links of words come from: learnt from the text, learnt from public text, another program, or a file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from textveil.core import BadInput
from textveil.fragments.aligner import Aligner, Links
from textveil.fragments.corpus_file import CorpusFile
from textveil.fragments.cutter import Aligns, batches
from textveil.fragments.eflomal import check_installed, eflomal_links
from textveil.fragments.sentences import Side, WordNumbers, side_of
from textveil.recipes.progress import Bar
from textveil.text.pairs import PairFile, PharaohReader

ALIGNERS = ("built-in", "hmm", "eflomal")
MODELS = {"built-in": "diagonal", "hmm": "hmm"}  # of those that are part of Textveil


class LinkSource(Protocol):
    """Sees the text once (`learn`), says what does not fit (`check_read`), then links it batch by batch, in order."""

    def learn(self, sources: list[str], targets: list[str]) -> None: ...

    def check_read(self) -> None: ...

    def ready(self, bar: Bar) -> Aligns: ...

    def rewind(self) -> None: ...

    def remove(self) -> None: ...


def open_links(job: Any, folder: Path) -> LinkSource:
    """What a job asks for."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if job.alignment is not None:
        return GivenLinks(job.alignment, job.fragments.tokens, unique=job.fragments.unique)
    if job.aligner == "eflomal":
        return EflomalLinks(folder, job.symmetry, job.fragments.tokens)
    return LearntLinks(folder, job.symmetry, job.fragments.tokens, job.align_on, MODELS[job.aligner])


class LearntLinks:
    """Our own aligner with one of its models, on the text itself or on public text."""

    def __init__(self, folder: Path, symmetry: str, tokens: str, public: PairFile | None, model: str):
        self._folder, self._tokens, self._public = folder, tokens, public
        self._aligner = Aligner(symmetry, model=model)
        self._aligner.check()
        self._file = CorpusFile(folder, (WordNumbers(), WordNumbers()))
        if public is not None:
            for sources, targets in batches((pair.source, pair.target) for pair in public.open()):
                self._add(sources, targets)

    def learn(self, sources: list[str], targets: list[str]) -> None:
        if self._public is None:
            self._add(sources, targets)

    def _add(self, sources: list[str], targets: list[str]) -> None:
        self._file.add(side_of(sources, self._tokens), side_of(targets, self._tokens))

    def check_read(self) -> None:
        return

    def ready(self, bar: Bar) -> Aligns:
        with bar("aligning", self._aligner.rounds, "rounds") as advance:
            self._aligner.fit(self._file.corpus(), self._file.words, step=lambda done: advance(1))
        self._aligner.close()
        self.remove()
        return self._aligner.links

    def rewind(self) -> None:
        return

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


class GivenLinks:
    """Links of a Pharaoh file: checked in the first pass, read again beside the text in each later one."""

    def __init__(self, path: Path, tokens: str, *, unique: bool):
        if unique:
            raise BadInput("a file of links has a line for each sentence pair", where=path, possible="no --unique")
        self._path, self._tokens, self._pairs = path, tokens, 0
        self.rewind()

    def learn(self, sources: list[str], targets: list[str]) -> None:
        self._next(side_of(sources, self._tokens), side_of(targets, self._tokens))
        self._pairs += len(sources)

    def check_read(self) -> None:
        if next(self._lines, None) is not None:
            raise self._reader.too_long()

    def ready(self, bar: Bar) -> Aligns:
        return self._next

    def rewind(self) -> None:
        self._reader = PharaohReader(self._path)
        self._lines: Iterator[list[tuple[int, int]]] = iter(self._reader)

    def remove(self) -> None:
        return

    def _next(self, source: Side, target: Side) -> Links:
        count = len(source.starts) - 1
        sizes = zip(np.diff(source.starts).tolist(), np.diff(target.starts).tolist(), strict=True)
        every = list[tuple[int, int]]()
        starts, lines = [0], 0
        for links, (m, n) in zip(islice(self._lines, count), sizes, strict=False):
            self._reader.check_fits(links, m, n)
            every += sorted(set(links))
            starts.append(len(every))
            lines += 1
        if lines < count:
            raise self._reader.too_short(self._pairs + lines + 1)
        flat = np.array(every, np.int32).reshape(-1, 2)
        return Links(np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1]), np.array(starts, np.int64))


class EflomalLinks:
    """eflomal, on the whole text at once: it keeps the words of all sentences in memory."""

    def __init__(self, folder: Path, symmetry: str, tokens: str):
        check_installed()
        self._folder, self._symmetry, self._tokens = folder, symmetry, tokens
        self._words: tuple[list[list[str]], list[list[str]]] = ([], [])
        self._at = 0

    def learn(self, sources: list[str], targets: list[str]) -> None:
        for kept, texts in zip(self._words, (sources, targets), strict=True):
            side = side_of(texts, self._tokens)
            starts = side.starts.tolist()
            kept += [side.words[a:b] for a, b in pairwise(starts)]

    def check_read(self) -> None:
        return

    def ready(self, bar: Bar) -> Aligns:
        with bar("aligning with eflomal", None, ""):
            self._links = eflomal_links(*self._words, self._folder / "eflomal", self._symmetry)
        return self._next

    def _next(self, source: Side, target: Side) -> Links:
        first, last = self._at, self._at + len(source.starts) - 1
        self._at = last
        a, b = self._links.starts[first], self._links.starts[last]
        starts = self._links.starts[first : last + 1] - a
        return Links(self._links.source[a:b], self._links.target[a:b], starts)

    def rewind(self) -> None:
        self._at = 0

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


__all__ = ["ALIGNERS", "LinkSource", "open_links"]
