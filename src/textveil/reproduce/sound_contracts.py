"""The sound variant on contracts, measured: sentences hashed once, trained on any part of them, scored on others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

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
from textveil.reproduce.paper01_data import FIVE, contracts
from textveil.reproduce.paper01_models import score, span_score


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


def sentences(data: Path, plan: FeaturePlan, rows: RowPlan) -> Sentences:
    from scipy import sparse

    everything = contracts(data)
    found, paragraphs, owners, sizes, last = [], [], [], [], 0
    truth: dict[str, list[np.ndarray]] = {clause: [] for clause in FIVE}
    for place, text in enumerate(everything.texts):
        tokens = tokenize(text)
        found.append(rows_of(tokens, plan, rows).matrix(plan.slots))
        own = _paragraph_of(tokens)
        paragraphs.append(own + last)
        last += int(own[-1]) + 1
        owners.append(np.full(len(own), place))
        sizes.append(np.diff(tokens.sentences))
        for clause in FIVE:
            marked = [(a, b, 1) for a, b in everything.spans[clause][place]]
            truth[clause].append(label_tokens(tokens, marked))
    joined = {clause: np.concatenate(parts) for clause, parts in truth.items()}
    return Sentences(
        sparse.vstack(found, format="csr"), *(np.concatenate(part) for part in (paragraphs, owners, sizes)), joined
    )


class Setting(NamedTuple):
    """One cell of the study. epsilon None: the same training without noise."""

    epsilon: float | None
    unit: str = "paragraph"
    method: str = "descent"
    delta: float = 1e-6


def trained(
    held: Sentences,
    clause: str,
    training: np.ndarray,
    setting: Setting,
    plan: FeaturePlan,
    seed: int,
    sound: SoundPlan | None = None,
) -> tuple[np.ndarray, SoundPlan]:
    """Weights of all slots, and the plan that made them and decides with them."""
    sound = SoundPlan.of(setting.method, setting.unit) if sound is None else sound
    if setting.epsilon is None:
        sound = replace(sound, shrink=0.0)
    trainer = SoundTrainer(setting.epsilon or 1.0, setting.delta, plan=plan, sound=sound)
    noise = None if setting.epsilon is None else seeded(seed)
    return trainer.weights(held.examples(clause, training, setting.unit), noise=noise), sound


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
