"""What a training plan would cost, from public facts alone: no data is read and nothing is charged.

With a noise multiplier the answer is epsilon; with an epsilon it is the least noise that keeps it, priced again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textveil.core import BadInput
from textveil.training.calibrate import calibrate_plan
from textveil.training.plan import Phase, TrainingPlan, steps_for


@dataclass(frozen=True)
class PriceJob:
    """One question: `noise` or `epsilon`, and `epochs` or `steps`; or `phases` for a plan that changes on the way."""

    examples: int
    batch: int | None = None
    delta: float = 1e-5
    noise: float | None = None
    epsilon: float | None = None
    epochs: float | None = None
    steps: int | None = None
    phases: tuple[str, ...] = ()
    sampling: str = "poisson"
    accountant: str = "best"
    unit: str = "example"
    shards: int = 1


def price_plan(job: PriceJob) -> dict[str, Any]:
    """The price as one JSON object.

    >>> found = price_plan(PriceJob(examples=14041, batch=32, noise=1.0, epochs=10, accountant="rdp"))
    >>> round(found["epsilon"], 2), found["steps"], found["accountant"]
    (1.05, 4388, 'rdp')
    """
    plan = _plan(job)
    if job.epsilon is not None:
        if job.accountant != "best":
            raise BadInput("noise is found with the best accountant", possible="--accountant best, or --noise")
        plan = calibrate_plan(plan, job.epsilon, job.delta)
    priced = plan.price(job.delta, job.accountant)
    return {
        "epsilon": priced.epsilon,
        "delta": job.delta,
        "accountant": priced.accountant,
        "steps": plan.steps,
        "noise": plan.noise,
        "sampling": plan.sampling,
        "unit": str(plan.unit),
        "adjacency": str(plan.adjacency),
        "shards": plan.shards,
        "phases": plan.to_json()["phases"],
        "notes": list(priced.notes),
    }


def _plan(job: PriceJob) -> TrainingPlan:
    if (job.noise is None) == (job.epsilon is None) and not job.phases:
        raise BadInput("a price needs the noise, or the epsilon to find it for", possible="--noise 1 or --epsilon 3")
    shared = {"examples": job.examples, "sampling": job.sampling, "unit": job.unit, "shards": job.shards}
    if job.phases:
        if job.noise is not None or job.batch is not None or job.epochs is not None or job.steps is not None:
            raise BadInput("phases already say noise, batch and steps", possible="--phase alone, with --examples")
        return TrainingPlan.scheduled(_phases(job.phases), **shared)
    if job.batch is None or (job.epochs is None) == (job.steps is None):
        raise BadInput("a price needs --batch, and --epochs or --steps", possible="--batch 32 --epochs 10")
    steps = job.steps if job.steps is not None else steps_for(job.examples, job.batch, float(job.epochs or 0))
    return TrainingPlan(noise=job.noise if job.noise is not None else 1.0, batch=job.batch, steps=steps, **shared)


def _phases(texts: Sequence[str]) -> list[Phase]:
    found = []
    for text in texts:
        try:
            noise, batch, steps = text.split(":")
            found.append(Phase(float(noise), int(batch), int(steps)))
        except ValueError:
            raise BadInput(f"phase '{text}' is not NOISE:BATCH:STEPS", possible="--phase 2:256:100") from None
    return found
