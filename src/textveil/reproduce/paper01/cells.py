"""Paper 01 in cells: one model per clause type (Tables 4 and 5, Figure 2, Appendix B), and the corpus behind all of them."""

from __future__ import annotations

import math
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from textveil.hashed.cost import Column, columns_of, cost_of_count, zipf_count
from textveil.hashed.divergence import DELTA, gaussian, gaussian_rows
from textveil.hashed.features import folded
from textveil.hashed.seal import SealPlan, prepare, seal
from textveil.hashed.table import WeightTable
from textveil.noise.source import seeded
from textveil.reproduce.paper01.data import contracts, split
from textveil.reproduce.paper01.models import PLAN, features, found, runs, span_score, token_score, train, truth
from textveil.reproduce.paper02.data import seed_of

RANKS = (1, 10, 100, 1000)
MODES = ("paper", "quiet")  # as printed; as shipped
MOST_FEATURES = 12


def clause(data: Path, *, clause: str, draws: int, seed: int) -> dict[str, Any]:
    """One clause type: before, sealed as printed, sealed as shipped; costs; sizes."""
    training, testing = (part.tolist() for part in split(len(contracts(data)), seed))
    start = time.process_time()
    model = train(data, clause, training)
    trained = time.process_time() - start
    table = model.table_
    wanted = [truth(data, clause, place) for place in testing]
    before = [found(data, model, place) for place in testing]
    numbers: dict[str, Any] = _scores("before", [before], wanted)
    for mode in MODES:
        outputs, seconds = [], []
        for draw in range(draws):
            start = time.process_time()
            sealed = seal(table, SealPlan(mode=mode), noise=seeded(seed_of(clause, seed, draw, mode)))
            seconds.append(time.process_time() - start)
            outputs.append([found(data, model, place, sealed) for place in testing])
        numbers |= _scores(mode, outputs, wanted) | _changes(mode, before, outputs)
        numbers |= {f"seal_over_train_{mode}": float(np.mean(seconds)) / trained} | _filled(mode, table, sealed)
        numbers |= _bytes(mode, sealed)
        numbers[f"f_change_{mode}"] = numbers[f"f_{mode}"] - numbers["f_before"]
    return numbers | costs(table, ranks_in(data, tuple(training))) | _facts(data, clause, table, training, testing)


def _scores(when: str, outputs: list[list[np.ndarray]], wanted: list[np.ndarray]) -> dict[str, float]:
    """Means over draws."""
    numbers: dict[str, float] = {}
    for prefix, scored in (("", token_score), ("span_", span_score)):
        rows = [scored(list(zip(some, wanted, strict=True))) for some in outputs]
        for name in ("p", "r", "f"):
            numbers[f"{prefix}{name}_{when}"] = float(np.mean([getattr(row, name) for row in rows]))
    return numbers


def _changes(mode: str, before: list[np.ndarray], outputs: list[list[np.ndarray]]) -> dict[str, int]:
    """Extractions that differ in any token (vanished, new, longer or shorter), and those that vanish, over all draws."""
    changed = lost = total = 0
    for output in outputs:
        for a, b in zip(before, output, strict=True):
            old, new = set(runs(a)), set(runs(b))
            total += len(old | new)
            changed += len(old ^ new)
            lost += sum(not b[start:end].any() for start, end in old)
    return {f"changed_{mode}": changed, f"lost_{mode}": lost, f"extractions_{mode}": total}


def _filled(mode: str, table: WeightTable, sealed: WeightTable) -> dict[str, float]:
    genuine = np.asarray(table.present)
    differs = sealed.weights[genuine] != table.weights[genuine]
    return {
        f"genuine_changed_{mode}": float(differs.mean()),
        f"filled_{mode}": float(sealed.present.any(axis=1).mean()),
    }


def _bytes(mode: str, table: WeightTable) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        table.save(folder)
        return {f"bytes_{mode}": sum(path.stat().st_size for path in Path(folder).iterdir())}


def _facts(data: Path, clause: str, table: WeightTable, training: list[int], testing: list[int]) -> dict[str, float]:
    """What Table 5 and the sentences about weights and storage speak of."""
    present = np.asarray(table.present)
    some, whole = present.any(axis=1), present.all(axis=1)
    rows = table.weights[whole].astype(np.float64)
    marked = [truth(data, clause, place) for place in training]
    met = [some[features(data, place).slots.indices] for place in testing]
    unseen = 1 - float(sum(int(m.sum()) for m in met) / sum(map(len, met)))
    before, after = int(some.sum() + present.sum()), len(present) * (present.shape[1] + 1)
    with tempfile.TemporaryDirectory() as folder:
        table.save(folder)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    centre = rows[:, 1] - rows[:, 1].mean()
    return {
        "annotated": float(sum(int(m.sum()) for m in marked) / sum(map(len, marked))),
        "annotated_documents": sum(bool(m.any()) for m in marked),
        "documents": len(training),
        "labels": len(table.labels),
        "unseen": unseen,
        "unseen_features": unseen / (1 - float(some.mean())),
        "occupied": float(some.mean()),
        "partly": float((some & ~whole).sum() / some.sum()),
        "whole": int(whole.sum()),
        "correlation": float(np.corrcoef(rows.T)[0, 1]),
        "kurtosis": float((centre**4).mean() / (centre**2).mean() ** 2 - 3),
        "points_after": after,
        "growth": after / before,
        "bytes_before": size,
    }


