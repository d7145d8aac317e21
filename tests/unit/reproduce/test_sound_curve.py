"""The sound variant as cells: its folds, its figure, a cell on made-up contracts, and sentences scored like tokens."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textveil.hashed.sound_plan import SoundPlan
from textveil.reproduce.paper01.data import FIVE
from textveil.reproduce.paper01.figures import figures
from textveil.reproduce.paper01.sound_curve import FOLDS, Sentences, parts_of, scored, sound_curve
from textveil.reproduce.paper01.study import sound_curves
from textveil.reproduce.study import Results


def test_folds_ask_every_training_contract_once_and_never_one_that_trained():
    training, held_out = parts_of(None, 360)
    folds = [parts_of(fold, 360) for fold in range(FOLDS)]
    assert sorted(np.concatenate([asked for _, asked in folds]).tolist()) == sorted(training.tolist())
    assert all(not set(own) & set(asked) and len(own) + len(asked) == 360 for own, asked in folds)
    assert not set(training) & set(held_out)
    assert len(parts_of(None, 90)[0]) == 90


@pytest.mark.parametrize("epsilon", [None, 200.0])
def test_a_cell_scores_each_draw(monkeypatch, epsilon):
    """Clauses hold one word that nothing else holds; at epsilon 200 over 450 contracts no draw misses it."""
    clauses = np.tile([1, 0, 0], 450).astype(bool)
    held = Sentences(
        sparse.csr_matrix(np.pad(np.stack([clauses, ~clauses], axis=1).astype(float), ((0, 0), (0, 14)))),
        np.arange(1350),
        np.repeat(np.arange(450), 3),
        np.full(1350, 2),
        {clause: np.repeat(clauses, 2).astype(np.uint8) for clause in FIVE},
    )
    monkeypatch.setattr("textveil.reproduce.paper01.sound_curve.sentences", lambda data, bits: held)
    setting = {"unit": "document", "method": "descent", "delta": 1e-6, "documents": 360, "bits": 4, "seed": 0}
    scores = sound_curve(None, clause=FIVE[0], epsilon=epsilon, fold=None, draws=2, **setting)
    assert scores["f"] == [1.0] * (1 if epsilon is None else 2)


def test_sentences_are_scored_token_by_token():
    truth = np.array([1, 1, 1, 0, 0, 0, 1, 1, 0, 0], np.uint8)
    held = Sentences(
        sparse.csr_matrix(np.array([[9.0], [0.0], [9.0]])),
        np.arange(3),
        np.array([0, 0, 1]),
        np.array([4, 3, 3]),
        {"x": truth},
    )
    found = scored(held, "x", np.array([0, 1]), np.ones(1), SoundPlan(offset=8.0, alone=0.0, among=0.0))
    assert (found["p"], found["r"]) == (
        pytest.approx(4 / 7),
        pytest.approx(4 / 5),
    )  # found: 4 + 3 tokens, 3 + 1 of them true
    assert held.inside("x").tolist() == [3, 1, 1]


def test_the_figure_names_every_arm():
    results = Results({cell: {"f": [0.5, 0.7]} for cell in sound_curves(False)})
    (figure,) = figures(results)
    names = {s.name: s for panel in figure.panels for s in panel.series}
    assert set(names) == {
        "document, epsilon 2", "document, epsilon 8", "document, epsilon 32", "paragraph, epsilon 2",
        "90 contracts", "180 contracts", "360 contracts",
    }  # fmt: skip
    assert all(s.y == pytest.approx([0.6] * 3) for s in names.values())


def test_full_scale_also_asks_folds_and_other_sizes_of_the_table():
    more = {(c.parameters["fold"], c.parameters["bits"]) for c in sound_curves(True)}
    assert {fold for fold, _ in more} == {None, *range(FOLDS)}
    assert {bits for _, bits in more} == {10, 12, 14, 16, 18, 20}
