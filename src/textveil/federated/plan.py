"""What a federated run will do, said beforehand in public facts, and the event that is priced round by round.

Claim. A run that follows its plan costs each unit (a user, or a site) at most `plan.price(delta)`.
Derivation. A round sums the clipped updates of those who take part (norm at most C each), adds Gaussian noise of deviation
noise * C once, and divides by the constant `per_round`; whatever follows works on released values.
- fixed: `per_round` of `users` units without replacement (Algorithm 1 of paper 05). Neighbours replace a unit, so the sum
  moves by up to 2C. Priced as FixedSampled under REPLACE (accounting/draws.py has the counterexample to C).
- poisson: each unit takes part with chance per_round / users, independently. Neighbours add or remove a unit: C. A round
  without anybody is noise alone. The true number of units does not enter.
- in-turn: no sampling to be trusted. Units take part in a fixed order, each at most once in a tree of consecutive rounds;
  noise is correlated over rounds (`federated.tree`). A unit's update stands in at most floor(log2 n) + 1 noisy sums of a
  tree of n rounds, so a tree costs so many plain Gaussians. Neighbours zero a unit out: C each. Trees compose.
- cycle: one unit after the other, without noise: the model is passed round.
A unit that drops out, straggles or is refused contributes zero, a vector of norm at most C like any other, and the divisor
is a constant: so its absence never moves the sum farther than its presence could, and the price stays as it is. What
another unit contributes must not depend on it: nodes refuse unit by unit, never a whole list because of one.
- Adaptive clipping (Andrew et al. 2021) releases a second sum on the same sample, of bits "my norm is below C", each centred
  (+-1/2) with Gaussian noise of deviation quantile_noise / 2. It is priced with the update: two Gaussians on one sample
  are one with 1/z^2 = 1/update_noise^2 + 1/quantile_noise^2, and `noise` is that z.
- Weights. Equal, or capped: w = min(1, examples / cap), so w * clipped update still has norm at most C. Weights by the
  number of examples have no bound, hence no price: they are refused where there is noise.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

from textveil.accounting.least_noise import LARGEST, least_noise
from textveil.accounting.prices import price
from textveil.accounting.rdp import RDP
from textveil.core import Adjacency, BadInput, BadParameter, Event, NoPromise
from textveil.core.events import FixedSampled, GaussianNoise, Noise, PoissonSampled, RepeatedNoise, Together, Unpriced
from textveil.core.params import choice, fraction, non_negative, open_fraction, positive, positive_integer
from textveil.core.units import Unit

SAMPLINGS = ("fixed", "poisson", "in-turn", "cycle")
CLIPPINGS = ("flat", "per-layer", "adaptive")
WEIGHTINGS = ("equal", "capped", "examples")
SOURCES = {
    "fixed": "McMahan et al. 2018 and Thakkar et al. 2021 (DP-FedAvg); Wang, Balle, Kasiviswanathan 2019 (price)",
    "poisson": "McMahan et al. 2018 (DP-FedAvg); Mironov et al. 2019 and Koskela et al. 2020 (price)",
    "in-turn": "Kairouz et al. 2021 (DP-FTRL)",
    "cycle": "",
}
ADJACENCY = {
    "fixed": Adjacency.REPLACE,
    "poisson": Adjacency.ADD_REMOVE,
    "in-turn": Adjacency.ZERO_OUT,
    "cycle": Adjacency.REPLACE,
}
WHY = {
    "federated.central": "the operator receives the text itself",
    "federated.remote": "the model is passed from site to site without noise",
}
FLOATS = "sums and noise are rounded to single precision; the grid of floating-point numbers is not part of the proof"


@dataclass(frozen=True)
class RoundPlan:
    """Public facts of one federated run.

    users: declared number of units; per_round: how many take part in a round, the constant that sums are divided by;
    clip: the longest update of one unit (None: not clipped); noise: multiplier of the clip (0: no promise).

    >>> plan = RoundPlan(users=1969, per_round=200, rounds=50, clip=0.2, noise=1.0)
    >>> plan.round_event().adjacency.value, plan.event().times
    ('replace', 50)
    """

    users: int
    per_round: int
    rounds: int
    sampling: str = "fixed"
    clip: float | None = None
    noise: float = 0.0
    clipping: str = "flat"
    quantile: float = 0.5  # adaptive: the share of updates that should be below the clip
    quantile_rate: float = 0.2  # adaptive: how fast the clip follows
    weighting: str = "equal"
    cap: int = 100  # capped weights: examples from which on a unit has full weight
    unit: Unit = Unit.USER
    mechanism: str = "federated.dp_fedavg"

    def __post_init__(self) -> None:
        positive_integer("users", self.users)
        positive_integer("rounds", self.rounds)
        object.__setattr__(self, "unit", Unit(self.unit))
        if self.unit not in (Unit.USER, Unit.CLIENT):
            raise BadParameter("unit", str(self.unit), "user or client")
        if positive_integer("per_round", self.per_round) > self.users:
            raise BadParameter("per_round", self.per_round, f"at most the {self.users} {self.unit}s there are")
        choice("sampling", self.sampling, SAMPLINGS)
        choice("clipping", self.clipping, CLIPPINGS)
        choice("weighting", self.weighting, WEIGHTINGS)
        fraction("quantile", self.quantile)
        positive("quantile_rate", self.quantile_rate)
        positive_integer("cap", self.cap)
        if self.clip is not None:
            positive("clip", self.clip)
        if non_negative("noise", self.noise):
            self._check_private()

    def _check_private(self) -> None:
        if self.clip is None:
            raise BadInput("noise is a multiple of the clip, and there is none", possible="clip=0.2")
        if self.weighting == "examples":
            raise BadInput(
                "weights by examples let a unit with more text move the mean without bound, so noise has no price",
                possible="weighting equal or capped",
            )
        if self.sampling == "cycle":
            raise BadInput("a model that is passed round has no round of sums to add noise to", possible="local dp-sgd")
        if self.sampling == "in-turn" and self.clipping == "adaptive":
            raise BadInput("adaptive clipping is priced for sampled rounds", possible="clipping flat or per-layer")

    # ---- the promise ---------------------------------------------------------------------------------------------

    @property
    def is_private(self) -> bool:
        return self.noise > 0

    @property
    def adjacency(self) -> Adjacency:
        return ADJACENCY[self.sampling]

    @property
    def quantile_noise(self) -> float:
        """Deviation of the noise on the bits, in units of their bound 1/2: Andrew et al. take per_round / 20, that is a
        multiplier of per_round / 10; here at least 3 times the joint noise, so that the update pays little for it."""
        return max(self.per_round / 10, 3 * self.noise)

    @property
    def update_noise(self) -> float:
        """The multiplier on the updates; above `noise` where the bits of adaptive clipping take their part of it."""
        if self.clipping != "adaptive" or not self.is_private:
            return self.noise
        return 1 / math.sqrt(1 / self.noise**2 - 1 / self.quantile_noise**2)

    def trees(self, rounds: int | None = None) -> list[int]:
        """In turn: the rounds of each tree. A tree lasts until everybody had one turn, or the rounds end.

        >>> RoundPlan(users=10, per_round=3, rounds=7, sampling="in-turn").trees()
        [3, 3, 1]
        """
        left, longest = self.rounds if rounds is None else rounds, self.users // self.per_round
        return [longest] * (left // longest) + ([left % longest] if left % longest else [])

    def round_event(self) -> Event:
        """What one sampled round costs."""
        if not self.is_private:
            return self._unpriced()
        noise: Noise = GaussianNoise(self.update_noise)
        if self.clipping == "adaptive":
            noise = Together((RepeatedNoise(noise), RepeatedNoise(GaussianNoise(self.quantile_noise))))
        if self.sampling == "fixed":
            noise = FixedSampled(self.users, self.per_round, noise)
        elif self.sampling == "poisson":
            rate = self.per_round / self.users
            noise = PoissonSampled(rate, noise)
        else:
            raise BadInput("rounds in turn are priced by the tree", possible="tree_event(rounds)")
        return self._event(noise)

    def tree_event(self, rounds: int) -> Event:
        """What one tree of so many rounds costs: its deepest leaf stands in floor(log2 rounds) + 1 noisy sums."""
        return replace(self._event(GaussianNoise(self.noise)), times=positive_integer("rounds", rounds).bit_length())

    def event(self, rounds: int | None = None) -> Event:
        """What so many rounds cost together, from the first (None: the whole run)."""
        count = self.rounds if rounds is None else rounds
        if not self.is_private:
            return self._unpriced()
        if self.sampling == "in-turn":
            depths = sum(n.bit_length() for n in self.trees(count))
            return replace(self.tree_event(1), times=depths)
        return replace(self.round_event(), times=count)

    def price(self, delta: float, rounds: int | None = None) -> float:
        """The epsilon of so many rounds at this delta."""
        loss = price(self.event(rounds), delta=open_fraction("delta", delta))
        return float(getattr(loss, "epsilon", math.inf))

    def with_noise(self, noise: float) -> RoundPlan:
        return replace(self, noise=noise)

    def to_json(self) -> dict[str, Any]:
        names = ("users", "per_round", "rounds", "sampling", "clip", "noise", "clipping", "weighting")
        shown = {name: getattr(self, name) for name in names}
        adaptive = {"quantile": self.quantile} if self.clipping == "adaptive" else {}
        return {**shown, **adaptive, "unit": str(self.unit)}

    def _event(self, noise: Noise) -> Event:
        return Event(
            noise,
            self.unit,
            self.adjacency,
            assumes=self._assumes(),
            source=SOURCES[self.sampling],
            mechanism=self.mechanism,
        )

    def _unpriced(self) -> Event:
        why = WHY.get(self.mechanism, "updates are summed without noise")
        return Event(Unpriced(NoPromise(why, "heuristic")), self.unit, self.adjacency, mechanism=self.mechanism)

    def _assumes(self) -> tuple[str, ...]:
        who = {
            "fixed": f"{self.per_round} of exactly {self.users} {self.unit}s are drawn afresh each round, in secret",
            "poisson": f"each {self.unit} is drawn with chance {self.per_round} / {self.users}, afresh each round, in secret",
            "in-turn": f"each {self.unit} has at most one turn in {self.users // self.per_round} rounds, in a public order",
            "cycle": "",
        }[self.sampling]
        return (
            who,
            f"each {self.unit}'s update is clipped by code that was not tampered with",
            "the server sees every update before noise is added, and is trusted with it; only models leave it",
            FLOATS,
        )


@functools.lru_cache(maxsize=64)
def calibrated(plan: RoundPlan, epsilon: float, delta: float, *, tolerance: float = 3e-3) -> RoundPlan:
    """The same plan with the least noise that keeps (epsilon, delta); the answer was priced.

    The Renyi price brackets it first: it is an upper bound, quick to compute.

    >>> plan = calibrated(RoundPlan(users=1000, per_round=50, rounds=20, clip=1.0), 8.0, 1e-4)
    >>> plan.price(1e-4) <= 8.0
    True
    """
    positive("epsilon", epsilon)
    open_fraction("delta", delta)

    @functools.cache
    def by_renyi(noise: float) -> float:
        return RDP().compose(plan.with_noise(noise).event()).epsilon(delta)

    @functools.cache
    def by_best(noise: float) -> float:
        return plan.with_noise(noise).price(delta)

    high = 1.0
    while by_renyi(high) > epsilon and high < LARGEST:
        high = min(4 * high, LARGEST)
    if by_renyi(high) > epsilon:
        raise BadInput(f"epsilon {epsilon:.4g} cannot be reached at delta {delta:g} with {plan.rounds} rounds")
    enough = least_noise(by_renyi, epsilon, high, 0.05)
    return plan.with_noise(least_noise(by_best, epsilon, enough, tolerance))
