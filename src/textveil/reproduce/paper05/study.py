"""Paper 05: Thakkar, Ramaswamy, Mathews, Beaufays 2021, "Understanding Unintended Memorization in Language Models Under
Federated Learning"."""

from __future__ import annotations

from typing import Any

from textveil.reproduce.cells import Cell, Kind, grid
from textveil.reproduce.paper05.cells import arm, prices, start
from textveil.reproduce.paper05.data import BLOGS, NEWS, REVIEWS
from textveil.reproduce.paper05.figures import figures
from textveil.reproduce.paper05.measures import ARMS, MEASURES
from textveil.reproduce.study import Study

READS = (BLOGS, REVIEWS, NEWS)
SPLITS = ("iid", "users")
PRINTED, EPSILON = 18.8, 8.0
POPULATIONS = (10_000, 100_000, 1_000_000)

KINDS = {
    "prices": Kind(prices),
    "start": Kind(start, needs=READS),
    **{kind: Kind(arm, needs=READS) for kind in (*ARMS, "population")},
}
PARTS = {
    "start": ("start",),
    "headline": ("start", "headline"),
    "users": ("sgd", "fedavg", "private"),
    "prices": ("prices",),
    "tables": ("optimisers", "batches", "iid_private"),
    "seeds": ("seeds",),
    "population": ("start", "population"),
}

# Rates that train without diverging from the public start; the paper's own (.005 at batch 32) are for 37.5 million steps.
RATES = {"sgd": 0.2, "momentum": 0.02, "adam": 1e-3, "fedavg": 0.1, "fedadam": 3e-4}
CLIP = 0.06
SETTINGS: dict[str, dict[str, Any]] = {
    "small": {"epochs": 2.0, "records": (32, 256), "users": (100, 200)},
    "full": {"epochs": 10.0, "records": (32, 64, 128, 256), "users": (100, 200, 400, 800)},
}
LARGE = 200  # users a round of the arms that are compared with private ones
HEADLINE = {"epsilon": EPSILON, "delta": 1e-5, "sampling": "poisson", "frozen": ["vectors"]}


def plan(scale: str) -> list[Cell]:
    """Table 7's setting everywhere: equal epochs. Small: the smallest and a large batch of each table."""
    own = SETTINGS[scale]
    base = {"size": scale, "epochs": own["epochs"], "clip": 0.0, "epsilon": 0.0}

    def cell(kind: str, unit: str, split: str, batch: int, **more: Any) -> Cell:
        first = {"optimiser": "sgd", "seed": 0, "rate": RATES["sgd" if unit == "records" else "fedavg"]}
        return Cell.of(kind, unit=unit, split=split, batch=batch, **{**base, **first, **more})

    def private(kind: str, split: str, **more: Any) -> Cell:
        return cell(kind, "users", split, LARGE, **{"clip": CLIP, **more})

    cells = grid("prices", per_round=[5_000], rounds=[8_000], epsilon=[PRINTED, EPSILON])
    cells += [Cell.of("start", size=scale, seed=0)]
    cells += [private("headline", "users", **HEADLINE), cell("headline", "users", "users", LARGE)]
    cells += [cell("headline", "records", "iid", 32), cell("sgd", "records", "users", 32)]
    cells += [cell("fedavg", "users", "iid", LARGE)]
    cells += [private("private", "users", epsilon=PRINTED), private("private", "users")]
    cells += [private("population", "users", population=n, **HEADLINE) for n in POPULATIONS]
    cells += [private("iid_private", "iid", epsilon=PRINTED), private("iid_private", "iid")]
    for split in SPLITS:
        for batch in set(own["records"]) - {32}:  # the paper's square-root rule for rates
            cells.append(cell("batches", "records", split, batch, rate=RATES["sgd"] * (batch / 32) ** 0.5))
        cells += [cell("batches", "users", split, batch) for batch in set(own["users"]) - {LARGE}]
        for optimiser in ("momentum", "adam"):
            cells.append(cell("optimisers", "records", split, 32, optimiser=optimiser, rate=RATES[optimiser]))
        cells.append(cell("optimisers", "users", split, 100, optimiser="adam", rate=RATES["fedadam"]))
    for seed in (1, 2):
        cells += [private("seeds", "users", **HEADLINE, seed=seed), cell("seeds", "users", "users", LARGE, seed=seed)]
        cells.append(cell("seeds", "records", "iid", 32, seed=seed))
    return cells


NOTES = (
    "User-blogs (1,969 bloggers; the paper: Stack Overflow, 392,000 users, which is not to be had here). Every "
    "sixtieth user is kept for testing; 1,936 train, and about 100 canary users with them.",
    "Sharers: 1, 3 and 10 users a canary, no user with two canaries (the paper: each user with chance 1/50K, 3/50K, "
    "1/5K, about 8, 24 and 78 of its users; here that would replace the text of nearly half of them). A canary that "
    "chance would have left out altogether replaces one sentence, so that all 90 are inserted.",
    "All arms begin from the same model, which read public text (film reviews, Usenet posts) once: few users and a "
    "start from nothing do not go together. The paper begins from nothing. All arms see the same number of epochs, as "
    "in its Table 7; its Table 1 has equal numbers of rounds or steps.",
    "Random sampling: 100,000 suffixes at small scale, 2 million at full, on stems that share their last words' "
    "contexts (see textveil/attacks/federated/sampling.py); ties count against the attacker.",
    "Small scale: 1,000 words, 48 dimensions, 96 units, sentences cut at 10 words, 8 sentences a user, 2 epochs: made "
    "so that the whole study takes about a quarter of an hour of one core. Full scale: the paper's 1.3 million "
    "parameters and all sentences.",
    "Intervals of counts are over the 90 canaries of one trained model (three models where three seeds were run); "
    "another run gives another model.",
    "In a simulated population of N users the multiplier is priced for N users with m in proportion; the users that "
    "train are those there are. What more text would do is not simulated, only what less noise does.",
)

STUDY = Study(
    paper="05",
    title="Understanding Unintended Memorization in Language Models Under Federated Learning",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    measures=MEASURES,
    figures=figures,
    notes=NOTES,
)
