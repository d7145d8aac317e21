"""Paper 08: Table 2 as curves, printed and ours; our tagger against the true epsilon; incremental training (Tables 4, 6)."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.measures import by_axis, sample
from textveil.reproduce.study import Results

NOISES = (0.5, 1.0, 5.0, 10.0, 50.0)
PRINTED = {"softmax": [0.913, 0.906, 0.916, 0.908, 0.908], "crf": [0.839, 0.75, 0.802, 0.840, 0.815]}

SHARES = (20, 40, 60, 80, 100)  # % of the data
PRINTED_INCREMENTAL = {
    "no noise": [0.762, 0.797, 0.820, 0.835, 0.846],
    "noise 1": [0.744, 0.744, 0.171, 0.106, 0.123],
}


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    drawn = []
    if results.of("table"):
        panels = [
            _table(results, "token_f1", "token-weighted F1 (the paper's score)"),
            _table(results, "entity_f1", "entity F1"),
        ]
        drawn.append(Figure("table-2", "Table 2: the paper's setting against the noise multiplier", panels))
    if results.of("tagger"):
        drawn.append(Figure("tagger", "Ours: the tagger's defaults at true epsilons", [_tagger(results)]))
    if results.of("incremental"):
        panels = [
            _incremental(results, "token_f1", "token-weighted F1"),
            _incremental(results, "entity_f1", "entity F1"),
        ]
        drawn.append(Figure("incremental", "Tables 4 and 6: five clients, aggregated after every tenth", panels))
    return drawn


def _table(results: Results, field: str, label: str) -> Panel:
    series = []
    for output in ("softmax", "crf"):
        series.append(Series.of(f"ours, {output}", _private(results, "table", "noise", field, output)))
        if field == "token_f1":
            series.append(Series(f"printed, {output}", NOISES, PRINTED[output], dashed=True))
    lines = [("all O", height) for height in sample(results, "baseline", field)]
    return Panel(label, "noise multiplier", label, series, lines, log_x=True, y_range=(0.0, 1.0))


def _tagger(results: Results) -> Panel:
    series, lines = [], []
    for output in ("crf", "softmax"):
        series.append(Series.of(output, _private(results, "tagger", "epsilon", "entity_f1", output)))
        if plain := sample(results, "tagger", "entity_f1", output=output, epsilon=0.0):
            lines.append((f"{output}, no privacy", sum(plain) / len(plain)))
    return Panel("CoNLL-2003 testa", "true epsilon (delta 1e-5)", "entity F1", series, lines)


def _incremental(results: Results, field: str, label: str) -> Panel:
    wanted = {
        "the paper's setting, no noise": ("incremental", {"noise": 0.0}),
        "the paper's setting, noise 1": ("incremental", {"noise": 1.0}),
        "ours, epsilon 3": ("cured_incremental", {}),
    }
    series = []
    for name, (kind, own) in wanted.items():
        curves = [cell.result["curve"] for cell in results.of(kind, **own)]
        if curves:
            points = {share: [c[k][field] for c in curves] for k, share in enumerate(SHARES)}
            series.append(Series.of(name, points))
    if field == "token_f1":
        series += [Series(f"printed, {name}", SHARES, own, dashed=True) for name, own in PRINTED_INCREMENTAL.items()]
    lines = [("all O", height) for height in sample(results, "baseline", field)]
    return Panel(label, "% of the data", label, series, lines, y_range=(0.0, 1.0))


def _private(results: Results, kind: str, axis: str, field: str, output: str) -> dict[float, list[float]]:
    """Scores by noise or epsilon; 0 stands for no privacy and is left out."""
    scores = by_axis(results, kind, axis, field, output=output)
    return {place: list(seeds.values()) for place, seeds in scores.items() if place}
