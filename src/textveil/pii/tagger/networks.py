"""Taggers that are networks, through `nets`: plain training, torch imported with this file.

A label below `LEAST_SURE` confidence takes its whole chain out of training under `noise="channel"`: a network has no cheap
sum over the true labels, and leaving doubtful lines out is what the confidences are good for here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textveil.nets.folders import load_net
from textveil.nets.plain_fit import fit_plainly
from textveil.pii.tagger.backends import spans_of
from textveil.pii.tagger.marked import CutDocument, tag_names
from textveil.text.spans import Span

LEAST_SURE = 0.5
NET = "net"


class NetworkBackend:
    """What the two networks share."""

    epochs, rate, batch, rule = 10, 1e-3, 32, "network"

    def __init__(self, settings: Any = None):
        self._settings = settings
        self.tags: tuple[str, ...] = ()
        self.facts: dict[str, Any] = {}
        self.net: Any = None

    def make(self, tags: Sequence[str]) -> Any:
        """A new network."""
        raise NotImplementedError

    def fit(
        self, texts: list[str], spans: list[list[Span]], seed: int, advance: Callable[[float], None] | None = None
    ) -> NetworkBackend:
        settings, self.tags = self._settings, tag_names(spans)
        examples = [
            e for text, own in zip(texts, spans, strict=True) for e in self._examples(text, own, settings.noise)
        ]
        self.net = self.make(self.tags)
        fit_plainly(
            self.net, examples, epochs=settings.epochs or self.epochs, batch=self.batch, rate=settings.rate or self.rate,
            seed=seed % 2**31, progress=lambda done, steps: None if advance is None else advance(1),
        )  # fmt: skip
        return self

    def _examples(self, text: str, spans: list[Span], noise: str) -> list[tuple[list[str], list[str]]]:
        cut = CutDocument.of(text)
        tags, trust = cut.tags(spans)
        examples = []
        for a, b in zip(cut.bounds, cut.bounds[1:], strict=False):
            if b > a and (noise == "ignore" or min(trust[a:b]) >= LEAST_SURE):
                examples.append((cut.words[a:b], _begun(tags[a:b])))
        return examples

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of the likeliest tags; the score is the smallest chance among its tokens."""
        number, found = {tag: n for n, tag in enumerate(self.tags)}, []
        for text in texts:
            cut = CutDocument.of(text)
            lines = [cut.words[a:b] for a, b in zip(cut.bounds, cut.bounds[1:], strict=False)]
            answers = [pair for row in self.net.tag_chances(lines) for pair in row] if cut.words else []
            chosen = np.array([number[tag] for tag, _ in answers], np.int64)
            found.append(spans_of(cut, chosen, np.array([chance for _, chance in answers]), self.tags, self.rule))
        return found

    def write(self, folder: Path) -> None:
        self.net.save(folder / NET)

    @classmethod
    def read(cls, folder: Path, tags: Sequence[str]) -> NetworkBackend:
        made = cls()
        made.tags, made.net = tuple(tags), load_net(folder / NET)
        return made


class BiLSTMBackend(NetworkBackend):
    """A bidirectional LSTM with a CRF over the public word vectors."""

    rule = "bilstm"

    def make(self, tags: Sequence[str]) -> Any:
        from textveil.nets.tagger import BiLSTMTagger
        from textveil.text import vectors

        return BiLSTMTagger.of(tags, vectors.load("default"))


class TransformerBackend(NetworkBackend):
    """An encoder with a head for tags."""

    epochs, rate, rule = 3, 1e-4, "transformer"

    def make(self, tags: Sequence[str]) -> Any:
        from textveil.nets.encoder import Encoder, encoder_folder

        return Encoder(encoder_folder(self._settings.encoder), "tagger", list(tags))


def _begun(tags: list[str]) -> list[str]:
    """A chain that begins inside a span: its first tag begins one."""
    return [f"B-{tags[0][2:]}", *tags[1:]] if tags and tags[0].startswith("I-") else tags


__all__ = ["BiLSTMBackend", "NetworkBackend", "TransformerBackend"]
