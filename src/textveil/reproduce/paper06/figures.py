"""Paper 06: its three figures, in its own shape, and one of ours (the same against the optimal adversary)."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.paper06.measures import Runs, mean, runs_of
from textveil.reproduce.paper06.words import RANKS, T
from textveil.reproduce.study import Results

_VECTORS = {"glove": "GloVe-100d", "word2vec": "word2vec-300d"}
_SOURCES = {"lexicon": "Product Reviews (lexicon)", "imdb": "IMDb", "tweets": "Twitter"}
_ARMS = {f"sound t={t:g}": "Laplace (t=0)" if t == 0 else f"Vickrey t={t:g}" for t in T} | {
    "mahalanobis": "Mahalanobis"
}
_RANKS = {f"sound rank={r}": f"neighbour {r}" for r in RANKS}
_PRINTED = {"sound t=0": "Laplace (t=0)"} | {f"printed t={t:g}": f"Algorithm 1 as printed, t={t:g}" for t in T if t}


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    drawn = []
    if results.of("line_odds"):
        drawn.append(_figure1(results))
    panels = [p for s in _SOURCES for v in _VECTORS for p in _pair(results, s, v, _ARMS, "sampling")]
    if panels:
        caption = "Figure 2: inference error of the paper's adversary, against epsilon and against utility loss"
        drawn.append(Figure("figure-2", caption, panels))
    ranks = [p for v in _VECTORS for p in _pair(results, "lexicon", v, _RANKS, "sampling")]
    if ranks:
        drawn.append(Figure("figure-3", "Figure 3: always the r-th neighbour of the noised point", ranks))
    ours = [p for v in _VECTORS for p in _pair(results, "lexicon", v, _ARMS, "optimal")]
    if ours:
        drawn.append(Figure("figure-2-optimal", "Figure 2 again, for the optimal adversary (ours)", ours))
    printed = [p for v in _VECTORS for p in _pair(results, "lexicon", v, _PRINTED, "sampling")]
    if printed:
        drawn.append(
            Figure("figure-2-printed", "Figure 2 again, for Algorithm 1 exactly as printed (no promise holds)", printed)
        )
    return drawn


def _figure1(results: Results) -> Figure:
    panels = []
    for cell in results.of("line_odds"):
        t = cell.parameters["t"]
        title = "Laplace (t=0)" if t == 0 else f"Vickrey, t={t:g}"
        series = [Series(w, cell.result["noised"], odds, steps=True) for w, odds in cell.result["odds"].items()]
        panels.append(Panel(title, "noised embedding", "odds of the word", series, y_range=(0.0, 1.05)))
    return Figure("figure-1", "Figure 1: five words on a line, odds over the noised point", panels, columns=1)


def _pair(results: Results, source: str, vectors: str, arms: dict[str, str], field: str) -> list[Panel]:
    runs = runs_of(results, source, vectors)
    if not runs:
        return []
    name = f"{_SOURCES[source]}, {_VECTORS[vectors]}"
    who = "inference error" if field == "sampling" else "inference error (optimal)"
    by_epsilon = [
        Series.of(label, {e: [r[arm][field] for r in some] for e, some in runs.items()}) for arm, label in arms.items()
    ]
    by_loss = [_against_loss(runs, arm, label, field) for arm, label in arms.items()]
    loss = "sentiment flipped" if source == "lexicon" else "misclassified"
    return [
        Panel(name, "epsilon", who, by_epsilon, log_x=True, y_range=(0.0, 1.05)),
        Panel(name, loss, who, by_loss, y_range=(0.0, 1.05)),
    ]


def _against_loss(runs: Runs, arm: str, label: str, field: str) -> Series:
    points = sorted((mean(some, arm, "loss"), mean(some, arm, field)) for some in runs.values())
    return Series(label, [loss for loss, _ in points], [error for _, error in points])
