"""What the claims of Table 2 and Figure 3 are judged by: scores over sentences, with intervals by paired bootstrap."""

from __future__ import annotations

from typing import Any

from textveil.reproduce.measures import by_name
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import Measure


def bleu_gain_of(results: Results, *, kind: str, variant: str, part: str = "held_out", **wanted: Any) -> list[Measure]:
    """BLEU after adapting less BLEU of the baseline; the interval is over sentences."""
    measures = []
    for cell in results.of(kind, variant=variant, **wanted):
        shown, domain = cell.result[part], cell.parameters["domain"]
        label = f"{domain}: BLEU {shown['before']['bleu']:.1f} to {shown['after']['bleu']:.1f}, gain"
        measures.append(Measure(label, shown["gain"], *shown["interval"], shown["pairs"]))
    return measures


def over_copying(results: Results, *, kind: str, part: str = "held_out", **wanted: Any) -> list[Measure]:
    """BLEU of the baseline less that of copying the source."""
    cells = results.of(kind, **wanted)[:1]
    return [
        Measure.exact(
            f"{cell.parameters['domain']}: {cell.result[part]['before']['bleu']:.1f} less copying",
            cell.result[part]["before"]["bleu"] - cell.result[part]["copy"],
        )
        for cell in cells
    ]


def baseline_bleu(results: Results, *, kind: str, part: str = "held_out", **wanted: Any) -> list[Measure]:
    """BLEU of the unadapted baseline."""
    cells = results.of(kind, **wanted)[:1]
    return [Measure.exact(c.parameters["domain"], c.result[part]["before"]["bleu"]) for c in cells]


def length_gain(results: Results, *, kind: str, first: str, second: str, **wanted: Any) -> list[Measure]:
    """How much longer outputs of one variant are than those of another, over the reference."""
    ratios = [
        {
            c.parameters["domain"]: c.result["held_out"]["after"]["length_ratio"]
            for c in results.of(kind, variant=v, **wanted)
        }
        for v in (first, second)
    ]
    return [
        Measure.exact(
            f"{domain}: {ratios[1][domain]:.2f} less {ratios[0][domain]:.2f}", ratios[1][domain] - ratios[0][domain]
        )
        for domain in ratios[0]
        if domain in ratios[1]
    ]


MEASURES = by_name(bleu_gain_of, over_copying, baseline_bleu, length_gain)
