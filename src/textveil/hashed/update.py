"""Update a sealed model with new documents (section 4.5): train on from the sealed table, then change every other row
as well.

    rows      B: weights before (those of the sealed table), A: after training on the new documents
    updated   slots of the new documents; with min_documents k only those that k or more of the new documents hold, the
              others go back to B and count as not updated (as in the quiet seal: a term in fewer than k of the new
              documents leaves no row)
    law       fitted to the 2d numbers (weights after, changes) of the updated rows
    others    a change is drawn from the law given B (as A = B + change, the law of (A, change) is that of (B, change)
              in other coordinates) and added

Without the last step the difference of two releases would list the slots of the new documents.

Costs add: Renyi divergences of the same order are summed over the seal and all updates (proposition 1 of Mironov 2017),
and only the sum is read as (epsilon, delta). The table's header keeps one curve per release for the ranks 1, 10, 100,
1000; a cap on the epsilon of the 100th most common term refuses the update that would exceed it. Measured, like every
cost of the seal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textveil.accounting.account import unrecorded
from textveil.core.errors import BadInput, Refused
from textveil.hashed.corpus import Corpus
from textveil.hashed.cost import RANKS, columns_of, curve, zipf_count
from textveil.hashed.divergence import DELTA, ORDERS
from textveil.hashed.kinds import check_possible
from textveil.hashed.passive_aggressive import PassiveAggressive, State
from textveil.hashed.seal import SealPlan, centred, fit_law, grid_step
from textveil.hashed.table import WeightTable
from textveil.noise import Source

CAP_RANK = 100
_BLOCK = 1 << 17


def train_on(table: WeightTable, corpus: Corpus, trainer: PassiveAggressive) -> WeightTable:
    """The table after more training; every weight exists already, so every weight may change."""
    if corpus.plan.slots != len(table.weights):
        raise BadInput(f"the model has 2^{table.bits} slots, the new documents were hashed into 2^{corpus.plan.bits}")
    state = State(len(table.weights), len(table.labels))
    state.model[:] = table.weights
    state.steps[:] = table.transitions
    state.present[:] = True
    state.allowed[:] = True
    blocks = corpus.blocks()
    for _ in range(trainer.epochs):
        if not sum(state.train(block, np.arange(len(block.bounds) - 1), trainer.c) for block in blocks):
            break
    return replace(state.table(table.labels, trainer.average), documents=corpus.documents)


@dataclass(frozen=True)
class Change:
    """What an update would release, before anything is drawn: its summed costs can be judged and charged first."""

    before: WeightTable
    after: WeightTable
    plan: SealPlan
    columns: slice  # the free columns, as in the seal
    new: np.ndarray  # weights after training, gauge applied in quiet mode
    updated: np.ndarray  # bool (R,)
    costs: dict[str, Any]


def plan_update(before: WeightTable, after: WeightTable) -> Change:
    """`after.documents` says in how many new documents each slot occurred."""
    check_possible(before.kind, "update")
    if "seal" not in before.facts:
        raise BadInput("the sealed model does not say how it was sealed", possible="one made by `textveil hashed seal`")
    if after.documents is None or after.weights.shape != before.weights.shape:
        raise BadInput("the trained table does not belong to this sealed model", possible="one made by `train_on`")
    plan = SealPlan(**before.facts["seal"])
    quiet = plan.mode == "quiet"
    columns = slice(1, None) if quiet else slice(None)
    new = centred(after.weights) if quiet else np.asarray(after.weights)
    updated = np.asarray(after.documents) >= (plan.min_documents if quiet else 1)
    places = np.flatnonzero(updated)
    ends = new[places][:, columns]
    fitted = np.concatenate([ends, ends - before.weights[places][:, columns]], axis=1)
    return Change(before, after, plan, columns, new, updated, composed(before.facts.get("costs"), fitted))


def update(
    before: WeightTable,
    after: WeightTable,
    *,
    cap: float | None = None,
    delta: float = DELTA,
    seed: int | None = None,
    noise: Source | None = None,
) -> WeightTable:
    """The next release of a sealed model."""
    change = plan_update(before, after)
    refuse_above(cap, change.costs, delta)
    return draw_update(change, noise or unrecorded(seed))


def draw_update(change: Change, noise: Source) -> WeightTable:
    """The next table: updated rows as trained, all others changed by a draw."""
    before = change.before
    facts = {**before.facts, "costs": change.costs, "updates": int(before.facts.get("updates", 0)) + 1}
    return replace(before, weights=_changed(change, noise), transitions=change.after.transitions, facts=facts)


def _changed(change: Change, noise: Source) -> np.ndarray:
    old, new, updated, columns, plan = change.before.weights, change.new, change.updated, change.columns, change.plan
    free = old[:, columns].astype(np.float64)
    fitted = np.flatnonzero(updated)
    changes = (new[fitted][:, columns] - free[fitted]).astype(np.float64)
    law = fit_law(str(plan.law), np.concatenate([free[fitted], changes], axis=1))
    width = free.shape[1]
    out = np.where(updated[:, None], new[:, columns], free)
    others = np.flatnonzero(~updated)
    for start in range(0, len(others), _BLOCK):
        some = others[start : start + _BLOCK]
        known = np.zeros((len(some), 2 * width), bool)
        known[:, :width] = True
        asked = np.concatenate([free[some], np.zeros((len(some), width))], axis=1)
        out[some] = free[some] + law.complete(asked, known, noise)[:, width:]
    if plan.mode == "paper":
        return out.astype(np.float32)
    step = grid_step(old[:, columns])  # of the released table: public
    out = np.round(out / step) * step
    return np.concatenate([-out.sum(axis=1, keepdims=True), out], axis=1).astype(np.float32) + np.float32(0)


def first_costs(rows: np.ndarray) -> dict[str, Any]:
    """The curves of the seal itself, as its header keeps them."""
    return composed(None, rows)


def composed(earlier: dict[str, Any] | None, rows: np.ndarray) -> dict[str, Any]:
    """The curves of all releases: for each rank the Renyi divergences at ORDERS, summed."""
    columns = columns_of(rows)
    found = {str(rank): curve(columns, zipf_count(rank, len(rows)), ORDERS) for rank in RANKS}
    if earlier:
        found = {rank: kept + np.array([float(v) for v in earlier["curves"][rank]]) for rank, kept in found.items()}
    shown = {rank: ["inf" if math.isinf(v) else round(float(v), 12) for v in values] for rank, values in found.items()}
    return {"releases": int(earlier["releases"]) + 1 if earlier else 1, "curves": shown}


def epsilon_of(costs: dict[str, Any], rank: int = CAP_RANK, delta: float = DELTA) -> float:
    """The summed curve of a rank, read at `delta` with its best order."""
    values = np.array([float(v) for v in costs["curves"][str(rank)]])
    return float(np.min(values - math.log(delta) / (ORDERS - 1)))


def refuse_above(cap: float | None, costs: dict[str, Any], delta: float) -> None:
    total = epsilon_of(costs, delta=delta)
    if cap is not None and total > cap:
        raise Refused(
            f"the measured cost of the {CAP_RANK}th most common term would rise to {total:.4g} over "
            f"{costs['releases']} releases, above the cap of {cap:g}; nothing was released"
        )
