"""Paper 07: Hoory et al. 2021, a BERT for clinical notes under differential privacy, vocabulary included.

Three steps: a vocabulary of the private notes, an encoder from scratch on public text with it, the encoder continued on
the notes; then entity extraction in five folds (Table 1), against noise, epochs and batch (Figure 1), and secrets
planted in the notes (Figure 2).
"""

from __future__ import annotations

from textveil.reproduce.cells import BUNDLED, Cell, Kind, grid
from textveil.reproduce.paper07.cells import blog_vocabulary, figure1, figure2, prices, table, vocabularies
from textveil.reproduce.paper07.data import BLOGS, CHEMICALS, DISEASES, NOTES, REVIEWS
from textveil.reproduce.paper07.figures import figures
from textveil.reproduce.paper07.measures import MEASURES
from textveil.reproduce.study import Study

KINDS = {
    "table": Kind(table, needs=(NOTES, REVIEWS, CHEMICALS, DISEASES, BUNDLED)),
    "figure1": Kind(figure1, needs=(NOTES, REVIEWS, CHEMICALS, BUNDLED)),
    "figure2": Kind(figure2, needs=(NOTES, REVIEWS, BUNDLED)),
    "vocabularies": Kind(vocabularies, needs=(NOTES, REVIEWS, CHEMICALS, BUNDLED)),
    "blog_vocabulary": Kind(blog_vocabulary, needs=(BLOGS, BUNDLED)),
    "prices": Kind(prices),
}

PARTS = {
    "table1": ("table",),
    "figure1": ("figure1",),
    "figure2": ("figure2",),
    "vocabulary": ("vocabularies",),
    "blogs": ("blog_vocabulary",),
    "prices": ("prices",),
}


def plan(scale: str) -> list[Cell]:
    """Small: minutes. Full: three seeds, more text, all sentences of the target tasks, insertions up to 1,000."""
    full = scale == "full"
    start = {"size": [8000 if full else 4000], "public": [100_000 if full else 6_000]}
    task = {"sentences": [4_000 if full else 400], "epochs": [8 if full else 6]}
    seeds = {"seed": range(3 if full else 1)}
    cells = grid("table", **start, **task, **seeds, seen=[160_000 if full else 10_240], batch=[4096 if full else 512])
    cells += grid(
        "figure1",
        **start,
        **task,
        **seeds,
        examples=[60_000 if full else 2_048],
        batch=[1024 if full else 256],
        sigmas=[[0.5, 1.0, 2.0, 4.0, 8.0] if full else [0.5, 1.0, 4.0]],
        epochs_axis=[[1, 2, 4, 8] if full else [0.5, 1, 4]],
        batches=[[256, 512, 1024, 2048, 4096] if full else [64, 256, 1024]],
        folds=[5 if full else 4],
    )
    cells += grid(
        "figure2",
        **start,
        **seeds,
        examples=[40_000 if full else 2_500],
        batch=[2048 if full else 512],
        passes=[10 if full else 6],
        copies=[[1, 10, 100, 1000] if full else [1, 10, 100]],
    )
    cells += grid("vocabularies", **start, **task, **seeds, seen=[160_000 if full else 6_144], folds=[5])
    cells += grid("blog_vocabulary", size=[8000], sentences=[300_000], seed=[0])
    cells += grid("prices")
    return cells


NOTES_OF_STUDY = (
    "Paper's settings beside ours (small scale). Model: BERT, 109M parameters, here two layers of width 128, "
    "1.4M. Private: MIMIC-III, 712M words, N = 83M examples, delta 1e-8, here 2,176 notes of MTSamples, 83,000 "
    "examples of 16 words, delta 1e-6. Public: Wikipedia and books, here 6,000 examples of film reviews. Batch "
    "128K for 1M steps, here 512 for 20 steps. Clip .01, here .1.",
    "Target: i2b2-2010 (problem, test, treatment) in the paper; here BC5CDR (chemicals and diseases) and NCBI "
    "(diseases), which are PubMed abstracts and not clinical notes, so that public biomedical text is nearer to "
    "the target than the private notes are.",
    "Private arms: the vocabulary (policy, epsilon .5 by itself) and the training share one promise, epsilon 3.2 "
    "or 1 in total. The paper's vocabulary was made without privacy. All arms of Table 1 use the same private "
    "vocabulary.",
    "Folds: 400 sentences at random, in each fold four fifths to learn from, one fifth to test on; entity-level "
    "F1. Intervals are over five folds of one seed, which share the pre-trained encoder: they do not show how "
    "much another pre-training would change.",
    "Figure 2: secrets are pieces of the vocabulary (cap: log2 of how many), H random pieces; every copy is an "
    "example of its own, among 2,500 examples of notes, six epochs with and without privacy. Exposure by rank "
    "among all candidates in the masked place.",
    "Draws of a study are seeded so that it repeats itself: none of its models is a release.",
)

STUDY = Study(
    paper="07",
    title="Learning and Evaluating a Differentially Private Pre-trained Language Model",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    measures=MEASURES,
    figures=figures,
    notes=NOTES_OF_STUDY,
)
