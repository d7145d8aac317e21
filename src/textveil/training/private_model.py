"""What the private estimators share: settings, the plan they make, the promise they give, and the fit itself.

A private model is a Mechanism: `event` says what training will cost from public facts alone, `apply` runs the plan that
this event was made of. The number of units is public only as declared (`examples=`), or else rounded; tags and classes
are public when declared, and else `passes` says that they were taken from the private data. With `epsilon=None` the same
net is fitted plainly: a yardstick, which promises nothing.

A delta of 1 / n or more would be kept by showing one of n units whole, so it is refused unless `allow_large_delta`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from textveil.accounting.deltas import check_delta
from textveil.accounting.journal import Journal
from textveil.core import Adjacency, Approx, BadInput, Estimator, Event, Guarantee, NoPromise, Shape, Unit, UnknownName
from textveil.core.draft import as_draft
from textveil.core.errors import not_fitted
from textveil.core.example import Example
from textveil.core.params import needs, open_fraction, positive
from textveil.noise import Source

from .calibrate import calibrated
from .plan import SOURCE, TrainingPlan, price_together
from .public_values import public_value
from .settings import SettingNames as SettingNames
from .settings import Settings as Settings
from .units import units_of

if TYPE_CHECKING:
    from .engine import History, PrivateTrainer

TOLERANCE = 3e-3  # of the noise above the least possible; each further digit costs seconds
Progress = Callable[[Any], None]  # called with an engine.Progress: step, steps, epsilon, delta


SHARED = tuple(f.name for f in fields(Settings))


class PrivateModel(Estimator):
    """Base of Tagger, Classifier and LanguageModel. Takes every field of `Settings` by name, besides its own parameters.

    The settings are written once; each class's signature lists them with its own defaults, for scikit-learn and `help`.

    Parameters
    ----------
    epsilon
        Loss of one unit by the whole training; 1 to 8 is usual. None trains without any promise.
    delta
        Chance that the bound fails; well below 1 / units.
    unit
        Whom the promise is about: "example", or "user" (all that one user wrote; `fit` then takes `users`).
    epochs
        How often each example is drawn, on average. More learn more, at more noise.
    batch
        Expected size of a batch; large ones drown the noise. At most the number of units.
    clip
        The longest pull (gradient) that one unit may have.
    rate
        Learning rate.
    optimiser
        How steps are taken: "adamw" or "sgd".
    rate_schedule
        How the learning rate goes on: "constant", "linear" or "cosine".
    average
        Decay of the running mean of models that is kept, e.g. 0.99; None keeps the last model.
    sampling
        "poisson": each unit joins a batch by a coin; "fixed": batches of one size, which cost more.
    examples
        Declared public number of units; None takes their number, rounded.
    micro_batch
        Examples in memory at once; changes no result.
    also
        Other events under the same promise, such as that of a private vocabulary.
    seed
        None draws from the secure source. A number makes a draft, which protects nobody.
    allow_large_delta
        Allow a delta of 1 / units or more, at which publishing one whole record would keep the promise.
    """

    name: ClassVar[str] = "training.model"
    defaults: ClassVar[Settings] = Settings()
    _planned: tuple[Settings, TrainingPlan] | None = None  # what the last event was made of

    epsilon: float | None
    delta: float
    examples: int | None
    seed: int | None
    unit: str
    plan_: TrainingPlan | None
    history_: Any
    guarantee_: Guarantee
    net_: Any

    def __init_subclass__(cls, **more: Any) -> None:
        if "__init__" in vars(cls):
            cls.__init__.__signature__ = _whole_signature(cls)  # type: ignore[attr-defined]
        super().__init_subclass__(**more)  # which explains every parameter of the signature

    def _take(self, given: Mapping[str, Any]) -> None:
        for key in given:
            if key not in SHARED:
                raise UnknownName(f"parameter of {type(self).__name__}", key, self._parameter_names())
        for key, value in {**_shallow(self.defaults), **given}.items():
            setattr(self, key, value)

    def __repr__(self) -> str:
        usual = inspect.signature(type(self).__init__).parameters
        shown = [f"{k}={v!r}" for k, v in self.get_params().items() if not _is_usual(v, usual[k].default)]
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def settings(self) -> Settings:
        return Settings(**{key: getattr(self, key) for key in SHARED})

    # ---- the promise ---------------------------------------------------------------------------------------------

    def plan(self, units: int) -> TrainingPlan:
        """What a run over a declared number of units will do."""
        s = self.settings
        if s.epsilon is None:
            raise BadInput("without epsilon there is no private plan", possible="epsilon=3.0, delta=1e-5")
        self._check_delta(units)
        return calibrated(
            positive("epsilon", s.epsilon),
            open_fraction("delta", s.delta),
            batch=min(s.batch, units),
            examples=units,
            epochs=s.epochs,
            also=s.also,
            clip=s.clip,
            sampling=s.sampling,
            unit=Unit(s.unit),
            tolerance=TOLERANCE,
        )

    def declared(self, count: int) -> int:
        """The public number of units: as declared, else rounded (fixed-size batches need the exact one)."""
        return self.examples or (count if self.settings.sampling == "fixed" else rounded(count))

    def event(self, shape: Shape | TrainingPlan | None = None) -> Event:
        """What training costs each unit, without what stands in `also`; whether a seed is given plays no part."""
        plan = shape if isinstance(shape, TrainingPlan) else self._plan_of_shape(shape)
        self._check_delta(plan.examples)
        self._planned = (self.settings, plan)
        event = replace(plan.event(), mechanism=self.name)
        return replace(event, assumes=(*event.assumes, *self._assumes(plan)))

    def passes(self) -> tuple[str, ...]:
        """What the model shows of the private data beside the promise, by name."""
        return ()

    def public_params(self) -> dict[str, Any]:
        """The parameters as a release may show them: plain values, never the seed."""
        return {name: public_value(name, value) for name, value in self.get_params().items() if name != "seed"}

    def promise(self, plan: TrainingPlan | None, history: History | None = None) -> Guarantee:
        """The guarantee of a model trained by this plan, together with `also`.

        With the history of a run it is that of the run as it went: steps that were done again count twice, and what was
        drawn with a seed promises nothing.
        """
        unit = Unit(self.unit)
        if plan is None:
            return Guarantee(NoPromise("trained without any noise", "heuristic"), unit, Adjacency.ADD_REMOVE)
        event = self.event(plan)
        if history is not None and history.draft:
            loss = as_draft(event).noise.loss  # type: ignore[attr-defined]
            return Guarantee(loss, unit, plan.adjacency, event.assumes, SOURCE)
        spent = plan.event() if history is None else history.event
        priced = price_together([*self.settings.also, spent], self.delta)
        return Guarantee(Approx(priced.epsilon, self.delta), unit, plan.adjacency, event.assumes, SOURCE)

    def _plan_of_shape(self, shape: Shape | None) -> TrainingPlan:
        units = self.examples or (shape.units if shape is not None else None)
        if units is None:
            raise BadInput("the number of units must be declared", possible="examples=N, or Shape(units=N)")
        return self.plan(units)

    def _check_delta(self, units: int) -> None:
        check_delta(open_fraction("delta", self.delta), units, allow=self.settings.allow_large_delta)

    def _assumes(self, plan: TrainingPlan) -> tuple[str, ...]:
        how = "exact" if plan.sampling == "fixed" else "declared" if self.examples else "rounded"
        return (f"the number of units is public as {plan.examples:,} ({how})", *self._public())

    def _public(self) -> tuple[str, ...]:
        """What else this kind of model takes to be public."""
        return ()

    # ---- training --------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        users: Any = None,
        *,
        plan: TrainingPlan | None = None,
        noise: Source | None = None,
        progress: Progress | None = None,
        checkpoint: Path | None = None,
        journal: Journal | None = None,
        charge_repeated: Callable[[Event], None] | None = None,
    ) -> Self:
        """Learn under the promise asked for. `users`: whose each example is, for unit "user"; `plan`: instead of the
        calibrated one; `noise`: the source of all draws; `checkpoint`, `journal` and `charge_repeated` as in
        `PrivateTrainer.fit`."""
        examples = self.prepare(X, y)
        units = self._units(examples, users)
        if self.epsilon is None:
            self.plan_, self.history_ = None, self._plainly(examples)
            self.guarantee_ = self.promise(None)
        else:
            self.plan_ = plan or self.plan(self.declared(len(units)))
            self._check_delta(self.plan_.examples)
            trainer = self.trainer(self.plan_, noise)
            self.history_ = trainer.fit(
                units, progress=progress, checkpoint=checkpoint, journal=journal, charge_repeated=charge_repeated
            )
            self.guarantee_ = self.promise(self.plan_, self.history_)
        self.net_.eval()
        return self

    def check_data(self, data: Any, shape: Shape) -> None:
        """Refuse examples that `apply` could not take, before anything is charged."""
        X, y, users = _parts(data)
        scratch = type(self)(**self.get_params())
        units = scratch._units(scratch._checked(X, y), users)
        declared = self.examples or shape.units
        if self.settings.sampling == "fixed" and declared is not None and declared != len(units):
            raise BadInput("fixed-size batches need exactly the declared number of units, and there are others")

    def apply(self, data: Any, *, noise: Source) -> Self:
        """A fitted copy: `data` is (examples, targets), (examples, targets, users), or the texts of a language model.

        It runs the plan of the last `event`, so that what was charged is what is done.
        """
        X, y, users = _parts(data)
        settings, plan = self._planned or (None, None)
        fitted = type(self)(**self.get_params())
        return fitted.fit(X, y, users, plan=plan if settings == self.settings else None, noise=noise)

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on: three steps on eight examples."""
        from .example import model_example

        return model_example(cls)

    def prepare(self, X: Sequence[Any], y: Sequence[Any] | None = None) -> list[Any]:
        """Check the examples and build an untrained net: all that can fail without touching the budget."""
        needs("training", "torch")
        from textveil.nets.fit import own_randomness

        examples = self._checked(X, y)
        with own_randomness(0 if self.seed is None else self.seed):
            self.net_ = self._net()
        return examples

    def _checked(self, X: Sequence[Any], y: Sequence[Any] | None) -> list[Any]:
        if isinstance(X, str):
            raise BadInput("the examples are one string", possible="a list of examples")
        examples = self._examples(X, y)
        if not examples:
            raise BadInput("there is no example to learn from")
        return examples

    def trainer(self, plan: TrainingPlan, noise: Source | None = None) -> PrivateTrainer:
        """The engine for this plan, on the net that `prepare` built."""
        from .engine import PrivateTrainer

        s = self.settings
        return PrivateTrainer(
            self.net_,
            plan,
            optimiser=s.optimiser,
            rate=s.rate,
            rate_schedule=s.rate_schedule,
            source=noise,
            seed=self.seed,
            micro_batch=s.micro_batch,
            average=s.average,
            delta=s.delta,
        )

    def _units(self, examples: Sequence[Any], users: Sequence[Any] | None) -> list[Any]:
        if self.unit != "user":
            return list(examples)
        return units_of(examples, users, self.unit)

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
        net = self._fitted()
        from textveil.nets.folders import example_losses

        return example_losses(net, list(examples)).numpy()

    def _fitted(self) -> Any:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self, "fit first, or textveil.training.load(folder)")
        return self.net_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "net_")

    def _examples(self, X: Sequence[Any], y: Sequence[Any] | None) -> list[Any]:
        """The examples as the net takes them, checked; sets `classes_` where there are classes."""
        raise BadInput(f"{type(self).__name__} has no examples")

    def _net(self) -> Any:
        raise BadInput(f"{type(self).__name__} has no net")


