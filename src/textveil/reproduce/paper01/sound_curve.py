"""Paper 01, beside it: the sound variant by epsilon, unit, method and number of contracts (docs/hashed-sound.md).

Sentences are hashed once a process, trained on any part of them and scored on others. Constants of the variant were chosen
on folds inside the training four fifths; with the shipped ones the other fifth was scored once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from textveil.hashed.corpus import label_tokens
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import tokenize
from textveil.hashed.sound import SoundTrainer
from textveil.hashed.sound_decode import taken_from
from textveil.hashed.sound_examples import Examples, _paragraph_of
from textveil.hashed.sound_features import RowPlan, rows_of
from textveil.hashed.sound_plan import SoundPlan
from textveil.noise import seeded
from textveil.reproduce.paper01.data import FIVE, contracts, split
from textveil.reproduce.paper01.models import score, span_score

CONTRACTS, FOLDS = 450, 4


@dataclass(frozen=True, eq=False)
class Sentences:
    """All sentences of all contracts: rows, paragraph, contract, length, and the true labels of their tokens."""

    rows: Any
    paragraphs: np.ndarray
    contracts: np.ndarray
    sizes: np.ndarray
    truth: dict[str, np.ndarray]  # clause -> 0 or 1 for every token of all contracts

    def of(self, places: np.ndarray) -> np.ndarray:
        """Which sentences belong to these contracts."""
        return np.isin(self.contracts, places)

    def inside(self, clause: str) -> np.ndarray:
        """How many tokens of each sentence are marked."""
        return np.add.reduceat(self.truth[clause].astype(np.int64), np.cumsum(self.sizes) - self.sizes)

    def examples(self, clause: str, places: np.ndarray, unit: str) -> Examples:
        chosen = self.of(places)
        owner = self.paragraphs if unit == "paragraph" else self.contracts
        units = np.unique(owner[chosen], return_inverse=True)[1]
        labels = 2 * self.inside(clause)[chosen] > self.sizes[chosen]
        return Examples(self.rows[chosen], labels, units.astype(np.int64))


@lru_cache(maxsize=1)
def sentences(data: Path, bits: int) -> Sentences:
    """All contracts, hashed into 2^bits slots."""
    from scipy import sparse

    everything, plan = contracts(data), FeaturePlan(bits=bits)
    hashed, paragraphs, owners, sizes, last = [], [], [], [], 0
    truth: dict[str, list[np.ndarray]] = {clause: [] for clause in FIVE}
    for place, text in enumerate(everything.texts):
        tokens = tokenize(text)
        hashed.append(rows_of(tokens, plan, RowPlan()).matrix(plan.slots))
        own = _paragraph_of(tokens)
        paragraphs.append(own + last)
        last += int(own[-1]) + 1
        owners.append(np.full(len(own), place))
        sizes.append(np.diff(tokens.sentences))
        for clause in FIVE:
            marked = [(a, b, 1) for a, b in everything.spans[clause][place]]
            truth[clause].append(label_tokens(tokens, marked))
    return Sentences(
        sparse.vstack(hashed, format="csr"),
        np.concatenate(paragraphs),
        np.concatenate(owners),
        np.concatenate(sizes),
        {clause: np.concatenate(labels) for clause, labels in truth.items()},
    )


def sound_curve(
    data: Path,
    *,
    clause: str,
    unit: str,
    method: str,
    epsilon: float | None,
    delta: float,
    documents: int,
    fold: int | None,
    bits: int,
    draws: int,
    seed: int,
) -> dict[str, Any]:
    """Scores of each draw of the noise (epsilon None: the same training without noise, once).

    `fold` None asks the fifth that is held out; else that quarter of the training contracts, of a model of the others.
    """
    held = sentences(data, bits)
    training, asked = parts_of(fold, documents)
    sound = SoundPlan.of(method, unit)
    if epsilon is None:
        sound = replace(sound, shrink=0.0)
    trainer = SoundTrainer(epsilon or 1.0, delta, plan=FeaturePlan(bits=bits), sound=sound)
    examples, rows = held.examples(clause, training, unit), []
    for draw in range(1 if epsilon is None else draws):
        noise = None if epsilon is None else seeded(100_000 * seed + 1000 * (fold or 0) + draw)
        rows.append(scored(held, clause, asked, trainer.weights(examples, noise=noise), sound))
    return {name: [row[name] for row in rows] for name in rows[0]}


def parts_of(fold: int | None, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Contracts that train and contracts that are asked."""
    training, asked = split(CONTRACTS)
    if fold is not None:
        number = np.random.default_rng(5).permutation(len(training)) % FOLDS
        return training[number != fold], training[number == fold]
    # A smaller corpus is every second or fourth contract, so that all sizes are alike but for their size.
    return training[:: len(training) // size], asked


def scored(held: Sentences, clause: str, asked: np.ndarray, weights: np.ndarray, sound: SoundPlan) -> dict[str, float]:
    """Scores of tokens (all contracts together) and of spans, on the asked contracts."""
    chosen = held.of(asked)
    odds, owner, sizes = held.rows[chosen] @ weights - sound.offset, held.contracts[chosen], held.sizes[chosen]
    token_owner = np.repeat(held.contracts, held.sizes)
    pairs = []
    for place in asked.tolist():
        own = owner == place
        labels = np.repeat(taken_from(odds[own], sound) > 0, sizes[own]).astype(np.uint8)
        first, last = np.searchsorted(token_owner, [place, place + 1])
        pairs.append((labels, held.truth[clause][first:last]))
    hits = sum(int((a & b).sum()) for a, b in pairs)
    token = score(hits, sum(int(a.sum()) for a, _ in pairs), sum(int(b.sum()) for _, b in pairs))
    return {"p": token.p, "r": token.r, "f": token.f, "span_f": span_score(pairs).f}
