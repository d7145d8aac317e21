"""Paper 01 in small: the fixture of Tables 2 and 3, Lemma 3 against the exact trade-off of Gaussian noise, Claim 3's sum."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from textveil.hashed.cost import columns_of, cost_of_several, curve
from textveil.hashed.divergence import DELTA, ORDERS
from textveil.hashed.seal import SealPlan, seal
from textveil.hashed.table import WeightTable
from textveil.noise.source import seeded

TABLE_2 = {3975: (0.55, 0.14), 3977: (None, 0.72), 3980: (-0.91, 0.28)}


def toy_table() -> WeightTable:
    """Table 2 inside a table of 4,096 slots; 40 other whole rows give the fit something to hold on to."""
    weights, present = np.zeros((4096, 2), np.float32), np.zeros((4096, 2), bool)
    rows = seeded(1).normals((40, 2))
    weights[:40], present[:40] = rows @ np.array([[0.6, -0.3], [0.0, 0.3]]), True
    for slot, row in TABLE_2.items():
        for column, value in enumerate(row):
            if value is not None:
                weights[slot, column], present[slot, column] = value, True
    return WeightTable(weights, present, ("relevant", "not relevant"), np.zeros((2, 2)))


def toy(data: Path | None, *, seed: int) -> dict[str, Any]:
    """Numbers that need no data."""
    table = toy_table()
    sealed = seal(table, SealPlan(mode="paper"), noise=seeded(seed))
    kept = np.asarray(table.present)
    return {
        "changed_genuine": int((sealed.weights[kept] != table.weights[kept]).sum()),
        "filled": float(sealed.present.mean()),
        "distinct": int(len(np.unique(sealed.weights[~kept])) == (~kept).sum()),
        "lemma3": lemma_3_excess(),
        "claim3": claim_3_gap(table),
    }


def lemma_3_excess() -> float:
    """The exact delta of Gaussian noise at Lemma 3's epsilon' less the delta that it was read at, the largest over a grid.

    Exact (Balle and Wang 2018): delta(e) = Phi(m/2 - e/m) - exp(e) Phi(-m/2 - e/m), with m the shift over the noise.
    """
    from scipy.special import log_ndtr, ndtr

    worst = -math.inf
    for shift in (0.1, 0.3, 1.0, 3.0):
        for order in (1.5, 2.0, 5.0, 20.0, 100.0):
            for delta in (1e-3, 1e-5, 1e-8):
                epsilon = order * shift**2 / 2 + math.log(1 / delta) / (order - 1)
                exact = ndtr(shift / 2 - epsilon / shift) - math.exp(epsilon + log_ndtr(-shift / 2 - epsilon / shift))
                worst = max(worst, float(exact) - delta)
    return worst


def claim_3_gap(table: WeightTable) -> float:
    """Two updates: the room's total less the sum over both, read at the best order of the same list."""
    columns = columns_of(table.weights[np.asarray(table.present).all(axis=1)])
    curves = [curve(columns, count, ORDERS) for count in (1, 2)]
    by_hand = np.min(curves[0] + curves[1] - math.log(DELTA) / (np.asarray(ORDERS) - 1))
    return float(cost_of_several(curves, DELTA) - by_hand)
