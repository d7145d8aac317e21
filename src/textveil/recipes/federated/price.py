"""What federated rounds would cost, from public facts alone: any number of users, also of a population that is not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textveil.core import BadInput
from textveil.core.params import positive
from textveil.federated.plan import RoundPlan, calibrated


@dataclass(frozen=True)
class FederatedPrice:
    """One question: `noise` or `epsilon` for so many users, a round and rounds."""

    users: int | None
    per_round: int | None
    rounds: int | None
    delta: float = 1e-5
    noise: float | None = None
    epsilon: float | None = None
    sampling: str = "poisson"


def price_rounds(asked: FederatedPrice, stray: tuple[str, ...] = ()) -> dict[str, Any]:
    """The price as one JSON object; `stray`: options of another kind of plan that were given too.

    >>> found = price_rounds(FederatedPrice(1969, 200, 50, 1e-5, noise=1.0, sampling="in-turn"))
    >>> found["sampling"], found["noise"], round(found["epsilon"], 1)
    ('in-turn', 1.0, 31.2)
    """
    if asked.users is None or asked.per_round is None or asked.rounds is None or stray:
        what = f", not {stray[0]}" if stray else ""
        raise BadInput(f"a federated price needs --users, --per-round and --rounds{what}")
    if (asked.noise is None) == (asked.epsilon is None):
        raise BadInput("a price needs the noise, or the epsilon to find it for", possible="--noise 1 or --epsilon 8")
    plan = RoundPlan(
        users=asked.users, per_round=asked.per_round, rounds=asked.rounds, sampling=asked.sampling, clip=1.0
    )
    if asked.epsilon is not None:
        plan = calibrated(plan, asked.epsilon, asked.delta)
    else:
        plan = plan.with_noise(positive("noise", asked.noise))  # type: ignore[arg-type]
    return {
        "epsilon": plan.price(asked.delta),
        "delta": asked.delta,
        "accountant": "best",
        "steps": plan.rounds,
        "noise": plan.noise,
        "users": plan.users,
        "per_round": plan.per_round,
        "rounds": plan.rounds,
        "sampling": plan.sampling,
        "unit": str(plan.unit),
        "adjacency": str(plan.adjacency),
    }