def rounded(count: int) -> int:
    """A count to two digits and never finer than tens: what is public where nobody declared a number.

    No number comes out for fewer than nine counts, so none is exact; the sampler takes each unit with the chance that the
    rounded number says, whatever the true one is.

    >>> rounded(14041), rounded(59), rounded(7)
    (14000, 60, 10)
    """
    step = 10 ** max(1, len(str(count)) - 2)
    return max(step, round(count / step) * step)


def _whole_signature(cls: type[PrivateModel]) -> inspect.Signature:
    """The constructor's own parameters and every setting, with the defaults of the class."""
    written = inspect.signature(cls.__init__)
    own = [p for p in written.parameters.values() if p.kind is not p.VAR_KEYWORD]
    shared = [
        inspect.Parameter(
            f.name, inspect.Parameter.KEYWORD_ONLY, default=getattr(cls.defaults, f.name), annotation=f.type
        )
        for f in fields(Settings)
    ]
    return written.replace(parameters=[*own, *shared])


def _is_usual(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, (str, int, float, tuple)) and value == default)


def _parts(data: Any) -> tuple[Any, Any, Any]:
    """Examples, targets and users of what a mechanism is given."""
    X, y, users = (*data, None, None)[:3] if isinstance(data, tuple) else (data, None, None)
    return X, y, users


def _shallow(settings: Settings) -> dict[str, Any]:
    return {key: getattr(settings, key) for key in asdict(settings)}
