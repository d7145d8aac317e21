"""Paper 11: Adams, Melanson, De Cock, "Private Text Classification with Convolutional Neural Networks"."""

from __future__ import annotations

from textveil.reproduce.cells import Cell, Kind, grid
from textveil.reproduce.study import Study

from .cells import agreement, encoding, extraction, plain, secure, stars
from .data import PARTS as TEXT_PARTS
from .data import REVIEWS
from .figures import figures
from .measures import MEASURES

KINDS = {
    "stars": Kind(stars, needs=(REVIEWS,)),
    "encoding": Kind(encoding, needs=(REVIEWS,)),
    "plain": Kind(plain, version=2, needs=(REVIEWS,)),
    "extraction": Kind(extraction, version=2, needs=(REVIEWS,)),
    "agreement": Kind(agreement, needs=(REVIEWS,)),
    "secure": Kind(secure, version=2, needs=(REVIEWS,), alone=True),
}
PLAIN = ("stars", "encoding", "plain", "extraction")
PARTS = {"plain": PLAIN, "agreement": (*PLAIN, "agreement"), "secure": ("encoding", "agreement", "secure")}
QUERIES = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400)
DRAWS = 10  # of the texts that a copy is trained on
TEXTS = 1000  # whose secure labels are compared with plain ones


def plan(scale: str) -> list[Cell]:
    """Small: times of 100 texts, one run. Full: of 200 to 1,000 texts, five runs, as in Table 2; and a CNN over pieces."""
    full = scale == "full"
    cells = grid("stars") + grid("encoding", inputs=["sentence"], part=range(TEXT_PARTS))
    cells += grid("plain", network=["paper", "wide", "square", "linear"], inputs=["sentence"], seed=[0])
    cells += grid("plain", network=["linear"], inputs=["words"], seed=[0])
    if full:
        cells += grid("encoding", inputs=["pieces"], part=range(TEXT_PARTS))
        cells += grid("plain", network=["paper"], inputs=["pieces"], seed=[0])
    cells += grid("extraction", queries=QUERIES, network=["paper"], draw=range(DRAWS))
    cells += grid("agreement", trust=["dealer", "three"], answer=["label"], texts=[TEXTS], network=["paper"])
    cells += grid("agreement", trust=["dealer"], answer=["sigmoid"], texts=[TEXTS], network=["paper"])
    return cells + timed_plan(full)


def timed_plan(full: bool) -> list[Cell]:
    """Table 2, for `dealer` and `three`; `two` once, with ten texts."""
    counts, runs = ([200, 400, 600, 800, 1000], range(5)) if full else ([100], range(1))
    common = {"answer": ["label"], "network": ["paper"], "texts": counts, "run": runs}
    cells = []
    for trust in ("dealer", "three"):
        cells += grid("secure", trust=[trust], mode=["batched", "sequential"], **common)
    return cells + grid("secure", trust=["two"], mode=["batched"], **{**common, "texts": [10], "run": [0]})


NOTES = (
    "The Software part of the Amazon reviews is withdrawn. Here: 11,520 reviews of food and devices (78 % positive; the "
    "paper: 70 %), a fifth of each rating kept back. The encoder is the MiniLM of 384 dimensions (the paper: "
    "stsb-distilbert-base, 768).",
    "Figure 2 does not print the sizes of the network: kernels 3, 4, 5 with 8 channels, pools of 2, dense 16 are our "
    "reading.",
    "All parties on one machine of two cores, over loopback, TLS on (the paper: three machines of 16 cores). Encoding is "
    "excluded. CPU seconds and the dealer's calls stand beside the seconds, which depend on what "
    "else the machine does.",
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
    measures=MEASURES,
    figures=figures,
    notes=NOTES,
)
