"""The estimator: what it accepts, refuses, promises and returns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import textveil as tv
from textveil.core import BadInput, BadParameter, NoPromise, Shape, UnknownName
from textveil.counts import LimitedPrecision
from textveil.counts.matrix import checked
from textveil.noise import secure

X = np.array([[3, 0, 1, 2], [0, 2, 0, 1], [1, 1, 1, 1]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.coo_array, lambda x: sparse.csc_array(x * 1.0)])
def test_without_noise_the_counts_come_back(form):
    out = LimitedPrecision(epsilon=1000.0, precision=1).fit_transform(form(X))
    assert sparse.issparse(out) and (out.toarray() == X).all()


@pytest.mark.parametrize("method", ["random", "frequency"])
def test_without_noise_groups_are_exact_sums(method):
    mechanism = LimitedPrecision(epsilon=1e4, precision=1, compress=2, method=method, decompress=False)
    out = mechanism.fit_transform(X)
    groups = mechanism.released_.groups
    assert (out == np.stack([X[:, groups == g].sum(axis=1) for g in range(2)], axis=1)).all()


def test_noise_is_dense_when_there_is_much_of_it_and_sparse_when_there_is_little():
    many = np.ones((50, 500), int)
    assert isinstance(LimitedPrecision(epsilon=0.5, precision=10).fit_transform(many), np.ndarray)
    assert sparse.issparse(LimitedPrecision(epsilon=3.0, precision=1).fit_transform(many))
    assert sparse.issparse(LimitedPrecision(epsilon=0.5, precision=10, compress=5).fit_transform(many))


def test_clamp_decides_about_negative_counts():
    many = np.ones((50, 500), int)
    assert LimitedPrecision(epsilon=0.5).fit_transform(many).min() == 0
    assert LimitedPrecision(epsilon=0.5, clamp=False).fit_transform(many).min() < 0


def test_dealt_out_counts_sum_to_the_clamped_group_counts_and_follow_the_weights():
    counts = np.tile([[500, 0, 100, 0]], (20, 1))
    weights = np.array([3.0, 1.0, 1.0, 1.0])
    mechanism = LimitedPrecision(epsilon=1e4, precision=1, compress=1, prior=weights, method="frequency")
    dealt = mechanism.fit_transform(counts).toarray()
    assert (dealt.sum(axis=1) == 600).all()
    share = dealt.sum(axis=0) / dealt.sum()
    assert abs(share[0] - 0.5) < 0.05  # 12,000 tokens: ten standard deviations


@pytest.mark.parametrize(
    ("counts", "what"),
    [
        ([[1, -1]], "negative count"),
        ([[1, 0.5]], "fractional count"),
        ([[1, np.nan]], "not finite"),
        ([[1, np.inf]], "not finite"),
        ([["a", "b"]], "table of numbers"),
        ([1, 2, 3], "table of numbers"),
        (np.empty((3, 0)), "table of numbers"),
        ([[1, 2], [3]], "table"),
    ],
)
def test_bad_counts_are_refused(counts, what):
    with pytest.raises(BadInput, match=what.replace("(", r"\(").replace(")", r"\)")):
        LimitedPrecision().fit_transform(np.array(counts) if "3]]" not in str(counts) else counts)


@pytest.mark.parametrize("form", [sparse.csr_matrix, np.asarray])
@pytest.mark.parametrize("bad", [-1, 0.5, np.nan])
def test_bad_cells_are_named_by_row(form, bad):
    table = X.astype(float)
    table[2, 1] = bad
    with pytest.raises(BadInput, match="document 2"):
        checked(form(table))


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 0},
        {"epsilon": 1e-308},
        {"epsilon": 1e-289, "precision": 1000, "compress": 2, "prior_share": 1e-3},
        {"precision": 0},
        {"precision": 2.5},
        {"compress": 5},
        {"compress": 0},
        {"method": "hungarian"},
        {"budget": "paper"},
        {"prior": "private"},
        {"prior": [1.0, 2.0], "compress": 2},
        {"prior_share": 0},
        {"columns": 5},
        {"clamp": False, "compress": 2},
        {"seed": -1},
        {"words": ["one"]},
        {"compress": 2, "method": "cluster"},
        {"columns": 2, "compress": 3},
        {"empty": "refuse"},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_and_nothing_is_charged(parameters, tmp_path):
    ledger = tv.Ledger(tmp_path / "c.ledger")
    with pytest.raises((BadParameter, BadInput, UnknownName)):
        ledger.release(LimitedPrecision(**parameters).fit(X), X)
    assert ledger.entries() == []


def test_other_columns_than_fitted_are_refused():
    mechanism = LimitedPrecision().fit(X)
    with pytest.raises(BadInput, match="X has 3 features, but LimitedPrecision is expecting 4 features as input"):
        mechanism.transform(X[:, :3])


def test_empty_documents_are_kept():
    out = LimitedPrecision(epsilon=1000.0, precision=1).fit_transform(np.zeros((2, 3), int))
    assert out.shape == (2, 3) and out.sum() == 0


@pytest.mark.parametrize("one", [[[1, 0, 0]], [[2**30, 0, 0]]], ids=["empty", "largest"])
@pytest.mark.parametrize("compress", [None, 2])
def test_two_inputs_one_count_apart_are_both_released(one, compress, tmp_path):
    """Whether there is a release tells nothing: the edge cases (no count at all, the largest count) are no exception."""
    step = 1 if one[0][0] > 1 else -1
    other = [[one[0][0] + step, 0, 0]]
    ledger = tv.Ledger(tmp_path / "c.ledger")
    for counts in (np.array(one), np.array(other)):
        mechanism = LimitedPrecision(epsilon=1.0, compress=compress).fit(counts)
        assert ledger.release(mechanism, counts, other_data=True).value.shape == (1, 3)
    assert len(ledger.entries()) == 2


@pytest.mark.parametrize("fitted", [True, False])
def test_a_shape_that_does_not_fit_is_refused_before_anything_is_charged(fitted, tmp_path):
    ledger, counts = tv.Ledger(tmp_path / "c.ledger"), np.ones((2, 6800), int)
    mechanism = LimitedPrecision(0.5, 10, 100, "random", prior="uniform", budget="paper")
    if fitted:
        mechanism.fit(counts)
        with pytest.raises(BadInput, match="100 words was declared, but the mechanism was fitted to 6800"):
            mechanism.event(Shape(vocabulary=100))
    with pytest.raises(BadInput, match="100 words was declared"):
        ledger.release(mechanism, counts, Shape(vocabulary=100), noise=NotToBeDrawn())
    assert ledger.entries() == []
    assert ledger.release(mechanism, counts, Shape(vocabulary=6800)).guarantee.loss.epsilon == 34.0


class NotToBeDrawn:
    """A source of noise that nobody may ask."""

    seeded = False

    def __getattr__(self, name):
        raise AssertionError("noise was drawn")


def test_the_promise_says_that_it_is_about_n_counts():
    sentences = LimitedPrecision(epsilon=1.0, precision=7).guarantee_.assumes
    assert any("about 7 counts of a document, not about all of it" in s for s in sentences)


def test_the_promise_is_in_total_whatever_the_number_of_cells():
    for width in (10, 10_000):
        loss = LimitedPrecision(epsilon=0.5, precision=10).fit(np.ones((1, width), int)).guarantee_.loss
        assert (loss.epsilon, loss.n, loss.delta) == (0.5, 10, 0.0)


def test_parts_are_charged_together():
    loss = LimitedPrecision(epsilon=0.5, compress=2).fit(X).guarantee_.loss
    assert loss.epsilon == pytest.approx(0.5)
    mechanism = LimitedPrecision(epsilon=0.5, compress=2)
    parts = mechanism.spending(4)
    assert parts.corpus == pytest.approx(0.05) and parts.noise == pytest.approx(0.45)
    assert LimitedPrecision(epsilon=0.5, compress=2, method="random", prior="uniform").spending(4).corpus == 0
    assert LimitedPrecision(epsilon=0.5, columns=2).spending(4).corpus > 0


def test_the_papers_budget_states_its_true_total():
    event = LimitedPrecision(0.5, 10, 100, "random", prior="uniform", budget="paper").event(Shape(vocabulary=6800))
    assert event.noise.epsilon == 34.0
    assert any("true total is 34" in line for line in event.assumes)


def test_the_papers_true_total_is_not_rounded_down():
    literal = LimitedPrecision(epsilon=0.1, compress=3, method="random", prior="uniform", budget="paper")
    event = literal.event(Shape(vocabulary=10_000))
    assert event.noise.epsilon > 333.3
    assert any("the true total is 333.4" in sentence for sentence in event.assumes)


def test_a_ledger_charges_documents_in_total(tmp_path):
    ledger = tv.Ledger(tmp_path / "c.ledger")
    ledger.allow(unit="document", metric="counts_l1", epsilon=1.0, precision=10)
    mechanism = LimitedPrecision(epsilon=0.75, precision=10, compress=2)
    release = ledger.release(mechanism.fit(X), X)
    assert release.guarantee.loss.epsilon == pytest.approx(0.75)
    with pytest.raises(tv.BudgetExceeded):
        ledger.release(LimitedPrecision(epsilon=0.75, precision=10).fit(X), X)
    assert len(ledger.entries()) == 1


def test_a_seed_makes_a_draft():
    seeded = LimitedPrecision(seed=1).fit(X)
    assert seeded.event() == LimitedPrecision().fit(X).event()  # an event is made of public facts, and a seed is none
    assert isinstance(seeded.guarantee_.loss, NoPromise) and seeded.guarantee_.label == "seeded"
    one, two = (LimitedPrecision(seed=1, compress=2).fit_transform(X).toarray() for _ in range(2))
    assert (one == two).all()


def test_columns_are_chosen_by_noisy_counts():
    counts = np.tile([[0, 9, 0, 5, 1]], (200, 1))
    mechanism = LimitedPrecision(epsilon=50.0, precision=1, columns=2, words=["a", "b", "c", "d", "e"])
    out = mechanism.fit_transform(counts)
    assert out.shape == (200, 2) and mechanism.get_feature_names_out().tolist() == ["b", "d"]
    assert mechanism.transform(counts[:3]).shape == (3, 2)


def test_groups_by_meaning_use_the_vectors():
    vectors = tv.vectors.from_arrays(["cat", "dog", "car", "bus"], [[1.0, 0], [0.9, 0.1], [-1, 0], [-0.9, 0.1]])
    common = {"epsilon": 1000.0, "precision": 1, "compress": 2, "prior": "uniform", "vectors": vectors}
    words = ["cat", "car", "dog", "bus"]
    together = LimitedPrecision(method="cluster", words=words, **common).fit(X).groups_
    apart = LimitedPrecision(method="disperse", words=words, **common).fit(X).groups_
    assert together[0] == together[2] != together[1] == together[3]
    assert apart[0] != apart[2] and apart[1] != apart[3]


def test_it_stands_in_a_pipeline_and_is_cloned():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    texts = ["good fine good", "bad poor bad", "good fine", "poor bad poor"] * 5
    pipe = make_pipeline(CountVectorizer(), LimitedPrecision(epsilon=100.0, precision=1, compress=4), MultinomialNB())
    pipe.fit(texts, [1, 0, 1, 0] * 5)
    assert pipe.predict(["fine good", "poor bad"]).tolist() == [1, 0]
    copy = clone(pipe[1])
    assert copy.get_params()["compress"] == 4 and not hasattr(copy, "groups_")


def test_input_is_left_alone():
    table = sparse.csr_matrix(X)
    before = table.copy()
    LimitedPrecision(epsilon=0.1).fit(table).apply(table, noise=secure())
    assert (table != before).nnz == 0
