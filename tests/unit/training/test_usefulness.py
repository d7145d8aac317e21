"""Useless models are announced: by the plan before the charge, by the score after training."""

from __future__ import annotations

import math

import numpy as np
import pytest

from textveil.accounting import Ledger
from textveil.recipes.progress import no_bar
from textveil.recipes.training.models import ModelJob, train_model
from textveil.recipes.training.scores import score_warnings
from textveil.training.plan import Phase, TrainingPlan
from textveil.training.usefulness import most_signal, plan_warnings

GOOD = TrainingPlan(noise=4.0, batch=2048, examples=14041, steps=247)  # about that of CoNLL-2003 at epsilon 3


def test_the_most_that_can_be_said_is_the_quotient_of_signal_and_noise():
    plan, parameters = TrainingPlan(noise=3.0, batch=50, examples=500, steps=16), 400
    rng = np.random.default_rng(5)
    noise = rng.normal(0, plan.noise * plan.clip, (plan.steps, parameters)).sum(axis=0)
    signal = plan.steps * plan.batch * plan.clip  # all gradients as long as the clip, in one direction
    assert most_signal(plan, parameters) == pytest.approx(signal / np.linalg.norm(noise), rel=0.1)
    halves = TrainingPlan.scheduled([Phase(3.0, 50, 8), Phase(3.0, 50, 8)], examples=500)
    assert most_signal(halves, parameters) == pytest.approx(most_signal(plan, parameters))
    assert most_signal(plan, 4 * parameters) == pytest.approx(most_signal(plan, parameters) / 2)


def test_a_good_plan_is_not_warned_about_and_a_hopeless_one_says_what_helps():
    assert list(plan_warnings(GOOD, 250_000)) == []
    few, noisy = plan_warnings(TrainingPlan(noise=11.0, batch=120, examples=120, steps=12), 250_000, asked_batch=2048)
    assert "only 12 updates, because the batch (2,048) is larger than the number of examples (120)" in few
    assert "--batch 36" in few
    assert math.ceil(12 * 120 / 36) == 40  # what that batch gives
    assert "hardly learn anything; more data helps most" in noisy


@pytest.mark.parametrize(
    ("kind", "found", "words"),
    [
        ("tagger", {"entity_f1": 0.0}, None),
        ("classifier", {"accuracy": 0.28, "largest_class": 0.28}, None),
        ("lm", {"perplexity": 10_500.0}, 10_000),
    ],
)
def test_a_score_that_shows_nothing_learnt_is_said(kind, found, words):
    (sentence,) = score_warnings(kind, found, words)
    assert "learnt nothing" in sentence
    better = {
        name: value / 2 if kind == "lm" else value + 0.1 for name, value in found.items() if name != "largest_class"
    }
    assert score_warnings(kind, {**found, **better}, words) == []
    assert score_warnings(kind, {}, words) == []


class StoppedError(Exception):
    """The owner reads the warning and stops."""


def test_the_plan_is_warned_about_before_anything_is_charged(tmp_path):
    source, ledger = tmp_path / "in.conll", tmp_path / "n.ledger"
    source.write_text("Anna B-PER\nrests O\n\nBern B-LOC\nsleeps O\n\n" * 10)

    def stop(sentence: str) -> None:
        raise StoppedError(sentence)

    settings = {"epsilon": 1.0, "delta": 1e-3, "epochs": 5, "hidden": 6}
    job = ModelJob("tagger", source, tmp_path / "out", settings, ledger=ledger)
    with pytest.raises(StoppedError, match="only 5 updates"):
        train_model(job, bar=no_bar, warn=stop)
    assert not ledger.exists() or Ledger(ledger).entries() == []
    assert not (tmp_path / "out").exists()
