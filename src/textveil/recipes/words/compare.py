"""Several word mechanisms side by side, at equal success of the optimal attack (or at an equal chance of staying).

Epsilon cannot be compared across metrics. Paper 03's Definition 5.1 converts it by the ratio of an aggregate
distance, eps_B = R eps_A with R = P_A / P_B. By the average distance this equalises nothing in the worst case, and it
can name another winner than the maximum does: both are shown, with a note where they disagree. The honest axis is the
attack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textveil.core import BadInput
from textveil.noise import Source, secure
from textveil.recipes.words.tune import bayes_success, epsilon_for_attack
from textveil.words import tuning
from textveil.words.mechanism import WordMechanism
from textveil.words.transition.metric import Spread, spread

_ENTROPY_WORDS, _ENTROPY_DRAWS = 60, 200


@dataclass(frozen=True)
class Aim:
    """What is made equal: `axis` is "attack-success", "stay" or "epsilon" (as given, nothing equalised)."""

    axis: str
    value: float | None = None
    draws: int = 40_000


def compare(
    mechanisms: Sequence[WordMechanism], aim: Aim, *, progress: Callable[[str], None] = lambda line: None
) -> dict[str, Any]:
    """One row per mechanism, and the privacy ratios against the first."""
    if len(mechanisms) < 2:
        raise BadInput("there is nothing to compare", possible="two or more --mechanism")
    noise = secure()
    rows, spreads = [], []
    for mechanism in mechanisms:
        progress(mechanism.name)
        mechanism._ready()
        tuned = tuning.at(mechanism, epsilon=_epsilon(mechanism, aim))
        rows.append(describe(tuned, aim.draws, noise))
        spreads.append(spread(tuned, noise))
    ratios, notes = privacy_ratios(rows, spreads)
    notes += [note for pair in zip(mechanisms, spreads, strict=True) for note in bound_above(*pair)]
    return {"axis": aim.axis, "target": aim.value, "mechanisms": rows, "privacy_ratio": ratios, "notes": notes}


def bound_above(mechanism: WordMechanism, distances: Spread) -> list[str]:
    """A note where promises count with a larger distance than any two words of the vocabulary have."""
    bound = mechanism.diameter()
    if bound <= distances.largest * (1 + 1e-9):
        return []
    return [
        f"{mechanism.name}: P_max {distances.largest:.4g} is the largest distance of two words of this vocabulary; promises "
        f"and cards count with {bound:.4g}, which no two inputs of any vocabulary exceed"
    ]


def _epsilon(mechanism: WordMechanism, aim: Aim) -> float:
    if aim.axis == "epsilon" or aim.value is None:
        return float(mechanism.epsilon)
    if aim.axis == "stay":
        return tuning.epsilon_for_stay(mechanism, aim.value)
    return epsilon_for_attack(mechanism, aim.value, draws=aim.draws)


def describe(mechanism: WordMechanism, draws: int, noise: Source) -> dict[str, Any]:
    """What a mechanism does under the public prior."""
    prior = np.asarray(mechanism.vectors_.prior)
    rows = tuning.rows_from(prior, draws, noise)
    outputs = mechanism.draw(rows, noise).astype(np.int64)
    attack = bayes_success(mechanism, prior, draws, noise)
    return {
        "mechanism": mechanism.name,
        "metric": mechanism.metric,
        "epsilon": float(mechanism.epsilon),
        "stay": tuning.mean_of(outputs == rows).to_json(),
        "attack_success": {"value": attack.value, "interval": list(attack.interval())},
        "entropy": _entropy(mechanism, prior, noise).to_json(),
        "distance": tuning.mean_of(tuning.euclidean(mechanism.vectors_.matrix)(rows, outputs)).to_json(),
    }


def _entropy(mechanism: WordMechanism, prior: np.ndarray, noise: Source) -> tuning.Estimate:
    """Bits of the substitutes of one word, averaged over words of the prior; from 200 draws each, so at most 7.6."""
    words = tuning.rows_from(prior, _ENTROPY_WORDS, noise)
    drawn = mechanism.draw(np.repeat(words, _ENTROPY_DRAWS), noise).reshape(len(words), -1)
    shares = [np.unique(row, return_counts=True)[1] / _ENTROPY_DRAWS for row in drawn]
    return tuning.mean_of(np.array([float(-(p * np.log2(p)).sum()) for p in shares]))


def privacy_ratios(rows: list[dict[str, Any]], spreads: list[Spread]) -> tuple[list[dict[str, Any]], list[str]]:
    """Definition 5.1 against the first mechanism, by both aggregates, and notes where they disagree.

    >>> rows = [{"mechanism": "a", "epsilon": 1.0}, {"mechanism": "b", "epsilon": 1.5}]
    >>> found, notes = privacy_ratios(rows, [Spread(4.0, 0.0, 10.0), Spread(2.0, 0.0, 8.0)])
    >>> found[1]["by_average"]["epsilon"], found[1]["by_maximum"]["epsilon"]
    (2.0, 1.25)
    >>> notes[0]
    'by average distance b is the more private of a and b as set here, by maximum distance the other'
    """
    first, base = rows[0], spreads[0]
    found, notes = [], []
    for row, one in zip(rows, spreads, strict=True):
        ratios = {"by_average": base.mean / one.mean, "by_maximum": base.largest / one.largest}
        shown: dict[str, Any] = {"mechanism": row["mechanism"], **one.to_json()}
        for name, ratio in ratios.items():
            shown[name] = {"ratio": ratio, "epsilon": ratio * first["epsilon"]}
        found.append(shown)
        by = [
            row["epsilon"] < shown[name]["epsilon"] for name in ratios
        ]  # less than the epsilon of equal loss: more private
        if row is not first and by[0] != by[1]:
            winner = row["mechanism"] if by[0] else first["mechanism"]
            notes.append(
                f"by average distance {winner} is the more private of {first['mechanism']} and {row['mechanism']} "
                "as set here, by maximum distance the other"
            )
    return found, notes
