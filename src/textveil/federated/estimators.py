"""Federated training as estimators: one class for each strategy, on units that are in memory.

`fit(units)` takes a list with the examples of each unit and trains within this process, through the same ServerApp loop and
ClientApp as a simulation or a deployment. The verb (`textveil federate simulate`) adds files, a ledger, workers and a card.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from textveil.accounting.account import unrecorded
from textveil.accounting.prices import guarantee_of
from textveil.core import BadInput, Estimator, Event, Guarantee, Shape
from textveil.core.errors import not_fitted
from textveil.core.example import Example
from textveil.core.params import positive
from textveil.noise import Source

from .book import FreeBook
from .client import ClientSetup, HeldUnits, make_client_app
from .local import LocalGradient, LocalStep, LocalTraining
from .plan import RoundPlan, calibrated
from .rounds import Federation, run_rounds
from .server_step import ServerStep
from .state import RoundState
from .task import NetTask, Task
from .weights import Flat, Layout, flat_of, layout_of, put_into

Units = Sequence[Sequence[Any]]
SOURCE_LAW = "noise comes from the given source"
EXEMPT = {
    "the promise holds": "two worlds would take thousands of trainings; tests/broken audits the sum of a round itself",
    "the limits of epsilon hold": "without noise, steps are decided by the loss: no two trainings need agree",
    "every size works": "a training of fifty thousand texts is no small example",
}


class FederatedModel(Estimator):
    """Base of the strategies.

    Parameters
    ----------
    task
        What is learnt: a `NetTask` around a function that builds the net.
    rounds
        How many rounds.
    per_round
        Units in a round; on average, where each joins by a coin.
    local
        What a unit does in a round: `LocalTraining(...)`, or any local step.
    step
        What the server does with the mean update.
    users
        Declared number of units, a public figure; None takes their number.
    unit
        Whom a promise is about: "user", or "client" for a site.
    clip
        The longest update of one unit; None does not clip.
    clipping
        "flat": the whole update is shortened; "per-layer": each parameter; "adaptive": by a noisy quantile.
    weighting
        Weight of a unit: "equal", "capped" (by `cap`), or "examples", which no noise has a price for.
    seed
        None draws from the secure source. A number makes a draft, which protects nobody.
    """

    name: ClassVar[str] = "federated.model"

    task: Task
    rounds: int
    per_round: int
    local: LocalStep
    step: ServerStep
    users: int | None
    unit: str
    clip: float | None
    clipping: str
    weighting: str
    seed: int | None

    net_: Any
    state_: RoundState
    guarantee_: Guarantee

    def plan(self, units: int) -> RoundPlan:
        """What a run over so many units will do."""
        return RoundPlan(
            users=units,
            per_round=self.per_round,
            rounds=self.rounds,
            sampling=self._sampling(),
            clip=self.clip,
            clipping=self.clipping,
            weighting=self.weighting,
            unit=self.unit,  # type: ignore[arg-type]
            mechanism=self.name,
        )

    def _sampling(self) -> str:
        return "fixed"

    def _delta(self) -> float | None:
        return None

    def event(self, shape: Shape | None = None) -> Event:
        """What training costs each unit, from public facts alone."""
        units = self.users or (shape.units if shape is not None else None)
        if units is None:
            raise BadInput("the number of units must be declared", possible="users=N, or Shape(units=N)")
        return self.plan(units).event()

    def check_data(self, data: Units, shape: Shape) -> None:
        """Refuse units that `apply` could not take, before anything is charged; it needs no net."""
        self._federation(data, None)

    def fit(self, units: Units, y: Any = None) -> Self:
        """Train together; nothing keeps account of it (`Ledger.release` and the verb do)."""
        return self._train(units, unrecorded(self.seed))

    def apply(self, data: Units, *, noise: Source) -> Self:
        """A fitted copy, trained with noise from the source."""
        return type(self)(**self.get_params())._train(data, noise)

    def _train(self, units: Units, noise: Source) -> Self:
        federation = self._federation(units, self.task.build())
        self.state_ = self._run(federation, units, noise)
        put_into(self.net_, self.state_.weights)
        self.net_.eval()
        self.guarantee_ = guarantee_of(federation.plan.event(), delta=self._delta())
        return self

    def _federation(self, units: Units, net: Any) -> Federation:
        if isinstance(units, str) or not units or any(isinstance(own, str) for own in units):
            raise BadInput("a list is needed that holds a list of examples for each unit")
        plan = self.plan(self.users or len(units))
        if net is None:
            return Federation(plan, Layout((), ()), np.zeros(0, np.float32), self.step, present=len(units))
        self.net_ = net
        return Federation(plan, layout_of(net), flat_of(net), self.step, present=len(units))

    def _run(self, federation: Federation, units: Units, noise: Source) -> RoundState:
        from .in_process import InProcessGrid

        grid = InProcessGrid(make_client_app(self._setup(units)))
        return run_rounds(grid, federation, FreeBook(noise))

    def _setup(self, units: Units, **more: Any) -> ClientSetup:
        return ClientSetup(self.task, HeldUnits(units), self.local, **more)

    def save(self, folder: str | Path) -> Path:
        """The model folder, which loads in plain torch without Textveil."""
        if not hasattr(self, "net_"):
            raise not_fitted(self, "fit first")
        self.net_.save(Path(folder))
        return Path(folder)

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on: three rounds of six units and a net of two numbers."""
        return Example(
            cls(**cls._small(), task=NetTask("numbers", TwoNumbers), rounds=3, per_round=3),  # type: ignore[call-arg]
            [[float(k), 1.0] for k in range(6)],
            Shape(units=6),
            see=_weights,
            exempt=EXEMPT | cls._exempt(),
        )

    @classmethod
    def _small(cls) -> dict[str, Any]:
        return {}

    @classmethod
    def _exempt(cls) -> dict[str, str]:
        return {SOURCE_LAW: "it adds no noise: what it draws is who takes part"}


