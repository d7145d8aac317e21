"""Paper 04: the cells of accuracy, on encodings of an encoder at rest. Texts stay in memory, numbers come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from textveil.federated.texthide import HidingPlan
from textveil.federated.texthide_heads import NO_HIDING, HiddenHead, outputs_under, train_head
from textveil.noise.source import seeded
from textveil.reproduce.paper04.data import DEV, IMDB, PAIRS, Encoded, public_encodings, task
from textveil.reproduce.paper04.heads import score_of

MASK_DRAWS = 8  # masks under which each dev item is scored


def arm_plan(name: str, arm: str) -> HidingPlan:
    """The paper's settings: k = 4, m = 256, for RTE m = 16."""
    if arm == "baseline":
        return NO_HIDING
    return HidingPlan(16 if name == "RTE" else 256, 4, arm)


def trained(part: Encoded, plan: HidingPlan, epochs: int, seed: int, public: np.ndarray | None = None) -> HiddenHead:
    """Pooler and MLP, trained on one part."""
    noise = seeded(seed)
    return train_head(part.x, part.y, plan, epochs=epochs, seed=seed, noise=noise, public=public, has_pooler=True)


def score_under(name: str, net: HiddenHead, part: Encoded, plan: HidingPlan, seed: int) -> float:
    """The task's score, times 100: the mean over draws of a mask for each item; nothing is mixed."""
    noise, draws = seeded(seed + 500), MASK_DRAWS if plan.masks != 0 else 1
    scores = [score_of(name, outputs_under(net, part.x, plan, noise), part.y) for _ in range(draws)]
    return 100 * float(np.mean(scores))


def glue(data: Path, *, name: str, arm: str, seeds: int, most: int, epochs: list[int], public: int) -> dict[str, Any]:
    """One arm of Table 1: epochs are chosen on a fifth of train, then all of train is learnt and dev scored, by seed."""
    train, dev, plan = task(data, name, "train", most), task(data, name, "dev", DEV), arm_plan(name, arm)
    others = public_encodings(data, IMDB, public, pairs=name in PAIRS) if arm == "inter" else None
    edge = len(train.x) * 4 // 5
    learnt, kept = train.take(np.arange(edge)), train.take(np.arange(edge, len(train.x)))
    tried = {}
    for count in epochs:
        net = trained(learnt, plan, count, seeds, others)  # a seed that none of the runs below has
        tried[count] = score_under(name, net, kept, plan, seeds)
    best = max(tried, key=lambda count: tried[count])
    nets = [trained(train, plan, best, seed, others) for seed in range(seeds)]
    return {"scores": [score_under(name, net, dev, plan, seed) for seed, net in enumerate(nets)], "epochs": best}


def grid_cell(data: Path, *, name: str, m: int, k: int, seed: int, most: int, epochs: int) -> dict[str, Any]:
    """One point of Figure 2; m = -1 is a new mask for every item."""
    train, dev = task(data, name, "train", most), task(data, name, "dev", DEV)
    plan = HidingPlan(None if m < 0 else m, k)
    return {"score": score_under(name, trained(train, plan, epochs, seed), dev, plan, seed)}


def corpora(data: Path, *, corpus: str, seed: int, most: int, epochs: int, public: int) -> dict[str, Any]:
    """Table 6: SST-2 with public text of one corpus mixed in."""
    train, dev = task(data, "SST-2", "train", most), task(data, "SST-2", "dev", DEV)
    plan = HidingPlan(256, 4, "inter")
    net = trained(train, plan, epochs, seed, public_encodings(data, corpus, public))
    return {"score": score_under("SST-2", net, dev, plan, seed)}
