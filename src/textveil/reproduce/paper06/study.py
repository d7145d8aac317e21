"""Paper 06: Xu, Aggarwal, Feyisetan, Teissier 2021, "On a Utilitarian Approach to Privacy Preserving Text Generation".

Cells: five words on a line (Figure 1, Theorem 1), the opinion lexicon (Figures 2(A-D), 3), tweets and IMDb (Figure 2(E-L)).
"""

from __future__ import annotations

from textveil.reproduce import datasets
from textveil.reproduce.cells import Cell, Kind, grid
from textveil.reproduce.paper06.figures import figures
from textveil.reproduce.paper06.measures import MEASURES
from textveil.reproduce.paper06.tasks import task
from textveil.reproduce.paper06.words import lexicon, line_certificate, line_odds
from textveil.reproduce.study import Study

EPSILONS = [1, 5, 10, 12, 15, 17, 20, 30, 50, 100]
TASK_EPSILONS = [2, 5, 10, 20, 100]

KINDS = {
    "line_odds": Kind(line_odds),
    "line_certificate": Kind(line_certificate),
    "lexicon": Kind(lexicon, needs=(datasets.LEXICON, datasets.GLOVE, datasets.WORD2VEC)),
    "task": Kind(task, needs=(datasets.TWEETS, datasets.REVIEWS, datasets.GLOVE, datasets.WORD2VEC)),
}

PARTS = {
    "figure1": ("line_odds", "line_certificate"),
    "lexicon": ("lexicon",),
    "tasks": ("task",),
}


def plan(scale: str) -> list[Cell]:
    """Small: 5 runs on the lexicon, 2 or 3 on texts. Full: 100 runs, all texts, both vectors."""
    full = scale == "full"
    cells = grid("line_odds", t=[0.0, 0.5], points=[601])
    cells += grid("line_certificate", t=[0.0, 0.5, 1.0], epsilon=[1.0], reading=["sound", "printed"], points=[40_001])
    cells += grid(
        "lexicon",
        embedding=["glove", "word2vec"],
        epsilon=EPSILONS,
        seed=range(100 if full else 5),
        draws=[100_000 if full else 40_000],
    )
    return cells + (_tasks(100, 100, "veiled", full=True) if full else _tasks(3, 2, "clear", full=False))


def _tasks(runs: int, wide_runs: int, trained_on: str, *, full: bool) -> list[Cell]:
    """Tweets and reviews, with GloVe and with word2vec (whose 300 dimensions take several times as long)."""
    cells = []
    for dataset, documents, most_words, vectors, count in (
        ("tweets", 6_598, 60, "glove", runs),
        ("tweets", 6_598, 60, "word2vec", wide_runs),
        ("imdb", 10_000 if full else 3_000, 400 if full else 120, "glove", runs),
        ("imdb", 10_000, 400, "word2vec", wide_runs if full else 0),
    ):
        cells += grid(
            "task",
            dataset=[dataset],
            embedding=[vectors],
            documents=[documents],
            most_words=[most_words],
            trained_on=[trained_on],
            epsilons=[TASK_EPSILONS],
            seed=range(count),
            draws=[100_000 if full else 30_000],
        )
    return cells


STUDY = Study(
    paper="06",
    title="On a Utilitarian Approach to Privacy Preserving Text Generation (Vickrey mechanism)",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    measures=MEASURES,
    figures=figures,
    notes=(
        "Vectors: GloVe 6B with 100 dimensions and word2vec (Google News) with 300 stand in for GloVe and fastText with 300. "
        "word2vec's rows come with length 1 and are stretched to 6, about the length of a frequent word in GloVe; that "
        "only renames epsilon. Noise has mean length dimensions / epsilon, so an epsilon does not mean the same at 100 "
        "and at 300 dimensions.",
        "Product Reviews: the opinion lexicon, words with a vector, three words on both lists left out; words are drawn "
        "from and replaced by this list; prior uniform (each word stands once on the list).",
        "Twitter: 6,598 of the 7,613 tweets, all words with a vector are drawn; prior: frequencies in the tweets.",
        "IMDb: the paper's list of 26,078 words subject to redaction is not available. Stand-in: the words of the reviews "
        "that have a vector, function words left out, the most frequent 26,078 in the vectors' order (fewer at small scale, "
        "see the sizes in the table).",
        "Classifier: bidirectional LSTM on frozen vectors, 9:1 split, another split and other noise in every run. Small "
        "scale: it learns from clear texts and reads veiled ones; full scale: it learns from veiled texts. The paper does "
        "not say.",
        "The adversary is learnt from 80 % of the draws and scored on the rest; 'optimal' errs upwards, because a "
        "learnt best guess is at most as good as the true one. Mahalanobis: lambda 1, trace-normalised covariance.",
        "Differences between arms are judged at the epsilons whose Laplace inference error is below .98 (lexicon) or .95 "
        "(texts): where noise drowns everything, all arms agree.",
    ),
)
