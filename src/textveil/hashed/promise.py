"""What a sealed model says about itself: its headline figure, the figures beside it, and what is not hidden.

The headline is the largest figure that was computed, over all ranks and both directions, infinity included. Who reads one
number takes it for a bound on every term; the figure of the 100th most common term is hundreds of times smaller than that
of the commonest, and would mislead whoever asks about a common one. The other figures stand beside it, each under its name:
its rank, how the term's rows were counted (Zipf's law here; `hashed cost --documents` counts them), and the paper's way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from textveil.core import Adjacency, Event, Guarantee, Measured, Unit, Unpriced
from textveil.core.losses import upward
from textveil.hashed.cost import Cost
from textveil.hashed.seal import SealPlan
from textveil.hashed.update import CAP_RANK, epsilon_of

SOURCE = "Fletcher, Roegiest, Hudek: Hash the Universe (2024), sections 4 and 5; measured, see docs/hashed-seal.md"
COUNTED = "rows of a term counted by Zipf's law"


def measured(ranks: Mapping[int, Cost], delta: float) -> Guarantee:
    """The label of a model sealed once: the largest of the ranks' figures, larger direction, with the others beside it."""
    figures = {rank: cost.larger for rank, cost in ranks.items()}
    paper = f"; the paper's way at rank {CAP_RANK}: {_short(ranks[CAP_RANK].paper)}" if CAP_RANK in ranks else ""
    return _headline(figures, delta, f"Renyi divergence of the law fitted with and without a term, {COUNTED}", paper)


def measured_sum(costs: Mapping[str, Any], delta: float) -> Guarantee:
    """The label of an updated model: the divergences of all its releases summed, the largest rank first."""
    figures = {int(rank): epsilon_of(dict(costs), int(rank), delta) for rank in costs["curves"]}
    return _headline(figures, delta, f"Renyi divergences of {costs['releases']} releases summed, {COUNTED}")


def _headline(figures: Mapping[int, float], delta: float, what: str, more: str = "") -> Guarantee:
    worst = max(figures, key=lambda rank: figures[rank])
    others = ", ".join(f"rank {rank}: {_short(value)}" for rank, value in figures.items() if rank != worst)
    how = f"{what}, larger direction, for the most exposed rank of those computed (rank {worst}); {others}{more}"
    return Guarantee(Measured(figures[worst], delta, how), Unit.TERM, Adjacency.ADD_REMOVE, (), SOURCE)


def hidden(plan: SealPlan) -> tuple[str, ...]:
    """How a seal of this plan hides what it hides."""
    if plan.mode == "paper":
        return ()
    return (
        f"the rows of names, amounts and of terms in fewer than {plan.min_documents} training documents were forgotten and "
        "drawn anew, from the law of all other slots",
    )


def not_hidden(plan: SealPlan) -> tuple[str, ...]:
    """What a seal of this plan leaves to be seen."""
    transitions = "the weights between labels (transitions) are those of training"
    if plan.mode == "paper":
        return (
            "genuine weights were copied exactly, so a term's own rows stay in the table, however rare it is",
            "whoever can train the same model without a term sees every row that differs",
            transitions,
        )
    return (
        f"ordinary words (written in lower case) in {plan.min_documents} training documents or more",
        "the pull of a forgotten term on rows of other features that share its slots, and on other weights",
        transitions,
    )


def event_of(guarantee: Guarantee, mechanism: str) -> Event:
    """The event of a sealed release: listed with its figure, never summed."""
    return Event(Unpriced(guarantee.loss), guarantee.unit, guarantee.adjacency, source=SOURCE, mechanism=mechanism)


def _short(value: float) -> str:
    return "infinite" if math.isinf(value) else upward(value)
