"""What the claims of Table 2 and Figure 3 are judged by: scores over sentences, with intervals by paired bootstrap."""

from __future__ import annotations

import math
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


def copying_bleu(results: Results, *, kind: str, part: str = "held_out", **wanted: Any) -> list[Measure]:
    """BLEU of the German sentences as if they were the translations."""
    cells = results.of(kind, **wanted)[:1]
    return [Measure.exact(c.parameters["domain"], c.result[part]["copy"]) for c in cells]


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


def gain_kept(results: Results, *, kind: str, safe: str, paper: str, share: float) -> list[Measure]:
    """The gain of a safer policy less a share of the gain of the paper's, in BLEU: the mean over the domains.

    Reaches are those of the gains, taken as if the two were independent; they are of the same sentences, so the interval
    is too wide rather than too narrow. The label has the gain in loss of both.
    """
    parts = [{c.parameters["domain"]: c.result["held_out"] for c in results.of(kind, variant=v)} for v in (safe, paper)]
    domains = [domain for domain in parts[0] if domain in parts[1]]
    if not domains:
        return []
    gains = [sum(part[d]["gain"] for d in domains) / len(domains) for part in parts]
    losses = [sum(part[d]["loss"][0] - part[d]["loss"][1] for d in domains) / len(domains) for part in parts]
    ends = []
    for own, other in (
        (0, 1),
        (1, 0),
    ):  # a low difference: the first gain low, the second high
        reaches = [abs(parts[0][d]["interval"][own] - parts[0][d]["gain"]) for d in domains]
        reaches += [share * abs(parts[1][d]["interval"][other] - parts[1][d]["gain"]) for d in domains]
        ends.append(math.hypot(*reaches) / len(domains))
    value = gains[0] - share * gains[1]
    label = (
        f"{safe}: {gains[0]:+.2f} BLEU (loss {losses[0]:+.3f}), {paper}: {gains[1]:+.2f} ({losses[1]:+.3f}); the first less "
        f"{share:.0%} of the second"
    )
    return [Measure(label, value, value - ends[0], value + ends[1], len(domains))]


MEASURES = by_name(bleu_gain_of, over_copying, baseline_bleu, copying_bleu, length_gain, gain_kept)
