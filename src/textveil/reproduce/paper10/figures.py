"""Paper 10: the risk of each policy, the baseline over its training, and what adapting gains (Table 2, Figure 3)."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.measures import sample
from textveil.reproduce.paper10.cells import POLICIES
from textveil.reproduce.paper10.data import DOMAINS
from textveil.reproduce.paper10.translation import VARIANTS
from textveil.reproduce.study import Results


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    wanted = (("risk", _risk), ("baseline", _baseline), ("adapted", _adapted))
    return [draw(results) for kind, draw in wanted if results.of(kind)]


def _risk(results: Results) -> Figure:
    names = ", ".join(f"{number}: {policy}" for number, policy in enumerate(POLICIES, 1))
    panel = Panel(
        "words in correct runs of ten or more (source)",
        "policy",
        "share that is rebuilt",
        [Series.of(domain, _risks(results, domain)) for domain in DOMAINS],
        [("goal: 1 %", 0.01)],
    )
    return Figure("risk", f"Ours: what can be put together again. {names}", [panel])


def _baseline(results: Results) -> Figure:
    """BLEU over minutes of one core, on held-out sentences of each domain: general text, then the other two domains."""
    first = results.of("baseline", left_out="")
    curve = first[0].result["curve"] if first else []
    series = []
    for domain in DOMAINS:
        points = [(point["cpu_minutes"], point[domain]["bleu"]) for point in curve if domain in point]
        for cell in results.of("baseline", left_out=domain):
            before = points[-1][0] if points else 0.0
            points += [(before + point["cpu_minutes"], point[domain]["bleu"]) for point in cell.result["curve"]]
        series.append(Series(domain, [minutes for minutes, _ in points], [bleu for _, bleu in points]))
    ends = f", from minute {curve[-1]['cpu_minutes']:.0f} on the two domains that are not left out" if curve else ""
    panel = Panel("greedy, 150 sentences a domain", "CPU minutes", "BLEU", series)
    return Figure("baseline", f"Ours: the baselines over their training on general text{ends}", [panel])


def _adapted(results: Results) -> Figure:
    """Gains in BLEU (Table 2) and lengths of the output (Figure 3), by variant."""
    variants = [v for v in VARIANTS if results.of("adapted", variant=v)]
    names = ", ".join(f"{number}: {variant}" for number, variant in enumerate(variants, 1))
    gains, lengths = list[Series](), list[Series]()
    for domain in DOMAINS:
        places = {n: results.of("adapted", domain=domain, variant=v) for n, v in enumerate(variants, 1)}
        cells = {float(n): cells[0].result["held_out"] for n, cells in places.items() if cells}
        if not cells:
            continue
        ends = [[cell["interval"][end] for cell in cells.values()] for end in (0, 1)]
        gains.append(Series(domain, [*cells], [cell["gain"] for cell in cells.values()], *ends, joined=False))
        lengths.append(Series(domain, [*cells], [c["after"]["length_ratio"] for c in cells.values()], joined=False))
    panels = [
        Panel("gain over the baseline (Table 2)", "variant", "BLEU", gains, [("baseline", 0.0)]),
        Panel("length of the output (Figure 3)", "variant", "over the reference", lengths, [("reference", 1.0)]),
    ]
    return Figure("adapted", f"Adapted models on 500 held-out sentences. {names}", panels)


def _risks(results: Results, domain: str) -> dict[float, list[float]]:
    number, wanted = ["tokens source", "value"], {"domain": domain, "sentences": 0}
    samples = [sample(results, "risk", number, policy=policy, **wanted) for policy in POLICIES]
    return {float(place): values for place, values in enumerate(samples, 1) if values}
