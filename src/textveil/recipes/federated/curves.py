"""The two curves on the card of a federated model: a score by round, and the epsilon spent by round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from textveil.accounting.rdp import RDP
from textveil.federated.plan import RoundPlan
from textveil.recipes.federated.local_dp import SitePlans

POINTS = 10
SCORES = ("loss", "training loss")
NAMES = {"loss": "loss on the test file", "training loss": "loss on the units' own examples"}
Curve = tuple[tuple[float, float], ...]


def score_curve(history: Sequence[dict[str, Any]]) -> tuple[str, Curve]:
    """What is shown, and (round, value) for the rounds that have it.

    >>> score_curve([{"round": 1, "loss": 5.0}, {"round": 2}])
    ('loss on the test file', ((1.0, 5.0),))
    """
    for name in SCORES:
        points = tuple((float(line["round"]), float(line[name])) for line in history if name in line)
        if points:
            return NAMES[name], points
    return "", ()


def spent_curve(plan: RoundPlan, delta: float | None, sites: SitePlans | None, whole: float | None = None) -> Curve:
    """(round, epsilon so far), at some rounds; nothing where nothing is promised.

    On the way by Renyi divergences, which are quick to add and never below the truth; never above the price of the `whole`
    run where that is given, since fewer rounds cost no more.
    """
    if delta is None or not (plan.is_private or sites is not None):
        return ()
    most = math.inf if whole is None else whole
    rounds = plan.rounds if sites is None else sites.rounds
    at = sorted({max(1, round(rounds * k / POINTS)) for k in range(1, POINTS + 1)})
    return tuple(
        (float(t), whole if whole and t == rounds else min(most, _by_renyi(plan, delta, sites, t))) for t in at
    )


def _by_renyi(plan: RoundPlan, delta: float, sites: SitePlans | None, rounds: int) -> float:
    events = [plan.event(rounds)] if sites is None else [sites.site_event(size, rounds) for size in sites.by_size]
    return max(RDP().compose(event).epsilon(delta) for event in events)
