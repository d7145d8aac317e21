"""Paper 05: Thakkar, Ramaswamy, Mathews, Beaufays 2021, "Understanding Unintended Memorization in Language Models Under
Federated Learning"."""

from __future__ import annotations

from typing import Any

from textveil.reproduce.cells import Cell, Kind, grid
from textveil.reproduce.paper05.cells import arm, prices, searched, start
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
    "search": Kind(searched, needs=READS),
    **{kind: Kind(arm, needs=READS) for kind in (*ARMS, "population")},
}
PARTS = {
    "start": ("start",),
    "headline": ("start", "headline"),
    "users": ("sgd", "fedavg", "private"),
    "prices": ("prices",),
    "tables": ("optimisers", "batches", "iid_private"),
    "seeds": ("seeds",),
    "search": ("search",),
    "population": ("start", "population"),
}

# Chosen by perplexity on the development users alone, never by canaries. SEARCHED has some of the candidates, the page of
# the paper in docs more. The paper's own rates (.005 at batch 32) are for 37.5 million steps.
RATES = {"sgd": 0.5, "momentum": 0.05, "adam": 1e-3, "fedavg": 0.2, "fedadam": 1e-3}
SETTINGS: dict[str, dict[str, Any]] = {
    "small": {"epochs": 6.0, "records": (32, 256), "users": (50, 100)},
    "full": {"epochs": 10.0, "records": (32, 64, 128, 256), "users": (50, 100, 200, 400)},
}
FEW = 50  # users a round of FedAvg in all comparisons but that of Table 7
CLIP = 0.2  # the paper's
# With noise: more users a round, one local step, and a server with Adam.
PRIVATE: dict[str, Any] = {"clip": CLIP, "batch": 400, "local_batch": 8, "server": "adam", "server_rate": 0.01}
# At epsilon 8 the word vectors learn and the whole LSTM rests, which lets the server take far longer steps.
HEADLINE: dict[str, Any] = {
    **PRIVATE,
    "clip": 0.1,
    "server_rate": 0.02,
    "epsilon": EPSILON,
    "delta": 1e-5,
    "sampling": "poisson",
    "frozen": ["cell"],
}
SEARCHED: tuple[dict[str, Any], ...] = (
    *({"unit": "records", "split": "iid", "batch": 32, "rate": rate, "epochs": 2.0} for rate in (0.2, 0.5)),
    *({"unit": "users", "split": "users", "batch": FEW, "rate": rate, "epochs": 2.0} for rate in (0.1, 0.2)),
    *(
        {"unit": "users", "split": "users", "rate": 0.2, **HEADLINE, **other}
        for other in (
            {"clip": CLIP, "server_rate": 0.01, "frozen": ["vectors", "cell.weight"]},
            {"clip": CLIP, "server_rate": 0.01},
            {"server_rate": 0.016},
            {},
        )
    ),
)


def plan(scale: str) -> list[Cell]:
    """Table 7's setting everywhere: equal epochs. Small: the smallest and a large batch of each table."""
    own = SETTINGS[scale]
    base = {"size": scale, "epochs": own["epochs"], "optimiser": "sgd", "clip": 0.0, "epsilon": 0.0, "seed": 0}

    def cell(kind: str, unit: str, split: str, batch: int = FEW, **more: Any) -> Cell:
        rate = RATES["sgd" if unit == "records" else "fedavg"]
        return Cell.of(kind, **{**base, "unit": unit, "split": split, "batch": batch, "rate": rate, **more})

    printed: dict[str, Any] = {**PRIVATE, "epsilon": PRINTED}
    clipped: dict[str, Any] = {"clip": CLIP}
    cells = grid("prices", per_round=[5_000], rounds=[8_000], epsilon=[PRINTED, EPSILON])
    cells += [Cell.of("start", size=scale, seed=0)]
    cells += [Cell.of("search", **{**base, **asked}) for asked in SEARCHED]
    cells += [cell("headline", "records", "iid", 32), cell("headline", "users", "users")]
    cells += [cell("headline", "users", "users", **HEADLINE), cell("sgd", "records", "users", 32)]
    cells += [cell("fedavg", "users", "iid")]
    cells += [cell("private", "users", "users", **more) for more in (printed, clipped)]
    cells += [cell("population", "users", "users", population=n, **HEADLINE) for n in POPULATIONS]
    cells += [cell("iid_private", "users", "iid", **more) for more in (printed, clipped)]
    for split in SPLITS:
        for batch in sorted(set(own["records"]) - {32}):  # the paper's square-root rule for rates
            cells.append(cell("batches", "records", split, batch, rate=RATES["sgd"] * (batch / 32) ** 0.5))
        cells += [cell("batches", "users", split, batch) for batch in sorted(set(own["users"]) - {FEW})]
        for optimiser in ("momentum", "adam"):
            cells.append(cell("optimisers", "records", split, 32, optimiser=optimiser, rate=RATES[optimiser]))
        cells.append(cell("optimisers", "users", split, optimiser="adam", rate=RATES["fedadam"]))
    for seed in (1, 2):
        cells += [cell("seeds", "records", "iid", 32, seed=seed), cell("seeds", "users", "users", seed=seed)]
        cells.append(cell("seeds", "users", "users", **{**HEADLINE, "seed": seed}))
    return cells


NOTES = (
    "User-blogs (1,969 bloggers; the paper: Stack Overflow, 392,000 users, which is not to be had here). Of every sixty "
    "users one is kept for testing and one to choose settings by; 1,903 train, and about 50 canary users with them.",
    "Sharers: 1, 3 and 10 users a canary, no user with two canaries (the paper: each user with chance 1/50K, 3/50K, "
    "1/5K, about 8, 24 and 78 of its users; here that would replace the text of nearly half of them). A canary that "
    "chance would have left out altogether replaces one sentence, so that all 90 are inserted.",
    "All arms begin from the same model, which read public text (film reviews, Usenet posts) once: few users and a "
    "start from nothing do not go together. The paper begins from nothing. All arms see the same number of epochs, as "
    "in its Table 7; its Table 1 has equal numbers of rounds or steps.",
    "Random sampling: 100,000 suffixes at small scale, 2 million at full, on stems that share their last words' "
    "contexts (see textveil/attacks/federated/sampling.py); ties count against the attacker.",
    "Small scale: 1,000 words, 48 dimensions, 96 units, sentences cut at 10 words, 8 sentences a user, 6 epochs. Full "
    "scale: the paper's 1.3 million parameters and all sentences.",
    "Rates, clip and frozen parts were chosen by perplexity on the development users (`--part search` has some of "
    "the candidates, the paper's page more), without a look at canaries. Private rounds have 400 users, one local step and "
    "a server with Adam; at epsilon 8 the clip is .1, the server's rate .02, and the LSTM rests: word vectors, projection "
    "and output bias learn.",
    "Intervals of counts are over the 90 canaries of one trained model (three models where three seeds were run), those of "
    "ratios of perplexities over the 33 users of the test; another run gives another model.",
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
