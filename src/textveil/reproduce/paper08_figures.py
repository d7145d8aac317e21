"""Paper 08, central half: Table 2 as curves, printed and ours, and our tagger against the true epsilon."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.paper08_measures import NOISES, heights, tagger_heights
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import mean_of

PRINTED = {"softmax": [0.913, 0.906, 0.916, 0.908, 0.908], "crf": [0.839, 0.75, 0.802, 0.840, 0.815]}


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    made = []
    if results.of("table"):
        panels = [
            _table(results, "token_f1", "token-weighted F1 (the paper's score)"),
            _table(results, "entity_f1", "entity F1"),
        ]
        made.append(Figure("table-2", "Table 2: the paper's setting against the noise multiplier", panels))
    if results.of("tagger"):
        made.append(Figure("tagger", "Ours: the tagger's defaults at true epsilons", [_tagger(results)]))
    return made


def _table(results: Results, field: str, label: str) -> Panel:
    series = []
    for output in ("softmax", "crf"):
        own = [(n, mean_of(output, h)) for n in NOISES if (h := heights(results, output, n, field))]
        series.append(Series(f"ours, {output}", [n for n, _ in own], [m.value for _, m in own]))
        if field == "token_f1":
            series.append(Series(f"printed, {output}", list(NOISES), PRINTED[output], dashed=True))
    lines = [("all O", results.of("baseline")[0].result[field])] if results.of("baseline") else []
    return Panel(label, "noise multiplier", label, series, lines, log_x=True, y_range=(0.0, 1.0))


def _tagger(results: Results) -> Panel:
    series, lines = [], []
    for output in ("crf", "softmax"):
        epsilons = sorted({f.parameters["epsilon"] for f in results.of("tagger", output=output)} - {0.0})
        means = [mean_of(output, tagger_heights(results, output, e)).value for e in epsilons]
        series.append(Series(output, epsilons, means))
        if plain := tagger_heights(results, output, 0.0):
            lines.append((f"{output}, no privacy", sum(plain) / len(plain)))
    return Panel("CoNLL-2003 testa", "true epsilon (delta 1e-5)", "entity F1", series, lines)
