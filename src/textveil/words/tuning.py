"""Find epsilon by what it does, since its size means something else in every metric.

- `epsilon_for_stay`: the epsilon at which a word stays itself with a wanted chance, averaged over a public prior.
  `epsilon_for` does the same for any measure that grows with epsilon. Only the public vocabulary is looked at, so
  nothing is charged.
- `algorithm_2` (Xu et al. 2021): epsilon is doubled from a small start until the utility loss L_M falls below C at t
  = 0; then t goes through .05, .10, .. 1, and among those with L_M <= C the one with the largest inference error E_M
  is kept. Here L_M = sum pi(w) f(w'|w) d_L(w, w') and E_M = sum pi(w) f(w'|w) g(x|w') d_E(x, w), with g(x|y) = pi(x)
  f(y|x) / sum_u pi(u) f(y|u) (the paper's Eq. 3 is mis-indexed). Mechanisms without t only take the first loop.

All figures are means over draws of the mechanism, with 95 % intervals; decisions use the means. The parameters found
carry whatever privacy the prior has: with a public prior they say nothing about any text (`priors` makes one
that is charged).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from textveil.core import BadInput
from textveil.core.params import open_fraction, positive, positive_integer
from textveil.noise import Source, secure
from textveil.words.mechanism import WordMechanism

STEP = 0.05
_MOST_DOUBLINGS = 24
_CLOSE_ENOUGH = 0.005  # of a chance
_MOST_STEPS = 8
_EXACT_ROWS = 1_000  # words whose exact odds are averaged, where a mechanism has them

M = TypeVar("M", bound=WordMechanism)
Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Estimate(NamedTuple):
    """A mean over draws with its 95 % interval (normal approximation; Wilson's for shares)."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "interval": [self.low, self.high]}


def mean_of(values: np.ndarray) -> Estimate:
    """
    >>> mean_of(np.array([0.0, 1.0, 1.0, 1.0])).value
    0.75
    """
    count, mean = len(values), float(np.mean(values))
    if np.isin(values, (0, 1)).all():  # a share: Wilson's interval is good near 0 and 1 too
        z = 1.96**2 / count
        middle, half = (mean + z / 2) / (1 + z), math.sqrt(z * mean * (1 - mean) + z * z / 4) / (1 + z)
        return Estimate(mean, max(0.0, middle - half), min(1.0, middle + half))
    half = 1.96 * float(np.std(values)) / math.sqrt(count)
    return Estimate(mean, mean - half, mean + half)


def at(mechanism: M, **changes: Any) -> M:
    """A fitted mechanism with another epsilon or t; what `fit` prepared is shared, since it depends on neither."""
    mechanism._ready()
    changed = copy.copy(mechanism).set_params(**changes)
    changed._check()
    return changed


def rows_from(prior: np.ndarray, count: int, noise: Source) -> np.ndarray:
    """Input rows drawn from a prior over words."""
    steps = np.cumsum(np.asarray(prior, dtype=np.float64))
    return np.searchsorted(steps / steps[-1], noise.uniforms(count), side="right").astype(np.int64)


def stay_chance(mechanism: WordMechanism, rows: np.ndarray, noise: Source) -> Estimate:
    """How often these words stay themselves: counted, or averaged over exact odds where the mechanism has them."""
    if not hasattr(mechanism, "odds"):
        return mean_of(mechanism.draw(rows, noise) == rows)
    distinct, which = np.unique(rows[:_EXACT_ROWS], return_inverse=True)
    blocks = [distinct[i : i + 64] for i in range(0, len(distinct), 64)]
    stays = np.concatenate([mechanism.odds(block)[np.arange(len(block)), block] for block in blocks])
    return mean_of(stays[which])


# ---- epsilon from a wanted effect ----------------------------------------------------------------------------------


def epsilon_for_stay(
    mechanism: WordMechanism,
    stay: float,
    *,
    prior: np.ndarray | None = None,
    draws: int = 20_000,
    noise: Source | None = None,
) -> float:
    """The epsilon at which a word stays with chance `stay` on average over a public prior; three digits.

    >>> from textveil.text.vectors import from_arrays
    >>> from textveil.words.exponential import Exponential
    >>> words = from_arrays(["cold", "cool", "warm", "hot"], [[-2.0], [-1.0], [1.0], [2.0]], prior=[1, 0, 0, 0])
    >>> 1.9 < epsilon_for_stay(Exponential().fit(words), 0.696) < 2.1    # 0.696 at 2, see Exponential
    True
    """
    open_fraction("stay", stay)
    mechanism._ready()
    noise = noise or secure()
    law = mechanism.vectors_.prior if prior is None else prior
    rows = rows_from(
        law, positive_integer("draws", draws), noise
    )  # the same words each time: less jitter between steps

    def measure(candidate: WordMechanism, effort: float) -> float:
        return stay_chance(candidate, rows[: max(1, int(effort * draws))], noise).value

    return epsilon_for(mechanism, stay, measure, "a word stays with a chance")


def epsilon_for(
    mechanism: WordMechanism, target: float, measure: Callable[[WordMechanism, float], float], what: str = "it is"
) -> float:
    """The epsilon at which `measure` reaches `target` to within half a percent; three digits.

    `measure(mechanism, effort)` gives a chance that grows with epsilon; effort is 0.25 while epsilon is only bracketed.
    Between the ends of the bracket the logit of the chance is taken as straight in log epsilon; an end that stays twice
    is moved inwards.
    """
    mechanism._ready()
    ends = _bracket(mechanism, target, measure, what)
    weights, epsilon = [1.0, 1.0], 0.0
    for _ in range(_MOST_STEPS):
        (low, below), (high, above) = ends
        left, right = weights[0] * (_logit(target) - _logit(below)), weights[1] * (_logit(above) - _logit(target))
        share = min(max(left / (left + right), 0.05), 0.95) if left + right > 0 else 0.5
        epsilon = float(f"{low * (high / low) ** share:.3g}")
        reached = measure(at(mechanism, epsilon=epsilon), 1.0)
        if abs(reached - target) <= _CLOSE_ENOUGH:
            break
        side = int(reached >= target)
        weights = [1.0, weights[1] / 2] if side == 0 else [weights[0] / 2, 1.0]
        ends[side] = (epsilon, reached)
    return epsilon


def _logit(chance: float) -> float:
    inside = min(max(chance, 1e-4), 1 - 1e-4)
    return math.log(inside / (1 - inside))


def _bracket(
    mechanism: WordMechanism, target: float, measure: Callable[[WordMechanism, float], float], what: str
) -> list[tuple[float, float]]:
    """Two values of epsilon, a factor 2 apart, with the target between what they reach."""
    epsilon = float(mechanism.epsilon)
    reached = measure(at(mechanism, epsilon=epsilon), 0.25)
    upwards, seen = reached < target, [reached]
    for _ in range(_MOST_DOUBLINGS):
        after, before = (epsilon * 2 if upwards else epsilon / 2), reached
        reached = measure(at(mechanism, epsilon=after), 0.25)
        seen.append(reached)
        if (reached >= target) == upwards:
            return sorted([(epsilon, before), (after, reached)])
        epsilon = after
        if len(seen) > 8 and abs(seen[-1] - seen[-4]) < 1e-3:
            break  # it has settled, elsewhere
    tried = sorted((float(mechanism.epsilon), epsilon))
    raise BadInput(
        f"{mechanism.name} does not reach {target:g}: from epsilon {tried[0]:.3g} to {tried[1]:.3g} {what} of "
        f"{min(seen):.3g} to {max(seen):.3g}"
    )


# ---- Algorithm 2 -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """One setting that was measured. `errors` maps each adversary to its inference error E_M."""

    epsilon: float
    t: float | None
    loss: Estimate
    errors: dict[str, Estimate]

    def to_json(self) -> dict[str, Any]:
        errors = {name: error.to_json() for name, error in self.errors.items()}
        return {"epsilon": self.epsilon, "t": self.t, "loss": self.loss.to_json(), "error": errors}


@dataclass(frozen=True)
class Tuned:
    """The chosen setting and all that were tried, in order."""

    best: Trial
    trials: tuple[Trial, ...]


Measure = Callable[[WordMechanism, bool], tuple[Estimate, dict[str, Estimate]]]


def algorithm_2(
    mechanism: WordMechanism,
    limit: float,
    measure: Measure,
    *,
    start: float,
    adversary: str = "sampling",
    step: float = STEP,
) -> Tuned:
    """Xu et al.'s parameter selection. `measure(mechanism, with_errors)` gives L_M and, if asked for, E_M by adversary."""
    positive("C", limit)
    trials = list(_double(mechanism, limit, measure, positive("start", start)))
    best = trials[-1]
    if has_t(mechanism):
        for t in _grid(step):
            loss, errors = measure(at(mechanism, epsilon=best.epsilon, t=t), True)
            trials.append(Trial(best.epsilon, t, loss, errors))
        able = [trials[-1 - len(_grid(step))], *(x for x in trials[-len(_grid(step)) :] if x.loss.value <= limit)]
        best = max(able, key=lambda x: x.errors[adversary].value)  # the first of equals: the smaller t
    return Tuned(best, tuple(trials))


def has_t(mechanism: WordMechanism) -> bool:
    """Whether t = 0 is the nearest word and t = 1 the second, as Algorithm 2 supposes."""
    return hasattr(mechanism, "t") and getattr(mechanism, "k", 0) == 2 and getattr(mechanism, "rank", None) is None


def _double(mechanism: WordMechanism, limit: float, measure: Measure, epsilon: float) -> Iterator[Trial]:
    """Trials with epsilon doubled, up to the first below the limit, which alone has its errors measured."""
    t = {"t": 0.0} if has_t(mechanism) else {}
    smallest = math.inf
    for _ in range(_MOST_DOUBLINGS):
        tried = at(mechanism, epsilon=epsilon, **t)
        loss, _ = measure(tried, False)
        if loss.value < limit:
            yield Trial(epsilon, t.get("t"), *measure(tried, True))
            return
        yield Trial(epsilon, t.get("t"), loss, {})
        smallest = min(smallest, loss.value)
        epsilon *= 2
    raise BadInput(f"the loss of {mechanism.name} never fell below C = {limit:g}; the smallest was {smallest:.3g}")


def _grid(step: float) -> list[float]:
    """
    >>> _grid(0.25)
    [0.25, 0.5, 0.75, 1.0]
    """
    return [round(i * step, 10) for i in range(1, round(1 / open_fraction("step", step)) + 1)]


# ---- what is lost when w becomes w' ------------------------------------------------------------------------------------


def changed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """1 where the word is another one."""
    return (first != second).astype(np.float64)


def euclidean(matrix: np.ndarray) -> Loss:
    """The distance of the two words' vectors."""

    def measure(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.linalg.norm(matrix[first].astype(np.float64) - matrix[second], axis=1)

    return measure


def flipped(signs: np.ndarray) -> Loss:
    """1 where a positive word became a negative one, or the reverse; `signs` holds 1, -1, and 0 for the rest.

    >>> flipped(np.array([1, -1, 0]))(np.array([0, 0, 0]), np.array([0, 1, 2])).tolist()
    [0.0, 1.0, 0.0]
    """
    return lambda first, second: (signs[first] * signs[second] < 0).astype(np.float64)
