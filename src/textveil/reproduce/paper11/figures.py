"""Paper 11: how well a copy agrees that was trained on so many labels."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.study import Results

from .measures import copies


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    cells = results.of("extraction")
    if not cells:
        return []
    samples = {float(queries): found for queries, found in copies(results).items()}
    lines = [("9 of 10", 0.9), ("largest class", float(cells[0].result["majority"]))]
    series = [Series.of("a copy of the model", samples)]
    panel = Panel(
        "model extraction by labels", "labels asked for", "agreement with the model", series, lines, log_x=True
    )
    return [Figure("extraction", "What labels tell: copies trained on them, on other texts", [panel])]
