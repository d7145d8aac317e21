"""Paper 10: Kim, Bisazza, Turkmen 2021, "Using Confidential Data for Domain Adaptation of Neural Machine Translation".

Table 1, our extraction beside the published phrases, the column that the paper lacks (the risk of each policy), and
Table 2 with Figure 3 from a baseline that is trained here.
"""

from __future__ import annotations

from textveil.reproduce.cells import Cell, Kind, grid
from textveil.reproduce.paper10.baseline import baseline
from textveil.reproduce.paper10.cells import POLICIES, risk, sizes
from textveil.reproduce.paper10.data import CONFIDENTIAL, DOMAINS
from textveil.reproduce.paper10.dictionary import DICTIONARY
from textveil.reproduce.paper10.figures import figures
from textveil.reproduce.paper10.general import GENERAL
from textveil.reproduce.paper10.handbook import HANDBOOK
from textveil.reproduce.paper10.measures import MEASURES
from textveil.reproduce.paper10.published import TENSIONS, published
from textveil.reproduce.paper10.translation import VARIANTS, adapted
from textveil.reproduce.study import Study

LEARNT = (CONFIDENTIAL, GENERAL, str(DICTIONARY), str(HANDBOOK / "de"), str(HANDBOOK / "en-US"))
KINDS = {
    "sizes": Kind(sizes, needs=(CONFIDENTIAL,)),
    "published": Kind(published, version=2, needs=(CONFIDENTIAL,)),  # 2: priors of the words that a word was seen with
    "risk": Kind(risk, version=3, needs=LEARNT),  # 3: neighbours are joined too
    "baseline": Kind(baseline, needs=LEARNT, keeps=True),
    "adapted": Kind(adapted, needs=LEARNT, keeps=True),
}
PARTS = {"data": ("sizes", "published"), "risk": ("risk",), "baseline": ("baseline",), "translation": ("adapted",)}
PAPER = ("paper, 7 words", "paper, 4 words")
# Steps of training on general text, and then on the two domains that are not left out; 1,600 target tokens each.
STEPS: dict[str, dict[str, list[int]]] = {
    "small": {"steps": [15_000], "more": [2000]},
    "full": {"steps": [40_000], "more": [4000]},
}
SAFER = ("apart, 4 words", "apart, 4 words, all kept", "apart, 3 words")
LARGE = ("paper, 7 words, hmm",)  # three times as many phrases: too long for the small scale
SOME = (  # variants of the small scale; what most claims are about comes first
    "7 words", "7 words, replay", "apart, 4 words, replay", "apart, 4 words, all kept, replay", "sentences",
    "7 words, tags", "4 words", "4 words, tags",
)  # fmt: skip


def plan(scale: str) -> list[Cell]:
    """Small: one draw of each policy on all unique sentences. Full: five."""
    draws = range(5 if scale == "full" else 1)
    cells = grid("sizes", domain=DOMAINS)
    learnt_from = ("train", "train, valid, test")
    cells += grid("published", domain=DOMAINS, symmetry=["union"], learnt_from=learnt_from, tension=TENSIONS)
    cells += grid("published", domain=DOMAINS, symmetry=["intersection"], learnt_from=["train"], tension=["ours"])
    cells += grid("published", domain=["EMEA"], symmetry=["union"], learnt_from=["all domains"], tension=["ours"])
    cells += grid("risk", domain=["EMEA"], policy=PAPER, sentences=[2000], seed=draws)
    left = (*PAPER, *SAFER, *(() if scale == "full" else LARGE))
    others = [policy for policy in POLICIES if policy not in left]
    for policies in ((*PAPER, *SAFER), others):  # what claims are about comes first
        cells += grid("risk", domain=DOMAINS, policy=policies, sentences=[0], seed=draws)
    return cells + translation(scale)


def translation(scale: str) -> list[Cell]:
    """A baseline of general text, one for each domain that is left out, and what adapts the latter to the domain."""
    own = STEPS[scale]
    cells = grid("baseline", left_out=[""], steps=own["steps"], more=[0])
    cells += grid("baseline", left_out=DOMAINS, **own)
    variants, size = [*VARIANTS], {"updates": [3000], "tested": [1005], "beams": [4]}
    if scale == "small":
        variants, size = [*SOME], {"updates": [600], "tested": [250], "beams": [2]}
    for variant in variants:
        for domain in DOMAINS:
            cells += grid("adapted", domain=[domain], variant=[variant], left_out=[domain], **own, **size)
    return cells


NOTES = (
    "Sentence pairs of train, each once (repeats would count twice): 3,513 in EMEA, 5,193 in GNOME, 9,555 in JRC. The "
    "attacker has the fragments, and as public text the other two domains and the general text below. A seed draws what is "
    "dropped and where sentences are cut.",
    "Risk: the share of words in correct runs of ten or more, in what the strongest shipped attack rebuilds; intervals "
    "are over sentences. Links are those of the diagonal aligner where no other is named.",
    "The published phrase files hold no alignments. fast_align, which made them, cannot be had here: our aligner has the "
    "same model (Dyer et al. 2013), with variational Bayes, and the tension fitted by Newton's method ('ours'). 'exact' "
    "takes fast_align's steps along the gradient, 'as written' the steps that its program takes (paper10/fast_align.py).",
    "No pre-trained model can be had here. The baseline is a transformer (4 + 2 layers, width 256, 8,000 subwords) trained "
    "from scratch on 222,000 general sentence pairs, which leave all three domains out, 36,000 paragraphs of the help of "
    "LibreOffice (Debian packages libreoffice-help-de and -en-us), and the words, forms and idioms of a dictionary (TU "
    "Chemnitz, 655,000 pairs, trans-de-en). Three more go on from it, one for each "
    "domain: they learn the other two domains as public text, mixed with as many general sentence pairs and as many "
    "entries. Their curves say how good they are. Sentences that judge are taken out of all of it.",
    "Table 2 is judged on 500 unique pairs cut from train whose English does not hold the German, and on unique pairs of "
    "the test part, with and without rows that are in train or hold their source. Nothing that judges is learnt from.",
)

STUDY = Study(
    paper="10",
    title="Using Confidential Data for Domain Adaptation of Neural Machine Translation",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    measures=MEASURES,
    figures=figures,
    notes=NOTES,
)
