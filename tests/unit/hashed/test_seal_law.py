"""Draws against exact moments. False alarms: each statistic is compared at 6 standard errors or more (below 1e-8 each)."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.core.errors import BadInput
from textveil.hashed.law import GaussianLaw, KernelLaw, bandwidth_of, bound_of, kernel_mass
from textveil.noise import secure, seeded

MEAN = np.array([0.5, -1.0, 2.0])
COVARIANCE = np.array([[1.0, -0.7, 0.2], [-0.7, 2.0, 0.3], [0.2, 0.3, 0.5]])
LAW = GaussianLaw(MEAN, COVARIANCE)
N = 40_000


def test_the_fit_is_mean_and_covariance():
    rows = np.random.default_rng(1).normal(size=(50, 3))
    law = GaussianLaw.fit(rows)
    assert np.allclose(law.mean, rows.mean(axis=0)) and np.allclose(law.covariance, np.cov(rows.T, bias=True))


def test_whole_rows_have_the_moments_of_the_law():
    drawn = LAW.draw(N, seeded(2))
    assert np.abs(drawn.mean(axis=0) - MEAN).max() < 7 * np.sqrt(2.0 / N)
    spread = np.sqrt((np.outer(np.diag(COVARIANCE), np.diag(COVARIANCE)) + COVARIANCE**2) / N)
    assert (np.abs(np.cov(drawn.T) - COVARIANCE) < 7 * spread).all()


@pytest.mark.parametrize("known", [[0], [1], [0, 2], [1, 2]])
def test_missing_weights_have_the_conditional_moments(known):
    """The conditional law of a joint Gaussian, computed here from the inverse covariance (another route than the code's)."""
    unknown = [j for j in range(3) if j not in known]
    row = np.array([1.5, 0.25, 1.0])
    precision = np.linalg.inv(COVARIANCE)
    spread = np.linalg.inv(precision[np.ix_(unknown, unknown)])
    mean = MEAN[unknown] - spread @ precision[np.ix_(unknown, known)] @ (row[known] - MEAN[known])
    mask = np.zeros((N, 3), bool)
    mask[:, known] = True
    drawn = LAW.complete(np.tile(row, (N, 1)), mask, seeded(3))
    assert (drawn[:, known] == row[known]).all()
    assert np.abs(drawn[:, unknown].mean(axis=0) - mean).max() < 7 * np.sqrt(spread.max() / N)
    allowed = 7 * np.sqrt((np.outer(np.diag(spread), np.diag(spread)) + spread**2) / N)
    assert (np.abs(np.atleast_2d(np.cov(drawn[:, unknown].T)) - spread) < allowed).all()


def test_labels_that_mirror_each_other_stay_mirrored():
    x = np.random.default_rng(0).normal(size=100)
    law = GaussianLaw.fit(np.stack([x, -x], axis=1))
    drawn = law.draw(1000, seeded(1))
    assert np.abs(drawn.sum(axis=1)).max() < 1e-5
    filled = law.complete(np.array([[0.7, 0.0]]), np.array([[True, False]]), seeded(1))
    assert filled[0, 0] == 0.7 and abs(filled[0, 1] + 0.7) < 1e-5


def test_the_kernel_law_keeps_zeros_tails_and_bounds():
    rows = np.concatenate([np.zeros(900), np.random.default_rng(5).standard_t(3, 100)])[:, None]
    law = KernelLaw.fit(rows)
    drawn = law.draw(N, seeded(6))
    share = float((drawn == 0).mean())
    assert abs(share - 0.9) < 6 * np.sqrt(0.09 / N) + law.floor
    variance = (rows**2).mean() + 0.1 * law.bandwidth[0] ** 2
    fourth = float(np.mean(drawn**4))
    assert abs(float((drawn**2).mean()) - variance) < 7 * np.sqrt(fourth / N) + law.floor * law.bound[0] ** 2
    assert np.abs(drawn).max() <= law.bound[0]


def test_the_kernel_law_completes_by_neighbours():
    """Two far clusters: the known weight decides from which one the missing weight comes."""
    rows = np.concatenate([np.tile([5.0, 1.0], (50, 1)), np.tile([-5.0, -1.0], (50, 1))])
    rows += np.random.default_rng(1).normal(scale=0.01, size=rows.shape)
    law = KernelLaw(rows, np.array([0.25, 0.01]), bound_of(rows), floor=0.0)
    asked = np.array([[5.1, 0.0], [-4.9, 0.0]] * 200)
    filled = law.complete(asked, np.tile([True, False], (400, 1)), seeded(2))
    assert (filled[:, 0] == asked[:, 0]).all()
    assert np.abs(filled[::2, 1] - 1).max() < 0.2 and np.abs(filled[1::2, 1] + 1).max() < 0.2


def test_neighbours_share_bandwidth_and_bound():
    rows = np.random.default_rng(8).normal(size=(4000, 1))
    assert (bandwidth_of(rows) == bandwidth_of(rows[5:])).all() and (
        bound_of(rows) == bound_of(np.sort(rows, 0)[5:-5])
    ).all()


def test_the_mass_of_the_kernel():
    mass = kernel_mass(40, 0.25, 1.0)
    assert mass.sum() == pytest.approx(1, abs=1e-12) and (mass[::-1] == pytest.approx(mass, abs=1e-15))


def test_secure_draws_never_repeat():
    assert (LAW.draw(8, secure()) != LAW.draw(8, secure())).all()
    kernel = KernelLaw.fit(np.random.default_rng(0).normal(size=(100, 1)))
    assert (kernel.draw(100, secure()) != kernel.draw(100, secure())).any()
    assert (LAW.draw(8, seeded(1)) == LAW.draw(8, seeded(1))).all()


def test_too_few_rows_are_refused():
    with pytest.raises(BadInput, match="only 3 rows"):
        GaussianLaw.fit(np.zeros((3, 2)))
