"""Paper 04: the cells of what replaces it: a private head on the encoder at rest, at one place, by sites or by users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textveil.core import Unit
from textveil.federated.local import LocalTraining
from textveil.federated.plan import RoundPlan, calibrated
from textveil.federated.task import NetTask
from textveil.federated.texthide_heads import NO_HIDING, outputs, train_head
from textveil.federated.weights import flat_of, layout_of, put_into
from textveil.noise.source import Source, seeded
from textveil.recipes.federated.local_dp import PrivateLocalTraining, SitePlans
from textveil.reproduce.paper04.data import DEV, Encoded, task
from textveil.reproduce.paper04.heads import score_of
from textveil.training.vector_head import VectorHead, train_private_head

SITE_BATCH, USER_RATE = 256, 4.0


def replacement(
    data: Path, *, name: str, epsilon: float, delta: float, seed: int, most: int, epochs: int, batch: int, rate: float
) -> dict[str, Any]:
    """A linear head on the frozen encoder under DP-SGD, beside the best of three heads without privacy (on dev: it is
    flattered, not we)."""
    train, dev = task(data, name, "train", most), task(data, name, "dev", DEV)
    scale = np.float32(train.x.shape[1] ** 0.5)  # rows of length 1: a public constant
    head, plan = train_private_head(
        train.x / scale,
        train.y,
        epsilon=epsilon,
        delta=delta,
        epochs=epochs,
        batch=batch,
        rate=rate,
        source=seeded(seed),
    )
    said = head.scores(dev.x / scale)
    plain = [_linear_accuracy(train, dev)]
    for count in (4, 12):
        net = train_head(train.x, train.y, NO_HIDING, epochs=count, seed=seed, noise=seeded(seed))
        plain.append(score_of(name, outputs(net, dev.x), dev.y))
    share = dev.y.mean(0).max()
    return {
        "private": 100 * float((said.argmax(1) == dev.y.argmax(1)).mean()),
        "plain": 100 * max(plain),
        "majority": 100 * float(share),
        "epsilon": plan.epsilon(delta),
        "noise": plan.noise,
    }


def _linear_accuracy(train: Encoded, dev: Encoded) -> float:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=0.1, max_iter=300).fit(train.x, train.y.argmax(1))
    return float(model.score(dev.x, dev.y.argmax(1)))


def federated_head(
    data: Path, *, name: str, units: str, count: int, epsilon: float, delta: float, rounds: int, seed: int, most: int
) -> dict[str, Any]:
    """The same linear head, learnt together: by `sites` under DP-SGD (per example), or by `users` in DP-FedAvg (per user).

    Examples are dealt to the units in equal parts, at random.
    """
    train, dev = task(data, name, "train", most), task(data, name, "dev", DEV)
    scale = np.float32(train.x.shape[1] ** 0.5)
    labels = train.y.argmax(1).tolist()
    parts = np.array_split(seeded(seed).permutation(len(labels)), count)
    dealt = [[(train.x[i] / scale, labels[i]) for i in part] for part in parts]
    everybody = RoundPlan(users=count, per_round=count, rounds=rounds, unit=Unit.CLIENT)
    if units == "sites":
        plans = SitePlans(tuple(map(len, dealt)), rounds, SITE_BATCH, 1, 1.0, delta, target=epsilon)
        net = _by_rounds(dealt, everybody, PrivateLocalTraining(plans.by_size, _PartSeeds(seed), rate=0.05), seed)
        price = max(plans.epsilons())
    else:
        plan = RoundPlan(count, count, rounds, sampling="poisson", clip=0.5, unit=Unit.USER)
        plan = calibrated(plan, epsilon, delta)
        net = _by_rounds(dealt, plan, LocalTraining("sgd", USER_RATE, batch=16, epochs=1), seed)
        price = plan.price(delta)
    said = net.scores(dev.x / scale)
    return {"private": 100 * score_of(name, said, dev.y), "epsilon": price, "examples": len(dealt[0])}


def _by_rounds(units: Sequence[Sequence[Any]], plan: RoundPlan, local: Any, seed: int) -> VectorHead:
    from textveil.federated import ClientSetup, Federation, FreeBook, InProcessGrid, Roster, make_client_app, run_rounds

    width = len(units[0][0][0])
    task_of_heads = NetTask("classifier", lambda: VectorHead(width, 2))
    net: VectorHead = task_of_heads.build()
    grid = InProcessGrid(make_client_app(ClientSetup(task_of_heads, lambda: units, local)))
    federation = Federation(plan, layout_of(net), flat_of(net), apart=plan.unit is Unit.CLIENT)
    put_into(net, run_rounds(grid, federation, FreeBook(seeded(seed)), roster=Roster.anywhere(grid)).weights)
    return net


@dataclass(frozen=True)
class _PartSeeds:
    """Noise of one site's part of a run; a seed, since a study must repeat itself."""

    seed: int

    def of(self, part: int) -> Source:
        return seeded(100_000 * (self.seed + 1) + part)
