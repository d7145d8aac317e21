"""Paper 08, central half: what its claims are judged by."""

from __future__ import annotations

from collections.abc import Callable

from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure

NOISES = (0.5, 1.0, 5.0, 10.0, 50.0)
SMALL_NOISES = (1.0, 5.0, 50.0)


def printed_epsilon(results: Results, *, noise: float) -> list[Measure]:
    """The epsilon that classic Renyi accounting gives at batch 1 and N = 14,987."""
    (found,) = results.of("prices", noise=noise)
    return [Measure.exact("classic RDP, batch 1, N 14,987", found.result["printed_reading"])]


def true_epsilon(results: Results, *, noise: float) -> list[Measure]:
    """The epsilon of the run as described: batch 32, N = 14,041, the best accountant."""
    (found,) = results.of("prices", noise=noise)
    return [Measure.exact("PLD, batch 32, N 14,041", found.result["true"]["best"])]


def all_outside(results: Results, *, field: str = "token_f1") -> list[Measure]:
    (found,) = results.of("baseline")
    return [Measure.exact(f"all O, {field}", found.result[field])]


def table_score(results: Results, *, output: str, noise: float, field: str = "token_f1") -> list[Measure]:
    """One cell of Table 1 (noise 0) or 2."""
    return [_range(f"{output}, noise {noise:g}, {field}", heights(results, output, noise, field))]


def change_by_noise(results: Results, *, output: str, field: str = "token_f1") -> list[Measure]:
    """Score with noise less score without, within a seed, for every multiplier."""
    plain = by_seed(results, output, 0.0, field)
    found = []
    for noise in NOISES:
        noisy = by_seed(results, output, noise, field)
        if gaps := [noisy[s] - plain[s] for s in sorted(noisy) if s in plain]:
            found.append(_range(f"{output}: noise {noise:g} less none", gaps))
    return found


def arm_gap(results: Results, *, first: str, second: str, noise: float, field: str = "entity_f1") -> list[Measure]:
    """One kind of output less another, within a seed."""
    a, b = (by_seed(results, output, noise, field) for output in (first, second))
    return [_range(f"{first} less {second}, noise {noise:g}, {field}", [a[s] - b[s] for s in sorted(a) if s in b])]


def output_gap(results: Results, *, noise: float, field: str = "token_f1") -> list[Measure]:
    """CRF less softmax, within a seed."""
    crf, soft = (by_seed(results, output, noise, field) for output in ("crf", "softmax"))
    return [_range(f"crf less softmax, noise {noise:g}", [crf[s] - soft[s] for s in sorted(crf) if s in soft])]


def above_outside(results: Results, *, output: str, noise: float) -> list[Measure]:
    """Token score less that of a model which only says O."""
    floor = results.of("baseline")[0].result["token_f1"]
    return [_range(f"{output}, noise {noise:g}, above all O", [h - floor for h in heights(results, output, noise)])]


def kept_share(results: Results, *, output: str, epsilon: float) -> list[Measure]:
    """Our tagger's entity F1 at a true epsilon over its non-private one: mean over mean, seeds listed in the cells."""
    private, plain = (tagger_heights(results, output, e) for e in (epsilon, 0.0))
    return [_about(f"{output} at epsilon {epsilon:g} over non-private", _mean(private) / _mean(plain), len(private))]


def tagger_score(results: Results, *, output: str, epsilon: float) -> list[Measure]:
    found = tagger_heights(results, output, epsilon)
    return [_about(f"{output}, entity F1 at epsilon {epsilon:g}", _mean(found), len(found))]


def tagger_gap(results: Results, *, epsilon: float) -> list[Measure]:
    crf, soft = (tagger_heights(results, output, epsilon) for output in ("crf", "softmax"))
    return [_about(f"crf less softmax at epsilon {epsilon:g}", _mean(crf) - _mean(soft), len(crf))]


def heights(results: Results, output: str, noise: float, field: str = "token_f1") -> list[float]:
    return list(by_seed(results, output, noise, field).values())


def by_seed(results: Results, output: str, noise: float, field: str) -> dict[int, float]:
    return {f.parameters["seed"]: f.result[field] for f in results.of("table", output=output, noise=noise)}


def tagger_heights(results: Results, output: str, epsilon: float) -> list[float]:
    return [f.result["entity_f1"] for f in results.of("tagger", output=output, epsilon=epsilon)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _range(label: str, values: list[float]) -> Measure:
    """The mean of two or three runs and their range, which is no confidence limit; the notes say so."""
    return Measure(label, _mean(values), min(values), max(values), len(values))


def _about(label: str, value: float, n: int) -> Measure:
    """A figure of one or two expensive runs: shown as it is; the notes say that it has no interval."""
    return Measure(label, value, value, value, n)


MEASURES: dict[str, Callable[..., list[Measure]]] = {
    f.__name__: f
    for f in (
        printed_epsilon,
        true_epsilon,
        all_outside,
        table_score,
        change_by_noise,
        arm_gap,
        output_gap,
        above_outside,
        kept_share,
        tagger_score,
        tagger_gap,
    )
}
