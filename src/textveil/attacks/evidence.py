"""What an attack found, and what that says about a promise.

Claim. From a count of successes, `epsilon_floor` is a lower confidence limit on the privacy loss of the mechanism: with
probability at least `level`, every (L, delta) that the mechanism truly keeps has L >= floor. If the floor exceeds what a
promise allows, the promise is refuted. The converse never holds: an audit can only refute.

Derivation. The mechanism keeps P_x(S) <= e^L P_x'(S) + delta for every pair x, x' of candidates and every event S.

(i) Guessing. A secret x has prior odds pi(x) <= c for every x; the attack guesses g(y). Let G_x = {y : g(y) = x} and
s_x = P_x(G_x), so that the chance to succeed is p = sum_x pi(x) s_x. A guess x is wrong with chance

    1 - p = sum_x sum_{x' != x} pi(x') P_x'(G_x)  >=  sum_x (1 - pi(x)) e^-L max(s_x - delta, 0)
          >= e^-L (1 - c)/c sum_x pi(x) (s_x - delta)  =  e^-L (1 - c)/c (p - delta),

using (1 - pi(x)) / pi(x) >= (1 - c)/c. Hence L >= ln((p - delta)/(1 - p)) - ln(c/(1 - c)); with delta = 0 this is
logit(p) - logit(c). It is tight for k-ary randomized response that reveals its input with chance delta. The right-hand
side grows with p, so a lower limit on p gives a lower limit on L. c is the share of the *best* constant guess, whether or
not the attacker knows it: `best_prior`, or `chance` where the two are the same number.

(ii) Two worlds. The attack says "world 1" with chance t in world 1 and f in world 0. Then t <= e^L f + delta, and by the
complements 1 - f <= e^L (1 - t) + delta:

    L >= ln((t - delta)/f)    and    L >= ln((1 - f - delta)/(1 - t)).

Both grow with t and fall with f. So one lower limit on t and one upper limit on f, each at level 1 - (1 - level)/2, hold
together with probability `level` and serve both lines; the larger one is taken, with no further correction.

Limits are Clopper and Pearson's (1934): exact for a binomial count. If the tries are independent but not equally easy
(words of one text), the count is no wider than the binomial of the same mean (Hoeffding 1956), and the limits still hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core import Approx, BadInput, BadParameter, CannotAdd, Guarantee, LimitedPrecision, Metric, Unit
from ..core.params import fraction, non_negative, open_fraction, positive, positive_integer

NOT_REFUTED = "not refuted; an audit can only refute, never prove"
DEPENDENT = "all tries share one model, so no false-alarm rate is known (training.one_run has one)"
_ROUNDING = 1e-9  # a floor must exceed the promise by more than floating-point error


class Judgement(NamedTuple):
    """What evidence says about a promise: a sentence, whether it is refuted, and the largest success it would allow."""

    sentence: str
    refuted: bool = False
    allowed: float | None = None


class Allowance(NamedTuple):
    """The loss that a promise allows between the two worlds (or among the candidates) of one attack."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Evidence:
    """Successes of one attack.

    `tries == 0` means that `value` was computed exactly, by summing over all outcomes. `distance` is that of the two
    worlds compared, in the promise's metric (None: any two inputs). `false_hits` of `false_tries` make it a test of two
    worlds; without them it is a guess among candidates. `upper` is a bound that no attacker of this kind exceeds.
    `effective` is the number of independent tries that `value` is worth where it is no share of them (the area under a
    curve), or where they depend on each other (words guessed together): the interval is then the exact one of that many
    tries (Korn and Graubard 1998). `group` is the number of units that differ between the two worlds, where a promise for
    one unit must be read for several (k eps, k e^((k-1) eps) delta). `coins` is the number of coins of a one-run audit, of
    which `tries` were guessed (attacks.one_run). `claimed` is the loss that the paper of a release without a promise states
    here. `impossible`: in the second world the algorithm rules the answer out, so one hit shows an infinite loss.
    `dependent`: all tries look at one and the same draw (one trained model), so limits of counts are those of independent
    tries only in name, and nothing is refuted by them.

    >>> found = Evidence("words.bayes", "success", 0.31, 0.01, 310, 1000)
    >>> [round(limit, 3) for limit in found.interval()]
    [0.281, 0.34]
    >>> round(found.epsilon_floor(), 2)   # logit(0.286) - logit(0.01)
    3.68
    >>> from textveil.core import Adjacency, Guarantee, Pure, Unit
    >>> found.refutes(Guarantee(Pure(2.0), Unit.WORD, Adjacency.REPLACE))
    True
    """

    attack: str
    metric: str
    value: float
    chance: float
    hits: int
    tries: int
    unit: Unit = Unit.WORD
    distance: float | None = None
    false_hits: int | None = None
    false_tries: int | None = None
    best_prior: float | None = None
    upper: float | None = None
    effective: float | None = None
    group: int | None = None
    coins: int | None = None
    claimed: float | None = None
    impossible: bool | None = None
    dependent: bool | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        fraction("value", self.value)
        fraction("chance", self.chance)
        _count("hits", self.hits, "tries", self.tries)
        for name in ("best_prior", "upper"):
            if getattr(self, name) is not None:
                fraction(name, getattr(self, name))
        if self.distance is not None:
            non_negative("distance", self.distance)
        if self.effective is not None:
            positive("effective", self.effective)
        if self.group is not None:
            positive_integer("group", self.group)
        if self.claimed is not None:
            non_negative("claimed", self.claimed)
        if self.coins is not None:
            _count("tries", self.tries, "coins", self.coins)
        if (self.false_hits is None) != (self.false_tries is None):
            raise BadInput("evidence about two worlds needs both false_hits and false_tries")
        if self.false_tries is not None:
            _count("false_hits", self.false_hits, "false_tries", self.false_tries)
            if min(self.tries, self.false_tries) == 0:
                raise BadInput("evidence about two worlds needs tries in both of them")

    @property
    def exact(self) -> bool:
        """True when the value is a sum over all outcomes rather than a count of tries."""
        return self.tries == 0

    @property
    def two_worlds(self) -> bool:
        return self.false_tries is not None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Two-sided exact confidence interval of the success."""
        open_fraction("level", level)
        if self.exact:
            return self.value, self.value
        side = 1 - (1 - level) / 2
        hits, tries = float(self.hits), float(self.tries)
        if self.effective is not None:
            hits, tries = self.value * self.effective, self.effective
        return lower_limit(hits, tries, side), upper_limit(hits, tries, side)

    def epsilon_floor(self, level: float = 0.95, delta: float = 0.0) -> float:
        """With confidence `level`, the mechanism's loss is at least this (0 when nothing can be said).

        Where tries are `dependent` the number is what independent ones would show, and has no such confidence.
        """
        open_fraction("level", level)
        fraction("delta", delta)
        if self.coins is not None:
            from textveil.attacks.training.one_run import one_run_floor

            return one_run_floor(self.coins, self.tries, self.hits, level, delta)
        if self.two_worlds:
            return self._floor_of_two_worlds(level, delta)
        success = self.value if self.exact else lower_limit(self.hits, self.tries, level)
        best = self.chance if self.best_prior is None else max(self.best_prior, self.chance)
        if best in (0, 1):  # no candidate was declared, or there is only one: nothing follows
            return 0.0
        return max(0.0, _log_ratio(success - delta, 1 - success) - math.log(best / (1 - best)))

    def _floor_of_two_worlds(self, level: float, delta: float) -> float:
        assert self.false_hits is not None and self.false_tries is not None
        if self.impossible and self.hits > 0:
            return math.inf
        side = 1 - (1 - level) / 2
        true, false = lower_limit(self.hits, self.tries, side), upper_limit(self.false_hits, self.false_tries, side)
        return max(0.0, _log_ratio(true - delta, false), _log_ratio(1 - false - delta, 1 - true))

    def allowed(self, guarantee: Guarantee) -> Allowance | None:
        """What a promise allows here, or None when it is none that an attack's success could contradict."""
        if guarantee.label != "guarantee":
            return None if self.claimed is None else Allowance(self.claimed, 0.0)
        if guarantee.unit != self.unit:
            raise CannotAdd(f"evidence per {self.unit} and a promise per {guarantee.unit} do not compare")
        match guarantee.loss:
            case Metric() as loss:
                return Allowance(loss.worst if self.distance is None else loss.epsilon * self.distance, 0.0)
            case LimitedPrecision() as loss:
                read = loss if self.distance is None else loss.at(max(1, math.ceil(self.distance)))
                return Allowance(read.epsilon, read.delta)
            case Approx(epsilon, delta):
                many = self.group or 1
                more = math.exp(min((many - 1) * epsilon, 700.0))
                return Allowance(many * epsilon, min(1.0, many * more * delta))
        return None

    def allowed_success(self, guarantee: Guarantee) -> float | None:
        """The largest success that would still be in keeping with the promise; inverts the lines of the derivation."""
        allowance = self.allowed(guarantee)
        if allowance is None:
            return None
        gain = math.exp(min(allowance.epsilon, 700.0))
        if self.two_worlds:
            assert self.false_hits is not None and self.false_tries is not None
            false = self.false_hits / self.false_tries
            return max(0.0, min(1.0, gain * false + allowance.delta, 1 - (1 - false - allowance.delta) / gain))
        best = self.chance if self.best_prior is None else max(self.best_prior, self.chance)
        if best in (0, 1):
            return 1.0
        odds = gain * best / (1 - best)
        return min(1.0, (odds + allowance.delta) / (1 + odds))

    def refutes(self, guarantee: Guarantee, level: float = 0.99) -> bool:
        """True when the promise cannot be kept (false alarm at most 1 - level). False proves nothing."""
        return not self.dependent and self._exceeds(self.allowed(guarantee), level)

    def _exceeds(self, allowance: Allowance | None, level: float) -> bool:
        if allowance is None:
            return False
        floor = self.epsilon_floor(level, allowance.delta)
        return floor > allowance.epsilon + _ROUNDING * (1 + allowance.epsilon)

    def judge(self, guarantee: Guarantee, level: float = 0.99) -> Judgement:
        """The one place where evidence is held against a promise; about another unit it says nothing.

        >>> from textveil.core import Adjacency, Guarantee, Pure, Unit
        >>> Evidence("guess", "success", 0.5, 0.5, 50, 100).judge(Guarantee(Pure(1.0), Unit.USER, Adjacency.REPLACE))
        Judgement(sentence='about each word, while the promise is about each user: not compared', refuted=False, allowed=None)
        """
        if guarantee.label == "guarantee" and guarantee.unit != self.unit:
            return Judgement(f"about each {self.unit}, while the promise is about each {guarantee.unit}: not compared")
        return Judgement(
            self.verdict(guarantee, level), self.refutes(guarantee, level), self.allowed_success(guarantee)
        )

    def verdict(self, guarantee: Guarantee, level: float = 0.99) -> str:
        """One sentence for the card.

        >>> from textveil.core import Adjacency, Guarantee, NoPromise, Pure, Unit
        >>> coin = Evidence("guess", "success", 0.5, 0.5, 50, 100)
        >>> coin.verdict(Guarantee(Pure(1.0), Unit.WORD, Adjacency.REPLACE))
        'not refuted; an audit can only refute, never prove (no loss can be read off it; allowed: 1)'
        >>> coin.verdict(Guarantee(NoPromise("a trial"), Unit.WORD, Adjacency.REPLACE))
        'nothing to refute: this release carries no bound on the loss'
        """
        allowance = self.allowed(guarantee)
        if allowance is None:
            return "nothing to refute: this release carries no bound on the loss"
        floor = self.epsilon_floor(level, allowance.delta)
        what, said = ("promise", "allowed") if guarantee.label == "guarantee" else ("claim of its paper", "claimed")
        least = "infinite" if math.isinf(floor) else f"at least {_short(floor)}"
        loss = f"loss shown: {least}" if floor > 0 else "no loss can be read off it"
        shown = f"({loss}; {said}: {_short(allowance.epsilon)})"
        if not self._exceeds(allowance, level):
            return f"{NOT_REFUTED} {shown}"
        if self.dependent:
            return f"suspicious, but no refutation: more than the {what} allows {shown}; {DEPENDENT}"
        return f"refuted: the {what} does not hold {shown} (false-alarm rate at most {1 - level:.2g})"

    def to_json(self) -> dict[str, Any]:
        """Contract 2's keys, then whatever else is known.

        >>> shown = Evidence("words.bayes", "success", 0.5, 0.25, 2, 4).to_json()
        >>> list(shown)[:7]
        ['attack', 'metric', 'value', 'chance', 'hits', 'tries', 'interval']
        >>> Evidence.from_json(shown) == Evidence("words.bayes", "success", 0.5, 0.25, 2, 4)
        True
        """
        floor = self.epsilon_floor()
        shown: dict[str, Any] = {
            "attack": self.attack,
            "metric": self.metric,
            "value": self.value,
            "chance": self.chance,
            "hits": self.hits,
            "tries": self.tries,
            "interval": list(self.interval()),
            "unit": str(self.unit),
            "epsilon_floor": floor if math.isfinite(floor) else "inf",
        }
        for name in _OPTIONAL:
            if getattr(self, name) is not None:
                shown[name] = getattr(self, name)
        if self.notes:
            shown["notes"] = list(self.notes)
        return shown

    @classmethod
    def from_json(cls, shown: dict[str, Any]) -> Evidence:
        """The inverse of `to_json`; the interval and the floor are recomputed, never believed."""
        missing = [k for k in _REQUIRED if k not in shown]
        if missing:
            raise BadInput(f"evidence lacks {', '.join(missing)}")
        values = {k: shown[k] for k in (*_REQUIRED, *_OPTIONAL) if k in shown}
        return cls(**values, unit=Unit(shown.get("unit", Unit.WORD)), notes=tuple(shown.get("notes", ())))


