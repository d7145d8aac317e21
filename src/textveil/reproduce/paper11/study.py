"""Paper 11: Adams, Melanson, De Cock, "Private Text Classification with Convolutional Neural Networks"."""

from __future__ import annotations

from textveil.reproduce.cells import Cell, Kind, grid
from textveil.reproduce.study import Study

from .cells import REVIEWS, extraction, plain, secure, stars

KINDS = {
    "stars": Kind(stars, needs=(REVIEWS,)),
    "plain": Kind(plain, needs=(REVIEWS,)),
    "secure": Kind(secure, needs=(REVIEWS,)),
    "extraction": Kind(extraction, needs=(REVIEWS,)),
}
PARTS = {"plain": ("stars", "plain", "extraction"), "secure": ("secure",)}
QUERIES = (25, 50, 100, 200, 400, 800, 1600, 3200)


def plan(scale: str) -> list[Cell]:
    """Small: 100 texts, one run. Full: 200 to 1,000 texts, five runs, as in Table 2."""
    full = scale == "full"
    cells = grid("stars") + grid("plain", network=["paper", "wide", "square", "linear"], inputs=["sentence"], seed=[0])
    cells += grid("plain", network=["linear"], inputs=["words"], seed=[0])
    cells += grid("extraction", queries=QUERIES, network=["paper"])
    counts, runs = ([200, 400, 600, 800, 1000], range(5)) if full else ([100], range(1))
    common = {"network": ["paper"], "texts": counts, "run": runs}
    for trust in ("dealer", "three"):
        cells += grid("secure", trust=[trust], mode=["batched", "sequential"], answer=["label"], **common)
    cells += grid("secure", trust=["dealer"], mode=["batched"], answer=["sigmoid"], **common)
    cells += grid("secure", trust=["two"], mode=["batched"], answer=["label"], network=["paper"], texts=[10], run=[0])
    return cells


NOTES = (
    "The Software part of the Amazon reviews is withdrawn. Here: 11,520 reviews of food and devices (78 % positive; the "
    "paper: 70 %), a fifth of each rating kept back. The encoder is the MiniLM of 384 dimensions (the paper: "
    "stsb-distilbert-base, 768).",
    "Figure 2 does not print the sizes of the network: kernels 3, 4, 5 with 8 channels, pools of 2, dense 16 are our "
    "reading.",
    "All parties on one machine of two cores, over loopback, TLS on (the paper: three machines of 16 cores). Encoding is "
    "excluded. CPU seconds and the dealer's calls stand beside the seconds, which depend on what else the machine does.",
    "The dealer's calls interleave with the protocol: there is no separate offline phase to report.",
    "The paper's trusted initialiser is a dealer here (its own process, TLS, no number dealt twice). CrypTen's own is for "
    "debugging.",
)

STUDY = Study(
    paper="11",
    title="Private Text Classification with Convolutional Neural Networks",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    notes=NOTES,
)
