"""The named statistical checks: values against scipy or by hand, false-alarm rate by simulation, wording of failures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from textveil.testing import statistics as st


def test_ks_agrees_with_scipy():
    sample = np.linspace(0.01, 0.99, 200) ** 1.1
    ours, theirs = st.ks_test(sample, stats.uniform.cdf), stats.kstest(sample, "uniform")
    assert (ours.statistic, ours.p_value) == (theirs.statistic, theirs.pvalue)


def test_chi_square_agrees_with_scipy_where_nothing_is_merged():
    counts, probabilities = np.array([120, 90, 190]), np.array([0.3, 0.25, 0.45])
    theirs = stats.chisquare(counts, probabilities * counts.sum())
    ours = st.chi_square_test(counts, probabilities)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)


def test_small_cells_are_merged_with_their_neighbours():
    merged = st.chi_square_test([3, 30, 40, 1, 1], [0.04, 0.4, 0.52, 0.02, 0.02])
    by_hand = st.chi_square_test([33, 42], [0.44, 0.56])
    assert merged.statistic == pytest.approx(by_hand.statistic)
    assert merged.p_value == pytest.approx(by_hand.p_value)


def test_what_is_not_listed_is_a_cell():
    assert not st.chi_square_test([500, 300, 200], [0.5, 0.3]).rejects
    assert st.chi_square_test([600, 400], [0.5, 0.3]).rejects


def test_a_hit_where_nothing_can_be_rejects():
    assert st.chi_square_test([5000, 1, 5000], [0.5, 0.0, 0.5]).rejects
    assert st.chi_square_test([5000, 5000, 1], [0.5, 0.5]).rejects


@pytest.mark.parametrize(
    ("counts", "probabilities"),
    [([10, 10], [0.5, 0.5]), ([100, 100], [0.9, 0.9]), ([100], [0.5, 0.25, 0.25]), ([100, 100], [-0.1, 1.0])],
)
def test_chi_square_refuses_what_it_cannot_judge(counts, probabilities):
    with pytest.raises(ValueError):
        st.chi_square_test(counts, probabilities)


def test_binomial_p_value_by_enumeration():
    pmf = stats.binom.pmf(np.arange(11), 10, 0.3)
    assert st.binomial_test(6, 10, 0.3).p_value == pytest.approx(2 * pmf[6:].sum())
    assert st.binomial_test(1, 10, 0.3).p_value == pytest.approx(2 * pmf[:2].sum())
    assert st.binomial_test(3, 10, 0.3).p_value == 1.0


def test_binomial_never_alarms_more_often_than_declared():
    """Exact: the probability of all outcomes that would be rejected, for several rates."""
    for alpha in (0.2, 0.05, 0.001):
        rejected = [h for h in range(51) if st.binomial_test(h, 50, 0.37, alpha).rejects]
        assert 0 < stats.binom.pmf(rejected, 50, 0.37).sum() <= alpha


@pytest.mark.parametrize("test", ["ks", "two", "chi"])
def test_false_alarms_come_at_the_declared_rate(test):
    """2,000 true hypotheses at alpha = 0.1: the number of rejections is Binomial(2000, <= 0.1); checked at 1e-6."""
    rng = np.random.default_rng()

    def rejects() -> bool:
        if test == "ks":
            return st.ks_test(rng.random(200), lambda x: x, alpha=0.1).rejects
        if test == "two":
            return st.two_sample_test(rng.random(300), rng.random(400), alpha=0.1).rejects
        return st.chi_square_test(rng.multinomial(1000, [0.2, 0.3, 0.4, 0.1]), [0.2, 0.3, 0.4, 0.1], alpha=0.1).rejects

    alarms = sum(rejects() for _ in range(2000))
    slack = 0.02 if test == "chi" else 0.01  # asymptotic laws at these sample sizes
    assert stats.binom.sf(alarms - 1, 2000, 0.1 + slack) > 1e-6
    assert stats.binom.cdf(alarms, 2000, 0.05) > 1e-6  # and not a test that never speaks


def test_two_samples_of_different_laws_are_told_apart():
    grid = (np.arange(2000) + 0.5) / 2000
    assert st.two_sample_test(grid, grid**1.5).rejects
    assert not st.two_sample_test(grid, grid[::2]).rejects


def test_at_once_multiplies_by_the_number_of_tests():
    outcomes = [st.Outcome("a", 1.0, 4e-7), st.Outcome("b", 2.0, 0.5), st.Outcome("c", 3.0, 0.9)]
    worst = st.at_once(outcomes)
    assert worst.p_value == pytest.approx(1.2e-6)
    assert outcomes[0].rejects and not worst.rejects
    assert "worst of 3" in worst.test


def test_failures_name_statistic_p_value_and_alpha():
    with pytest.raises(AssertionError, match=r"radius: rejected by .*statistic 0\.5.*p-value 1e-09.*alpha 1e-06"):
        st.assert_accepted(st.Outcome("ks", 0.5, 1e-9), "radius")
    with pytest.raises(AssertionError, match="not rejected"):
        st.assert_rejected(st.Outcome("ks", 0.5, 0.3))
    with pytest.raises(AssertionError, match="p-value nan"):
        st.assert_accepted(st.Outcome("ks", 0.5, float("nan")))


def test_every_assertion_can_fail():
    with pytest.raises(AssertionError, match="Kolmogorov"):
        st.assert_ks(np.zeros(100), lambda x: x)
    with pytest.raises(AssertionError, match="two-sample"):
        st.assert_two_sample(np.arange(100), np.arange(500, 600))
    with pytest.raises(AssertionError, match="chi-square"):
        st.assert_chi_square([900, 100], [0.5, 0.5])
    with pytest.raises(AssertionError, match="binomial"):
        st.assert_binomial(90, 100, 0.5)


def test_every_assertion_can_pass():
    grid = (np.arange(100) + 0.5) / 100
    st.assert_ks(grid, lambda x: x)
    st.assert_two_sample(grid, grid)
    st.assert_chi_square([50, 50], [0.5, 0.5])
    st.assert_binomial(50, 100, 0.5)
