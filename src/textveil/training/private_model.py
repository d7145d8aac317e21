"""What the private estimators share: settings, the plan they make, the promise they give, and the fit itself.

A private model is a Mechanism: `event` says what training will cost from public facts alone, `fit` does it. The number
of units is public only as declared (`examples=`), or else rounded to two digits; the set of tags or classes is declared
public. With `epsilon=None` the same net is fitted plainly: a yardstick, which promises nothing.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from textveil.core import (
    Adjacency,
    Approx,
    BadInput,
    Estimator,
    Event,
    Guarantee,
    NoPromise,
    Shape,
    Unit,
    UnknownName,
    Unpriced,
)
from textveil.core.params import needs, open_fraction, positive
from textveil.noise import Source, source_for

from .calibrate import calibrated
from .plan import SOURCE, Plan

TOLERANCE = 3e-3  # of the noise above the least possible; each further digit costs seconds
Progress = Callable[[Any], None]  # called with an engine.Progress: step, steps, epsilon, delta


@dataclass(frozen=True)
class Settings:
    """How to train, for all private models; each kind of model has its own defaults."""

    epsilon: float | None = None  # None: plain training without any promise
    delta: float = 1e-5
    unit: str = "example"  # or "user"
    epochs: float = 30
    batch: int = 2048  # expected size of a Poisson batch; at most the number of units
    clip: float = 0.2
    rate: float = 0.003
    optimiser: str = "adamw"
    rate_schedule: str = "constant"
    average: float | None = 0.9  # exponential average of the iterates; None: the last one
    sampling: str = "poisson"
    examples: int | None = None  # declared public number of units
    micro_batch: int = 256
    also: tuple[Event, ...] = ()  # other events under the same promise (a DP vocabulary)
    seed: int | None = None  # makes a draft


SHARED = tuple(f.name for f in fields(Settings))


class PrivateModel(Estimator):
    """Base of Tagger, Classifier and LanguageModel. Takes every field of `Settings` by name, besides its own parameters."""

    name: ClassVar[str] = "training.model"
    defaults: ClassVar[Settings] = Settings()
    _source: Source | None = None  # given by `apply`

    epsilon: float | None
    delta: float
    examples: int | None
    seed: int | None
    unit: str

    def _take(self, given: dict[str, Any]) -> None:
        for key in given:
            if key not in SHARED:
                raise UnknownName(f"parameter of {type(self).__name__}", key, self._parameter_names())
        for key, value in {**_shallow(self.defaults), **given}.items():
            setattr(self, key, value)

    @classmethod
    def _parameter_names(cls) -> list[str]:
        own = [p.name for p in inspect.signature(cls.__init__).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        return [*[n for n in own if n != "self"], *SHARED]

    def __repr__(self) -> str:
        signature = inspect.signature(type(self).__init__).parameters
        usual = {**_shallow(self.defaults), **{n: p.default for n, p in signature.items()}}
        shown = [f"{k}={v!r}" for k, v in self.get_params().items() if v != usual[k]]
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def settings(self) -> Settings:
        return Settings(**{key: getattr(self, key) for key in SHARED})

    # ---- the promise ---------------------------------------------------------------------------------------------

    def plan(self, units: int) -> Plan:
        """What a run over a declared number of units will do."""
        s = self.settings
        if s.epsilon is None:
            raise BadInput("without epsilon there is no private plan", possible="epsilon=3.0, delta=1e-5")
        batch = min(s.batch, units)
        return calibrated(
            positive("epsilon", s.epsilon),
            open_fraction("delta", s.delta),
            batch=batch,
            examples=units,
            epochs=s.epochs,
            also=s.also,
            clip=s.clip,
            sampling=s.sampling,
            unit=Unit(s.unit),
            tolerance=TOLERANCE,
        )

    def declared(self, count: int) -> int:
        """The public number of units: as declared, else to two digits (fixed-size batches need the exact one)."""
        return self.examples or (count if self.settings.sampling == "fixed" else rounded(count))

    def event(self, shape: Shape | Plan | None = None) -> Event:
        """What training costs each unit, without what stands in `also`."""
        if isinstance(shape, Plan):
            plan = shape
        else:
            units = self.examples or (shape.units if shape is not None else None)
            if units is None:
                raise BadInput("the number of units must be declared", possible="examples=N, or Shape(units=N)")
            plan = self.plan(units)
        event = replace(plan.event(), mechanism=self.name)
        event = replace(event, assumes=(*event.assumes, *self._assumes(plan)))
        if self.seed is None:
            return event
        why = "drawn with a seed, which undoes the noise for whoever knows it"
        return replace(event, noise=Unpriced(NoPromise(why, "seeded")), times=1)

    def _assumes(self, plan: Plan) -> tuple[str, ...]:
        how = "exact" if plan.sampling == "fixed" else "declared" if self.examples else "rounded to two digits"
        return (f"the number of units is public as {plan.examples:,} ({how})", *self._public())

    def _public(self) -> tuple[str, ...]:
        """What else this kind of model takes to be public."""
        return ()

    def promise(self, plan: Plan | None) -> Guarantee:
        """The guarantee of a model trained by this plan (and of `also` with it)."""
        unit = Unit(self.unit)
        if plan is None:
            return Guarantee(NoPromise("trained without any noise", "heuristic"), unit, Adjacency.ADD_REMOVE)
        event = self.event(plan)
        if isinstance(event.noise, Unpriced):
            return Guarantee(event.noise.loss, unit, plan.adjacency, event.assumes, SOURCE)
        priced = plan.price(self.delta, also=self.settings.also)
        return Guarantee(Approx(priced.epsilon, self.delta), unit, plan.adjacency, event.assumes, SOURCE)

    # ---- training --------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Sequence[Any],
        y: Sequence[Any] | None = None,
        users: Sequence[Any] | None = None,
        *,
        plan: Plan | None = None,
        progress: Progress | None = None,
        checkpoint: Path | None = None,
        charge_repeated: Callable[[Event], None] | None = None,
    ) -> Self:
        """Learn under the promise asked for. `users`: whose each example is, for unit "user"; `plan`: instead of the
        calibrated
        one; `checkpoint` and `charge_repeated` as in `PrivateTrainer.fit`."""
        examples = self.prepare(X, y)
        units = self._units(examples, users)
        if self.epsilon is None:
            self.plan_, self.history_ = None, self._plainly(examples)
        else:
            self.plan_ = plan or self.plan(self.declared(len(units)))
            trainer = self.trainer(self.plan_)
            self.history_ = trainer.fit(
                units, progress=progress, checkpoint=checkpoint, charge_repeated=charge_repeated
            )
        self.guarantee_ = self.promise(self.plan_)
        self.net_.eval()
        return self

    def apply(self, data: Any, *, noise: Source) -> Self:
        """A fitted copy: `data` is (examples, targets), (examples, targets, users), or the texts of a language model."""
        X, y, users = (*data, None, None)[:3] if isinstance(data, tuple) else (data, None, None)
        made = type(self)(**self.get_params())
        made._source = noise
        return made.fit(X, y, users)

    def prepare(self, X: Sequence[Any], y: Sequence[Any] | None = None) -> list[Any]:
        """Check the examples and build an untrained net: all that can fail without touching the budget."""
        needs("training", "torch")
        from textveil.nets.fit import own_randomness

        examples = self._examples(X, y)
        if not examples:
            raise BadInput("there is no example to learn from")
        with own_randomness(0 if self.seed is None else self.seed):
            self.net_ = self._net()
        return examples

    def trainer(self, plan: Plan) -> Any:
        """The engine for this plan, on the net that `prepare` built."""
        from .engine import PrivateTrainer

        s = self.settings
        return PrivateTrainer(
            self.net_,
            plan,
            optimiser=s.optimiser,
            rate=s.rate,
            rate_schedule=s.rate_schedule,
            source=self._source or source_for(self.seed),
            micro_batch=s.micro_batch,
            average=s.average,
            delta=s.delta,
        )

    def _units(self, examples: Sequence[Any], users: Sequence[Any] | None) -> list[Any]:
        if self.unit != "user":
            return list(examples)
        if users is None or len(users) != len(examples):
            raise BadInput("unit 'user' needs the user of every example", possible="users=[...]")
        held: dict[Any, list[Any]] = {}
        for user, example in zip(users, examples, strict=True):
            held.setdefault(user, []).append(example)
        return list(held.values())

    def _plainly(self, examples: Sequence[Any]) -> list[float]:
        from textveil.nets.plain_fit import fit_plainly

        s = self.settings
        return fit_plainly(
            self.net_,
            examples,
            epochs=math.ceil(s.epochs),
            batch=min(s.batch, len(examples)),
            rate=s.rate,
            optimiser="sgd" if s.optimiser == "sgd" else "adam",
            decay=s.optimiser != "sgd",
            seed=s.seed or 0,
        )

    def save(self, folder: str | Path) -> Path:
        """The model folder, which loads in plain torch (or transformers) without Textveil."""
        self._fitted().save(Path(folder))
        return Path(folder)

    def losses(self, examples: Sequence[Any]) -> Any:
        """The loss of each example (a pair, or a text) under the fitted model: what membership tests look at."""
        from textveil.nets.folders import example_losses

        return example_losses(self._fitted(), list(examples)).numpy()

    def _fitted(self) -> Any:
        if not self.__sklearn_is_fitted__():
            raise BadInput(f"{type(self).__name__} has not been fitted", possible="fit first")
        return self.net_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "net_")

    def _examples(self, X: Sequence[Any], y: Sequence[Any] | None) -> list[Any]:
        """The examples as the net takes them, checked; sets `classes_` where there are classes."""
        raise BadInput(f"{type(self).__name__} has no examples")

    def _net(self) -> Any:
        raise BadInput(f"{type(self).__name__} has no net")


def rounded(count: int) -> int:
    """A count to two digits: what is declared public where nobody declared a number.

    >>> rounded(14041), rounded(7)
    (14000, 7)
    """
    unit = 10 ** max(0, len(str(count)) - 2)
    return max(1, round(count / unit) * unit)


def _shallow(settings: Settings) -> dict[str, Any]:
    return {key: getattr(settings, key) for key in asdict(settings)}
