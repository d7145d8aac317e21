"""How the rate, the noise and the batch change over a run. All of them are fixed before it begins.

Rates: constant, linear (down to 0) or cosine (down to 0), each after `warmup` steps of a linear rise. Phases for
`TrainingPlan.scheduled`: `growing` raises the batch in equal stages and keeps noise / batch, the noise that a mean gradient
carries, constant or falling.
"""

from __future__ import annotations

import math

from textveil.core.params import choice, positive, positive_integer

from .plan import Phase

RATES = ("constant", "linear", "cosine")


def rate_factor(name: str, step: int, steps: int, warmup: int = 0) -> float:
    """The share of the full rate at a step (from 0).

    >>> [round(rate_factor("linear", s, 4), 2) for s in range(4)]
    [1.0, 0.75, 0.5, 0.25]
    >>> [rate_factor("constant", s, 4, warmup=2) for s in range(4)]
    [0.5, 1.0, 1.0, 1.0]
    """
    choice("schedule of the rate", name, RATES)
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return {"constant": 1.0, "linear": 1 - done, "cosine": (1 + math.cos(math.pi * done)) / 2}[name]


def growing(noise: float, batches: tuple[int, ...], steps: int, *, noise_power: float = 1.0) -> tuple[Phase, ...]:
    """Stages of equal length with growing batches; the noise grows with (batch / first batch)^noise_power.

    Power 1 keeps noise / batch constant (later stages cost less), 1/2 lets it fall.

    >>> growing(1.0, (128, 512), 100, noise_power=0.5)
    (Phase(noise=1.0, batch=128, steps=50), Phase(noise=2.0, batch=512, steps=50))
    """
    positive("noise", noise)
    stages = len(batches)
    ends = [round(positive_integer("steps", steps) * (k + 1) / stages) for k in range(stages)]
    starts = [0, *ends[:-1]]
    return tuple(
        Phase(noise * (batch / batches[0]) ** noise_power, batch, end - start)
        for batch, start, end in zip(batches, starts, ends, strict=True)
        if end > start
    )
