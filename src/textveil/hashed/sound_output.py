"""Output perturbation: the minimiser of a strongly convex sum, released once with Gaussian noise in every slot.

Claim. w* minimises J(w) = sum over units of l_u(w) + ridge/2 ||w||^2; two data sets that differ in one unit have
minimisers at most 1 / ridge apart, and the vectors handed out here at most (1 + 2 tolerance) / ridge. One Gaussian
release of multiplier m relative to that bound is the event GaussianNoise(m).

Derivation. l_u(w) = c_u * sum of f_s(w) over the unit's sentences, c_u = min(1, 1 / k_u) for k_u sentences. f_s is
convex with gradient -r_s x_s (sound_pull), |r_s| <= 1 and ||x_s|| <= 1, so l_u is convex and 1-Lipschitz: losses are
scaled, not gradients, which would break convexity. J is ridge-strongly convex. At w*(D) the gradient of J(D') is
minus or plus that of l_u, at most 1 long, so ||w*(D) - w*(D')|| <= 1 / ridge. A vector with ||grad J|| <= tolerance
lies within tolerance / ridge of w*, and the solver hands out no other.

Such a vector is always found. A fast solver (L-BFGS) tries first; it comes with no bound on its rounds, and giving up on
some data sets would tell them from their neighbours. Where it stops short, accelerated gradient steps go on (Nesterov 1983):
the gradient of J is L-Lipschitz, L = ridge + max(1, boost) / 4 * units (f'' <= max(1, boost) / 4, and the shares of a unit
sum to 1), so the distance to the minimum shrinks by 1 - sqrt(ridge / L) a round at least.

A unit may choose among its own sentences, since that depends on it alone: one that holds clauses uses only those, so
that clauses in long paragraphs are not outvoted. k_u counts the chosen sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from textveil.hashed.sound_descent import shrunk
from textveil.hashed.sound_examples import Examples
from textveil.hashed.sound_plan import SoundPlan
from textveil.hashed.sound_pull import SLACK
from textveil.noise.source import Source

MOST_ROUNDS = 2000


def output_bound(plan: SoundPlan) -> float:
    """How far one unit can move what `minimise` hands out."""
    return (1.0 + 2.0 * plan.tolerance) / plan.ridge


def perturbed(examples: Examples, plan: SoundPlan, multiplier: float, noise: Source | None) -> np.ndarray:
    """The minimiser with noise in every slot, then moved towards 0. Without a source: no noise and no promise."""
    found = minimise(examples, plan)
    deviation = multiplier * output_bound(plan)
    if noise is not None:
        found = found + deviation * noise.normals(found.shape)
    return shrunk(found, plan.shrink * deviation)


def minimise(examples: Examples, plan: SoundPlan) -> np.ndarray:
    """A vector at which the gradient of J is at most `tolerance` long."""
    from scipy.optimize import minimize

    used = chosen(examples)
    # Outside the slots that occur, the minimiser is 0: solve in the others.
    slots = np.unique(used.rows.indices)
    if not len(slots):
        return np.zeros(examples.rows.shape[1])
    small = replace(used, rows=used.rows[:, slots])
    share = 1.0 / np.bincount(small.units)[small.units] / (1.0 + SLACK)
    answer = minimize(
        lambda w: objective(w, small, share, plan),
        np.zeros(len(slots)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MOST_ROUNDS, "maxfun": 2 * MOST_ROUNDS, "ftol": 0.0, "gtol": 0.0, "maxcor": 20},
        callback=_stopper(small, share, plan),
    )
    weights = np.zeros(examples.rows.shape[1])
    weights[slots] = _accelerated(answer.x, small, share, plan)
    return weights


def _accelerated(start: np.ndarray, examples: Examples, share: np.ndarray, plan: SoundPlan) -> np.ndarray:
    """The vector itself if its gradient is short enough; else where accelerated gradient steps from it lead."""
    lipschitz = plan.ridge + max(1.0, plan.boost) / 4 * examples.count
    root = np.sqrt(plan.ridge / lipschitz)
    momentum = (1 - root) / (1 + root)
    weights = ahead = start
    while np.linalg.norm(objective(weights, examples, share, plan)[1]) > plan.tolerance:
        stepped = ahead - objective(ahead, examples, share, plan)[1] / lipschitz
        ahead = stepped + momentum * (stepped - weights)
        weights = stepped
    return weights


def chosen(examples: Examples) -> Examples:
    """The sentences that units speak with: their clauses if they hold any, else all."""
    clauses = np.bincount(examples.units, examples.labels, examples.count)
    kept = examples.labels | (clauses[examples.units] == 0)
    return replace(examples, rows=examples.rows[kept], labels=examples.labels[kept], units=examples.units[kept])


def objective(weights: np.ndarray, examples: Examples, share: np.ndarray, plan: SoundPlan) -> tuple[float, np.ndarray]:
    """J and its gradient."""
    scores = examples.rows @ weights - plan.offset
    value, slope = losses(scores, examples.labels, plan.boost)
    gradient = -(examples.columns @ (share * slope)) + plan.ridge * weights
    return float(share @ value + plan.ridge / 2 * weights @ weights), gradient


def losses(scores: np.ndarray, labels: np.ndarray, boost: float) -> tuple[np.ndarray, np.ndarray]:
    """f_s and r_s. For a clause f' = -min(1, boost * sigma(-z)): boosted logistic above the bend, slope 1 below it."""
    negative = np.logaddexp(0.0, scores)
    chance = np.exp(scores - negative)
    bend = np.log(boost - 1.0) if boost > 1 else -np.inf  # where boost * sigma(-z) = 1
    above = np.maximum(scores, bend)
    positive = boost * np.logaddexp(0.0, -above) + (above - scores)
    return np.where(labels, positive, negative), np.where(labels, np.minimum(1.0, boost * (1.0 - chance)), -chance)


def _stopper(examples: Examples, share: np.ndarray, plan: SoundPlan) -> Callable[[np.ndarray], None]:
    def stop(weights: np.ndarray) -> None:
        if np.linalg.norm(objective(weights, examples, share, plan)[1]) <= plan.tolerance / 2:
            raise StopIteration

    return stop