class FedAvg(FederatedModel):
    """Units train, the server averages (McMahan et al. 2017). With a clip and no noise: clip-only. Nothing is promised.

    Examples
    --------
    >>> FedAvg(NetTask("lm", dict), rounds=20).name
    'federated.fedavg'
    """

    name: ClassVar[str] = "federated.fedavg"

    def __init__(
        self,
        task: Task,
        rounds: int = 10,
        per_round: int = 10,
        local: LocalStep = LocalTraining(),  # noqa: B008  (frozen)
        step: ServerStep = ServerStep(),  # noqa: B008  (frozen)
        users: int | None = None,
        unit: str = "user",
        clip: float | None = None,
        clipping: str = "flat",
        weighting: str = "examples",
        seed: int | None = None,
    ):
        self.task, self.rounds, self.per_round, self.local, self.step = task, rounds, per_round, local, step
        self.users, self.unit, self.clip, self.clipping, self.weighting = users, unit, clip, clipping, weighting
        self.seed = seed

    @classmethod
    def _small(cls) -> dict[str, Any]:
        return {"local": LocalTraining(rate=0.1)}


class FedSGD(FederatedModel):
    """Each unit sends one gradient over all of its examples, the server takes a step. Nothing is promised.

    Parameters
    ----------
    rate
        Learning rate of the server's step.
    """

    name: ClassVar[str] = "federated.fedsgd"
    clip, clipping, weighting = None, "flat", "examples"

    def __init__(
        self,
        task: Task,
        rounds: int = 10,
        per_round: int = 10,
        rate: float = 0.5,
        users: int | None = None,
        unit: str = "user",
        seed: int | None = None,
    ):
        self.task, self.rounds, self.per_round, self.rate = task, rounds, per_round, rate
        self.users, self.unit, self.seed = users, unit, seed

    @property
    def local(self) -> LocalStep:  # type: ignore[override]
        return LocalGradient()

    @property
    def step(self) -> ServerStep:  # type: ignore[override]
        return ServerStep("average", self.rate)


