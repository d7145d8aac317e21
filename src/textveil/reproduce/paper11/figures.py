"""Paper 11: how well a copy agrees that was trained on so many labels."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure

from .measures import share


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    cells = results.of("extraction")
    if not cells:
        return []
    asked = [float(cell.parameters["queries"]) for cell in cells]
    found: list[Measure] = []
    for queries in asked:
        found += share(results, kind="extraction", hits="hits", tries="tries", label="copy", queries=int(queries))
    heights, low, high = ([getattr(m, end) for m in found] for end in ("value", "low", "high"))
    lines = [("9 of 10", 0.9), ("largest class", float(cells[0].result["majority"]))]
    series = Series("a copy of the model", asked, heights, low, high)
    panel = Panel(
        "model extraction by labels", "labels asked for", "agreement with the model", [series], lines, log_x=True
    )
    return [Figure("extraction", "What labels tell: a copy trained on them, on other texts", [panel])]
