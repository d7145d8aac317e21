"""What one unit can change: rows, pulls and minimisers, on neighbouring data sets; broken variants exceed the bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textveil.core import BadInput
from textveil.hashed import sound_output
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import tokenize
from textveil.hashed.sound_examples import ExampleReader
from textveil.hashed.sound_features import RowPlan, rows_of
from textveil.hashed.sound_plan import SoundPlan
from textveil.hashed.sound_pull import pull, slopes_of

PLAN = FeaturePlan(bits=10)
WORDS = ("the", "law", "of", "texas", "governs", "fee", "qqzz", "is", "paid", "12,000", "court")

sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
paragraph = st.lists(st.tuples(sentence, st.booleans()), min_size=1, max_size=5)
document = st.lists(paragraph, min_size=1, max_size=3)


def built(documents, unit):
    """Examples of documents given as paragraphs of (words, is it a clause)."""
    reader = ExampleReader(PLAN, RowPlan(), unit)
    for paragraphs in documents:
        text, spans = "", []
        for sentences in paragraphs:
            for words, marked in sentences:
                begin = len(text)
                text += " ".join(words).capitalize() + ". "
                if marked:
                    spans.append((begin, len(text) - 1))
            text += "\n\n"
        reader.add(text, spans)
    return reader


def examples_of(documents, unit):
    return built(documents, unit).examples()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(document, min_size=1, max_size=3), st.sampled_from(["paragraph", "document"]), st.integers(0, 2**32 - 1)
)
def test_one_unit_moves_the_pull_by_at_most_one(documents, unit, seed):
    examples = examples_of(documents, unit)
    draws = np.random.default_rng(seed)
    weights = draws.normal(scale=draws.choice([0.0, 1.0, 30.0]), size=PLAN.slots)
    whole = pull(examples, weights, SoundPlan(unit=unit))
    for number in range(examples.count - 2):
        part = pull(examples.without(number), weights, SoundPlan(unit=unit))
        assert np.linalg.norm(whole - part) <= 1.0


@settings(max_examples=40, deadline=None)
@given(document)
def test_rows_have_length_one_and_ignore_other_paragraphs(paragraphs):
    texts = [" ".join(" ".join(w).capitalize() + "." for w, _ in sentences) for sentences in paragraphs]
    whole = rows_of(tokenize("\n\n".join(texts)), PLAN, RowPlan()).matrix(PLAN.slots)
    alone = np.concatenate([rows_of(tokenize(text), PLAN, RowPlan()).matrix(PLAN.slots).toarray() for text in texts])
    assert np.array_equal(whole.toarray(), alone)
    assert np.allclose(np.linalg.norm(alone, axis=1), 1.0, atol=1e-6)


LONG = [[[(["law", "of", "texas", "governs"], True)] * 9, [(["fee", "is", "paid"], False)]], [[(["court"], False)]]]


def test_the_bound_is_reached_and_without_clipping_exceeded():
    examples = built(LONG, "paragraph").examples()
    zero = np.zeros(PLAN.slots)
    whole, part = (pull(e, zero, SoundPlan()) for e in (examples, examples.without(0)))
    assert 0.999 < np.linalg.norm(whole - part) <= 1.0
    unclipped = examples.columns @ slopes_of(examples, zero, SoundPlan())
    rest = examples.without(0)
    assert np.linalg.norm(unclipped - rest.columns @ slopes_of(rest, zero, SoundPlan())) > 8.0


@pytest.mark.parametrize("unit", ["paragraph", "document"])
@pytest.mark.parametrize("ridge", [0.2, 2.0])
def test_one_unit_moves_the_minimiser_by_at_most_the_bound(unit, ridge):
    documents = LONG * 2 + [[[(["texas", "court"], True), (["fee", "of", "law"], False)]]]
    examples, plan = built(documents, unit).examples(), SoundPlan(unit=unit, method="output", ridge=ridge)
    whole = sound_output.minimise(examples, plan)
    moved = [np.linalg.norm(whole - sound_output.minimise(examples.without(u), plan)) for u in range(examples.count)]
    assert max(moved) <= sound_output.output_bound(plan)
    assert max(moved) > 0.1 * sound_output.output_bound(plan)  # the test would notice a bound that is far too small


def test_losses_that_are_not_divided_break_the_bound(monkeypatch):
    plan = SoundPlan(method="output", ridge=50.0)
    examples = built(LONG, "paragraph").examples()
    ones = sound_output.objective
    monkeypatch.setattr(sound_output, "objective", lambda w, e, share, p: ones(w, e, np.ones_like(share), p))
    moved = np.linalg.norm(sound_output.minimise(examples, plan) - sound_output.minimise(examples.without(0), plan))
    assert moved > 4 * sound_output.output_bound(plan)


@pytest.mark.parametrize("boost", [0.5, 1.0, 4.0])
def test_losses_have_the_slopes_that_they_claim(boost):
    scores, step = np.linspace(-12, 12, 400), 1e-6
    for labels in (np.ones(400, bool), np.zeros(400, bool)):
        above, below = (sound_output.losses(scores + d, labels, boost)[0] for d in (step, -step))
        _, slope = sound_output.losses(scores, labels, boost)
        assert np.allclose(-(above - below) / (2 * step), slope, atol=1e-5)
        assert (np.diff(slope) <= 1e-12).all() and np.abs(slope).max() <= 1.0  # convex and never steeper than 1


def test_a_minimiser_is_within_its_tolerance_however_early_the_fast_solver_stops(monkeypatch):
    monkeypatch.setattr(sound_output, "MOST_ROUNDS", 1)
    examples, plan = built(LONG, "paragraph").examples(), SoundPlan(ridge=0.01, tolerance=1e-4)
    used = sound_output.chosen(examples)
    share = 1.0 / np.bincount(used.units)[used.units] / (1.0 + sound_output.SLACK)
    gradient = sound_output.objective(sound_output.minimise(examples, plan), used, share, plan)[1]
    assert np.linalg.norm(gradient) <= plan.tolerance * (1 + 1e-9)


def test_without_leaves_other_units_as_they_are():
    examples = built(LONG, "paragraph").examples()
    assert examples.count == 3
    kept = examples.without(1)
    assert kept.count == 2 and kept.labels.tolist() == [True] * 9 + [False]
    assert (kept.rows != examples.rows[[*range(9), 10]]).nnz == 0


def test_bad_plans_are_refused():
    for wrong in (
        {"unit": "word"},
        {"method": "magic"},
        {"steps": 0},
        {"ridge": 0.0},
        {"rows": RowPlan(pair=0.5), "rate": -1},
    ):
        with pytest.raises(BadInput):
            replace(SoundPlan(), **wrong)
