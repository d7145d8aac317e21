"""What the adversaries of a hashed model are handed: the right slots, the right words, nothing of the truth."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.core import BadInput
from textveil.hashed import Extractor, FeaturePlan
from textveil.hashed.features import term_slots
from textveil.hashed.probe import covered, probe
from textveil.noise import seeded
from textveil.recipes.hashed import exposure as seen
from textveil.recipes.hashed.audit import attack_model

PLAN = FeaturePlan(bits=16)
PAIRS = FeaturePlan(bits=16, families=("word", "bigram", "skip"))


@pytest.fixture(scope="module")
def known(made_up_contracts):
    texts, spans = zip(*made_up_contracts(24), strict=True)
    model = Extractor(plan=PLAN, c=1.0).fit(texts, spans)
    return model, seen.Documents(model, texts, spans), texts


def test_a_term_in_its_own_gaps_touches_the_slots_that_training_touched(known):
    model, documents, texts = known
    places = [(d, i) for d, words in enumerate(documents.words) for i, w in enumerate(words) if w == "disclose"]
    touched = documents.touched("disclose", places)
    assert np.array_equal(touched.slots, term_slots("disclose", texts, PAIRS))
    assert model.table_.present[touched.slots].any(axis=1).all()


def test_sides_follow_the_marked_passages(known):
    _, documents, _ = known
    assert documents.touched("disputes", documents.places["disputes"]).sides.all()
    assert not documents.touched("invoice", documents.places["invoice"]).sides.any()


def test_terms_come_from_the_documents_and_others_do_not(known):
    _, documents, _ = known
    inside = documents.terms(50, seeded(1))
    outside = documents.others(inside, seeded(1))
    assert set(inside) <= set(documents.counts) and not set(outside) & set(documents.counts)
    assert len(outside) == len(inside) == len(set(outside))
    marked = documents.terms(50, seeded(1), marked=True)
    assert "disputes" in marked and "invoice" not in marked


def test_guessed_slots_begin_with_the_word_itself():
    slots = seen.guessed("texas", PAIRS).slots
    assert slots[0] == term_slots("texas", ["texas"], FeaturePlan(bits=16, families=("word",)))[0]
    assert len(slots) == len(set(slots.tolist())) > 30


def test_the_retrained_rows_of_right_terms_are_the_models_own(known):
    model, documents, _ = known
    exposure = seen.retrain_exposure(model, documents, seeded(2))
    for term, flag in zip(exposure.candidates.texts, exposure.truth.ids, strict=True):
        slots, rows = exposure.retrain(term, term)
        same = np.array_equal(rows, np.asarray(model.table_.weights)[slots])
        assert same or not flag


def test_a_quiet_release_is_compared_in_its_own_gauge(known):
    model, documents, _ = known
    sealed = model.with_table(model.seal(mode="quiet", min_documents=1, seed=3).table_)
    (found,) = attack_model("hashed.retrain", sealed, documents, seeded(2))
    assert found.value > 0.7  # with k = 1 nothing is forgotten; many rows are 0 on both sides


def test_covered_agrees_with_probe(known):
    model, _, _ = known
    template = "The laws of the State of {term} govern this Agreement."
    terms = ["Texas", "Ohio", "Wyoming"]
    shares = covered(model, terms, [template, "{term}"])
    assert shares.shape == (3, 2)
    assert [s > 0 for s in shares[:, 0]] == [a.extracted for a in probe(model, terms, template)]


def test_no_documents_are_refused(known):
    with pytest.raises(BadInput, match="no documents"):
        seen.Documents(known[0], [], [])
