"""Paper 06: from cells to the numbers that its claims are judged by.

A source is where arms were compared: "lexicon" (Product Reviews), "tweets" or "imdb". Every measure goes over runs (seeds): a
difference between two arms is taken within a run, where both saw the same noised points, and then averaged.

"Where it matters": at epsilons whose Laplace inference error (the paper's adversary) lies strictly inside a range; near
error 1 all arms agree, and a difference says little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textveil.reproduce.measures import by_name, means, value_of
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure, mean_of, shared_level

LAPLACE = "sound t=0"
Arms = dict[str, dict[str, float]]
Runs = dict[float, list[Arms]]  # by epsilon: one entry a run


def runs_of(results: Results, source: str, embedding: str) -> Runs:
    """The arms of every run, by epsilon; runs in the same order at each."""
    runs: Runs = {}
    if source == "lexicon":
        for cell in results.of("lexicon", embedding=embedding):
            runs.setdefault(float(cell.parameters["epsilon"]), []).append(cell.result["arms"])
    else:
        for cell in results.of("task", dataset=source, embedding=embedding):
            for epsilon, arms in cell.result["epsilons"].items():
                runs.setdefault(float(epsilon), []).append(arms)
    return dict(sorted(runs.items()))


def mean(runs: Sequence[Arms], arm: str, field: str) -> float:
    return float(np.mean([run[arm][field] for run in runs]))


def _where_it_matters(runs: Runs, inside: Sequence[float]) -> list[float]:
    low, high = inside
    return [e for e, some in runs.items() if low < mean(some, LAPLACE, "sampling") < high]


def differences(
    results: Results,
    *,
    source: str,
    embedding: str,
    pairs: list[list[str]],
    field: str = "sampling",
    inside: Sequence[float] = (-1.0, 2.0),
) -> list[Measure]:
    """First arm less second arm, at each epsilon where it matters."""
    runs = runs_of(results, source, embedding)
    return means({
        f"{a} less {b}, epsilon {e:g}": [r[a][field] - r[b][field] for r in runs[e]]
        for a, b in pairs
        for e in _where_it_matters(runs, inside)
    })  # fmt: skip


def average_difference(
    results: Results,
    *,
    source: str,
    embedding: str,
    pairs: list[list[str]],
    field: str = "sampling",
    inside: Sequence[float] = (-1.0, 2.0),
) -> list[Measure]:
    """First arm less second arm, averaged over the epsilons where it matters."""
    runs = runs_of(results, source, embedding)
    chosen = _where_it_matters(runs, inside)
    per_run = {}
    for a, b in pairs:
        gaps = [[r[a][field] - r[b][field] for r in runs[e]] for e in chosen]
        per_run[f"{a} less {b}, mean over epsilon"] = np.mean(gaps, axis=0).tolist()
    return means(per_run)


def gain_over_gain(results: Results, *, embedding: str, reading: str, inside: Sequence[float]) -> list[Measure]:
    """Figure 3: what the 2nd neighbour adds to the 1st, less what the 3rd adds to the 2nd."""
    runs = runs_of(results, "lexicon", embedding)
    steps = []
    for e in _where_it_matters(runs, inside):
        errors = np.array([[r[f"{reading} rank={k}"]["sampling"] for k in (1, 2, 3)] for r in runs[e]])
        steps.append(np.diff(errors, axis=1))
    gains = np.mean(steps, axis=0)
    return means({"gain to the 2nd less gain to the 3rd": (gains[:, 0] - gains[:, 1]).tolist()})


def level_at(
    results: Results, *, source: str, embedding: str, arms: list[str], epsilon: float, field: str = "sampling"
) -> list[Measure]:
    """The arms' values at one epsilon."""
    runs = runs_of(results, source, embedding)[float(epsilon)]
    return means({f"{arm}, epsilon {epsilon:g}": [r[arm][field] for r in runs] for arm in arms})


def distance_to_printed(
    results: Results, *, embedding: str, epsilon: float, reading: str, printed: dict[str, float]
) -> list[Measure]:
    """Largest distance of the arms' losses to the printed ones, per run."""
    runs = runs_of(results, "lexicon", embedding)[float(epsilon)]
    worst = [max(abs(r[f"{reading} t={t}"]["loss"] - value) for t, value in printed.items()) for r in runs]
    return means({f"largest distance to the printed losses, epsilon {epsilon:g}": worst})


def crossings(results: Results, *, source: str, embedding: str) -> list[Measure]:
    """How many Vickrey curves the Mahalanobis curve crosses, as a function of epsilon."""
    runs = runs_of(results, source, embedding)
    crossed = 0
    for t in ("0.25", "0.5", "0.75", "1"):
        gaps = [
            mean(some, "mahalanobis", "sampling") - mean(some, f"sound t={t}", "sampling") for some in runs.values()
        ]
        signs = {float(np.sign(g)) for g in gaps if abs(g) > 0.002}  # closer than that, the curves lie on each other
        crossed += int(len(signs) > 1)
    return [Measure.exact("Vickrey curves crossed, of 4", crossed)]


