"""Paper 01: Fletcher, Roegiest, Hudek 2024, "Hash the Universe: Differentially Private Text Extraction with Feature
Hashing".

Cells: a model for each of 20 clause types before and after sealing (Tables 4 and 5, Figure 2, Appendix B), sets of
contracts with the states of Table 1, every attack, retraining, the sound variant, and what needs no data (Tables 2 and 3,
Lemma 3, Claim 3)."""

from __future__ import annotations

from textveil.hashed.sound import BITS
from textveil.reproduce.cells import BUNDLED, Cell, Kind, grid
from textveil.reproduce.paper01.attacks import attacks, retrain
from textveil.reproduce.paper01.cells import clause, corpus
from textveil.reproduce.paper01.data import CLAUSES, CUAD, FIVE
from textveil.reproduce.paper01.figures import EPSILONS, SIZES, figures
from textveil.reproduce.paper01.probes import probes
from textveil.reproduce.paper01.sound import sound, sound_worlds
from textveil.reproduce.paper01.sound_curve import FOLDS, sound_curve
from textveil.reproduce.paper01.toy import toy
from textveil.reproduce.study import Study

SETS_A_CELL = 5

KINDS = {
    "toy": Kind(toy),
    "corpus": Kind(corpus, needs=(CUAD,)),
    "clause": Kind(clause, needs=(CUAD,)),
    "probes": Kind(probes, needs=(CUAD,)),
    "attacks": Kind(attacks, needs=(BUNDLED, CUAD)),
    "retrain": Kind(retrain, needs=(BUNDLED, CUAD)),
    "sound": Kind(sound, needs=(CUAD,)),
    "sound_worlds": Kind(sound_worlds, needs=(CUAD,)),
    "sound_curve": Kind(sound_curve, needs=(CUAD,)),
}

PARTS = {
    "toy": ("toy",),
    "table4": ("corpus", "clause"),
    "table1": ("probes",),
    "attacks": ("attacks", "retrain"),
    "sound": ("sound", "sound_worlds", "sound_curve"),
}


def plan(scale: str) -> list[Cell]:
    """Small: one split, 1 draw of each seal, 40 document sets. Full: 20 draws, 300 sets, attacks on 360 contracts."""
    full = scale == "full"
    cells = grid("toy", seed=[0]) + grid("corpus", seed=[0])
    cells += grid("clause", clause=CLAUSES, draws=[20 if full else 1], seed=[0])
    sets = 300 if full else 40
    cells += grid("probes", first=range(0, sets, SETS_A_CELL), sets=[SETS_A_CELL])
    cells += grid("attacks", documents=[360 if full else 30], seed=[0])
    cells += grid("retrain", documents=[360 if full else 30], seed=[0])
    cells += grid("sound", clause=FIVE, epsilon=[2.0], delta=[1e-6], unit=["paragraph"], seed=[0])
    tries = [10_000 if full else 1_000]  # of each world
    cells += grid("sound_worlds", epsilon=[2.0], delta=[1e-6], unit=["paragraph"], tries=tries, seed=[0])
    return cells + sound_curves(full)


def sound_curves(full: bool) -> list[Cell]:
    """The sound variant on unseen contracts. Full: also on folds of the training contracts, and by the size of the table."""
    shared = {"clause": FIVE, "delta": [1e-6], "draws": [5 if full else 2], "seed": [0]}
    test = {**shared, "fold": [None], "bits": [BITS]}
    cells = grid(
        "sound_curve", **test, unit=["document"], method=["descent"], epsilon=[*EPSILONS, None], documents=SIZES
    )
    cells += grid("sound_curve", **test, unit=["paragraph"], method=["descent"], epsilon=[2.0], documents=SIZES)
    cells += grid("sound_curve", **test, unit=["paragraph"], method=["descent"], epsilon=[None], documents=SIZES[-1:])
    cells += grid(
        "sound_curve", **test, unit=["paragraph"], method=["output"], epsilon=[2.0, None], documents=SIZES[-1:]
    )
    if full:
        folds = {**shared, "fold": range(FOLDS), "documents": SIZES[-1:], "epsilon": [2.0]}
        cells += grid("sound_curve", **folds, unit=["paragraph"], method=["descent", "output"], bits=[BITS])
        cells += grid("sound_curve", **folds, unit=["document"], method=["descent"], bits=[BITS])
        cells += grid("sound_curve", **folds, unit=["paragraph"], method=["descent"], bits=[10, 12, 14, 16, 20])
    return cells


STUDY = Study(
    paper="01",
    title="Hash the Universe: Differentially Private Text Extraction with Feature Hashing",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    figures=figures,
    notes=(
        "Contracts: CUAD (filings of EDGAR, marked by lawyers), 450 contracts, 360 train and 90 test for every clause "
        "type. The paper's documents and marks are not published. The 20 types: passages of .2 % of the characters or "
        "more, in the most contracts.",
        "Features as in the paper: word, word cluster, bigrams, 4-2-skip-grams, MurmurHash3 into 2^21 slots; linear "
        "chain, Passive-Aggressive, averaged. A sentence is extracted whole when a tenth of its tokens is found.",
        "Scores are of tokens, over all test contracts together; spans beside them (half of the longer one shared). "
        "Scores after sealing are means over draws of the fill.",
        "'As printed' is section 4.2: genuine weights copied bit by bit, one Gaussian on whole rows. 'As shipped' "
        "centres rows, draws rows anew that fewer than k documents hold in plain words (docs/hashed-seal.md), and "
        "rounds all weights to one grid.",
        "Epsilon' 'as printed' removes the K values furthest from the mean in each column and sums D(P || Q) over "
        "columns at the best order, delta 1e-5; K by Zipf's law is .07 / rank of the fitted rows.",
        "Table 1: each set has 25 contracts that name one state each in their marked passages, with the paper's "
        "occurrences (10, 6, 4 and five times 1). Score of a state: mean margin of its tokens in the probe. "
        "Permutation test of means, alpha .01.",
        "Attacks: random terms of four letters or more of the training contracts against public words of the same "
        "word cluster that do not occur there. Retraining: own training with the right terms, and with wrong ones in "
        "their places.",
        "The sound variant by epsilon, unit, method and number of contracts: constants were chosen on four folds inside the "
        "training contracts (full scale runs them again); points of its figure are means over five clause types and draws "
        "of the noise.",
    ),
)
