"""Paper 03: from cells to the numbers that its claims are judged by."""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.reproduce.measures import by_axis, by_name, means, value_of
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure

EVERY = (0.0, 1e9)  # of epsilon


def per_seed(
    results: Results, mechanism: str, field: str, inside: tuple[float, float] = EVERY
) -> dict[float, dict[Any, float]]:
    """By epsilon (in a range) and seed."""
    values = by_axis(results, "target", "epsilon", field, mechanism=mechanism)
    return {e: seeds for e, seeds in values.items() if mechanism == "none" or inside[0] < e < inside[1]}


def _gaps(results: Results, field: str, inside: tuple[float, float]) -> dict[float, list[float]]:
    """BRR less Laplace at equal P_avg loss, per seed: both learn from the same reviews."""
    brr, laplace = (per_seed(results, mechanism, field, inside) for mechanism in ("brr", "laplace"))
    return {e: [brr[e][s] - laplace[e][s] for s in sorted(laplace[e])] for e in laplace if e in brr}


def gap(results: Results, *, field: str, above: float = 0.0, below: float = 1e9) -> list[Measure]:
    """BRR less Laplace at each epsilon in a range."""
    gaps = _gaps(results, field, (above, below))
    return means({f"BRR less Laplace, epsilon {e:g}": values for e, values in gaps.items()})


def mean_gap(results: Results, *, field: str, above: float = 0.0, below: float = 1e9) -> list[Measure]:
    """BRR less Laplace, averaged over the epsilons of a range."""
    gaps = np.mean(list(_gaps(results, field, (above, below)).values()), axis=0)
    return means({"BRR less Laplace, mean over epsilon": gaps.tolist()})


def level(results: Results, *, mechanism: str, field: str, above: float = 0.0, below: float = 1e9) -> list[Measure]:
    """A mechanism's values at each epsilon in a range."""
    values = per_seed(results, mechanism, field, (above, below))
    return means({f"{mechanism}, epsilon {e:g}": list(seeds.values()) for e, seeds in values.items()})


def rise(results: Results, *, mechanism: str, field: str) -> list[Measure]:
    """The value at the largest epsilon less the value at the smallest."""
    values = per_seed(results, mechanism, field)
    first, *_, last = values
    rises = [values[last][seed] - values[first][seed] for seed in values[last]]
    return means({f"{mechanism}, epsilon {last:g} less {first:g}": rises})


def baseline_less(results: Results, *, mechanism: str, field: str, below: float) -> list[Measure]:
    """The unprotected model's value less the mechanism's mean value under an epsilon."""
    plain = next(iter(per_seed(results, "none", field).values()))
    values = per_seed(results, mechanism, field, (-1.0, below)).values()
    losses = [plain[seed] - float(np.mean([v[seed] for v in values])) for seed in sorted(plain)]
    return means({f"baseline less {mechanism}": losses})


# ---- equal attack success -------------------------------------------------------------------------------------------


def success_curve(results: Results, mechanism: str) -> tuple[np.ndarray, np.ndarray]:
    """Epsilons and the optimal adversary's success."""
    points = sorted((c.parameters["epsilon"], c.result["success"]) for c in results.of("attack", mechanism=mechanism))
    return np.array([e for e, _ in points]), np.array([s for _, s in points])


def at_equal_success(results: Results, *, levels: list[float]) -> list[Measure]:
    """Accuracy of BRR less that of Laplace where the optimal adversary succeeds equally often.

    Each seed's accuracy is a line through its epsilons, read at the epsilon of that success (interpolated on the curve of
    attack success).
    """
    return means(
        {f"BRR less Laplace at attack success {wanted:g}": _accuracy_gap(results, wanted) for wanted in levels}
    )


def mean_at_equal_success(results: Results, *, levels: list[float]) -> list[Measure]:
    """The same, averaged over several levels of success."""
    gaps = np.mean([_accuracy_gap(results, wanted) for wanted in levels], axis=0)
    return means({"BRR less Laplace, mean over attack success": gaps.tolist()})


def _accuracy_gap(results: Results, wanted: float) -> list[float]:
    read = {}
    for mechanism in ("brr", "laplace"):
        epsilons, success = success_curve(results, mechanism)
        at = float(np.interp(wanted, np.maximum.accumulate(success), epsilons))
        accuracy = per_seed(results, mechanism, "accuracy")
        seeds = sorted(next(iter(accuracy.values())))
        read[mechanism] = [float(np.interp(at, list(accuracy), [v[s] for v in accuracy.values()])) for s in seeds]
    return [b - l for b, l in zip(read["brr"], read["laplace"], strict=True)]


def success_gap(results: Results) -> list[Measure]:
    """Attack success of BRR less that of Laplace at equal P_avg loss; the interval joins both binomial ones."""
    measures = []
    for cell in results.of("attack", mechanism="laplace"):
        epsilon, laplace = cell.parameters["epsilon"], cell.result
        brr = results.of("attack", mechanism="brr", epsilon=epsilon)[0].result
        low, high = brr["low"] - laplace["high"], brr["high"] - laplace["low"]
        label = f"success of BRR less Laplace, epsilon {epsilon:g}"
        measures.append(Measure(label, brr["success"] - laplace["success"], low, high, laplace["tries"]))
    return measures


# ---- exact and timed ------------------------------------------------------------------------------------------------


def ratio_of_ratios(results: Results) -> list[Measure]:
    (cell,) = results.of("geometry")
    return [Measure.exact("P_max ratio / P_avg ratio", value_of(cell, "ratio_max") / value_of(cell, "ratio_avg"))]


def theorem3(results: Results) -> list[Measure]:
    return [
        Measure.exact(f"{c.parameters['bits']} bits, epsilon {c.parameters['epsilon']:g}", value_of(c, "worst"))
        for c in results.of("certificate")
    ]


def smaller(results: Results, *, what: str, dimensions: int) -> list[Measure]:
    """Share of bytes that codes save."""
    sizes = results.of("sizes")[0].result[str(dimensions)]
    codes, floats = (sizes[f"{what}_{kind}"] for kind in ("codes", "floats"))
    label = f"saved: {codes / 1e6:.1f} against {floats / 1e6:.1f} MB, {sizes['words']:,} words"
    return [Measure.exact(label, 1 - codes / floats)]


def time_saved(results: Results, *, dimensions: int) -> list[Measure]:
    """Share of the time a word that BRR saves, over repeats in turns."""
    seconds = results.of("speed", dimensions=dimensions)[0].result["seconds_a_word"]
    saved = [1 - b / l for b, l in zip(seconds["brr"], seconds["laplace"], strict=True)]
    return means({f"share of time saved, {dimensions} dimensions": saved})


MEASURES = by_name(
    gap, mean_gap, level, rise, baseline_less, at_equal_success, mean_at_equal_success, success_gap, ratio_of_ratios,
    theorem3, smaller, time_saved,
)  # fmt: skip
