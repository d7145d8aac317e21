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
_ARMS = ("none", *GROUPINGS, "frequency paper", CONTROL, "none aware", "frequency aware")
_X = "N / epsilon (privacy grows to the right)"


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    made = []
    if heats := results.of("heat"):
        tables = heats[0].result["tables"]
        panels = [HeatMap(title, "documents", "words by frequency", tables[name]) for name, title in _HEATS.items()]
        caption = "Figure 1: counts of words in documents, from 0 (white) to 5 and more (darkest)"
        made.append(Figure("figure-1", caption, panels))
    if results.of("synthetic"):
        panels = [_panel(results, "synthetic", "jaccard", "topic Jaccard to the clear model")]
        panels.append(_panel(results, "synthetic", "truth", "topic Jaccard to the true topics"))
        made.append(Figure("synthetic", "Synthetic text: topics under noise", panels))
    if results.of("complaints"):
        fields = {"jaccard": "topic Jaccard", "exclusivity": "exclusivity", "coherence": "coherence", "tenth": "tenth-best Jaccard"}
        panels = [_panel(results, "complaints", field, name) for field, name in fields.items()]
        made.append(Figure("figure-2-lda", "Figure 2: topics of complaints", panels))
    if results.of("lsa"):
        fields = {"error": "error on clear held-out text", "accuracy": "accuracy", "f1": "F1 (weighted)", "macro_f1": "F1 (macro)"}
        panels = [_panel(results, "lsa", field, name) for field, name in fields.items()]
        made.append(Figure("figure-2-lsa", "Figure 2: latent semantic analysis of complaints", panels))
    return made


def _panel(results: Results, source: str, field: str, name: str) -> Panel:
    levels = sorted(
        {(f.parameters["precision"] / f.parameters["epsilon"], f.parameters["epsilon"], f.parameters["precision"]) for f in results.of(source)}
    )
    series, lines = [], []
    for arm in _ARMS:
        points = []
        for scale, epsilon, precision in levels:
            runs = [run[arm][field] for run in runs_of(results, source, (epsilon, precision)) if field in run.get(arm, {})]
            if runs:
                points.append((scale, mean_of(arm, runs)))
        if points:
            x, means = zip(*points, strict=True)
            series.append(Series(arm, x, [m.value for m in means], [m.low for m in means], [m.high for m in means]))
    for arm in ("clear", "chance"):
        own = [run[arm][field] for run in runs_of(results, source, levels[0][1:]) if field in run.get(arm, {})]
        if own:
            lines.append((arm, sum(own) / len(own)))
    return Panel({"synthetic": "Synthetic", "complaints": "Complaints", "lsa": "Complaints, LSA"}[source], _X, name, series, lines, log_x=True)
