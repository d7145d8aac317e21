"""Paper 03: Carvalho, Vasiloudis, Feyisetan 2021, "BRR: Preserving Privacy of Text Data Efficiently on Device".

Cells: the privacy ratio, target models with the membership attack on them (Figures 1a, 1b), the optimal attack on words (our
question), sizes, and time a word (Figure 2).
"""

from __future__ import annotations

from textveil.reproduce import datasets
from textveil.reproduce.cells import BUNDLED, Cell, Kind, grid
from textveil.reproduce.paper03.cells import attack, certificate, geometry, sizes, speed, target
from textveil.reproduce.paper03.figures import figures
from textveil.reproduce.paper03.measures import MEASURES
from textveil.reproduce.study import Study

SMALL_EPSILONS = [4, 7, 9, 11, 14]
FULL_EPSILONS = [1, 2, 4, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 25]

KINDS = {
    "geometry": Kind(geometry, needs=(BUNDLED,)),
    "certificate": Kind(certificate),
    "target": Kind(target, needs=(BUNDLED, datasets.REVIEWS)),
    "attack": Kind(attack, needs=(BUNDLED, datasets.REVIEWS)),
    "sizes": Kind(sizes, needs=(BUNDLED, datasets.WORD2VEC)),
    "speed": Kind(speed, needs=(BUNDLED, datasets.WORD2VEC), alone=True),
}

PARTS = {
    "geometry": ("geometry", "certificate"),
    "figure1": ("target",),
    "attack": ("attack",),
    "efficiency": ("sizes", "speed"),
}


def plan(scale: str) -> list[Cell]:
    """Small: 4 trials on 1,000 reviews cut after 120 words. Full: 10 trials on 5,000 whole reviews."""
    full = scale == "full"
    epsilons = FULL_EPSILONS if full else SMALL_EPSILONS
    cells = grid("geometry", sample=[20_000 if full else 4_000], seed=[0])
    cells += grid("certificate", bits=[8], words=[12], epsilon=[0.3, 0.7, 2.0], seed=[0])
    shared = {
        "seed": range(10 if full else 4),
        "documents": [5_000 if full else 1_000],
        "tested": [2_500],
        "own": [2_500 if full else 1_000],
        "most_words": [2_500 if full else 120],
        "epochs": [8 if full else 16],  # chosen by the accuracy without privacy
        "pairs": [2**17 if full else 0],
    }
    cells += grid("target", mechanism=["none"], epsilon=[0], **shared)
    cells += grid("target", mechanism=["laplace", "brr"], epsilon=epsilons, **shared)
    cells += grid(
        "attack", mechanism=["laplace", "brr"], epsilon=epsilons, seed=[0], draws=[1_000_000 if full else 60_000]
    )
    cells += grid("sizes", bits=[256])
    cells += grid(
        "speed", dimensions=[100, 300], epsilon=[8], words=[20_000 if full else 8_000], repeats=[10 if full else 5]
    )
    return cells


STUDY = Study(
    paper="03",
    title="BRR: Preserving Privacy of Text Data Efficiently on Device",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    measures=MEASURES,
    figures=figures,
    notes=(
        "Vectors: the bundled 30,000 words of GloVe 6B with 100 dimensions (the paper: GloVe with 300), binarised to 256 "
        "bits. Laplace noise has mean length dimensions / epsilon, so an epsilon means about three times less noise here.",
        "IMDb: training reviews from a balanced part of the original training half, test reviews (2,500) and the adversary's "
        "own reviews from the original test part. Every trial draws its own reviews; intervals are Student's t over trials.",
        "Models learn from veiled reviews and read clear ones. The membership adversary veils its own reviews before it "
        "trains the shadow model (half of its own texts in, half out; MLP with two layers of 64 units).",
        "Classifier: mean of word vectors (and of word pairs at full scale) and one linear layer. The number of epochs at "
        "small scale was raised from 4 to 16 after a first run whose models had not converged (accuracy without privacy .72, "
        "now .75); it was chosen on models without privacy.",
        "Epsilon is Laplace's; BRR gets epsilon times the ratio of average distances (Definition 5.1).",
        "Attack success: the optimal adversary on single words, learnt from runs of the mechanism and scored on others, "
        "knowing the frequencies of words in IMDb. A learnt rule is at most optimal, for both mechanisms alike.",
        "Time: our own exact searches on one thread, in turns, over 26,423 words (the paper: FAISS against Annoy).",
    ),
)
