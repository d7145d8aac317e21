"""Paper 02: the collections, the arms, the measures. Exact checks; the study itself is run by `textveil reproduce 02`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from textveil.reproduce import study_of
from textveil.reproduce.cells import Cell
from textveil.reproduce.claims import gaps, load_claims
from textveil.reproduce.figures import Figure, svg
from textveil.reproduce.heat import SHADES, HeatMap
from textveil.reproduce.paper02 import measures
from textveil.reproduce.paper02.arms import ARMS, CONTROL, Level, private
from textveil.reproduce.paper02.cells import topics_level
from textveil.reproduce.paper02.data import Corpus, complaints, largest_counts, seed_of, synthetic
from textveil.reproduce.paper02.models import lsa, thinned
from textveil.reproduce.study import Results


def test_every_claim_has_cells_a_measure_and_a_rule():
    assert gaps(load_claims("02"), study_of("02")) == []


def test_synthetic_corpus_is_a_run_of_its_topics():
    corpus = synthetic(400, 3)
    assert corpus.counts.shape == (400, 100)
    assert np.allclose(corpus.truth.sum(axis=1), 1)
    lengths = corpus.counts.sum(axis=1)
    assert abs(lengths.mean() - 100) < 10 * math.sqrt(100 / 400)  # Poisson: ten standard errors
    unused = corpus.truth.max(axis=0) < 1e-12
    assert corpus.counts[:, unused].sum() == 0
    assert (synthetic(400, 4).counts != corpus.counts).nnz > 0


def test_uses_of_one_start_have_different_seeds():
    seeds = [Level(e, n, 10, s).seed_for(use, arm) for e in (0.5, 5.0) for n in (1, 10) for s in range(5)
             for use in ("noise", "grouping", "private model") for arm in ARMS]  # fmt: skip
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("arm", [a for a in ARMS if a != CONTROL])
def test_without_noise_to_speak_of_lengths_stay(arm):
    corpus = synthetic(30, 0)
    made = private(corpus, arm, Level(1e6, 1, 10, 0))
    assert made.counts.sum(axis=1).tolist() == corpus.counts.sum(axis=1).tolist()
    if arm == "none":
        assert (made.counts != corpus.counts).nnz == 0


def test_grouped_words_keep_their_group_counts():
    corpus = synthetic(30, 0)
    made = private(corpus, "frequency", Level(1e6, 1, 10, 0))
    for group in range(10):
        own = made.groups == group
        assert made.counts[:, own].sum(axis=1).tolist() == corpus.counts[:, own].sum(axis=1).tolist()


def test_the_control_knows_no_document():
    corpus = synthetic(40, 1)
    level = Level(0.5, 10, 10, 2)
    total = np.asarray(corpus.counts.sum(axis=0)).ravel()
    heap = sparse.csr_array(np.vstack([total, np.zeros((39, 100), int)]))  # everything in one document
    first = private(corpus, CONTROL, level).counts
    second = private(Corpus(heap, corpus.words), CONTROL, level).counts
    assert (first != second).nnz == 0


def test_noise_aware_arms_share_the_noise_of_the_clamped_ones():
    made = private(synthetic(30, 0), "none", Level(0.5, 10, 10, 0))
    assert made.cells.min() < 0
    assert (made.counts.toarray() == np.maximum(made.cells, 0)).all()
    assert made.rate == 0.05


def test_a_start_repeats_itself():
    pytest.importorskip("tomotopy")
    sizes = {"documents": 30, "vocabulary": 0, "groups": 10, "topics": 3, "iterations": 3, "rounds": 2, "most": 150}
    first, second = (topics_level(None, **sizes, epsilon=0.5, precision=1, seed=1) for _ in range(2))
    assert first == second
    assert set(first["arms"]) == {*ARMS, "none aware", "frequency aware"}
    assert all(0 <= scores["jaccard"] <= 1 for scores in first["arms"].values())


def test_thinning_takes_a_part_of_each_long_document():
    counts = np.random.default_rng(0).integers(0, 9, (20, 30))
    short = thinned(counts, 50, np.random.default_rng(1)).toarray()
    assert (short <= counts).all()
    assert (short.sum(axis=1) == np.minimum(counts.sum(axis=1), 50)).all()


def test_lsa_error_is_nothing_for_the_same_space_and_all_for_another():
    draw = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    low = draw.integers(1, 5, (40, 2)) @ np.array([[1, 1, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0]])
    clear = sparse.csr_array(low)
    same = lsa(clear, clear, labels, rank=2, seed=0)
    other = lsa(sparse.csr_array(low[:, ::-1]), clear, labels, rank=2, seed=0)
    assert abs(same["error"]) < 1e-9
    assert abs(other["error"] - 1) < 1e-9
    assert same["recall"] == pytest.approx(same["accuracy"])  # recall weighted by category is accuracy


# ---- measures --------------------------------------------------------------------------------------------------------


def _results() -> Results:
    """Two starts at two levels, with round numbers."""
    found = {}
    for seed in (0, 1):
        for epsilon, precision, none, groups in ((0.5, 1, 0.4, 0.2), (0.5, 10, 0.1, 0.3)):
            arms = {
                "none": {"jaccard": none + seed, "length": 8.0},
                "frequency": {"jaccard": groups + seed, "length": 0.5},
            }
            found[Cell.of("synthetic", epsilon=epsilon, precision=precision, seed=seed)] = {"arms": arms}
        found[Cell.of("synthetic_clear", seed=seed)] = {"arms": {"chance": {"jaccard": 0.05}}}
    return Results(found)


def test_levels_are_found_by_their_noise():
    pairs = [["frequency", "none"]]
    for level in ([0.5, 1], [5.0, 10]):
        (gap,) = measures.differences(_results(), source="synthetic", pairs=pairs, levels=[level])
        assert gap.value == pytest.approx(-0.2)
        assert gap.n == 2
    (strong,) = measures.differences(_results(), source="synthetic", pairs=pairs, levels=[[0.5, 10]])
    assert strong.value == pytest.approx(0.2)


def test_other_measures_on_round_numbers():
    results = _results()
    (gap,) = measures.across(results, source="synthetic", first=["none", [0.5, 10]], seconds=[["frequency", [0.5, 1]]])
    assert gap.value == pytest.approx(-0.1)
    (ratio,) = measures.relative(results, source="synthetic", pairs=[["frequency", "none"]], levels=[[0.5, 10]])
    assert ratio.value == pytest.approx(np.mean([0.3 / 0.1, 1.3 / 1.1]) - 1)
    (length,) = measures.nearer_in_length(results, source="synthetic", pairs=[["frequency", "none"]], levels=[[0.5, 1]])
    assert length.value == pytest.approx(math.log(8) - math.log(2))
    (chance,) = measures.from_printed(results, source="synthetic", arm="chance", printed=0.108)
    assert chance.value == pytest.approx(0.05 - 0.108)


def test_promises_behind_the_printed_rule():
    results = Results({})
    assert measures.true_total(results, epsilon=0.5, words=6800, groups=100)[0].value == 34
    assert measures.cost_over_cost(results, epsilon=0.5, groups=10)[0].value == 1
    assert measures.scale_over_scale(results, first=[5.0, 10], second=[0.5, 1])[0].value == 1


def test_heat_map_draws_each_cell_in_its_shade():
    drawn = svg(Figure("f", "c", [HeatMap("t", "x", "y", [[0, 1, 5], [9, 1, 0]])]))
    path = {
        shade: drawn.split(f'" fill="{shade}"/>')[0].rsplit('d="', 1)[1].count("z") for shade in (SHADES[1], SHADES[5])
    }
    assert path == {SHADES[1]: 2, SHADES[5]: 2}


@pytest.mark.data
def test_complaints_are_counted_over_one_vocabulary(data_dir):
    one, two = (complaints(data_dir, 50, 300, seed) for seed in (0, 1))
    assert one.words == two.words
    assert one.counts.shape == (50, 300)
    assert one.counts.sum(axis=1).min() >= 10
    assert (one.counts != two.counts).nnz > 0
    most, longest = largest_counts(data_dir, 300)
    assert one.counts.max() <= most <= longest
    assert seed_of("sample of complaints", 0) != seed_of("sample of complaints", 1)
