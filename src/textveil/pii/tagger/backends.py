"""What stands behind a tagger: the hashed chain, or a network. Each learns, finds, writes itself and reads itself back."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from textveil.core.errors import BadInput
from textveil.core.params import needs
from textveil.pii.bio import runs
from textveil.pii.tagger.calibration import calibration_error, fit_temperature
from textveil.pii.tagger.crf import HashedCrf
from textveil.pii.tagger.features import WIDTH, WordHashes, rows_of
from textveil.pii.tagger.marked import CutDocument, batch_of, chains_of, tag_names
from textveil.text.spans import Span

BACKENDS = {
    "crf": "textveil.pii.tagger.backends:CrfBackend",
    "bilstm": "textveil.pii.tagger.networks:BiLSTMBackend",
    "transformer": "textveil.pii.tagger.networks:TransformerBackend",
}
WEIGHTS = "weights.npz"


class Backend(Protocol):
    """One kind of model."""

    tags: tuple[str, ...]
    facts: dict[str, Any]

    def fit(
        self, texts: list[str], spans: list[list[Span]], seed: int, advance: Callable[[float], None] | None
    ) -> Any: ...

    def find(self, texts: Sequence[str]) -> list[list[Span]]: ...

    def write(self, folder: Path) -> None: ...


def backend_of(kind: str) -> Any:
    """The class of a kind; torch is imported only with those that need it."""
    if kind != "crf":
        needs("training", "torch", "transformers")
    module, _, name = BACKENDS[kind].partition(":")
    return getattr(importlib.import_module(module), name)


class CrfBackend:
    """The hashed chain."""

    def __init__(self, settings: Any = None):
        self._settings = settings
        self._known = WordHashes()
        self.tags: tuple[str, ...] = ()
        self.facts: dict[str, Any] = {}
        self.temperature = 1.0

    def fit(
        self, texts: list[str], spans: list[list[Span]], seed: int, advance: Callable[[float], None] | None = None
    ) -> CrfBackend:
        settings, self.tags = self._settings, tag_names(spans)
        kept, held = _held_out(len(texts), settings.holdout, seed)
        noise, outside = settings.noise, settings.outside
        chains = chains_of([texts[i] for i in kept], [spans[i] for i in kept], self.tags, settings.bits, noise, outside)
        self.crf = HashedCrf(self.tags, settings.bits)
        self.crf.fit(chains, epochs=settings.epochs or 8, rate=settings.rate or 0.2, seed=seed, advance=advance)
        if held:
            self._calibrate([texts[i] for i in held], [spans[i] for i in held])
        return self

    def _calibrate(self, texts: list[str], spans: list[list[Span]]) -> None:
        chains = chains_of(texts, spans, self.tags, self._settings.bits, "ignore", 1.0)
        if len(chains.tags):
            self.temperature = fit_temperature(
                lambda t: self.crf.chances(chains.rows, chains.bounds, t)[1], chains.tags
            )
        marked = [{(s.start, s.end, s.label) for s in own} for own in spans]
        found = [(s, (s.start, s.end, s.label) in marked[n]) for n, own in enumerate(self.find(texts)) for s in own]
        self.facts = {
            "held_out_documents": len(texts),
            "temperature": self.temperature,
            "calibration_error": calibration_error([s.score for s, _ in found], [right for _, right in found]),
        }

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of the best tags; the score is the smallest chance among its tokens."""
        cuts = [CutDocument.of(text) for text in texts]
        batch = batch_of(cuts)
        rows = rows_of(batch, self._known, self.crf.bits)
        chosen, chances = self.crf.chances(rows, np.array(batch.bounds, np.int64), self.temperature)
        sure = chances[np.arange(len(chosen)), chosen]
        found, last = [], 0
        for cut in cuts:
            own = slice(last, last + len(cut.words))
            found.append(spans_of(cut, chosen[own], sure[own], self.tags, "crf"))
            last += len(cut.words)
        return found

    def write(self, folder: Path) -> None:
        filled = np.flatnonzero(np.abs(self.crf.weights).max(axis=1) > 1e-4).astype(np.uint32)
        np.savez_compressed(
            folder / WEIGHTS,
            slots=filled,
            weights=self.crf.weights[filled].astype(np.float16),
            steps=self.crf.steps.astype(np.float64),
            bits=self.crf.bits,
            width=WIDTH,
            temperature=self.temperature,
        )

    @classmethod
    def read(cls, folder: Path, tags: Sequence[str]) -> CrfBackend:
        made = cls()
        made.tags = tuple(tags)
        with np.load(folder / WEIGHTS, allow_pickle=False) as kept:
            if int(kept["width"]) != WIDTH or kept["weights"].shape[1] != len(tags):
                raise BadInput("holds a model of another version of the features", where=folder)
            made.crf = HashedCrf(tags, int(kept["bits"]))
            made.crf.weights[kept["slots"]] = kept["weights"]
            made.crf.steps, made.temperature = kept["steps"], float(kept["temperature"])
        return made


def spans_of(cut: CutDocument, chosen: Any, sure: Any, tags: Sequence[str], rule: str) -> list[Span]:
    """Runs of tags as spans of the text, chain by chain."""
    found = []
    for a, b in zip(cut.bounds, cut.bounds[1:], strict=False):
        if not np.any(chosen[a:b]):
            continue
        for first, last, label in runs([tags[y] for y in chosen[a:b]], repair=True):
            score = float(np.min(sure[a + first : a + last + 1]))
            found.append(Span(int(cut.places[a + first, 0]), int(cut.places[a + last, 1]), label, score, rule))
    return found


def _held_out(count: int, share: float, seed: int) -> tuple[list[int], list[int]]:
    """Numbers of the documents to learn from and of those that are held out; few documents are all learnt from."""
    held = int(share * count)
    if held < 5:
        return list(range(count)), []
    order = np.random.default_rng(seed).permutation(count).tolist()
    return sorted(order[held:]), sorted(order[:held])


__all__ = ["BACKENDS", "Backend", "CrfBackend", "backend_of", "spans_of"]
