"""Paper 02: its two figures, and the synthetic results that it prints as numbers only."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.heat import HeatMap
from textveil.reproduce.paper02_arms import CONTROL, GROUPINGS
from textveil.reproduce.paper02_measures import runs_of
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
    made = []
    if heats := results.of("heat"):
        tables = heats[0].result["tables"]
        panels = [
            HeatMap(title, "documents", "every 115th word by frequency", tables[name]) for name, title in _HEATS.items()
        ]
        caption = "Figure 1: counts of words in documents, from 0 (white) to 5 and more (darkest)"
        made.append(Figure("figure-1", caption, panels))
    if results.of("synthetic"):
        panels = [_panel(results, "synthetic", "jaccard", "topic Jaccard to the clear model")]
        panels.append(_panel(results, "synthetic", "truth", "topic Jaccard to the true topics"))
        made.append(Figure("synthetic", "Synthetic text: topics under noise", panels))
    if results.of("complaints"):
        panels = [_panel(results, "complaints", field, name) for field, name in _LDA.items()]
        made.append(Figure("figure-2-lda", "Figure 2: topics of complaints", panels))
    if results.of("lsa"):
        panels = [_panel(results, "lsa", field, name) for field, name in _LSA.items()]
        made.append(Figure("figure-2-lsa", "Figure 2: latent semantic analysis of complaints", panels))
    return made


def _panel(results: Results, source: str, field: str, name: str) -> Panel:
    own = [found.parameters for found in results.of(source)]
    levels = sorted({(p["epsilon"], p["precision"]) for p in own}, key=lambda level: level[1] / level[0])
    series = [_series(results, source, arm, field, levels) for arm in _ARMS]
    lines = []
    for arm in ("clear", "chance"):
        if heights := _heights(results, source, arm, field, levels[0]):
            lines.append((arm, mean_of(arm, heights).value))
    shown = [s for s in series if s is not None]
    return Panel(_TITLES[source], _X, name, shown, lines, log_x=True)


def _heights(results: Results, source: str, arm: str, field: str, level: tuple[float, int]) -> list[float]:
    return [run[arm][field] for run in runs_of(results, source, level) if field in run.get(arm, {})]


def _series(results: Results, source: str, arm: str, field: str, levels: list[tuple[float, int]]) -> Series | None:
    """One arm over all levels; None where it was not run."""
    found = [(level, _heights(results, source, arm, field, level)) for level in levels]
    means = [(level[1] / level[0], mean_of(arm, heights)) for level, heights in found if heights]
    if not means:
        return None
    x, y = [scale for scale, _ in means], [m for _, m in means]
    return Series(arm, x, [m.value for m in y], [m.low for m in y], [m.high for m in y], dashed=arm.endswith("aware"))