class DPFedAvg(FederatedModel):
    """FedAvg with clipped updates and noise on their sum, once a round: differential privacy for whole users.

    Parameters
    ----------
    epsilon
        Loss of one unit by the whole run; None needs `noise`.
    delta
        Chance that the bound fails; well below 1 / units.
    noise
        Instead of epsilon: noise as a multiple of the clip.
    sampling
        "poisson": each unit joins a round by a coin; "fixed": rounds of one size (Algorithm 1 of paper 05), which cost more.
    quantile
        For adaptive clipping: the share of updates that should be below the clip.
    cap
        For capped weights: examples from which on a unit has full weight.

    Examples
    --------
    >>> model = DPFedAvg(NetTask("lm", dict), rounds=20, per_round=100, epsilon=8.0, delta=1e-4, users=2000)
    >>> model.plan(2000).price(1e-4) <= 8.0
    True
    """

    name: ClassVar[str] = "federated.dp_fedavg"

    def __init__(
        self,
        task: Task,
        rounds: int = 10,
        per_round: int = 10,
        epsilon: float | None = None,
        delta: float = 1e-5,
        noise: float | None = None,
        clip: float = 0.2,
        clipping: str = "flat",
        quantile: float = 0.5,
        sampling: str = "poisson",
        weighting: str = "equal",
        cap: int = 100,
        local: LocalStep = LocalTraining(),  # noqa: B008  (frozen)
        step: ServerStep = ServerStep(),  # noqa: B008  (frozen)
        users: int | None = None,
        unit: str = "user",
        seed: int | None = None,
    ):
        self.task, self.rounds, self.per_round = task, rounds, per_round
        self.epsilon, self.delta, self.noise = epsilon, delta, noise
        self.clip, self.clipping, self.quantile, self.sampling = clip, clipping, quantile, sampling
        self.weighting, self.cap, self.local, self.step = weighting, cap, local, step
        self.users, self.unit, self.seed = users, unit, seed

    def plan(self, units: int) -> RoundPlan:
        return self._noised(
            RoundPlan(
                users=units,
                per_round=self.per_round,
                rounds=self.rounds,
                sampling=self._sampling(),
                clip=self.clip,
                clipping=self.clipping,
                quantile=getattr(self, "quantile", 0.5),
                weighting=self.weighting,
                cap=getattr(self, "cap", 100),
                unit=self.unit,  # type: ignore[arg-type]
                mechanism=self.name,
            )
        )

    def _noised(self, plan: RoundPlan) -> RoundPlan:
        if (self.epsilon is None) == (self.noise is None):
            raise BadInput("a private run needs epsilon or noise, one of them", possible="epsilon=8.0, delta=1e-4")
        if self.noise is not None:
            return plan.with_noise(positive("noise", self.noise))
        return calibrated(plan, positive("epsilon", self.epsilon), self.delta)  # type: ignore[arg-type]

    def _sampling(self) -> str:
        return self.sampling

    def _delta(self) -> float | None:
        return self.delta

    @classmethod
    def _small(cls) -> dict[str, Any]:
        return {"noise": 2.0, "delta": 1e-3, "local": LocalTraining(rate=0.1)} | cls._small_sampling()

    @classmethod
    def _small_sampling(cls) -> dict[str, Any]:
        return {"sampling": "fixed"}

    @classmethod
    def _exempt(cls) -> dict[str, str]:
        return {}


