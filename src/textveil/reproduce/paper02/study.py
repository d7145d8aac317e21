"""Paper 02: Schofield, Yauney, Mimno 2019, compression against the noise of local privacy, for topics.

Cells: topics of synthetic text and of consumer complaints at each privacy level (section 5, Figure 2, Table 1), latent
semantic analysis of complaints (Figure 2), full local privacy (section 2, Figure 1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textveil.reproduce.cells import BUNDLED, Cell, Kind, grid
from textveil.reproduce.paper02.cells import clear_topics, lsa_level, shares_level, topics_level
from textveil.reproduce.paper02.data import COMPLAINTS, SYNTHETIC_TOPICS
from textveil.reproduce.paper02.figures import figures
from textveil.reproduce.paper02.local import heat, local_lengths, local_topics
from textveil.reproduce.paper02.measures import MEASURES
from textveil.reproduce.study import Study

LEVELS = [(5.0, 1), (0.5, 1), (0.5, 10)]  # the paper's; (5, 10) is (.5, 1) again
MORE_LEVELS = [(2.0, 1), (2.0, 2), (2.0, 10), (1.0, 10)]
SHARES = [0.5, 0.9]  # of epsilon for the corpus counts, beside the default of a tenth

KINDS = {
    "synthetic": Kind(topics_level),
    "synthetic_clear": Kind(clear_topics),
    "complaints": Kind(topics_level, needs=(COMPLAINTS, BUNDLED)),
    "complaints_clear": Kind(clear_topics, needs=(COMPLAINTS,)),
    "synthetic_share": Kind(shares_level),
    "complaints_share": Kind(shares_level, needs=(COMPLAINTS,)),
    "lsa": Kind(lsa_level, needs=(COMPLAINTS, BUNDLED)),
    "local": Kind(local_lengths, needs=(COMPLAINTS,)),
    "local_topics": Kind(local_topics, needs=(COMPLAINTS,)),
    "heat": Kind(heat, needs=(COMPLAINTS,)),
}

PARTS = {
    "synthetic": ("synthetic", "synthetic_clear", "synthetic_share"),
    "complaints": ("complaints", "complaints_clear", "complaints_share", "lsa"),
    "figure1": ("local", "local_topics", "heat"),
}


def plan(scale: str) -> list[Cell]:
    """Small: 1,000 words in 20 groups, 1,200 complaints. Full: 6,800 words in 100 groups, 4,000 complaints. Five starts."""
    full = scale == "full"
    levels = LEVELS + MORE_LEVELS if full else LEVELS
    run: dict[str, Iterable[Any]] = {"iterations": [300 if full else 60], "seed": range(5)}
    aware = {"rounds": [100 if full else 40], "most": [20_000 if full else 1_200]}
    drawn = {"documents": [2_000 if full else 1_000], "vocabulary": [0], "topics": [SYNTHETIC_TOPICS]}
    real = {"documents": [4_000 if full else 1_200], "vocabulary": [6_800 if full else 1_000]}
    topics, groups = {"topics": [50 if full else 20]}, {"groups": [100 if full else 20]}
    cells = grid("synthetic_clear", **drawn, **run) + grid("complaints_clear", **real, **topics, **run)
    for epsilon, precision in levels:
        level: dict[str, Iterable[Any]] = {"epsilon": [epsilon], "precision": [precision]}
        cells += grid("synthetic", **drawn, **level, **run, **aware, groups=[10])
        cells += grid("complaints", **real, **topics, **groups, **level, **run, **aware)
        cells += grid("lsa", **real, **groups, **level, rank=[50 if full else 20], seed=range(5))
    strong: dict[str, Iterable[Any]] = {"epsilon": [0.5], "precision": [10], "shares": [SHARES]}
    cells += grid("synthetic_share", **drawn, **strong, **run, groups=[10])
    cells += grid("complaints_share", **real, **topics, **groups, **strong, **run)
    cells += grid("local", documents=[200], vocabulary=[6_800], groups=[100], seed=range(5))
    few = {"documents": [1_000 if full else 300], "vocabulary": real["vocabulary"]}
    cells += grid("local_topics", **few, **topics, **groups, **run, most=[5_000 if full else 600])
    cells += grid("heat", documents=[200], vocabulary=[6_800], groups=[100], seed=[0])
    return cells


NOTES = (
    "A start draws everything anew: the synthetic corpus or the sample of complaints, the clear model, the noise, the "
    "private model. Starts 0 to 4; all seeds follow from the start. Intervals are over the five starts; differences between "
    "arms are taken within a start.",
    "The paper prints neither the number of documents, nor their lengths, nor the number of topics. Synthetic here: LDA run "
    "forwards, 100 words, 10 topics, Dirichlet parameters .1, documents of about 100 words. CLUSTER and DISPERSE need "
    "vectors: synthetic words get the true topics as theirs, the best case.",
    "Complaints: the vocabulary is made of all complaints (public), without words of more than half of them. Small scale: "
    "1,000 words in 20 groups (50 to 1), 20 topics. Full scale: 6,800 words in 100 groups (68 to 1), 50 topics. Vectors: "
    "GloVe with 100 dimensions.",
    "Budget: 'total' unless an arm is named 'paper'. Groupings spend a tenth of epsilon on noisy corpus counts (ranking and "
    "dealing out), the rest on the group counts. 'random paper' and 'frequency paper' follow the printed rule "
    "eps' = M eps / K; their true totals are 10 times (synthetic), 50 times (small) or 68 times (full) the printed epsilon, "
    "and a tenth of it more for the corpus counts.",
    "(eps 5, N 10) and (eps .5, N 1) are the same release (noise of scale N / eps): one set of cells answers for both.",
    "'corpus counts' is a control: the whole epsilon buys noisy corpus counts, and documents are drawn from them. 'chance': "
    "random top words, paired as well as they can be. 'clear': a second model of the clear counts.",
    "LDA: collapsed Gibbs sampling (tomotopy, alpha .1 and eta .01 at the start, alpha then fitted). At small scale "
    "documents of more than 1,200 words, which only noise makes, are thinned to 1,200 at random (600 in full local privacy).",
    "LSA: rank 20 (50 at full scale) from the private counts of four folds; error of held-out clear text; logistic "
    "regression of the category from held-out private counts; precision, recall and F1 weighted by category, and macro.",
)

STUDY = Study(
    paper="02",
    title="Combatting the Challenges of Local Privacy for Distributional Semantics with Compression",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    measures=MEASURES,
    figures=figures,
    notes=NOTES,
)
