"""Paper 10: the risk of each policy, by domain."""

from __future__ import annotations

from textveil.reproduce.figures import Figure, Panel, Series
from textveil.reproduce.measures import sample
from textveil.reproduce.paper10.cells import POLICIES
from textveil.reproduce.paper10.data import DOMAINS
from textveil.reproduce.study import Results


def figures(results: Results) -> list[Figure]:
    """Every figure for which there are cells."""
    if not results.of("risk", sentences=0):
        return []
    names = ", ".join(f"{number}: {policy}" for number, policy in enumerate(POLICIES, 1))
    panel = Panel(
        "words in correct runs of ten or more (source)",
        "policy",
        "share that is rebuilt",
        [Series.of(domain, _risks(results, domain)) for domain in DOMAINS],
        [("goal: 1 %", 0.01)],
    )
    return [Figure("risk", f"Ours: what can be put together again. {names}", [panel])]


def _risks(results: Results, domain: str) -> dict[float, list[float]]:
    number, wanted = ["tokens source", "value"], {"domain": domain, "sentences": 0}
    samples = [sample(results, "risk", number, policy=policy, **wanted) for policy in POLICIES]
    return {float(place): values for place, values in enumerate(samples, 1) if values}