class DPFTRL(DPFedAvg):
    """Federated training with noise that is correlated over rounds (tree aggregation): no sampling has to be trusted.

    Units take part in a public order, each at most once in users / per_round rounds; then the tree of noise begins anew.

    Examples
    --------
    >>> DPFTRL(NetTask("lm", dict), rounds=20, per_round=100, noise=4.0, delta=1e-4).plan(2000).event().times
    5
    """

    name: ClassVar[str] = "federated.dp_ftrl"

    def __init__(
        self,
        task: Task,
        rounds: int = 10,
        per_round: int = 10,
        epsilon: float | None = None,
        delta: float = 1e-5,
        noise: float | None = None,
        clip: float = 0.2,
        clipping: str = "flat",
        weighting: str = "equal",
        local: LocalStep = LocalTraining(),  # noqa: B008  (frozen)
        users: int | None = None,
        unit: str = "user",
        seed: int | None = None,
    ):
        self.task, self.rounds, self.per_round = task, rounds, per_round
        self.epsilon, self.delta, self.noise = epsilon, delta, noise
        self.clip, self.clipping, self.weighting, self.local = clip, clipping, weighting, local
        self.users, self.unit, self.seed = users, unit, seed

    @property
    def step(self) -> ServerStep:  # type: ignore[override]
        return ServerStep()

    def _sampling(self) -> str:
        return "in-turn"

    @classmethod
    def _small_sampling(cls) -> dict[str, Any]:
        return {}


class Remote(FederatedModel):
    """The model is passed from site to site, each trains it further (paper 09). Nothing is promised.

    A site sees the model that the site before it has just trained.
    """

    name: ClassVar[str] = "federated.remote"
    clip, clipping, weighting, per_round = None, "flat", "equal", 1

    def __init__(
        self,
        task: Task,
        rounds: int = 10,
        local: LocalStep = LocalTraining(),  # noqa: B008  (frozen)
        users: int | None = None,
        unit: str = "client",
        seed: int | None = None,
    ):
        self.task, self.rounds, self.local = task, rounds, local
        self.users, self.unit, self.seed = users, unit, seed

    @property
    def step(self) -> ServerStep:  # type: ignore[override]
        return ServerStep()

    def plan(self, units: int) -> RoundPlan:
        """One round is one site's turn: `rounds` times round all of them."""
        return RoundPlan(
            users=units,
            per_round=1,
            rounds=self.rounds * units,
            sampling="cycle",
            unit=self.unit,  # type: ignore[arg-type]
            mechanism=self.name,
        )

    @classmethod
    def example(cls) -> Example:
        model: Any = cls(NetTask("numbers", TwoNumbers), rounds=1, local=LocalTraining(rate=0.1))
        return Example(
            model, [[float(k), 1.0] for k in range(6)], Shape(units=6), see=_weights, exempt=EXEMPT | cls._exempt()
        )


class Central(Remote):
    """Sites send batches of their examples to an operator, who trains (paper 09). Nothing is promised.

    The operator receives the text itself.
    """

    name: ClassVar[str] = "federated.central"

    def plan(self, units: int) -> RoundPlan:
        return RoundPlan(
            users=units,
            per_round=units,
            rounds=self.rounds,
            unit=self.unit,  # type: ignore[arg-type]
            mechanism=self.name,
        )

    def _run(self, federation: Federation, units: Units, noise: Source) -> RoundState:
        from .central import run_central
        from .in_process import InProcessGrid

        local = self.local if isinstance(self.local, LocalTraining) else LocalTraining()
        grid = InProcessGrid(make_client_app(self._setup(units, sends_examples=True)))
        steps = max(1, -(-max(map(len, units)) * local.epochs // local.batch))
        return run_central(grid, federation, FreeBook(noise), self.task.build(), local, steps=steps)


# ---- the example of the conformance suite --------------------------------------------------------------------------


class TwoNumbers:
    """Builds the smallest net: it learns the mean of its examples, by two parameters of which one has no dimension."""

    def __new__(cls) -> Any:
        import torch
        from torch import nn

        class Mean(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.level = nn.Parameter(torch.zeros(()))
                self.shift = nn.Parameter(torch.zeros(1))

            def collate(self, examples: Sequence[float]) -> Any:
                return torch.tensor(list(examples), dtype=torch.float32)

            def losses(self, batch: Any) -> Any:
                return (self.level + self.shift - batch).square()

        return Mean()


def _weights(model: FederatedModel) -> Flat:
    return model.state_.weights
