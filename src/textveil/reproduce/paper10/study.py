"""Paper 10: Kim, Bisazza, Turkmen 2021, "Using Confidential Data for Domain Adaptation of Neural Machine Translation".

Table 1, our extraction beside the published phrases, and the column that the paper lacks: the risk of each policy.
"""

from __future__ import annotations

from textveil.reproduce.cells import Cell, Kind, grid
from textveil.reproduce.paper10.cells import POLICIES, published, risk, sizes
from textveil.reproduce.paper10.data import CONFIDENTIAL, DOMAINS
from textveil.reproduce.paper10.figures import figures
from textveil.reproduce.study import Study

KINDS = {
    "sizes": Kind(sizes, needs=(CONFIDENTIAL,)),
    "published": Kind(published, needs=(CONFIDENTIAL,)),
    "risk": Kind(risk, needs=(CONFIDENTIAL,)),
}
PARTS = {"data": ("sizes", "published"), "risk": ("risk",)}
PAPER = ("paper, 7 words", "paper, 4 words")
SAFER = ("apart, 4 words", "apart, 3 words")


def plan(scale: str) -> list[Cell]:
    """Small: one draw of each policy on all unique sentences. Full: five."""
    draws = range(5 if scale == "full" else 1)
    cells = grid("sizes", domain=DOMAINS)
    cells += grid("published", domain=DOMAINS, symmetry=("union", "intersection"), general=(False, True))
    cells += grid("risk", domain=["EMEA"], policy=PAPER, sentences=[2000], seed=draws)
    others = [policy for policy in POLICIES if policy not in (*PAPER, *SAFER)]
    for policies in ((*PAPER, *SAFER), others):  # what claims are about comes first
        cells += grid("risk", domain=DOMAINS, policy=policies, sentences=[0], seed=draws)
    return cells


NOTES = (
    "Sentence pairs of train, each once (repeats would count twice): 3,513 in EMEA, 5,193 in GNOME, 9,555 in JRC. The "
    "attacker has the fragments, and the other two domains as public text. A seed draws what is dropped and where "
    "sentences are cut.",
    "Risk: the share of words in correct runs of ten or more, in what the strongest shipped attack rebuilds; intervals "
    "are over sentences.",
    "The published phrase files hold no alignments. fast_align, which made them, cannot be had here: our aligner has the "
    "same model (Dyer et al. 2013), with variational Bayes, and the tension fitted by Newton's method.",
    "Table 2 and Figure 3 (translation) are not part of it.",
)

STUDY = Study(
    paper="10",
    title="Using Confidential Data for Domain Adaptation of Neural Machine Translation",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    figures=figures,
    notes=NOTES,
)
