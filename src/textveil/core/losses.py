"""What is bounded: the kinds of privacy loss, how each is worded, and which of them have a sum.

Each class states a bound on how much better anyone can tell two neighbouring worlds apart after seeing the output M.

    Pure(e)                 P[M(x) in S] <= exp(e) P[M(x') in S]
    Approx(e, d)            P[M(x) in S] <= exp(e) P[M(x') in S] + d
    Renyi(a, e)             the Renyi divergence of order a is at most e
    ZCDP(rho)               the Renyi divergence of every order a is at most rho * a
    Metric(e, m)            P[M(x) = y] <= exp(e m(x, x')) P[M(x') = y]
    LimitedPrecision(e, n)  Metric(e / n, L1 of counts), read at distance n (plus d, if noise came from a table)
    Measured, Cryptographic, NoPromise carry no such theorem; they are listed and never summed.

Sums are sequential composition: losses of one kind add, Pure counts as Approx with d = 0. What has no sum raises
CannotAdd, because a silent wrong number is worse than an error. Events, which compose more tightly, are added by the
accountant (accounting room), not here.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from .errors import BadInput, CannotAdd, UnknownName
from .params import fraction, non_negative, positive_integer

COUNTS_METRIC = "counts_l1"


@dataclass(frozen=True)
class Loss:
    """Base of all losses: a frozen value with a JSON form and a label for cards."""

    kind: ClassVar[str] = ""
    label: ClassVar[str] = "guarantee"

    def plus(self, other: Loss) -> Loss:
        raise CannotAdd(f"a loss of kind '{self.kind}' has no sum with one of kind '{other.kind}'")

    def covers(self, other: Loss) -> bool:
        """True when a promise of `self` follows from one of `other` (self is the weaker, larger bound)."""
        raise CannotAdd(f"a loss of kind '{self.kind}' does not compare with one of kind '{other.kind}'")

    def sentence(self) -> str:
        raise CannotAdd(f"a loss of kind '{self.kind}' has no sentence")

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **{k: _finite(v) for k, v in asdict(self).items()}}


@dataclass(frozen=True)
class Approx(Loss):
    epsilon: float
    delta: float
    kind: ClassVar[str] = "approx"

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        fraction("delta", self.delta)

    def plus(self, other: Loss) -> Loss:
        match other:
            case Approx(epsilon, delta):
                total = Approx(self.epsilon + epsilon, min(1.0, self.delta + delta))
                return Pure(total.epsilon) if total.delta == 0 else total
        return super().plus(other)

    def covers(self, other: Loss) -> bool:
        match other:
            case Approx(epsilon, delta):
                return epsilon <= self.epsilon and delta <= self.delta
        return super().covers(other)

    def sentence(self) -> str:
        slack = f", except with probability {self.delta:.3g}" if self.delta else ""
        return f"no result becomes more than {times(self.epsilon)} as likely (epsilon {self.epsilon:.4g}){slack}"


@dataclass(frozen=True)
class Pure(Approx):
    """Approx with delta 0.

    >>> Pure(1.0).plus(Approx(0.5, 1e-6))
    Approx(epsilon=1.5, delta=1e-06)
    >>> Pure(1.0).plus(Pure(2.0))
    Pure(epsilon=3.0, delta=0.0)
    """

    delta: float = 0.0
    kind: ClassVar[str] = "pure"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta:
            raise CannotAdd("a pure loss has delta 0; use Approx")

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": _finite(self.epsilon)}


@dataclass(frozen=True)
class Renyi(Loss):
    alpha: float
    epsilon: float
    kind: ClassVar[str] = "renyi"

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        if not self.alpha > 1:
            raise CannotAdd("a Renyi order is above 1")

    def plus(self, other: Loss) -> Loss:
        if isinstance(other, Renyi) and other.alpha == self.alpha:
            return Renyi(self.alpha, self.epsilon + other.epsilon)
        return super().plus(other)

    def covers(self, other: Loss) -> bool:
        if isinstance(other, Renyi) and other.alpha >= self.alpha:  # the divergence grows with its order
            return other.epsilon <= self.epsilon
        return super().covers(other)

    def sentence(self) -> str:
        return f"the Renyi divergence of order {self.alpha:g} between the two worlds is at most {self.epsilon:.4g}"


@dataclass(frozen=True)
class ZCDP(Loss):
    rho: float
    kind: ClassVar[str] = "zcdp"

    def __post_init__(self) -> None:
        non_negative("rho", self.rho)

    def plus(self, other: Loss) -> Loss:
        return ZCDP(self.rho + other.rho) if isinstance(other, ZCDP) else super().plus(other)

    def covers(self, other: Loss) -> bool:
        return other.rho <= self.rho if isinstance(other, ZCDP) else super().covers(other)

    def sentence(self) -> str:
        return f"the Renyi divergence of every order a between the two worlds is at most {self.rho:.4g} * a"


@dataclass(frozen=True)
class Metric(Loss):
    """Loss proportional to a distance. A metric is its name and the fingerprint of the vectors it is measured on.

    >>> Metric(0.5, "hamming", "ab12").plus(Metric(0.25, "hamming", "ab12")).epsilon
    0.75
    """

    epsilon: float
    metric: str
    metric_id: str = ""
    diameter: float | None = None  # largest distance between two inputs, a public fact
    kind: ClassVar[str] = "metric"

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)

    @property
    def worst(self) -> float:
        """Loss between the two most different inputs; infinite when the diameter is not known."""
        return math.inf if self.diameter is None else self.epsilon * self.diameter

    def same_metric(self, other: Loss) -> bool:
        return isinstance(other, Metric) and (other.metric, other.metric_id) == (self.metric, self.metric_id)

    def plus(self, other: Loss) -> Loss:
        if isinstance(other, Metric) and self.same_metric(other):
            known = [d for d in (self.diameter, other.diameter) if d is not None]
            return Metric(self.epsilon + other.epsilon, self.metric, self.metric_id, max(known, default=None))
        return super().plus(other)

    def covers(self, other: Loss) -> bool:
        if isinstance(other, Metric) and self.same_metric(other):
            return other.epsilon <= self.epsilon
        return super().covers(other)

    def sentence(self) -> str:
        text = (
            f"for two inputs at {self.metric} distance D, no result is more than exp({self.epsilon:.4g} * D) times as "
            "likely from one as from the other"
        )
        if self.diameter is None:
            return text
        return text + (
            f"; the two most different inputs are {self.diameter:.4g} apart, so the worst loss is {self.worst:.4g}"
        )

    def to_json(self) -> dict[str, Any]:
        shown = super().to_json()
        return {k: v for k, v in shown.items() if k != "diameter" or v is not None}


@dataclass(frozen=True)
class LimitedPrecision(Loss):
    """(N, epsilon) limited-precision local privacy: documents that differ by at most N in total count.

    >>> LimitedPrecision(1.0, 10).plus(LimitedPrecision(1.0, 5))   # 1/10 + 1/5 per count, read at N = 10
    LimitedPrecision(epsilon=3.0, n=10, delta=0.0)
    """

    epsilon: float
    n: int
    delta: float = 0.0
    kind: ClassVar[str] = "limited_precision"

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        positive_integer("n", self.n)
        fraction("delta", self.delta)

    def at(self, n: int) -> LimitedPrecision:
        """The same promise read at distance n. The table's delta is (1 + e^eps) * TV, so it is rescaled with eps."""
        epsilon = self.epsilon * n / self.n
        if self.delta == 0:
            return LimitedPrecision(epsilon, n)
        log_growth = math.log1p(math.exp(-abs(epsilon))) + max(epsilon, 0.0) - math.log1p(math.exp(self.epsilon))
        return LimitedPrecision(epsilon, n, min(1.0, self.delta * math.exp(min(log_growth, 700.0))))

    def plus(self, other: Loss) -> Loss:
        if isinstance(other, LimitedPrecision):
            n = max(self.n, other.n)
            a, b = self.at(n), other.at(n)
            return LimitedPrecision(a.epsilon + b.epsilon, n, min(1.0, a.delta + b.delta))
        return super().plus(other)

    def covers(self, other: Loss) -> bool:
        if isinstance(other, LimitedPrecision):
            n = max(self.n, other.n)
            a, b = self.at(n), other.at(n)
            return b.epsilon <= a.epsilon and b.delta <= a.delta
        return super().covers(other)

    def sentence(self) -> str:
        slack = f", except with probability {self.delta:.3g}" if self.delta else ""
        return (
            f"for two documents whose word counts differ by at most {self.n} in total, no result becomes more than "
            f"{times(self.epsilon)} as likely (epsilon {self.epsilon:.4g}){slack}"
        )


