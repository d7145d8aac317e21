"""The study of the sound variant: its folds, its means, its picture, and that labels of sentences score like tokens."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textveil.hashed.sound_plan import SoundPlan
from textveil.reproduce.paper01_data import FIVE
from textveil.reproduce.sound_contracts import Sentences, scored
from textveil.reproduce.sound_curve import EPSILONS, SIZES, folds, picture, summary


def test_folds_ask_every_contract_once_and_never_one_that_trained():
    training = np.arange(0, 720, 2)
    parts = list(folds(training))
    assert sorted(np.concatenate([asked for _, asked in parts]).tolist()) == training.tolist()
    assert all(not set(own) & set(asked) and len(own) + len(asked) == 360 for own, asked in parts)


def test_means_and_interval_are_over_clause_types():
    found = summary({clause: {"f": 0.5 + 0.1 * n, "span_f": 0.25} for n, clause in enumerate(FIVE)})
    assert found["f"] == pytest.approx(0.7) and found["span_f"] == 0.25
    assert found["f_high"] - found["f"] == pytest.approx(2.7764 * np.sqrt(0.025) / np.sqrt(5), rel=1e-4)


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


def test_the_picture_names_every_arm():
    rows = [
        {"unit": unit, "epsilon": epsilon, "contracts": size, "f": 0.5}
        for unit in ("document", "paragraph") for epsilon in EPSILONS for size in SIZES
    ]  # fmt: skip
    drawn = picture(rows)
    for name in ("document, epsilon 2", "document, epsilon 32", "paragraph, epsilon 2", "360 contracts"):
        assert name in drawn