def widening(results: Results, *, source: str, embedding: str, arm: str) -> list[Measure]:
    """The gap to Laplace at the largest epsilon less the gap at the smallest."""
    runs = runs_of(results, source, embedding)
    first, *_, last = runs

    def gaps(e: float) -> np.ndarray:
        return np.array([r[arm]["sampling"] - r[LAPLACE]["sampling"] for r in runs[e]])

    return means({f"gap at {last:g} less gap at {first:g}": (gaps(last) - gaps(first)).tolist()})


# ---- privacy against utility: curves (loss, error), one point an epsilon -------------------------------------------


def error_at_loss(runs: Runs, number: int, arm: str, budget: float, field: str) -> float | None:
    """The inference error that an arm reaches within a loss budget, in one run, interpolated; None if it cannot keep it."""
    points = sorted((r[number][arm]["loss"], r[number][arm][field]) for r in runs.values())
    losses = np.array([p[0] for p in points])
    errors = np.maximum.accumulate([p[1] for p in points])  # a lower loss than the budget allows is allowed too
    return None if budget < losses[0] else float(np.interp(budget, losses, errors))


def loss_at_error(runs: Runs, number: int, arm: str, error: float, field: str) -> float | None:
    """The smallest loss at which an arm reaches an inference error, in one run, interpolated."""
    points = sorted((r[number][arm][field], r[number][arm]["loss"]) for r in runs.values())
    errors = np.array([p[0] for p in points])
    losses = np.array([p[1] for p in points])
    if not errors[0] <= error <= errors[-1]:
        return float(losses.min()) if error < errors[0] else None
    return float(np.interp(error, errors, losses))


def at_budget(
    results: Results,
    *,
    source: str,
    embedding: str,
    budget: float,
    best: str,
    others: list[str],
    field: str = "sampling",
) -> list[Measure]:
    """Error of the arm that the paper recommends less that of each other arm that can keep the budget."""
    runs = runs_of(results, source, embedding)
    count = len(next(iter(runs.values())))
    level = shared_level(len(others))
    measures = []
    for other in others:
        pairs = [
            (error_at_loss(runs, i, best, budget, field), error_at_loss(runs, i, other, budget, field))
            for i in range(count)
        ]
        kept = [(a or 0.0) - b for a, b in pairs if b is not None]
        if kept:
            measures.append(mean_of(f"{best} less {other} at loss {budget:g}", kept, level=level))
    return measures


def best_saving(results: Results, *, source: str, embedding: str, field: str = "sampling") -> list[Measure]:
    """The largest share of Laplace's loss that a Vickrey arm saves at equal inference error.

    Which arm and which error is chosen on the first run alone, and measured on the others.
    """
    runs = runs_of(results, source, embedding)
    count = len(next(iter(runs.values())))
    choices = [(f"sound t={t}", error) for t in ("0.25", "0.5", "0.75", "1") for error in np.arange(0.05, 0.96, 0.05)]
    savings = {choice: _saving(runs, 0, *choice, field) for choice in choices}
    arm, error = max((c for c in choices if savings[c] is not None), key=lambda c: savings[c] or 0.0)
    others = [s for i in range(1, count) if (s := _saving(runs, i, arm, error, field)) is not None]
    return means({f"saved by {arm} at inference error {error:.2f}": others})


def _saving(runs: Runs, number: int, arm: str, error: float, field: str) -> float | None:
    mine, laplace = (loss_at_error(runs, number, a, error, field) for a in (arm, LAPLACE))
    return None if mine is None or laplace is None or laplace < 0.01 else 1 - mine / laplace


def task_contrast(results: Results, *, embedding: str, arm: str, error: float) -> list[Measure]:
    """Loss saved by an arm against Laplace at equal inference error, on tweets less on IMDb (in points of error rate)."""
    saved = {}
    for source in ("tweets", "imdb"):
        runs = runs_of(results, source, embedding)
        per_run = []
        for i in range(len(next(iter(runs.values())))):
            mine, laplace = (loss_at_error(runs, i, a, error, "sampling") for a in (arm, LAPLACE))
            if mine is not None and laplace is not None:
                per_run.append(laplace - mine)
        saved[source] = per_run
    pairs = [a - b for a, b in zip(saved["tweets"], saved["imdb"], strict=False)]
    return means({f"saving on tweets less on IMDb at error {error:g}": pairs})


def line_candidates(results: Results, *, t: float) -> list[Measure]:
    """Over all noised points, how many words can come out."""
    (cell,) = results.of("line_odds", t=t)
    numbers = {name: value_of(cell, f"{name}_candidates") for name in ("fewest", "most")}
    return [Measure.exact(f"{name} words with odds above 0", number) for name, number in numbers.items()]


MEASURES = by_name(
    differences, average_difference, gain_over_gain, level_at, distance_to_printed, crossings, widening, at_budget,
    best_saving, task_contrast, line_candidates,
)  # fmt: skip
