"""Paper 04: differences between arms, paired by task and seed."""

from __future__ import annotations

from collections.abc import Sequence

from textveil.reproduce.measures import by_name, by_seed, sample
from textveil.reproduce.paper04.data import TASKS
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure, mean_of


def arm_drop(results: Results, *, arm: str, against: str = "baseline", tasks: Sequence[str] = TASKS) -> list[Measure]:
    """Points that an arm loses against another: the mean over tasks, seed by seed."""
    seeds = sorted(by_seed(results, "glue", "score", name=tasks[0], arm=arm))
    drops = []
    for seed in seeds:
        both = [
            [sample(results, "glue", "score", name=name, arm=one, seed=seed)[0] for name in tasks]
            for one in (against, arm)
        ]
        drops.append(sum(a - b for a, b in zip(*both, strict=True)) / len(tasks))
    return [mean_of(f"{against} less {arm}, mean of {len(tasks)} tasks", drops)]


def likeness(results: Results, *, kind: str, name: str, scheme: str, measure: str, less: str = "") -> list[Measure]:
    """A measure of Table 3 or 8 over queries; less="random" takes the random guess off, query by query."""
    values = sample(results, kind, ["rss", measure], name=name, scheme=scheme)
    if less:
        other = sample(results, kind, [less, measure], name=name, scheme=scheme)
        values = [a - b for a, b in zip(values, other, strict=True)]
    return [mean_of(f"{name}, {scheme}, {measure}{', less random' if less else ''}", values)]


def spread_over_k(results: Results, *, m: int, name: str) -> list[Measure]:
    """How far the scores of Figure 2 for one m lie apart over k."""
    scores = sample(results, "grid", "score", name=name, m=m)
    return [Measure.exact(f"{name}, m = {m}: largest less smallest over k", max(scores) - min(scores))]


def corpus_spread(results: Results) -> list[Measure]:
    """Largest less smallest mean score of Table 6, seed by seed."""
    by_corpus = [
        by_seed(results, "corpora", "score", corpus=corpus) for corpus in ("imdb", "newsgroups20", "disaster_tweets")
    ]
    gaps = [max(scores[s] for scores in by_corpus) - min(scores[s] for scores in by_corpus) for s in by_corpus[0]]
    return [mean_of("largest less smallest of three corpora", gaps)]


MEASURES = by_name(arm_drop, likeness, spread_over_k, corpus_spread)
