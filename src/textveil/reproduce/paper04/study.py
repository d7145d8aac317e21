"""Paper 04: Huang, Song, Chen, Li, Arora 2020, "TextHide: Tackling Data Privacy in Language Understanding Tasks".

Its tables on frozen encodings, its own attacks, and (ours) the attacks that break it and a replacement with a promise.
"""

from __future__ import annotations

from textveil.reproduce.cells import Cell, Kind, grid
from textveil.reproduce.paper04.cells import (
    SCHEMES,
    breaks,
    corpora,
    glue,
    grid_cell,
    matching,
    private_tokens,
    replacement,
    reprecon,
    rss,
    tokens,
)
from textveil.reproduce.paper04.data import GLUE, IMDB, NEWS, TASKS, TWEETS
from textveil.reproduce.paper04.figures import figures
from textveil.reproduce.paper04.measures import MEASURES
from textveil.reproduce.study import Study

MASKS, MIXED = (0, 1, 16, 64, 256, 512, 1024, 4096, -1), (1, 2, 3, 4, 8)
WIDTHS = (4, 16, 64, 256, 1024)
SIZES = {"CoLA": 3000, "SST-2": 3000, "MRPC": 2000, "RTE": 400, "STS-B": 1000}
PUBLIC = 1000

KINDS = {
    "glue": Kind(glue, needs=(GLUE, IMDB)),
    "grid": Kind(grid_cell, needs=(GLUE,)),
    "corpora": Kind(corpora, needs=(GLUE, IMDB, NEWS, TWEETS)),
    "matching": Kind(matching),
    "rss": Kind(rss, needs=(GLUE,)),
    "reprecon": Kind(reprecon, needs=(GLUE,)),
    "breaks": Kind(breaks, needs=(GLUE, IMDB)),
    "tokens": Kind(tokens, needs=(GLUE,)),
    "replacement": Kind(replacement, needs=(GLUE,)),
    "private_tokens": Kind(private_tokens, needs=(GLUE,)),
}
PARTS = {
    "accuracy": ("glue", "grid", "corpora"),
    "attacks": ("matching", "rss", "reprecon"),
    "breaks": ("breaks", "tokens"),
    "replacement": ("replacement", "private_tokens"),
}


def plan(scale: str) -> list[Cell]:
    """Small: parts of train, three seeds, 12 gradient attacks a cell. Full: all of train, five seeds, the paper's sizes."""
    full = scale == "full"
    most = dict.fromkeys(TASKS, 100_000) if full else SIZES
    seeds, public = range(5 if full else 3), 20_000 if full else PUBLIC
    cells: list[Cell] = []
    for name in TASKS:
        cells += grid(
            "glue",
            name=[name],
            arm=["baseline", "intra", "inter"],
            seed=seeds,
            most=[most[name]],
            epochs=[[5, 15, 30, 60] if full else [6, 18]],
            public=[public],
        )
    for name in TASKS if full else ["SST-2"]:
        axes = {"m": MASKS, "k": MIXED, "seed": range(3 if full else 1)}
        cells += grid("grid", name=[name], most=[most[name] if full else 1500], epochs=[30 if full else 10], **axes)
    cells += grid(
        "corpora",
        corpus=[IMDB, NEWS, TWEETS],
        seed=seeds,
        most=[most["SST-2"]],
        epochs=[30 if full else 12],
        public=[public],
    )
    attack = {"attacks": [50 if full else 12], "outer": [1200 if full else 40]}
    cells += grid("matching", d=[0], k=[1], **attack) + grid("matching", d=WIDTHS, k=[1, 2, 4], **attack)
    for name in ("CoLA", "SST-2"):
        asked = {"name": [name], "scheme": list(SCHEMES), "seed": [0], "most": [most[name]]}
        cells += grid("rss", **asked, queries=[1000])
        cells += grid("reprecon", **asked, queries=[500])
    cells += grid(
        "breaks",
        name=["SST-2", "CoLA"],
        m=[256],
        k=[4],
        seed=range(3 if full else 1),
        most=[3000],
        epochs=[2],
        queries=[300],
    )
    cells += grid("tokens", name=["SST-2", "CoLA"], batch=[16], seed=seeds)
    cells += grid(
        "replacement",
        name=["SST-2", "MRPC"],
        epsilon=[3.0],
        delta=[1e-5],
        seed=range(5 if full else 3),
        most=[most["SST-2"] if full else 3000],
        epochs=[20],
        batch=[512],
        rate=[0.05],
    )
    return cells + grid(
        "private_tokens",
        name=["SST-2"],
        batch=[16],
        seed=seeds,
        rank=[8],
        epsilon=[3.0],
        delta=[1e-5],
        examples=[3000],
        epochs=[3],
    )


NOTES = (
    "MiniLM (6 layers, width 384) stands in for BERT, frozen: sentences are its mean vectors, pairs the product of two of "
    "them, and the MLP of three layers (of the encoder's width) is trained on these. The paper trains the encoder too, so "
    "its scores are higher; differences between arms are what is compared.",
    "Small scale: parts of train (CoLA and SST-2 3,000, MRPC 2,000, STS-B 1,000, RTE 400), three seeds, a seed draws first "
    "weights, masks, mixtures and order. Epochs of each arm are chosen from 6 and 18 on a fifth of train. Dev is the half of "
    "GLUE's dev files that is at hand (138 to 750 rows).",
    "Inter mixes in sentences of IMDb reviews: MNLI, the paper's public corpus, is not at hand. Table 6 uses IMDb, 20 "
    "newsgroups and tweets in the place of QNLI, QQP and MNLI.",
    "Table 2: a small net (32 numbers in, two sigmoid layers of 64, then the hidden layer of d) stands in for LeNet-5 on "
    "images; 12 attacks a cell and at most 40 outer steps at small scale, 50 and 1,200 at full scale. An attack that has "
    "stood still for 15 outer steps is over.",
    "Tables 3 and 8: the sentence similarity is that of MiniLM, in SBERT's place; the index is the part of train, for "
    "Table 8 the dev sentences. Tables 4 and 7 print private sentences, so they are not repeated.",
    "'breaks', 'tokens', 'replacement' and 'private_tokens' are ours. Seeds make all runs drafts.",
)

STUDY = Study(
    paper="04",
    title="TextHide: Tackling Data Privacy in Language Understanding Tasks",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    measures=MEASURES,
    figures=figures,
    notes=NOTES,
)
