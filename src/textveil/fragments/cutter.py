"""Cut a batch of sentence pairs into phrase pairs, by a policy: the step that the streaming journey and Python share.

What is decided for a type (a phrase pair with all its occurrences) is decided by a keyed hash of its text, so that it
is the same wherever it stands and nothing has to be remembered: which types are dropped, and where a sentence is cut.
Sentences that say the same are so cut at the same places; cut at other ones, their pieces would overlap and show how
to go on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .aligner import Links
from .phrases import extract, segmentation, texts_of
from .policy import FragmentPolicy
from .sentences import LONGEST, Side, side_of

KEY_BYTES = 32
Marks = Callable[[Side], np.ndarray]  # which words of a side are (part of) names
Aligns = Callable[[Side, Side], Links]


class Cut(NamedTuple):
    """Phrase pairs of a batch: the number of the sentence pair of each, and its two sides."""

    pairs: np.ndarray
    source: list[str]
    target: list[str]

    def take(self, keep: np.ndarray) -> Cut:
        places = np.flatnonzero(keep).tolist()
        return Cut(self.pairs[keep], [self.source[i] for i in places], [self.target[i] for i in places])


@dataclass
class Cutter:
    """Aligns and cuts. `key` is secret and drawn anew for each release."""

    policy: FragmentPolicy
    align: Aligns
    key: bytes
    tokens: str = "blanks"
    names: Marks | None = None
    glossary: frozenset[str] = frozenset()
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("phrases", "with names", "overlong"), 0))

    def cut(self, sources: Sequence[str], targets: Sequence[str]) -> Cut:
        """All phrase pairs that the policy allows, before any are dropped."""
        source, target = side_of(sources, self.tokens), side_of(targets, self.tokens)
        policy = self.policy
        spans = extract(
            source.starts,
            target.starts,
            self.align(source, target),
            policy.longest,
            policy.longest_target,
            policy.shortest,
        )
        long = (np.diff(source.starts) > LONGEST) | (np.diff(target.starts) > LONGEST)
        self.counts["overlong"] += int(long.sum())
        cut = Cut(spans[:, 0], *texts_of(spans, source, target))
        allowed = self._allowed(cut, spans, source, target)
        spans, cut = spans[allowed], cut.take(allowed)
        if policy.cut == "apart":
            priorities = (spans[:, 2] - spans[:, 1]) + self.shares(cut, b"place")
            cut = cut.take(segmentation(spans, priorities))
        self.counts["phrases"] += len(cut.source)
        return cut

    def _allowed(self, cut: Cut, spans: np.ndarray, source: Side, target: Side) -> np.ndarray:
        """Phrases without a name, and those of the glossary."""
        if self.names is None:
            return np.ones(len(spans), bool)
        named = np.zeros(len(spans), bool)
        for side, first in ((source, 1), (target, 3)):
            before = np.concatenate([[0], np.cumsum(self.names(side))])
            offset = side.starts[spans[:, 0]]
            named |= before[offset + spans[:, first + 1]] > before[offset + spans[:, first]]
        named &= ~self.in_glossary(cut)
        self.counts["with names"] += int(named.sum())
        return ~named

    def in_glossary(self, cut: Cut) -> np.ndarray:
        """Which phrases are a term of the glossary, on either side."""
        terms = self.glossary
        if not terms:
            return np.zeros(len(cut.source), bool)
        both = zip(cut.source, cut.target, strict=True)
        return np.fromiter((s in terms or t in terms for s, t in both), bool, len(cut.source))

    def digests(self, cut: Cut, purpose: bytes = b"type") -> np.ndarray:
        """A keyed 64-bit number of each type."""
        start = hashlib.blake2b(key=self.key, digest_size=8, person=purpose.ljust(16, b"\0"))
        raw = bytearray()
        for source, target in zip(cut.source, cut.target, strict=True):
            own = start.copy()
            own.update(f"{source}\0{target}".encode())
            raw += own.digest()
        return np.frombuffer(bytes(raw), np.uint64)

    def shares(self, cut: Cut, purpose: bytes) -> np.ndarray:
        """A number from 0 to 1 for each type, always the same one."""
        return self.digests(cut, purpose).astype(np.float64) / 2.0**64

    def kept(self, cut: Cut, noise: object) -> Cut:
        """What is left when a share of occurrences, or of types, is dropped; the glossary stays."""
        policy = self.policy
        if policy.drop == 0:
            return cut
        by_type = policy.drop_by == "type"
        coins = self.shares(cut, b"drop") if by_type else noise.uniforms(len(cut.source))  # type: ignore[attr-defined]
        return cut.take((coins >= policy.drop) | self.in_glossary(cut))


def batches(pairs: Iterator[tuple[str, str]], size: int = 2000) -> Iterator[tuple[list[str], list[str]]]:
    """Sentence pairs, so many at a time."""
    sources, targets = list[str](), list[str]()
    for source, target in pairs:
        sources.append(source)
        targets.append(target)
        if len(sources) == size:
            yield sources, targets
            sources, targets = [], []
    if sources:
        yield sources, targets


__all__ = ["KEY_BYTES", "Aligns", "Cut", "Cutter", "batches"]