_REQUIRED = ("attack", "metric", "value", "chance", "hits", "tries")
_OPTIONAL = tuple(
    "distance false_hits false_tries best_prior upper effective group coins claimed impossible dependent".split()
)


def lower_limit(hits: float, tries: float, level: float) -> float:
    """Exact one-sided lower limit: the success p at which `hits` or more of `tries` have chance 1 - level.

    >>> lower_limit(0, 10, 0.95), round(lower_limit(10, 10, 0.95), 4)   # the latter: 0.05 ** (1 / 10)
    (0.0, 0.7411)
    """
    from scipy.special import betaincinv

    return 0.0 if hits == 0 else float(betaincinv(hits, tries - hits + 1, 1 - level))


def upper_limit(hits: float, tries: float, level: float) -> float:
    """Exact one-sided upper limit, the mirror image of `lower_limit`."""
    return 1 - lower_limit(tries - hits, tries, level)


def _count(name: str, count: Any, of: str, total: Any) -> None:
    for part, value in ((of, total), (name, count)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise BadParameter(part, value, "a whole number of 0 or more")
    if count > total:
        raise BadParameter(name, count, f"at most {of} ({total})")


def _log_ratio(above: float, below: float) -> float:
    """ln(above / below) with the limits: nothing above says nothing, nothing below says everything."""
    if above <= 0:
        return -math.inf
    return math.inf if below <= 0 else math.log(above / below)


def _short(loss: float) -> str:
    return "any" if math.isinf(loss) else f"{loss:.3g}"
