"""The extractor as users meet it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from textveil.core import BadInput, Shape
from textveil.hashed import Extractor, FeaturePlan, load
from textveil.hashed import features as features_module
from textveil.hashed.decode import Span
from textveil.hashed.extractor import CollisionWarning
from textveil.hashed.widening import widen
from textveil.testing import check_mechanism

PLAN = FeaturePlan(bits=16)


@pytest.fixture(scope="module")
def fitted(made_up_contracts):
    texts, spans = zip(*made_up_contracts(30), strict=True)
    return Extractor(label="LAW", plan=PLAN).fit(texts[:20], spans[:20]), texts, spans


def test_it_finds_the_clause_of_contracts_it_has_not_seen(fitted):
    model, texts, spans = fitted
    found = model.predict(texts[20:])
    hits = sum([(s.start, s.end) for s in one] == list(marked) for one, marked in zip(found, spans[20:], strict=True))
    assert hits >= 9
    for one in found:
        assert all(isinstance(s, Span) and s.label == "LAW" for s in one)


def test_scores_of_tokens_say_where_a_model_without_widening_finds(fitted):
    model, texts, _ = fitted
    bare = model.with_table(model.table_).set_params(widen="none")
    (margins,) = model.token_scores(texts[25:26])
    found = bare.extract(texts[25])
    from textveil.hashed import tokenize

    tokens = tokenize(texts[25])
    inside = np.zeros(len(tokens.words), bool)
    for span in found:
        inside |= (tokens.starts >= span.start) & (tokens.ends <= span.end)
    assert np.array_equal(inside, margins > 0) and inside.any()
    for span in found:
        where = (tokens.starts >= span.start) & (tokens.ends <= span.end)
        assert span.score == pytest.approx(float(margins[where].mean()), rel=1e-5)


def test_save_and_load(fitted, tmp_path):
    model, texts, _ = fitted
    folder = model.save(tmp_path / "model")
    back = load(folder)
    assert back.predict(texts[20:]) == model.predict(texts[20:])
    assert (back.plan, back.label, back.share) == (PLAN, "LAW", model.share)
    assert np.array_equal(back.table_.documents, model.table_.documents) and back.table_.facts == {}
    with pytest.raises(BadInput, match="exists already"):
        model.save(tmp_path / "model")


def test_a_model_of_other_clusters_is_refused(fitted, tmp_path, monkeypatch):
    folder = fitted[0].save(tmp_path / "model")
    monkeypatch.setattr("textveil.hashed.extractor.clusters_id", lambda source: "other")
    with pytest.raises(BadInput, match="other word clusters"):
        load(folder)


def test_without_numba_the_same_is_found(fitted, made_up_contracts, monkeypatch):
    pytest.importorskip("mmh3")
    _, texts, spans = fitted
    for home in ("features", "corpus", "passive_aggressive", "decode", "extractor"):
        monkeypatch.setattr(f"textveil.hashed.{home}.has_numba", lambda: False)
    assert not features_module.has_numba()
    plain = Extractor(label="LAW", plan=PLAN, epochs=2).fit(texts[:6], spans[:6])
    monkeypatch.undo()
    fast = Extractor(label="LAW", plan=PLAN, epochs=2).fit(texts[:6], spans[:6])
    np.testing.assert_allclose(plain.table_.weights, fast.table_.weights, atol=1e-7)
    assert plain.predict(texts[20:23]) == fast.predict(texts[20:23])


def test_several_labels(made_up_contracts):
    texts, laws = zip(*made_up_contracts(20), strict=True)
    marked = [[(a, b, "LAW"), (0, 9, "HEAD")] for ((a, b),) in laws]
    model = Extractor(plan=PLAN, widen="none").fit(texts, marked)
    assert model.table_.labels == ("O", "HEAD", "LAW")
    found = model.extract(texts[3])
    assert [s.label for s in found] == ["HEAD", "LAW"] and texts[3][found[0].start : found[0].end] == "AGREEMENT"


def test_an_unsealed_model_promises_nothing(fitted):
    model = fitted[0]
    assert model.guarantee_.label == "heuristic"
    assert model.event(Shape()).noise.kind == "unpriced"


def test_training_twice_gives_the_same_bits_and_shuffling_does_not(made_up_contracts):
    texts, spans = zip(*made_up_contracts(10), strict=True)

    def table(**options):
        return Extractor(plan=PLAN, epochs=2, **options).fit(texts, spans).table_.weights

    assert np.array_equal(table(), table()) and np.array_equal(table(shuffle=True, seed=4), table(shuffle=True, seed=4))
    assert not np.array_equal(table(), table(shuffle=True, seed=4))
    assert not np.array_equal(table(shuffle=True), table(shuffle=True)), "a secret order; equal with chance < 1e-30"


def test_too_few_slots_warn_with_the_collision_rate(made_up_contracts):
    texts, spans = zip(*made_up_contracts(10), strict=True)
    with pytest.warns(CollisionWarning, match=r"2\^8 slots .* 9\d% of their features share") as noted:
        model = Extractor(plan=FeaturePlan(bits=8)).fit(texts, spans)
    assert len(noted) == 1 and 0.9 < model.collision_rate_ <= 1
    assert Extractor(plan=PLAN).fit(texts, spans).collision_rate_ < 0.1


BAD = {
    "no span": (["a b c"], [[]], "single label"),
    "all in a span": (["a b c"], [[(0, 5)]], "single label"),
    "no documents": ([], [], "single label"),
    "fewer spans": (["a", "b"], [[]], "one list for each"),
    "outside": (["a b c"], [[(2, 9)]], "document 0 has a span that does not fit it"),
    "backwards": (["a b c"], [[(2, 1)]], "span that does not fit"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data(name):
    texts, spans, message = BAD[name]
    with pytest.raises(BadInput, match=message):
        Extractor(plan=PLAN).fit(texts, spans)


@pytest.mark.parametrize("bad", [{"epochs": 0}, {"c": 0}, {"widen": "page"}, {"share": 2}])
def test_bad_settings(bad):
    with pytest.raises(BadInput):
        Extractor(plan=PLAN, **bad).fit(["a b"], [[(0, 1)]])


def test_unfitted_and_mismatched(fitted):
    with pytest.raises(BadInput, match="has not been fitted"):
        Extractor().predict(["a"])
    with pytest.raises(BadInput, match=r"2\^16 slots, the plan 2\^12"):
        Extractor(plan=FeaturePlan(bits=12)).with_table(fitted[0].table_).predict(["a"])
    assert fitted[0].predict(["", "   "]) == [[], []]


def test_widening():
    bounds = np.array([0, 4, 8, 9])
    labels = np.array([0, 1, 0, 0, 2, 2, 1, 0, 0], np.uint8)
    assert widen(labels, bounds, 0.25).tolist() == [1] * 4 + [2] * 4 + [0]
    assert widen(labels, bounds, 0.5).tolist() == [0] * 4 + [2] * 4 + [0]
    assert widen(labels, bounds, 0.0).tolist() == [1] * 4 + [2] * 4 + [0], "a sentence without finds stays out"


class TrainedWeights(Extractor):
    """The extractor, seen by the numbers it learnt."""

    def apply(self, data, *, noise=None):
        return super().apply(data, noise=noise).table_.weights


def test_it_keeps_the_laws_of_mechanisms_and_promises_nothing():
    texts = [
        "The fee is due in May. Texas law governs this paper.\n\nRent is due.",
        "Ohio law governs. Nobody pays.",
    ] * 2
    spans = [[(23, 52)], [(0, 17)]] * 2
    mechanism = TrainedWeights(plan=FeaturePlan(bits=10), shuffle=True, c=1.0).fit(texts, spans)
    checked = check_mechanism(mechanism, (texts, spans))
    assert "noise comes from the given source" in checked.held and "a seed makes a draft" in checked.held
    assert mechanism.guarantee_.label == Extractor().guarantee_.label == "heuristic"


def test_a_seed_chooses_the_order_and_nothing_else():
    assert Extractor(seed=1).event(Shape()) == Extractor().event(Shape())
    assert "seed" not in Extractor(seed=1).public_params()
    json.dumps(Extractor(seed=1).public_params())