@dataclass(frozen=True)
class Measured(Loss):
    """A number that describes this data. No theorem stands behind it."""

    epsilon: float
    delta: float
    how: str
    kind: ClassVar[str] = "measured"
    label: ClassVar[str] = "measured"

    def sentence(self) -> str:
        return f"measured on this data ({self.how}): epsilon {self.epsilon:.4g}, delta {self.delta:.3g}; no theorem covers it"


@dataclass(frozen=True)
class Cryptographic(Loss):
    """Security of a protocol in a stated model of trust."""

    model: str
    kind: ClassVar[str] = "cryptographic"
    label: ClassVar[str] = "cryptographic"

    def sentence(self) -> str:
        return f"protected by a cryptographic protocol in this model: {self.model}"


@dataclass(frozen=True)
class NoPromise(Loss):
    """Nothing is promised, and why. `how` is heuristic, broken (a shipped attack defeats it) or seeded (a draft)."""

    why: str
    how: str = "heuristic"
    kind: ClassVar[str] = "no_promise"

    def __post_init__(self) -> None:
        if self.how not in ("heuristic", "broken", "seeded"):
            raise UnknownName("kind of missing promise", self.how, ("heuristic", "broken", "seeded"))

    @property
    def label(self) -> str:  # type: ignore[override]
        return self.how

    def sentence(self) -> str:
        return f"nothing is promised ({self.how}): {self.why}"


