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

`even_guess` reads each bound as the largest chance to be right of someone who has to say which of two neighbouring worlds
is the true one, when both were equally likely before. The best such guesser is right (1 + TV) / 2 of the time, TV being the
total variation distance between the two laws of the output:

    (e, d)    TV <= (exp(e) - 1 + 2 d) / (exp(e) + 1), so he is right (exp(e) + d) / (exp(e) + 1) of the time: add up the two
              inequalities P(S) <= exp(e) Q(S) + d and 1 - Q(S) <= exp(e) (1 - P(S)) + d
    Renyi     KL is at most the divergence D of any order above 1, and TV <= sqrt(D / 2) (Pinsker) and
              TV <= sqrt(1 - exp(-D)) (Bretagnolle and Huber)

Printed figures are rounded up (`upward`), so that a sentence never states less than the bound.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, ClassVar

from .errors import BadInput, CannotAdd, UnknownName
from .params import fraction, non_negative, positive_integer

COUNTS_METRIC = "counts_l1"
_WORD_METRICS = ("angular", "euclidean", "hamming", "mahalanobis")
METRICS = {  # names of budgets; a plug-in may add its own
    *_WORD_METRICS,
    *(f"{name}+kinds" for name in _WORD_METRICS),
    COUNTS_METRIC,
}
_DUST = Decimal("1e-12")  # relative: what sums of doubles lose or gain, so that 0.1 + 0.2 prints as 0.3


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

    def even_guess(self) -> float | None:
        """The largest chance to be right of a guess between two neighbours that was even before; None without a theorem."""
        return None

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
        odds = f"{times(self.epsilon)} as likely (epsilon {upward(self.epsilon)})"
        return f"no result becomes more than {odds}{_slack(self.delta)}"

    def even_guess(self) -> float:
        return _even_guess(self.epsilon, self.delta)


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
        return f"the Renyi divergence of order {self.alpha:g} between the two worlds is at most {upward(self.epsilon)}"

    def even_guess(self) -> float:
        return _even_guess_of_divergence(self.epsilon)


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
        return f"the Renyi divergence of every order a between the two worlds is at most {upward(self.rho)} * a"

    def even_guess(self) -> float:
        return _even_guess_of_divergence(self.rho)


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
            f"for two inputs at {self.metric} distance D, no result is more than exp({upward(self.epsilon)} * D) times as "
            "likely from one as from the other"
        )
        if self.diameter is None:
            return text
        return text + (
            f"; the two most different inputs are {upward(self.diameter)} apart, so the worst loss is {upward(self.worst)}"
        )

    def even_guess(self) -> float:
        """Between the two most different inputs; certain when the diameter is not known."""
        return _even_guess(self.worst)

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
        return (
            f"for two documents that differ in at most {self.n} counts, no result becomes more than "
            f"{times(self.epsilon)} as likely (epsilon {upward(self.epsilon)}){_slack(self.delta)}"
        )

    def even_guess(self) -> float:
        """Between two documents that differ in at most n counts; not between any two documents."""
        return _even_guess(self.epsilon, self.delta)


@dataclass(frozen=True)
class Measured(Loss):
    """A number that describes this data. No theorem stands behind it."""

    epsilon: float
    delta: float
    how: str
    kind: ClassVar[str] = "measured"
    label: ClassVar[str] = "measured"

    def sentence(self) -> str:
        figures = f"epsilon {upward(self.epsilon)}, delta {upward(self.delta, 3)}"
        return f"measured on this data ({self.how}): {figures}; no theorem covers it"


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
    """exp(epsilon) in words, rounded up.

    >>> times(0.5), times(20)
    ('1.65 times', '4.9e+08 times')
    """
    if epsilon > 700:
        return "any number of times"
    odds = math.exp(epsilon)
    return f"{upward(odds, 3)} times" if odds < 1e4 else f"{upward(odds, 2)} times"


def upward(value: float, digits: int = 4) -> str:
    """A number as text with so many digits, never smaller than it is (but for the rounding of sums, one part in 10^12).

    >>> upward(0.3606273), upward(0.1 + 0.2), upward(2.0), upward(9.99991)
    ('0.3607', '0.3', '2', '10')
    """
    return _rounded(value, digits, 1 - _DUST, ROUND_CEILING)


def downward(value: float, digits: int = 4) -> str:
    """A number as text, never larger than it is: for what is left of a budget.

    >>> downward(0.3606273), downward(0.8 - 0.5)
    ('0.3606', '0.3')
    """
    return _rounded(value, digits, 1 + _DUST, ROUND_FLOOR)


def _rounded(value: float, digits: int, dust: Decimal, way: str) -> str:
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    exact = Decimal(value) * dust
    step = Decimal((0, (1,), exact.adjusted() - digits + 1))
    return f"{float(exact.quantize(step, way)):.{digits}g}"


def _slack(delta: float) -> str:
    return f", except with probability {upward(delta, 3)}" if delta else ""


def _even_guess(epsilon: float, delta: float = 0.0) -> float:
    share = math.exp(-min(epsilon, 700.0))  # (1 + delta / e^epsilon) / (1 + 1 / e^epsilon)
    return 1.0 if math.isinf(epsilon) else min(1.0, (1 + delta * share) / (1 + share))


def _even_guess_of_divergence(divergence: float) -> float:
    apart = min(math.sqrt(divergence / 2), math.sqrt(-math.expm1(-divergence)))
    return min(1.0, (1 + apart) / 2)


def _finite(value: Any) -> Any:
    return "inf" if isinstance(value, float) and math.isinf(value) else value
