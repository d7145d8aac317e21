"""Paper 04: the cells of its own attacks: gradient matching, the search for the nearest sentence, and a net that undoes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from textveil.attacks.texthide.gradient_matching import CLOSE, match_gradient
from textveil.attacks.texthide.mixed_search import nearest
from textveil.attacks.texthide.reconstruction import reconstruct
from textveil.federated.texthide import HidingPlan, mask_pool
from textveil.federated.texthide_heads import NO_HIDING
from textveil.noise.source import seeded
from textveil.recipes.texthide.audit import hidden_epochs, short_sentences
from textveil.reproduce.paper04.data import DEV, encode, task
from textveil.reproduce.paper04.likeness import Likeness
from textveil.text import sample

SCHEMES = {"baseline": NO_HIDING, "mix-only": HidingPlan(0, 4), "TextHide": HidingPlan(256, 4)}
BATCH = 32
SHOWN = 4  # examples of Tables 4 and 7


def matching(data: Path | None, *, d: int, k: int, attacks: int, outer: int) -> dict[str, Any]:
    """One cell of Table 2 (d = 0: without TextHide), with the curves of its first success and first failure (Figure 3)."""
    runs = [match_gradient(d or None, k, seed=1000 * d + 10 * number + k, outer=outer) for number in range(attacks)]
    curves = {}
    for name, wanted in (("success", True), ("failure", False)):
        first = next((run for run in runs if run.success is wanted), None)
        if first is not None:
            curves[name] = {"input": first.input_errors, "mask": first.mask_errors, "gradient": first.distances}
    return {
        "hits": sum(run.success for run in runs),
        "tries": attacks,
        "read_off": sum(run.read_off_error <= CLOSE for run in runs),
        "curves": curves,
    }


def rss(data: Path, *, name: str, scheme: str, seed: int, most: int, queries: int) -> dict[str, Any]:
    """Table 3, and what searches that know of masks get from the same encodings."""
    train, likeness = task(data, name, "train", most), _likeness(data, name, most)
    plan = SCHEMES[scheme]
    pool = mask_pool(plan.masks or 0, train.x.shape[1], f"pool {seed}".encode())
    hidden, _, rows = hidden_epochs(train.x, plan, pool, 1, BATCH, seeded(seed))
    asked = seeded(seed).permutation(len(hidden))[:queries]
    own = rows[asked, 0]
    guess = nearest(hidden[asked], train.x)
    chance = seeded(seed + 7).below(len(train.x), len(own))
    shown: dict[str, Any] = {"rss": likeness.of(own, guess), "random": likeness.of(own, chance)}
    usual = np.abs(train.x).mean(0)
    named = nearest(np.abs(hidden[asked]) - usual, np.abs(train.x) - usual)
    shown["absolute"] = {"hits": int((named[:, None] == rows[asked]).any(1).sum()), "tries": len(asked)}
    return shown


def reprecon(data: Path, *, name: str, scheme: str, seed: int, most: int, queries: int) -> dict[str, Any]:
    """Table 8: a net learns to undo the hiding on train; dev encodings are looked up among dev sentences."""
    train, dev, plan = task(data, name, "train", most), task(data, name, "dev", DEV), SCHEMES[scheme]
    pool = mask_pool(plan.masks or 0, train.x.shape[1], f"pool {seed}".encode())
    noise = seeded(seed)
    hidden, _, rows = hidden_epochs(train.x, plan, pool, 1, BATCH, noise)
    asked, _, own = hidden_epochs(dev.x, plan, pool, 1, BATCH, noise)
    answer = reconstruct(hidden, train.x[rows[:, 0]], asked[:queries], seed=seed)
    likeness = Likeness(dev.texts, dev.y.argmax(1), dev.x)
    owners = own[:queries, 0]
    chance = seeded(seed + 7).below(len(dev.x), len(owners))
    return {"rss": likeness.of(owners, nearest(answer, dev.x)), "random": likeness.of(owners, chance)}


def examples(data: Path | None, *, seed: int) -> dict[str, Any]:
    """Tables 4 and 7 on public text, the sentences of the invented letters that come with Textveil."""
    texts = short_sentences([letter["text"] for letter in sample.letters()])
    x, edge = encode(texts), len(texts) * 4 // 5  # RepRecon learns on the first part, and is asked about the rest
    asked = edge + seeded(seed).permutation(len(texts) - edge)[:SHOWN]
    search: list[dict[str, str]] = [{"query": texts[i]} for i in asked]
    undone: list[dict[str, str]] = [{"query": texts[i]} for i in asked]
    for scheme, plan in SCHEMES.items():
        pool, noise = mask_pool(plan.masks or 0, x.shape[1], b"pool of the examples"), seeded(seed)
        hidden, _, rows = hidden_epochs(x, plan, pool, 1, BATCH, noise)
        own = np.argsort(rows[:, 0])[asked]  # each text is the first of one mixture
        learnt = rows[:, 0] < edge
        answer = reconstruct(hidden[learnt], x[rows[learnt, 0]], hidden[own], seed=seed)
        for place, (found, guess) in enumerate(zip(nearest(hidden[own], x), nearest(answer, x), strict=True)):
            search[place][scheme], undone[place][scheme] = texts[found], texts[guess]
    return {"table4": search, "table7": undone}


def _likeness(data: Path, name: str, most: int) -> Likeness:
    train = task(data, name, "train", most)
    return Likeness(train.texts, train.y.argmax(1), train.x)
