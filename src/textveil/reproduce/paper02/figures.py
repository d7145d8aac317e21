"""Paper 02: its two figures, and the synthetic results that it prints as numbers only."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.heat import HeatMap
from textveil.reproduce.paper02.arms import CONTROL, GROUPINGS
from textveil.reproduce.paper02.measures import runs_of
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import mean_of

_HEATS = {
    "clear": "(a) complaints",
    "laplace": "(b) Laplace, whole documents, eps 2",
    "geometric": "(c) geometric, whole documents, eps 2",
    "sketch": "random-projection sketch, eps 2 (ours)",
    "passages": "(d) limited precision, eps 2, N 2",
    "passages, frequency": "limited precision, frequency groups",
}
_LDA = {
    "jaccard": "topic Jaccard",
    "exclusivity": "exclusivity",
    "coherence": "coherence",
    "tenth": "tenth-best Jaccard",
}
_LSA = {
    "error": "error on clear held-out text",
    "accuracy": "accuracy",
    "f1": "F1 (weighted)",
    "macro_f1": "F1 (macro)",
}
_TITLES = {"synthetic": "Synthetic", "complaints": "Complaints", "lsa": "Complaints, LSA"}
_ARMS = ("none", *GROUPINGS, "frequency paper", CONTROL, "none aware", "frequency aware")
_X = "N / epsilon (privacy grows to the right)"


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    drawn = []
    if heats := results.of("heat"):
        tables = heats[0].result["tables"]
        heat_maps = [
            HeatMap(title, "documents", "every 115th word by frequency", tables[name]) for name, title in _HEATS.items()
        ]
        caption = "Figure 1: counts of words in documents, from 0 (white) to 5 and more (darkest)"
        drawn.append(Figure("figure-1", caption, heat_maps))
    if results.of("synthetic"):
        panels = [_panel(results, "synthetic", "jaccard", "topic Jaccard to the clear model")]
        panels.append(_panel(results, "synthetic", "truth", "topic Jaccard to the true topics"))
        drawn.append(Figure("synthetic", "Synthetic text: topics under noise", panels))
    if results.of("complaints"):
        panels = [_panel(results, "complaints", field, name) for field, name in _LDA.items()]
        drawn.append(Figure("figure-2-lda", "Figure 2: topics of complaints", panels))
    if results.of("lsa"):
        panels = [_panel(results, "lsa", field, name) for field, name in _LSA.items()]
        drawn.append(Figure("figure-2-lsa", "Figure 2: latent semantic analysis of complaints", panels))
    return drawn


def _panel(results: Results, source: str, field: str, name: str) -> Panel:
    own = [cell.parameters for cell in results.of(source)]
    levels = sorted({(p["epsilon"], p["precision"]) for p in own}, key=lambda level: level[1] / level[0])
    series = [
        Series.of(arm, _heights(results, source, arm, field, levels), dashed=arm.endswith("aware")) for arm in _ARMS
    ]
    lines = []
    for arm in ("clear", "chance"):
        if heights := next(iter(_heights(results, source, arm, field, levels).values())):
            lines.append((arm, mean_of(arm, heights).value))
    return Panel(_TITLES[source], _X, name, [s for s in series if s.x], lines, log_x=True)


def _heights(
    results: Results, source: str, arm: str, field: str, levels: list[tuple[float, int]]
) -> dict[float, list[float]]:
    """What an arm reached at each level; nothing where it was not run."""
    return {
        level[1] / level[0]: [run[arm][field] for run in runs_of(results, source, level) if field in run.get(arm, {})]
        for level in levels
    }
