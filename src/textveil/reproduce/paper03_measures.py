"""Paper 03: from cells to the numbers that its claims are judged by."""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure, mean_of, shared_level


def per_seed(results: Results, mechanism: str, field: str) -> dict[float, dict[int, float]]:
    """By epsilon and seed."""
    found: dict[float, dict[int, float]] = {}
    for cell in results.of("target", mechanism=mechanism):
        found.setdefault(float(cell.parameters["epsilon"]), {})[cell.parameters["seed"]] = cell.result[field]
    return dict(sorted(found.items()))


def _gaps(results: Results, field: str) -> dict[float, list[float]]:
    """BRR less Laplace at equal P_avg loss, per seed: both learn from the same reviews."""
    brr, laplace = per_seed(results, "brr", field), per_seed(results, "laplace", field)
    return {e: [brr[e][s] - laplace[e][s] for s in sorted(laplace[e])] for e in laplace if e in brr}


def gap(results: Results, *, field: str, above: float = 0.0, below: float = 1e9) -> list[Measure]:
    """BRR less Laplace at each epsilon in a range."""
    gaps = {e: values for e, values in _gaps(results, field).items() if above < e < below}
    level = shared_level(len(gaps))
    return [mean_of(f"BRR less Laplace, epsilon {e:g}", values, level=level) for e, values in gaps.items()]


def mean_gap(results: Results, *, field: str, above: float = 0.0, below: float = 1e9) -> list[Measure]:
    """BRR less Laplace, averaged over the epsilons of a range."""
    gaps = [values for e, values in _gaps(results, field).items() if above < e < below]
    return [mean_of("BRR less Laplace, mean over epsilon", np.mean(gaps, axis=0).tolist())]


def level(results: Results, *, mechanism: str, field: str, above: float = 0.0, below: float = 1e9) -> list[Measure]:
    """A mechanism's values at each epsilon in a range."""
    found = {e: v for e, v in per_seed(results, mechanism, field).items() if above < e < below}
    share = shared_level(len(found))
    return [mean_of(f"{mechanism}, epsilon {e:g}", list(v.values()), level=share) for e, v in found.items()]


def rise(results: Results, *, mechanism: str, field: str) -> list[Measure]:
    """The value at the largest epsilon less the value at the smallest."""
    found = per_seed(results, mechanism, field)
    first, *_, last = found
    return [
        mean_of(
            f"{mechanism}, epsilon {last:g} less {first:g}", [found[last][s] - found[first][s] for s in found[last]]
        )
    ]


def baseline_less(results: Results, *, mechanism: str, field: str, below: float) -> list[Measure]:
    """The unprotected model's value less the mechanism's mean value under an epsilon."""
    plain = next(iter(per_seed(results, "none", field).values()))
    found = [v for e, v in per_seed(results, mechanism, field).items() if e < below]
    return [
        mean_of(f"baseline less {mechanism}", [plain[s] - float(np.mean([v[s] for v in found])) for s in sorted(plain)])
    ]


def baseline(results: Results, *, field: str) -> list[Measure]:
    return [mean_of("baseline", list(next(iter(per_seed(results, "none", field).values())).values()))]


# ---- equal attack success -------------------------------------------------------------------------------------------


def success_curve(results: Results, mechanism: str) -> tuple[np.ndarray, np.ndarray]:
    """Epsilons and the optimal adversary's success."""
    found = sorted((c.parameters["epsilon"], c.result["success"]) for c in results.of("attack", mechanism=mechanism))
    return np.array([e for e, _ in found]), np.array([s for _, s in found])


def at_equal_success(results: Results, *, levels: list[float]) -> list[Measure]:
    """Accuracy of BRR less that of Laplace where the optimal adversary succeeds equally often.

    Each seed's accuracy is a line through its epsilons, read at the epsilon of that success (interpolated on the curve of
    attack success).
    """
    share = shared_level(len(levels))
    return [
        mean_of(f"BRR less Laplace at attack success {wanted:g}", _accuracy_gap(results, wanted), level=share)
        for wanted in levels
    ]


def mean_at_equal_success(results: Results, *, levels: list[float]) -> list[Measure]:
    """The same, averaged over several levels of success."""
    gaps = np.mean([_accuracy_gap(results, wanted) for wanted in levels], axis=0)
    return [mean_of("BRR less Laplace, mean over attack success", gaps.tolist())]


def _accuracy_gap(results: Results, wanted: float) -> list[float]:
    read = {}
    for mechanism in ("brr", "laplace"):
        epsilons, success = success_curve(results, mechanism)
        at = float(np.interp(wanted, np.maximum.accumulate(success), epsilons))
        found = per_seed(results, mechanism, "accuracy")
        seeds = sorted(next(iter(found.values())))
        read[mechanism] = [float(np.interp(at, list(found), [v[s] for v in found.values()])) for s in seeds]
    return [b - l for b, l in zip(read["brr"], read["laplace"], strict=True)]


def success_gap(results: Results) -> list[Measure]:
    """Attack success of BRR less that of Laplace at equal P_avg loss; the interval joins both binomial ones."""
    found = []
    for cell in results.of("attack", mechanism="laplace"):
        epsilon = cell.parameters["epsilon"]
        other = results.of("attack", mechanism="brr", epsilon=epsilon)[0].result
        mine = cell.result
        found.append(
            Measure(
                f"success of BRR less Laplace, epsilon {epsilon:g}",
                other["success"] - mine["success"],
                other["low"] - mine["high"],
                other["high"] - mine["low"],
                mine["tries"],
            )
        )
    return found


# ---- exact and timed ------------------------------------------------------------------------------------------------


def ratio_of_ratios(results: Results) -> list[Measure]:
    found = results.of("geometry")[0].result
    return [Measure.exact("P_max ratio / P_avg ratio", found["ratio_max"] / found["ratio_avg"])]


def theorem3(results: Results) -> list[Measure]:
    return [
        Measure.exact(f"{f.parameters['bits']} bits, epsilon {f.parameters['epsilon']:g}", f.result["worst"])
        for f in results.of("certificate")
    ]


def smaller(results: Results, *, what: str, dimensions: int) -> list[Measure]:
    """Share of bytes that codes save."""
    found = results.of("sizes")[0].result[str(dimensions)]
    saved = 1 - found[f"{what}_codes"] / found[f"{what}_floats"]
    codes, floats = (found[f"{what}_{kind}"] / 1e6 for kind in ("codes", "floats"))
    label = f"saved: {codes:.1f} against {floats:.1f} MB, {found['words']:,} words"
    return [Measure.exact(label, saved)]


def time_saved(results: Results, *, dimensions: int) -> list[Measure]:
    """Share of the time a word that BRR saves, over repeats in turns."""
    seconds = results.of("speed", dimensions=dimensions)[0].result["seconds_a_word"]
    saved = [1 - b / l for b, l in zip(seconds["brr"], seconds["laplace"], strict=True)]
    return [mean_of(f"share of time saved, {dimensions} dimensions", saved)]


MEASURES: dict[str, Any] = {
    "gap": gap,
    "mean_gap": mean_gap,
    "level": level,
    "rise": rise,
    "baseline_less": baseline_less,
    "baseline": baseline,
    "at_equal_success": at_equal_success,
    "mean_at_equal_success": mean_at_equal_success,
    "success_gap": success_gap,
    "ratio_of_ratios": ratio_of_ratios,
    "theorem3": theorem3,
    "smaller": smaller,
    "time_saved": time_saved,
}
