"""What veiled text is worth: curves of use against attack success, the table that forecasts, and the test of the table.

The table is made of LEARNT_FROM alone; complaints and reviews are only foreseen (`collections.py`).
"""

from __future__ import annotations

from textveil.reproduce.cells import BUNDLED, Cell, Kind
from textveil.reproduce.study import Study
from textveil.reproduce.use.cells import channel, clear, veiled
from textveil.reproduce.use.collections import FORESEEN, LEARNT_FROM, SOURCES
from textveil.reproduce.use.figures import figures
from textveil.reproduce.use.measures import MEASURES, WORDINGS

TARGETS = (0.05, 0.1, 0.2, 0.4)  # success of the best attack on a word
TARGET = 0.2
DRAWS = range(5)
CURVE = [15, 30, 60, 120, 250, 500, 1_000, 2_000, 4_000, 8_000]
DOCUMENTS = {
    "newsgroups": [1_000, 4_000], "newsgroup-families": [1_000, 4_000], "stars": [1_000, 3_000, 8_000],
    "tweets": [1_000, 2_500, 5_000], "sentences": [1_000, 3_000, 8_000], "notes": [600, 1_250],
    "complaints": [3_000], "reviews": [3_000],
}  # fmt: skip
BANK = 6_000  # documents of the bank's task, at the epsilons that were tried there
_FOLDERS = tuple(sorted({source.folder for source in SOURCES.values()}))
KINDS = {
    "channel": Kind(channel, needs=(BUNDLED,)),
    "clear": Kind(clear, needs=_FOLDERS),
    "table": Kind(veiled, needs=(BUNDLED, *_FOLDERS)),
    "frontier": Kind(veiled, needs=(BUNDLED, *_FOLDERS)),
    "wording": Kind(veiled, needs=(BUNDLED, *_FOLDERS)),
    "bank": Kind(veiled, needs=(BUNDLED, *_FOLDERS)),
}
PARTS = {
    "clear": ("channel", "clear"), "table": ("table",), "frontier": ("frontier",), "wording": ("wording",), "bank": ("bank",),
}  # fmt: skip
MECHANISMS = ("brr", "vickrey")


def plan(scale: str) -> list[Cell]:
    """Small has one draw of one mechanism; full has five draws, two mechanisms and the wordings."""
    full = scale == "full"
    mechanisms, draws = (MECHANISMS, DRAWS) if full else (MECHANISMS[:1], range(1))
    arms = [{"mechanism": m, "attack": target} for m in mechanisms for target in TARGETS]
    wordings = [{"mechanism": "brr", "attack": TARGET, "parameters": more} for more in WORDINGS.values()]
    bank = [{"mechanism": "brr", "epsilon": epsilon} for epsilon in (0.3, 0.5)]
    cells = [Cell.of("channel", draws=40_000, seed=1, **arm) for arm in (*arms, *wordings, *bank)]
    cells += [Cell.of("clear", name=name, documents=CURVE) for name in (*LEARNT_FROM, *FORESEEN)]
    cells += [
        Cell.of("table", name=name, draw=0, documents=DOCUMENTS[name], **arm) for arm in arms for name in LEARNT_FROM
    ]
    cells += [
        Cell.of("frontier", name=name, draw=draw, documents=DOCUMENTS[name], **arm)
        for draw in draws for arm in arms for name in FORESEEN
    ]  # fmt: skip
    cells += [
        Cell.of("wording", name=name, draw=draw, documents=DOCUMENTS[name], **arm)
        for draw in draws for arm in (wordings if full else wordings[:1]) for name in FORESEEN
    ]  # fmt: skip
    return cells + [
        Cell.of("bank", name="complaints", draw=d, documents=[BANK], **arm) for d in draws[:3] for arm in bank
    ]


NOTES = (
    "Collections: newsgroups (20 labels, and their 7 families), Amazon reviews (five stars or fewer), disaster tweets, SST-2 "
    "phrases, clinical notes by specialty; complaints by product and IMDb reviews are never learnt from.",
    "A classifier (TF-IDF and logistic regression; beside it the mean of the bundled vectors) learns from veiled texts and "
    "is tested on at most 2,000 clear ones. Attack success is that of the best attack on one word, under the public prior "
    "over the words that are drawn; words that are kept are shown as they are, and not counted.",
    "Clear texts worth: the number of clear documents from which the same classifier learns as much, read off the learning "
    "curve of the clear texts.",
    "Intervals are Student's over draws of the noise; texts and labels are the same in all of them.",
)

STUDY = Study(
    paper="use",
    title="What veiled text is worth",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    measures=MEASURES,
    figures=figures,
    notes=NOTES,
)