KINDS: dict[str, type[Loss]] = {
    c.kind: c for c in (Pure, Approx, Renyi, ZCDP, Metric, LimitedPrecision, Measured, Cryptographic, NoPromise)
}


def loss_from_json(shown: dict[str, Any]) -> Loss:
    """The inverse of `to_json`; unknown kinds are unsupported, not guessed.

    >>> loss_from_json(Metric(0.5, "hamming", "ab12").to_json())
    Metric(epsilon=0.5, metric='hamming', metric_id='ab12', diameter=None)
    """
    kind = shown.get("kind", "")
    if kind not in KINDS:
        raise UnknownName("kind of loss", str(kind), KINDS)
    cls = KINDS[kind]
    known = {f.name for f in fields(cls)}
    values = {k: math.inf if v == "inf" else v for k, v in shown.items() if k in known}
    try:
        return cls(**values)
    except TypeError as error:
        raise BadInput(f"a loss of kind '{kind}' lacks a value", possible=", ".join(sorted(known))) from error


def times(epsilon: float) -> str:
    """exp(epsilon) in words.

    >>> times(0.5), times(20)
    ('1.65 times', '4.9e+08 times')
    """
    if epsilon > 700:
        return "any number of times"
    odds = math.exp(epsilon)
    return f"{odds:.3g} times" if odds < 1e4 else f"{odds:.1e} times"


def _finite(value: Any) -> Any:
    return "inf" if isinstance(value, float) and math.isinf(value) else value
