"""Paper 05: counts out of all canaries, and differences canary by canary.

Intervals are over canaries, for the trained models there are: another run would give another model. Counts have Clopper and
Pearson's, differences Student's over pairs (the same canary, in the same users, in two arms). Ratios of perplexities are
over the users kept for testing, in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from textveil.attacks.evidence import lower_limit, upper_limit
from textveil.reproduce.measures import by_name
from textveil.reproduce.study import CellResult, Results
from textveil.reproduce.verdicts import Measure, mean_of

CANARIES = 90
ARMS = (
    "headline",
    "sgd",
    "fedavg",
    "private",
    "optimisers",
    "batches",
    "iid_private",
    "seeds",
)  # kinds of cells that train a model


def arms(results: Results, **wanted: Any) -> list[CellResult]:
    """All models with these parameters, whatever kind they are planned under; the noise of a population aside."""
    return [cell for kind in ARMS for cell in results.of(kind, **wanted)]


def by_seed(results: Results, number: str, wanted: Mapping[str, Any]) -> dict[int, Any]:
    """What stands in the models' results, by seed."""
    return {cell.parameters["seed"]: cell.result[number] for cell in arms(results, **wanted)}


def count(results: Results, *, hits: str, label: str, **wanted: Any) -> list[Measure]:
    """Canaries found, out of 90; `hits` is "rs" (random sampling) or "bs" (beam search)."""
    found = [hit for cell in arms(results, **wanted) for hit in cell.result[f"{hits}_hits"]]
    if not found:
        return []
    own, tries = sum(found), len(found)
    limits = lower_limit(own, tries, 0.975), upper_limit(own, tries, 0.975)
    return [Measure(label, CANARIES * own / tries, CANARIES * limits[0], CANARIES * limits[1], tries)]


def fewer(
    results: Results, *, hits: str, first: Mapping[str, Any], second: Mapping[str, Any], label: str, **wanted: Any
) -> list[Measure]:
    """Canaries found by the first arm less those by the second, of 90: below zero where the first memorises less."""
    one, other = (by_seed(results, f"{hits}_hits", {**wanted, **own}) for own in (first, second))
    pairs = [np.subtract(one[seed], other[seed]) for seed in sorted(one) if seed in other]
    if not pairs:
        return []
    found = [f"{CANARIES * np.mean([arm[s] for s in one if s in other]):.3g}" for arm in (one, other)]
    differences, named = np.concatenate(pairs), f"{label} ({found[0]} and {found[1]})"
    if not differences.any():  # no canary tells the arms apart: as many as chance could have kept out of sight
        reach = CANARIES * upper_limit(0, len(differences), 0.975)
        return [Measure(named, 0.0, -reach, reach, len(differences))]
    return [mean_of(named, (CANARIES * differences).tolist())]


def over(
    results: Results, *, first: Mapping[str, Any], second: Mapping[str, Any], label: str, **wanted: Any
) -> list[Measure]:
    """Perplexity of the first arm over that of the second, over the users of the test."""
    one, other = (by_seed(results, "user_losses", {**wanted, **own}) for own in (first, second))
    return _ratio(label, [np.subtract(one[seed], other[seed]) for seed in sorted(one) if seed in other])


def _ratio(label: str, pairs: list[np.ndarray]) -> list[Measure]:
    """From differences of losses, user by user, to a ratio of perplexities with Student's interval."""
    if not pairs:
        return []
    found = mean_of(label, np.concatenate(pairs).tolist())
    return [Measure(label, *(float(np.exp(v)) for v in (found.value, found.low, found.high)), found.n)]


def gain_kept(
    results: Results, *, first: Mapping[str, Any], second: Mapping[str, Any], label: str, **wanted: Any
) -> list[Measure]:
    """The share of the perplexity that the second arm gains over the start which the first one gains too, over seeds.

    Where the second gains nothing there is no share to speak of.
    """
    (begun,) = [cell.result["perplexity"] for cell in results.of("start")]
    private, plain = (by_seed(results, "perplexity", {**wanted, **own}) for own in (first, second))
    kept = [(begun - private[s]) / (begun - plain[s]) for s in sorted(private) if plain.get(s, begun) < begun]
    return [mean_of(label, kept)] if kept else []


def least_floor(results: Results, *, label: str, **wanted: Any) -> list[Measure]:
    """The promise's epsilon less the lower limit that the canary users show: below zero, the promise would be refuted."""
    return [
        Measure.exact(f"{label}, seed {c.parameters['seed']}", c.result["epsilon"] - c.result["floor"])
        for c in arms(results, **wanted)
    ]


def spread(results: Results, *, label: str) -> list[Measure]:
    """Table 3: the largest perplexity of SGD and FedAvg models over the smallest."""
    values = [cell.result["perplexity"] for cell in arms(results, optimiser="sgd", clip=0.0)]
    return [Measure.exact(label, max(values) / min(values))]


def in_population(results: Results, *, population: int, label: str, **wanted: Any) -> list[Measure]:
    """Perplexity with the noise of a population over that of the arm without noise."""
    plain = by_seed(results, "user_losses", wanted)
    cells = [c for c in results.of("population", population=population) if c.parameters["seed"] in plain]
    return _ratio(label, [np.subtract(c.result["user_losses"], plain[c.parameters["seed"]]) for c in cells])


MEASURES = by_name(count, fewer, over, gain_kept, least_floor, spread, in_population)
