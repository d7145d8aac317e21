"""From the name of a strategy to what is run: the plan, the local step, the server's step, and what the card says of it.

fedavg     local training, mean of the updates by examples; with a clip: equal weights, sum over the constant (clip-only)
fedsgd     one gradient a unit, a step on the server
dp-fedavg  fedavg with clip and noise (Algorithm 1 of paper 05, or Poisson rounds)
dp-ftrl    the same with noise that is correlated over rounds and no sampling to be trusted
remote     paper 09: the model is passed from site to site
central    paper 09: sites send batches of text to an operator who trains
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textveil.core import BadInput, Unit
from textveil.core.params import choice
from textveil.federated.local import LocalGradient, LocalStep, LocalTraining
from textveil.federated.plan import RoundPlan, calibrated
from textveil.federated.server_step import ServerStep
from textveil.training.private_model import rounded

STRATEGIES = ("fedavg", "fedsgd", "dp-fedavg", "dp-ftrl", "remote", "central")
LOCALS = ("sgd", "momentum", "adam", "dp-sgd")
NOISY = ("dp-fedavg", "dp-ftrl")
RATES = {"sgd": 0.5, "momentum": 0.05, "adam": 1e-3, "dp-sgd": 3e-3}
CLIP = 0.2

SERVER_SEES = (
    "the server sees the update of every {unit} (in a simulation: sums over a few) before noise is added, and what a {unit} "
    "wrote can be guessed from an update: the promise is towards whoever gets the model, not towards the server"
)
LEAKS = {
    "fedavg": "the server sees the update of every {unit}, and what a {unit} wrote can be guessed from it",
    "fedsgd": "the server sees a gradient of every {unit}; texts can be rebuilt from gradients, word by word",
    "remote": "each site gets the model that the site before it has just trained, and can tell its update from the model it "
    "sent round itself; nothing is averaged, nothing hides one site's text among that of others",
    "central": "the operator receives the text itself, batch by batch, and is trusted to forget it",
}


@dataclass(frozen=True)
class StrategyChoice:
    """What was asked for. None: the default of the strategy."""

    strategy: str = "fedavg"
    local: str = "sgd"
    rounds: int = 10
    per_round: int | None = None
    epsilon: float | None = None
    noise: float | None = None
    delta: float | None = None
    clip: float | None = None
    clipping: str = "flat"
    quantile: float = 0.5
    sampling: str | None = None
    weighting: str | None = None
    cap: int = 100
    rate: float | None = None
    batch: int = 16
    epochs: int = 1
    most: int | None = None
    server_step: str = "average"
    server_rate: float | None = None
    users: int | None = None  # declared

    def __post_init__(self) -> None:
        choice("strategy", self.strategy, STRATEGIES)
        if self.local == "texthide":
            raise BadInput(
                "TextHide is broken: it is run by simulation alone, never between sites",
                possible="textveil federate simulate --local texthide, or --local dp-sgd",
            )
        choice("local", self.local, LOCALS)
        self._check_promise()
        if self.local == "dp-sgd" and self.strategy not in ("fedavg", "remote"):
            raise BadInput("--local dp-sgd goes with the strategies fedavg and remote")
        if self.local != "sgd" and self.strategy in ("fedsgd", "central"):
            raise BadInput(
                f"--local {self.local} does not go with the strategy {self.strategy}", possible="--local sgd"
            )

    def _check_promise(self) -> None:
        asks = self.epsilon is not None or self.noise is not None
        promises = self.strategy in NOISY or self.local == "dp-sgd"
        if promises and (self.epsilon is None) == (self.noise is None):
            raise BadInput(
                f"{self.strategy} needs --epsilon or --noise, one of them", possible="--epsilon 8 --delta 1e-4"
            )
        if asks and not promises:
            raise BadInput(
                f"the strategy {self.strategy} adds no noise", possible="--strategy dp-fedavg, or --local dp-sgd"
            )
        if promises and self.delta is None:
            raise BadInput("delta is missing", possible="--delta D, well below 1 / users")

    @property
    def is_private(self) -> bool:
        return self.strategy in NOISY

    @property
    def mechanism(self) -> str:
        return f"federated.{self.strategy.replace('-', '_')}"


def make_plan(asked: StrategyChoice, units: int, unit: Unit) -> RoundPlan:
    """The plan for so many units; calibrated where an epsilon is asked for."""
    sampling = _sampling(asked)
    declared = asked.users or (rounded(units) if sampling == "poisson" else units)
    per_round = 1 if sampling == "cycle" else asked.per_round or min(declared, 100 if unit is Unit.USER else declared)
    if per_round > min(units, declared):
        raise BadInput(
            f"{per_round} {unit}s a round are more than there are", possible=f"--users-per-round of at most {units}"
        )
    if sampling == "in-turn" and asked.rounds < 1:
        raise BadInput("there is no round", possible="--rounds 10")
    clip = asked.clip if asked.clip is not None or not asked.is_private else CLIP
    if asked.local == "dp-sgd":
        clip = None  # it is the clip of one example there
    plan = RoundPlan(
        users=declared,
        per_round=per_round,
        rounds=asked.rounds * (declared if sampling == "cycle" else 1),
        sampling=sampling,
        clip=clip,
        noise=asked.noise or 0.0 if asked.is_private else 0.0,
        clipping=asked.clipping,
        quantile=asked.quantile,
        weighting=asked.weighting or ("equal" if clip is not None else "examples"),
        cap=asked.cap,
        unit=unit,
        mechanism=asked.mechanism,
    )
    if asked.is_private and asked.epsilon is not None:
        return calibrated(plan, asked.epsilon, float(asked.delta or 0))
    return plan


def _sampling(asked: StrategyChoice) -> str:
    fixed = {"dp-ftrl": "in-turn", "remote": "cycle"}
    if asked.strategy in fixed:
        return fixed[asked.strategy]
    return asked.sampling or ("poisson" if asked.strategy == "dp-fedavg" else "fixed")


def make_local(asked: StrategyChoice) -> LocalStep:
    """What each unit does; DP-SGD is put together by the recipe, after its charge."""
    if asked.strategy == "fedsgd":
        return LocalGradient()
    rate = asked.rate if asked.rate is not None else RATES[asked.local]
    optimiser = "sgd" if asked.local == "dp-sgd" else asked.local
    return LocalTraining(optimiser, rate, asked.batch, asked.epochs, most=asked.most)


def make_server_step(asked: StrategyChoice) -> ServerStep:
    """What the server does with the mean."""
    rate = asked.server_rate
    if asked.strategy == "fedsgd" and rate is None:
        rate = asked.rate if asked.rate is not None else RATES["sgd"]
    if asked.strategy == "dp-ftrl" and asked.server_step != "average":
        raise BadInput("dp-ftrl adds noisy sums as they are", possible="--server-step average")
    return ServerStep(asked.server_step, rate if rate is not None else 1.0)


def not_protected(asked: StrategyChoice, unit: Unit, *, simulated: bool) -> tuple[str, ...]:
    """What the card says that nobody is protected from."""
    said: list[str] = []
    if asked.is_private:
        said.append(SERVER_SEES.format(unit=unit))
    elif asked.local == "dp-sgd":
        said.append("the server and the other sites see each site's update, with that site's noise in it")
    else:
        said.append(LEAKS[asked.strategy].format(unit=unit))
    if simulated:
        said.append("this was a simulation: one machine held all the data")
    return tuple(said)


def parameters_of(asked: StrategyChoice, plan: RoundPlan, task: str) -> dict[str, Any]:
    """The parameters as a release shows them."""
    shown = {
        "task": task,
        "strategy": asked.strategy,
        "local": asked.local,
        "local_rate": asked.rate if asked.rate is not None else RATES[asked.local],
        "local_batch": asked.batch,
        "local_epochs": asked.epochs,
        "server_step": asked.server_step,
        **plan.to_json(),
    }
    if asked.epsilon is not None:
        shown["epsilon"] = asked.epsilon
    if asked.delta is not None:
        shown["delta"] = asked.delta
    return {name: value for name, value in shown.items() if value is not None}
