"""Paper 08: Jana, Biemann 2021, "An Investigation towards Differentially Private Sequence Tagging in a Federated Framework".

Its central half: prices of the printed noise, Tables 1 and 2 in the paper's setting, and (ours) the tagger at true epsilons.
Its federated half: one round of n clients (Tables 3 and 5), aggregation after each tenth of the data (4 and 6), our cure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textveil.reproduce import datasets
from textveil.reproduce.cells import Cell, Kind, grid
from textveil.reproduce.paper08.cells import CONLL, baseline, prices, table_cell, tagger_cell
from textveil.reproduce.paper08.federated import client_prices, cured, cured_incremental, incremental, one_round
from textveil.reproduce.paper08.figures import NOISES, figures
from textveil.reproduce.study import Study

READS = (CONLL, datasets.GLOVE)
OUTPUTS = ("softmax", "crf")
SEEDS = range(3)
SMALL_NOISES = (1.0, 5.0, 50.0)

KINDS = {
    "prices": Kind(prices),
    "baseline": Kind(baseline, needs=(CONLL,)),
    "table": Kind(table_cell, needs=READS),
    "tagger": Kind(tagger_cell, needs=READS),
    "client_prices": Kind(client_prices),
    "clients": Kind(one_round, needs=READS),
    "incremental": Kind(incremental, needs=READS),
    "cured": Kind(cured, needs=READS),
    "cured_incremental": Kind(cured_incremental, needs=READS),
}
PARTS = {
    "central": ("prices", "baseline", "table", "tagger"),
    "prices": ("prices",),
    "tables": ("prices", "baseline", "table"),
    "tagger": ("tagger",),
    "federated": ("baseline", "client_prices", "clients", "incremental", "cured", "cured_incremental"),
    "cure": ("cured", "cured_incremental"),
    "client_prices": ("client_prices",),
}


def plan(scale: str) -> list[Cell]:
    """Small: 3 epochs and three multipliers in the paper's setting. Full: 10 epochs, all five. Three seeds of everything."""
    full = scale == "full"
    cells = grid("prices", noise=NOISES, batch=[32], epochs=[10]) + grid("baseline")
    setting: dict[str, Iterable[Any]] = {"batch": [32], "rate": [0.15], "clip": [1.5], "epochs": [10 if full else 3]}
    noises = [0.0, *(NOISES if full else SMALL_NOISES)]
    cells += grid("table", output=OUTPUTS, noise=noises, **setting, seed=SEEDS)
    cells += grid("table", output=["crf sum"], noise=noises[:3], **setting, seed=SEEDS)
    cells += grid("tagger", output=OUTPUTS, epsilon=[3.0, 1.0], epochs=[36], seed=SEEDS)
    cells += grid("tagger", output=OUTPUTS, epsilon=[0.0], epochs=[8], seed=SEEDS)
    return cells + federated_plan(full, setting)


def federated_plan(full: bool, setting: dict[str, Iterable[Any]]) -> list[Cell]:
    """Small: 3 local epochs, three numbers of clients, three seeds. Full: 10 epochs, five, five seeds."""
    seeds = range(5) if full else SEEDS
    clients = (2, 5, 10, 15, 20) if full else (2, 5, 20)
    cells = grid("client_prices", clients=[1, 2, 5, 10, 15, 20], noise=[1.0], batch=[32], epochs=[10])
    cells += grid("clients", clients=clients, noise=[0.0, 1.0], **setting, seed=seeds)
    cells += grid("incremental", clients=[5], noise=[0.0, 1.0], **setting, seed=seeds)
    cure: dict[str, Iterable[Any]] = {"epsilon": [3.0], "epochs": [36], "output": ["crf"]}
    cells += grid("cured", clients=[1, 5, 20] if full else [5, 20], **cure, seed=SEEDS)
    cure = {"epsilon": [3.0], "epochs": [10 if full else 3], "output": ["crf"]}
    return cells + grid("cured_incremental", clients=[5], **cure, seed=SEEDS)


NOTES = (
    "CoNLL-2003 English, train to testa (the paper's test part is kept back here). GloVe 6B with 100 dimensions (the paper: "
    "GloVe with 300 from spaCy), frozen, and nothing else known of a word. BiLSTM of 100 units each way; SGD .15, Poisson "
    "batches of 32, clip 1.5, the noise once per update.",
    "Small scale: 3 epochs (1,317 updates; the paper: 10 epochs, 4,388) and multipliers 1, 5 and 50: scores are lower, and "
    "noise has had less time to do harm. Full scale has the paper's sizes. Three seeds of every cell at both scales; a seed "
    "draws first weights, batches and noise. Differences are taken within a seed, intervals are Student's over seeds.",
    "'crf sum': the CRF's loss is that of the whole sentence, as many CRF layers have it, not divided by its length.",
    "The paper's score is not defined in it. Printed recall and precision fit a token-level average weighted by how "
    "often a tag occurs, O included: a model that only says O has .756 on testa by it, and 0 by entities.",
    "Delta is not printed: 1e-5 is our reading, since with it the printed epsilons come out to the last digit at batch 1.",
    "Federated: sentences shuffled and dealt in equal parts, weights averaged alike; the round loop of "
    "textveil.federated. A client's epsilon is priced for its own sentences. Incremental: in each of ten rounds a "
    "client trains on its next tenth, so an example is used in one round only. 'cured': large batches, a small clip, "
    "Adam and averaged iterates, as in `train tagger`; every round each client sends the noisy gradient of one batch and the "
    "server takes a step with their mean; every client at epsilon 3. 'cured_incremental': the same, a tenth at a time.",
    "'tagger' cells are ours: docs/training.md has the settings, which were chosen by looking at testa. A seed makes these "
    "runs drafts.",
)

STUDY = Study(
    paper="08",
    title="An Investigation towards Differentially Private Sequence Tagging in a Federated Framework",
    kinds=KINDS,
    plan=plan,
    parts=PARTS,
    figures=figures,
    notes=NOTES,
)
