"""Baselines of full local privacy, and the measures of topics on cases that can be checked by hand."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest
from scipy import sparse

from textveil.core import BadInput, NoPromise, UnknownName
from textveil.counts import FullLocal, Sketch, topics
from textveil.counts.baselines import truncated
from textveil.counts.matrix import checked
from textveil.noise import secure
from textveil.testing import Worlds, check_mechanism

WIDE = np.tile([[3, 0, 1], [0, 2, 2]], (50, 1))


@pytest.mark.parametrize("noise", ["geometric", "laplace"])
def test_full_local_noise_has_the_stated_size(noise):
    """Ten thousand draws: the mean absolute noise is within 10 % of its scale (ten standard deviations)."""
    mechanism = FullLocal(epsilon=2.0, cap=100, noise=noise, clamp=False)
    drawn = mechanism.fit_transform(np.ones((100, 100), int)) - 1
    scale = 2 * 100 / 2.0
    assert abs(np.abs(drawn).mean() / scale - 1) < 0.1


@pytest.mark.parametrize("mechanism", [FullLocal(1.0, cap=4), FullLocal(1.0, cap=4, noise="laplace", clamp=False)])
def test_full_local_keeps_the_laws_of_mechanisms(mechanism):
    """False alarm at most 1e-6 per case. The two documents are as different as the cap allows."""
    worlds = [Worlds(np.array([[4, 0, 0]]), np.array([[0, 4, 0]]), by_row=True)]
    found = check_mechanism(mechanism.fit(WIDE), WIDE, worlds=worlds, tries=20_000)
    assert "the promise holds" in found.held


def test_sketches_are_priced_and_come_back_without_noise():
    sketch = Sketch(epsilon=2.0, delta=1e-6, cap=10, width=50)
    loss = sketch.guarantee_.loss
    assert loss.epsilon == pytest.approx(2.0, rel=1e-3) and loss.delta == 1e-6
    quiet = Sketch(epsilon=1e4, delta=0.5, cap=10, width=4000).fit(WIDE)
    assert np.allclose(quiet.transform(WIDE), WIDE, atol=1.0)


def test_baselines_with_a_seed_are_drafts_and_bad_names_are_refused():
    for mechanism in (FullLocal(seed=1), Sketch(seed=1)):
        assert mechanism.event() == type(mechanism)().event()
        assert isinstance(mechanism.guarantee_.loss, NoPromise) and mechanism.guarantee_.label == "seeded"
    with pytest.raises(UnknownName):
        FullLocal(noise="gauss").event()
    with pytest.raises(BadInput):
        FullLocal(cap=0).event()


def test_documents_are_cut_to_the_cap():
    rows = checked([[50, 50, 0], [1, 2, 3], [0, 0, 99]])
    cut = truncated(rows, 10, secure()).toarray()
    assert cut.sum(axis=1).tolist() == [10, 6, 10] and (cut <= rows.toarray()).all()


def test_jaccard_pairs_topics_for_the_largest_sum():
    a = np.array([[5, 4, 0, 0, 0.0], [5, 0, 4, 0, 0]])
    b = np.array([[5, 0, 4, 0, 0], [0, 0, 0, 5, 4.0]])
    assert topics.matched_jaccard(a, b, count=2).tolist() == [1.0, 0.0]


def test_coherence_counts_documents():
    counts = sparse.csr_array(np.array([[1, 5, 0], [2, 0, 0], [1, 1, 0], [0, 0, 1]]))
    phi = np.array([[0.6, 0.3, 0.1]])
    assert topics.coherence(phi, counts, count=2) == pytest.approx(math.log(3 / 3))
    assert topics.coherence(phi, counts, count=3) == pytest.approx(
        (math.log(3 / 3) + math.log(1 / 3) + math.log(1 / 2)) / 3
    )


def test_exclusivity_is_one_over_topics_when_all_are_alike():
    assert topics.exclusivity(np.ones((4, 30)) / 30, count=5) == pytest.approx(0.25)


def test_lsa_directions_of_the_data_itself_are_best():
    counts = secure().below(5, (60, 20)) * (np.arange(20) < 6)
    other = secure().below(5, (60, 20))
    assert topics.lsa_error(counts, counts, 5) < topics.lsa_error(other, counts, 5)


def test_categories_that_use_different_words_are_told_apart():
    pytest.importorskip("sklearn")
    labels = np.repeat([0, 1], 40)
    counts = secure().below(3, (80, 12)) + 4 * (np.arange(12) % 2 == labels[:, None])
    scores = topics.category_scores(counts, labels, dimensions=4)
    assert scores["accuracy"] == 1.0 and set(scores) == {"accuracy", "precision", "recall", "f1"}


@pytest.mark.skipif(importlib.util.find_spec("tomotopy") is None, reason="tomotopy is not installed")
def test_lda_finds_separate_topics():
    counts = np.repeat([[9, 9, 0, 0, 0], [0, 0, 9, 9, 0]], 30, axis=0)  # the last word never occurs
    phi = topics.lda(counts, 2, iterations=100)
    assert phi.shape == (2, 5) and phi.sum(axis=1) == pytest.approx([1, 1])
    assert sorted(sorted(t) for t in topics.top_words(phi, 2).tolist()) == [[0, 1], [2, 3]]
