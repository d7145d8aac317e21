"""Paper 05: the model, its public start, and the arms that train on from it: record by record, or user by user.

Users are federated by the same round loop, ClientApp and messages as `textveil federate` (textveil.federated), within one
process. A seed draws noise and samples, since a study must repeat itself: no release is made of any model.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from textveil.attacks.federated.sharers import Texts
from textveil.federated.local import LocalTraining
from textveil.federated.plan import RoundPlan, calibrated
from textveil.federated.server_step import ServerStep
from textveil.federated.task import NetTask
from textveil.federated.weights import flat_of, layout_of, put_into
from textveil.noise.source import seeded
from textveil.reproduce.paper05.data import first, public_words

DELTA = 1e-7  # the paper's


@dataclass(frozen=True)
class Size:
    """A model, and how much text it sees."""

    words: int
    dimensions: int
    hidden: int
    max_words: int
    sentences: int  # of each user
    public: int  # sentences of the start
    tested: int
    branches: int  # random sampling: stems
    leaves: int  # and last words for each


SIZES = {
    "small": Size(1_000, 48, 96, 10, 8, 24_000, 2_000, 200, 500),
    "full": Size(10_000, 96, 256, 40, 300, 100_000, 5_000, 2_000, 1_000),
    "test": Size(60, 4, 5, 8, 3, 50, 20, 5, 4),
}


@lru_cache(maxsize=2)
def started(data: Path, size: str) -> Any:
    """The net that read public text once: what every arm begins from. Do not change it: copy it."""
    from textveil.nets.fit import own_randomness
    from textveil.nets.language_model import CIFGLanguageModel
    from textveil.nets.plain_fit import fit_plainly

    facts = SIZES[size]
    with own_randomness(0):
        net = CIFGLanguageModel.of(
            public_words(data, facts.words),
            dimensions=facts.dimensions,
            hidden=facts.hidden,
            max_words=facts.max_words,
        )
    fit_plainly(net, first(data, facts.public), epochs=1, batch=32, rate=4e-3, seed=0)
    return net


def by_records(net: Any, texts: Texts, *, optimiser: str, batch: int, rate: float, epochs: float, seed: int) -> Any:
    """A copy trained on in batches of records, one user after the other in an order that is new in each epoch."""
    net = copy.deepcopy(net).train()
    learner = LocalTraining(optimiser, rate=rate)._learner(net)
    names, rng = list(texts), seeded(70_000 + seed)
    left = round(epochs * sum(map(len, texts.values())))
    while left > 0:
        records = [text for i in rng.permutation(len(names)).tolist() for text in texts[names[i]]][:left]
        for start in range(0, len(records), batch):
            loss = net.losses(net.collate(records[start : start + batch])).mean()
            learner.zero_grad(set_to_none=True)
            loss.backward()
            learner.step()
        left -= len(records)
    return net.eval()


@dataclass(frozen=True)
class Noise:
    """How much noise: for an epsilon, of so many users in all (0: of those there are, with their own number a round)."""

    epsilon: float = 0.0
    delta: float = DELTA
    population: int = 0


def round_plan(
    users: int, per_round: int, epochs: float, clip: float | None, sampling: str, noise: Noise
) -> tuple[RoundPlan, float]:
    """The rounds of an arm, and the multiplier at which its epsilon was priced.

    In a population N times as large, m grows in proportion, so the sampling rate, the rounds and hence the multiplier z for
    an epsilon stay as they are, and the noise on the mean, z C / m, falls. Simulated with the users there are: the same
    rounds, with noise z C / m of the larger m.

    >>> plan, z = round_plan(1000, 50, 2.0, 0.5, "poisson", Noise(8.0, 1e-5, 100_000))
    >>> plan.rounds, round(z / plan.noise)
    (40, 100)
    """
    plan = RoundPlan(
        users=users,
        per_round=per_round,
        rounds=max(1, round(epochs * users / per_round)),
        sampling=sampling,
        clip=clip,
        weighting="equal" if clip else "examples",
    )
    if not noise.epsilon:
        return plan, 0.0
    if not noise.population:
        priced = calibrated(plan, noise.epsilon, noise.delta)
        return priced, priced.noise
    larger = round(per_round * noise.population / users)
    whole = RoundPlan(noise.population, larger, plan.rounds, sampling=sampling, clip=clip)
    multiplier = calibrated(whole, noise.epsilon, noise.delta).noise
    return plan.with_noise(multiplier * per_round / larger), multiplier


def by_users(
    net: Any,
    units: Sequence[Sequence[Any]],
    plan: RoundPlan,
    local: Any,
    step: ServerStep,
    *,
    frozen: tuple[str, ...],
    seed: int,
) -> Any:
    """A copy trained on in rounds of users."""
    from textveil.federated import ClientSetup, Federation, FreeBook, InProcessGrid, make_client_app, run_rounds

    task = NetTask("lm", lambda: copy.deepcopy(net), frozen)
    trained = task.build()
    app = make_client_app(ClientSetup(task, lambda: units, local))
    federation = Federation(plan, layout_of(trained), flat_of(trained), step)
    state = run_rounds(InProcessGrid(app), federation, FreeBook(seeded(80_000 + seed)))
    put_into(trained, state.weights)
    return trained.eval()
