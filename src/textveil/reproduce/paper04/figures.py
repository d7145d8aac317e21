"""Paper 04: accuracy by masks and mixing (Figure 2), and the curves of gradient matching (Figure 3)."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.measures import sample
from textveil.reproduce.study import Results

PLACES = {0: 1.0, 1: 2.0, 16: 3.0, 64: 4.0, 256: 5.0, 512: 6.0, 1024: 7.0, 4096: 8.0, -1: 9.0}


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    drawn = []
    names = list(dict.fromkeys(cell.parameters["name"] for cell in results.of("grid")))
    if names:
        caption = "Figure 2: scores of TextHide-intra; m = none, 1, 16, 64, 256, 512, 1024, 4096, new for each item"
        drawn.append(Figure("figure-2", caption, [_grid(results, name) for name in names]))
    panels = [panel for name in ("success", "failure") for panel in _curves(results, name)]
    if panels:
        drawn.append(Figure("figure-3", "Figure 3: one attack that succeeds and one that fails", panels))
    return drawn


def _grid(results: Results, name: str) -> Panel:
    mixed = sorted({cell.parameters["k"] for cell in results.of("grid", name=name)})
    series = [
        Series.of(f"k = {k}", {PLACES[m]: sample(results, "grid", "score", name=name, m=m, k=k) for m in PLACES})
        for k in mixed
    ]
    return Panel(name, "pool, from none (1) to new masks (9)", "score", series)


def _curves(results: Results, name: str) -> list[Panel]:
    """Errors by outer step, of the widest layer (one text) with such an attack."""
    cells = [cell for cell in results.of("matching", k=1) if cell.parameters["d"] and name in cell.result["curves"]]
    if not cells:
        return []
    curves = cells[-1].result["curves"][name]
    steps = list(range(1, len(curves["input"]) + 1))
    series = [Series(label, steps, [min(v, 10.0) for v in curves[label]]) for label in ("input", "mask", "gradient")]
    return [Panel(f"{name}, d = {cells[-1].parameters['d']}", "outer step", "squared error (at most 10)", series)]
