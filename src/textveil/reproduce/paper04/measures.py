"""Paper 04: differences between arms, paired by task and seed, and what a promise leaves to an attacker."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textveil.attacks.evidence import lower_limit
from textveil.reproduce.measures import by_name, by_seed, sample, share
from textveil.reproduce.paper04.data import TASKS
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure, mean_of


def arm_drop(results: Results, *, arm: str, against: str = "baseline", tasks: Sequence[str] = TASKS) -> list[Measure]:
    """Points that an arm loses against another, paired by task and seed: the mean over tasks."""
    rows = [
        np.subtract(*(sample(results, "glue", "scores", name=name, arm=one) for one in (against, arm)))
        for name in tasks
    ]
    return [pooled_mean(f"{against} less {arm}, {', '.join(tasks)}", rows)]


def pooled_mean(label: str, rows: Sequence[Sequence[float]]) -> Measure:
    """The mean over rows (tasks) of their means over columns (seeds); the variance within rows is pooled.

    >>> measure = pooled_mean("drop", [[1.0, 3.0], [5.0, 7.0]])
    >>> measure.value, round(measure.high - measure.value, 2)
    (4.0, 3.04)
    """
    from scipy.stats import t

    table = np.asarray(rows, float)
    tasks, seeds = table.shape
    centre, freedom = float(table.mean()), tasks * (seeds - 1)
    if not freedom:
        return mean_of(label, table.ravel())
    within = float(np.square(table - table.mean(1, keepdims=True)).sum()) / freedom
    reach = float(t.ppf(0.975, freedom)) * math.sqrt(within / table.size)
    return Measure(label, centre, centre - reach, centre + reach, table.size)


def likeness(results: Results, *, kind: str, name: str, scheme: str, measure: str, less: str = "") -> list[Measure]:
    """A measure of Table 3 or 8 over queries; less="random" takes the random guess off, query by query."""
    values = sample(results, kind, ["rss", measure], name=name, scheme=scheme)
    if less:
        other = sample(results, kind, [less, measure], name=name, scheme=scheme)
        values = [a - b for a, b in zip(values, other, strict=True)]
    return [mean_of(f"{name}, {scheme}, {measure}{', less random' if less else ''}", values)]


def grid_gap(
    results: Results, *, name: str, first: Mapping[str, Any], second: Mapping[str, Any], over: str, label: str
) -> list[Measure]:
    """One setting of Figure 2 less another, paired by the parameter `over` and by seed."""
    one, other = (
        {
            (cell.parameters[over], cell.parameters["seed"]): cell.result["score"]
            for cell in results.of("grid", name=name, **wanted)
        }
        for wanted in (first, second)
    )
    return [mean_of(label, [one[pair] - other[pair] for pair in one])]


def share_fall(results: Results, *, first: int, second: int) -> list[Measure]:
    """The success of gradient matching at one width less that at another, k = 1 (Newcombe's interval of a difference)."""
    one, other = (
        share(results, kind="matching", hits="hits", tries="tries", k=1, d=d, label="")[0] for d in (first, second)
    )
    gap = one.value - other.value
    low = gap - math.hypot(one.value - one.low, other.high - other.value)
    high = gap + math.hypot(one.high - one.value, other.value - other.low)
    return [Measure(f"success at d = {first} less at d = {second}", gap, low, high, one.n)]


def corpus_spread(results: Results) -> list[Measure]:
    """Largest less smallest mean score of Table 6, seed by seed."""
    by_corpus = [
        by_seed(results, "corpora", "score", corpus=corpus) for corpus in ("imdb", "newsgroups20", "disaster_tweets")
    ]
    gaps = [max(scores[s] for scores in by_corpus) - min(scores[s] for scores in by_corpus) for s in by_corpus[0]]
    return [mean_of("largest less smallest of three corpora", gaps)]


def beyond_promise(results: Results) -> list[Measure]:
    """The least share of tokens that the attack names for sure (95 %), less what (epsilon, delta) allows at its share of
    false names: e^epsilon * false + delta."""
    hits, tries, wrong, others = (
        int(sum(sample(results, "private_tokens", name))) for name in ("noisy_hits", "tries", "noisy_wrong", "others")
    )
    epsilon, delta = (max(sample(results, "private_tokens", name)) for name in ("epsilon", "delta"))
    allowed = math.exp(epsilon) * wrong / others + delta
    label = f"{hits} of {tries} tokens at {wrong / others:.2g} false; allowed {allowed:.3g}; lower limit less allowed"
    return [Measure.exact(label, lower_limit(hits, tries, 0.95) - allowed)]


MEASURES = by_name(arm_drop, likeness, grid_gap, share_fall, corpus_spread, beyond_promise)