# ---- costs ----------------------------------------------------------------------------------------------------------


def costs(table: WeightTable, ranks: dict[int, np.ndarray]) -> dict[str, Any]:
    """Epsilon' by frequency rank: as printed, both directions, with K by Zipf's law and by the term's own rows."""
    ready = prepare(table, SealPlan(mode="paper"))
    rows = ready.fitted_rows.astype(np.float64)
    columns = columns_of(rows)
    place = np.full(len(table.weights), -1)
    place[ready.fitted] = np.arange(len(ready.fitted))
    numbers: dict[str, Any] = {}
    for rank in RANKS:
        zipf = cost_of_count(columns, zipf_count(rank, len(rows)))
        own = place[ranks[rank]]
        true = cost_of_count(columns, int((own >= 0).sum()))
        numbers |= {
            f"k{rank}": zipf.count,
            f"k{rank}_true": true.count,
            f"eps{rank}": zipf.paper,
            f"eps{rank}_forward": zipf.forward,
            f"eps{rank}_backward": zipf.backward,
            f"eps{rank}_worst": zipf.larger,
            f"eps{rank}_true": true.paper,
        }
        if rank == 100:
            numbers["worst_over_furthest"] = zipf.larger / zipf.paper
            numbers["joint_over_sum"] = joint_over_sum(rows, zipf.count, zipf.paper_order)
        if rank == 10:
            numbers["eps10_renyi"] = zipf.paper + math.log(DELTA) / (zipf.paper_order - 1)
            numbers["ten_rank100"] = 10 * renyi(columns, zipf_count(100, len(rows)), zipf.paper_order)
    return {name: "inf" if math.isinf(value) else value for name, value in numbers.items()}


def renyi(columns: list[Column], count: int, order: float) -> float:
    """The divergence at one order, the `count` values furthest from the mean removed in each column."""
    return float(sum(gaussian(order, c.mean, c.variance, *c.furthest(count))[0] for c in columns))


def joint_over_sum(rows: np.ndarray, count: int, order: float) -> float:
    """Cost of the joint Gaussian over the sum of its columns' costs, with the same `count` rows removed from both.

    Two columns that are independent have the sum as their joint cost:

    >>> side = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> rows = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    >>> round(joint_over_sum(rows, 4, 1.5), 6)   # the four corners go: both spreads shrink, a little correlation is none
    1.0
    """
    far = ((rows - rows.mean(axis=0)) ** 2 / rows.var(axis=0)).sum(axis=1)
    left = np.delete(rows, np.argsort(-far, kind="stable")[:count], axis=0)
    laws = [(part.mean(axis=0), np.cov(part, rowvar=False, bias=True)) for part in (rows, left)]
    (m1, s1), (m2, s2) = laws
    single = sum(float(gaussian(order, m1[j], s1[j, j], m2[j], s2[j, j])) for j in range(len(m1)))
    return gaussian_rows(order, m1, s1, m2, s2) / single


def ranks_in(data: Path, places: tuple[int, ...]) -> dict[int, np.ndarray]:
    """The slots of the 1st, 10th, 100th and 1000th most common word of these contracts."""
    if places not in _RANKS:
        counts = _word_counts(data, places)
        wanted = {counts.most_common(rank)[-1][0]: rank for rank in RANKS}
        touched: dict[int, list[np.ndarray]] = {rank: [] for rank in RANKS}
        for place in places:
            own = features(data, place)
            for i, word in enumerate(folded(own.tokens.words, PLAN)):
                if word in wanted:
                    touched[wanted[word]].append(own.slots.indices[own.slots.starts[i] : own.slots.starts[i + 1]])
        _RANKS[places] = {rank: np.unique(np.concatenate(some)) for rank, some in touched.items()}
    return _RANKS[places]


_RANKS: dict[tuple[int, ...], dict[int, np.ndarray]] = {}


def _word_counts(data: Path, places: tuple[int, ...]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for place in places:
        counts.update(w for w in folded(features(data, place).tokens.words, PLAN) if w[0].isalnum())
    return counts


def corpus(data: Path, *, seed: int) -> dict[str, Any]:
    """The training contracts themselves: words, terms, features, collisions, Zipf's law."""
    training = tuple(split(len(contracts(data)), seed)[0].tolist())
    counts = _word_counts(data, training)
    ranks = ranks_in(data, training)
    taken = np.zeros(PLAN.slots, bool)
    most = words = 0
    for place in training:
        own = features(data, place)
        taken[own.slots.indices] = True
        most, words = max(most, int(np.diff(own.slots.starts).max())), words + len(own.tokens.words)
    occupied = int(taken.sum())
    made = -PLAN.slots * math.log1p(-occupied / PLAN.slots)  # features that fill so many slots, on average
    singles = len(counts)
    return {
        "words": words,
        "terms": singles,
        "slots": PLAN.slots,
        "occupied": occupied / PLAN.slots,
        "collisions": 1 - math.exp(-made / PLAN.slots),
        "shared": (made - singles) / made,
        "most_features": most,
        "first_share": len(ranks[1]) / occupied,
        "hundredth_share": len(ranks[100]) / occupied,
        "thousandth_share": len(ranks[1000]) / occupied,
        "features": int(made),
    }
