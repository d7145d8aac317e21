"""The secret sharer (Carlini et al. 2019): how far up does the true secret stand among all that it might have been?

Exposure of a canary whose true secret has rank r among |R| candidates (1: the model likes it best): log2|R| - log2 r,
at most log2|R|; ties count against the attacker (all of them stand before it), or P[rank <= r] = r/|R| would not hold: with
ties split a group of t equal losses is reached with chance t/|R| at rank (t+1)/2. Its interval is the exact one of the share
of candidates that the model likes at least as well. The extrapolated exposure -log2 P(loss < own), P a skew normal law
fitted to the candidates' losses, has no cap, and no proof either: both are shown.

What a promise allows. Without the canary the model knows nothing of the secret, so P[exposure >= b] <= 2^-b. With k
copies of it,

    P[exposure >= b] <= e^(k eps) 2^-b + k e^((k-1) eps) delta      (group privacy).

`bound_line` is the b at which this is `alpha` / canaries: under the promise, all canaries stay below their lines with
chance 1 - alpha, however they depend on each other: this is the one sentence of this attack with a false-alarm rate. The
counts of its evidence share one model and refute nothing by themselves. A line above the cap cannot be crossed, and is
called so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.evidence import Evidence, lower_limit, upper_limit
from textveil.attacks.exposure import check_exposure
from textveil.attacks.training.canaries import Canary, as_example
from textveil.attacks.training.seen import CanariesSeen
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import open_fraction

Floats = NDArray[np.floating[Any]]
ALPHA = 0.01
HIT_BITS = 4  # a canary counts as found when its secret is in the first sixteenth


@dataclass(frozen=True)
class Exposed:
    """One canary after the test."""

    form: str
    copies: int
    rank: int
    candidates: int
    extrapolated: float
    low: float
    high: float

    @property
    def exposure(self) -> float:
        return math.log2(self.candidates / self.rank)

    @property
    def cap(self) -> float:
        return math.log2(self.candidates)


def exposed(canary: Canary, losses: Floats, level: float = 0.95) -> Exposed:
    """From the losses of the candidates, the true one first.

    >>> from .canaries import Canary
    >>> found = exposed(Canary("HS", ("a", "b"), 1, 1), np.array([2.0, 1.0, 2.0, 3.0]))
    >>> found.rank, round(found.exposure, 2)     # one better, one tie
    (3, 0.42)
    """
    own, others = losses[0], losses[1:]
    if not np.all(np.isfinite(losses)):
        raise BadInput("the model gives a loss that is not a number")
    better = int(np.sum(others <= own))
    side = 1 - (1 - level) / 2
    low, high = lower_limit(better, len(others), side), upper_limit(better, len(others), side)
    cap = math.log2(len(losses))
    bits = [min(cap, 0.0 - math.log2(p)) if p > 0 else cap for p in (high, low)]
    return Exposed(canary.form, canary.copies, 1 + better, len(losses), extrapolated(own, others), *bits)


def extrapolated(own: float, others: Floats) -> float:
    """-log2 P(loss < own) under a skew normal law with the candidates' mean, deviation and skewness.

    >>> round(extrapolated(0.0, np.linspace(-2, 2, 101)), 2)
    1.0
    """
    from scipy.stats import skewnorm

    mean, deviation = float(others.mean()), float(others.std())
    if deviation == 0:
        return 1.0
    skew = float(np.clip(((others - mean) ** 3).mean() / deviation**3, -0.99, 0.99))
    power = abs(skew) ** (2 / 3)
    shape2 = math.pi / 2 * power / (power + ((4 - math.pi) / 2) ** (2 / 3))  # delta^2 of the law, by moments
    delta = math.copysign(math.sqrt(min(shape2, 0.9999)), skew)
    scale = deviation / math.sqrt(1 - 2 * delta**2 / math.pi)
    place = mean - scale * delta * math.sqrt(2 / math.pi)
    log = float(skewnorm.logcdf(own, delta / math.sqrt(1 - delta**2), place, scale))
    return -log / math.log(2) if math.isfinite(log) else 1074.0


def bound_line(epsilon: float, delta: float, copies: int, canaries: int, alpha: float = ALPHA) -> float:
    """The exposure that a canary reaches with chance alpha / canaries at most; infinite where delta uses that up.

    >>> round(bound_line(1.0, 1e-6, 1, 10), 2)      # log2(e / .000999)
    11.41
    """
    open_fraction("alpha", alpha)
    if copies * epsilon > 600:
        return math.inf
    left = alpha / canaries - copies * math.exp((copies - 1) * epsilon) * delta
    return (copies * epsilon - math.log(left)) / math.log(2) if left > 0 else math.inf


class ExposureAttack(Estimator):
    """Rank the secrets of all canaries. Evidence is about the canaries with the fewest copies; notes tell of all.

    Parameters
    ----------
    unit
        What one canary is: "example" or "user".
    epsilon
        The promise for one example, to draw its line in the notes; None draws none.
    delta
        Of that promise.
    """

    name = "training.exposure"
    sees = CanariesSeen
    needs: tuple[str, ...] = ()

    def __init__(self, unit: str = "example", epsilon: float | None = None, delta: float = 0.0):
        self.unit, self.epsilon, self.delta = unit, epsilon, delta

    def run(self, exposure: CanariesSeen, *, rng: Any) -> Evidence:
        found = self.measure(exposure, rng)
        fewest = min(f.copies for f in found)
        group = [f for f in found if f.copies == fewest]
        most = min(f.candidates for f in group)
        cut = max(1, most >> HIT_BITS)
        hits = sum(f.rank <= f.candidates * cut / most for f in group)
        return Evidence(
            self.name,
            f"secrets in the first {cut} of {most}",
            hits / len(group),
            cut / most,
            hits,
            len(group),
            unit=Unit(self.unit),
            false_hits=cut * len(group),
            false_tries=most * len(group),
            group=fewest,
            dependent=True,
            notes=tuple(self._notes(found)),
        )

    def measure(self, exposure: CanariesSeen, rng: Any) -> list[Exposed]:
        """Every inserted canary, ranked."""
        check_exposure(self, exposure)
        planted = exposure.canaries
        if not any(c.inserted for c in planted.canaries):
            raise BadInput(f"the attack {self.name} needs canaries that were inserted")
        found = []
        for canary in planted.canaries:
            if canary.inserted:
                asked = [as_example(canary, text) for text in planted.alternatives(canary, rng)]
                losses = np.asarray(exposure.losses(asked), dtype=np.float64)
                found.append(exposed(canary, losses))
        return found

    def _notes(self, found: list[Exposed]) -> list[str]:
        lines = []
        for form, copies in sorted({(f.form, f.copies) for f in found}, key=lambda p: (p[0], p[1])):
            same_form = [f for f in found if (f.form, f.copies) == (form, copies)]
            ranked = ", ".join(f"{f.exposure:.1f} [{f.low:.1f}, {f.high:.1f}]" for f in same_form)
            fitted = ", ".join(f"{f.extrapolated:.1f}" for f in same_form)
            lines.append(f"{form} x {copies}: exposure {ranked} of {same_form[0].cap:.1f} bits; extrapolated {fitted}")
            if self.epsilon is not None:
                lines.append("  " + self._line(same_form, len(found)))
        return lines

    def _line(self, some: list[Exposed], canaries: int) -> str:
        assert self.epsilon is not None
        line = bound_line(self.epsilon, self.delta, some[0].copies, canaries)
        if line >= some[0].cap:
            return f"the promise allows {line:.1f} bits, above the cap: more candidates would be needed to refute it"
        worst = max(f.exposure for f in some)
        verdict = "kept" if worst <= line else "CROSSED: the promise does not hold"
        return f"line of the promise at {line:.1f} bits (all lines hold with chance {1 - ALPHA:g}): {verdict}"

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.training.examples import secrets_told

        return AttackExample(cls(), secrets_told)
