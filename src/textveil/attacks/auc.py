"""The area under the curve of a score that should be larger in one group, and how many independent tries it is worth.

A = P(a > b) + P(a = b) / 2 for a drawn from the one group and b from the other; the estimate is its share over all pairs.
Pairs that share a member depend on each other. DeLong's variance sees that: with V_a the share of b below each a, and
W_b the share of a above each b,

    var(A) = S(V) / len(a) + S(W) / len(b)        (S: sample variance).

`worth` is A (1 - A) / var(A): a binomial share of so many tries has the same variance. It is never below the smaller group,
since the variance of A is at most A (1 - A) / min(len(a), len(b)) (Birnbaum and Klose 1957); where both groups are
parted completely and the estimated variance is 0, that bound is used.

Source: DeLong, DeLong, Clarke-Pearson (1988).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import BadInput, Unit
from .evidence import Evidence


class Area(NamedTuple):
    value: float
    worth: float  # effective number of tries


def area_under_curve(higher: NDArray[np.floating], lower: NDArray[np.floating]) -> Area:
    """How well a score tells the group that should score higher from the other.

    >>> area_under_curve(np.array([0.9, 0.8, 0.4]), np.array([0.4, 0.1])).value   # 5 pairs right, 1 tie
    0.9166666666666666
    """
    if min(len(higher), len(lower)) < 2:
        raise BadInput("the area under the curve needs two scores or more of each group")
    beaten = _below(higher, lower) / len(lower)
    topped = 1 - _below(lower, higher) / len(higher)
    value = float(beaten.mean())
    variance = float(beaten.var(ddof=1) / len(higher) + topped.var(ddof=1) / len(lower))
    least = float(min(len(higher), len(lower)))
    return Area(value, least if variance == 0 else max(least, value * (1 - value) / variance))


def _below(scores: NDArray[np.floating], others: NDArray[np.floating]) -> NDArray[np.float64]:
    """For each score the number of others below it, ties counted half."""
    ranked = np.sort(others)
    return (np.searchsorted(ranked, scores, "left") + np.searchsorted(ranked, scores, "right")) / 2


def membership_evidence(
    attack: str,
    unit: Unit,
    scores: NDArray[np.floating],
    member: NDArray[np.bool_],
    *,
    called: NDArray[np.bool_],
    notes: tuple[str, ...],
) -> Evidence:
    """Evidence of a membership attack: the area of its scores, and those it called members as a test of two worlds.

    All candidates are judged by one model, so the counts depend on each other and refute nothing by themselves.
    """
    area = area_under_curve(scores[member], scores[~member])
    return Evidence(
        attack,
        "auc",
        area.value,
        0.5,
        int(called[member].sum()),
        int(member.sum()),
        unit=unit,
        false_hits=int(called[~member].sum()),
        false_tries=int((~member).sum()),
        effective=area.worth,
        dependent=True,
        notes=notes,
    )
