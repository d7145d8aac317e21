"""A lower limit on epsilon from ONE training run with many canaries (Steinke, Nasr, Jagielski 2023).

Setting. m canaries; a fair coin decides for each whether it is trained on. From the model the attack guesses r of the
coins (the likeliest ins and the likeliest outs) and leaves the others open; v guesses are right.
Claim. If training is (eps, delta)-private for one canary (add/remove), then

    P[v or more right of r] <= f(v) + 2 m delta * max over i = 1..v of (f(v - i) - f(v)) / i,

f(v) = P[Binomial(r, e^eps / (1 + e^eps)) >= v] (their main theorem; with delta = 0 each guess, given all earlier coins,
is right with chance e^eps / (1 + e^eps) at most). The largest eps at which the right side is below 1 - level is
refuted, and so is every smaller one: it grows with eps. The limit holds for any dependence between canaries within the
run, and whatever the guesses look at. The number of guesses is fixed beforehand (`share`); the best of several shares,
each at its part of the level, stands in the notes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure
from textveil.attacks.training.canaries import as_example
from textveil.attacks.training.seen import CanariesSeen
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import open_fraction, positive_integer

SHARES = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
_LARGEST = 60.0


def p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float = 0.0) -> float:
    """The chance of so many right guesses at most, if training keeps (epsilon, delta).

    >>> round(p_value(100, 10, 10, 0.0), 6), p_value(100, 10, 0, 3.0)     # 2^-10; certain
    (0.000977, 1.0)
    """
    from scipy.stats import binom

    chance = 1 / (1 + math.exp(-epsilon))
    tail = float(binom.sf(right - 1, guesses, chance))
    if delta == 0 or right == 0:
        return min(1.0, tail)
    more = np.cumsum(binom.pmf(np.arange(right - 1, -1, -1), guesses, chance)) / np.arange(1, right + 1)
    return min(1.0, tail + 2 * canaries * delta * float(more.max()))


def one_run_floor(canaries: int, guesses: int, right: int, level: float = 0.95, delta: float = 0.0) -> float:
    """With confidence `level`, training is not (epsilon, delta)-private for any epsilon below this.

    >>> round(one_run_floor(100, 50, 50, 0.95), 3)      # logit(.05 ** (1 / 50))
    2.785
    """
    open_fraction("level", level)
    positive_integer("guesses", guesses)
    if not 0 <= right <= guesses <= canaries:
        raise BadInput(f"{right} right of {guesses} guesses about {canaries} canaries is no count")
    low, high = 0.0, _LARGEST
    if p_value(canaries, guesses, right, low, delta) > 1 - level:
        return 0.0
    while high - low > 1e-9 * (1 + low):
        middle = (low + high) / 2
        low, high = (low, middle) if p_value(canaries, guesses, right, middle, delta) > 1 - level else (middle, high)
    return low


class OneRunAttack(Estimator):
    """Guess the coins of `share` of the canaries from their losses: half of the guesses "in", half "out".

    A canary's score is how much its loss falls short of what its form usually has.

    Parameters
    ----------
    share
        Share of the canaries whose coins are guessed; fixed beforehand.
    unit
        What one canary is: "example" or "user".
    delta
        Of the promise that is tested.
    """

    name = "training.one_run"
    sees = CanariesSeen
    needs: tuple[str, ...] = ()

    def __init__(self, share: float = 0.1, unit: str = "example", delta: float = 0.0):
        self.share, self.unit, self.delta = share, unit, delta

    def run(self, exposure: CanariesSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        planted = exposure.canaries
        if len({c.copies for c in planted.canaries}) != 1:
            raise BadInput(
                f"the attack {self.name} needs canaries with one number of copies", possible="--copies 1 --coin"
            )
        coins = np.array([c.inserted for c in planted.canaries])
        if not 0 < coins.sum() < len(coins):
            raise BadInput(
                f"the attack {self.name} needs canaries decided by coins, some in and some out", possible="--coin"
            )
        losses = np.asarray(exposure.losses([as_example(c, c.text) for c in planted.canaries]), dtype=np.float64)
        scores = within_forms(-losses, [c.form for c in planted.canaries])
        return self.evidence(scores, coins, planted.canaries[0].copies, rng)

    def evidence(self, scores: np.ndarray, coins: np.ndarray, copies: int, rng: Any) -> Evidence:
        """Guesses about coins from scores that should be higher where the coin says in."""
        right, guesses = guessed(scores, coins, self.share, rng)
        level = 1 - 0.05 / len(SHARES)
        counts = {s: guessed(scores, coins, s, rng) for s in SHARES}
        floors = {s: one_run_floor(len(coins), r, v, level, self.delta) for s, (v, r) in counts.items()}
        best = max(floors, key=lambda s: floors[s])
        return Evidence(
            self.name,
            "coins guessed",
            right / guesses,
            0.5,
            right,
            guesses,
            unit=Unit(self.unit),
            coins=len(coins),
            group=copies,
            notes=(
                f"{len(coins)} canaries, {guesses} guesses ({self.share:g} of them, fixed beforehand)",
                f"best of {len(SHARES)}, corrected: loss at least {floors[best]:.3g} (95 %) by {counts[best][1]} guesses",
            ),
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.training.examples import coins_told

        return AttackExample(cls(share=0.5), coins_told)


def guessed(scores: np.ndarray, coins: np.ndarray, share: float, rng: Any) -> tuple[int, int]:
    """(right, guesses): the highest scores are called in, the lowest out; ties in random order."""
    order = rng.permutation(len(scores))
    order = order[np.argsort(scores[order], kind="stable")]
    half = max(1, round(share * len(scores) / 2))
    half = min(half, len(scores) // 2)
    right = int(coins[order[-half:]].sum()) + int((~coins[order[:half]]).sum())
    return right, 2 * half


def within_forms(scores: np.ndarray, forms: list[str]) -> np.ndarray:
    """Scores less the median of their form: a form that is hard as such says nothing about its coins."""
    found = np.array(scores, dtype=np.float64)
    for form in set(forms):
        own = np.array([f == form for f in forms])
        found[own] -= np.median(found[own])
    return found
