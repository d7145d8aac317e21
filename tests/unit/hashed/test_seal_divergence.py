"""Closed forms against integration; the best order against a fine search; infinity where it belongs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import multivariate_normal, norm

from textveil.hashed.divergence import DELTA, best_order, gaussian, gaussian_rows, on_grid, rounding_bound


@pytest.mark.parametrize("alpha", [1.2, 2.0, 5.0, 20.0])
@pytest.mark.parametrize(
    "pair", [(0.3, 1.0, 0.0, 1.2), (0.0, 1.0, 0.5, 1.01), (-1.0, 0.5, 0.2, 0.9), (0.1, 1.0, 0.0, 0.97)]
)
def test_the_closed_form_is_the_integral(alpha, pair):
    m1, v1, m2, v2 = pair
    found = float(gaussian(alpha, *pair))
    if alpha * v2 + (1 - alpha) * v1 <= 0:
        assert found == math.inf
        return
    p, q = norm(m1, math.sqrt(v1)), norm(m2, math.sqrt(v2))
    middle = alpha * v2 + (1 - alpha) * v1
    peak, width = (alpha * m1 * v2 + (1 - alpha) * m2 * v1) / middle, math.sqrt(v1 * v2 / middle)
    top = alpha * p.logpdf(peak) + (1 - alpha) * q.logpdf(peak)  # the integrand is a Gaussian around its peak

    def integrand(x):
        return math.exp(alpha * p.logpdf(x) + (1 - alpha) * q.logpdf(x) - top)

    value, _ = integrate.quad(integrand, peak - 12 * width, peak + 12 * width, epsabs=0, epsrel=1e-11, limit=200)
    assert found == pytest.approx((math.log(value) + top) / (alpha - 1), rel=1e-8, abs=1e-10)


def test_infinite_where_the_tail_is_too_light():
    assert gaussian(10.0, 0.0, 1.0, 0.0, 0.89) == math.inf  # 10 * .89 - 9 < 0
    assert np.isfinite(gaussian(10.0, 0.0, 0.9, 0.0, 1.0))
    assert gaussian(2.0, 0.0, 1.0, 0.0, 0.0) == math.inf  # nothing left to vary


def test_rows_of_one_column_are_the_scalar_form_and_columns_that_do_not_correlate_add():
    assert gaussian_rows(3.0, np.array([0.2]), np.array([[1.0]]), np.array([0.0]), np.array([[1.1]])) == pytest.approx(
        float(gaussian(3.0, 0.2, 1.0, 0.0, 1.1))
    )
    both = gaussian_rows(3.0, np.array([0.2, 0.1]), np.diag([1.0, 2.0]), np.zeros(2), np.diag([1.1, 2.1]))
    assert both == pytest.approx(float(gaussian(3.0, 0.2, 1.0, 0.0, 1.1) + gaussian(3.0, 0.1, 2.0, 0.0, 2.1)))


def test_correlated_rows_against_integration():
    s1, s2 = np.array([[1.0, -0.6], [-0.6, 1.0]]), np.array([[1.2, -0.5], [-0.5, 1.1]])
    p, q = multivariate_normal([0.2, 0.0], s1), multivariate_normal([0.0, 0.1], s2)
    x = np.linspace(-9, 9, 721)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    value = np.exp(2.5 * p.logpdf(grid) - 1.5 * q.logpdf(grid)).sum() * (x[1] - x[0]) ** 2
    found = gaussian_rows(2.5, np.array([0.2, 0.0]), s1, np.array([0.0, 0.1]), s2)
    assert found == pytest.approx(math.log(value) / 1.5, rel=1e-7)


@pytest.mark.parametrize("pair", [(0.01, 1.0, 0.0, 1.0), (0.0, 1.0, 0.0, 0.995), (0.02, 0.99, 0.0, 1.0)])
def test_the_best_order_is_best(pair):
    epsilon, order = best_order(lambda a: gaussian(a, *pair), DELTA)
    orders = 1 + np.geomspace(1e-3, 1e7, 20_001)
    tried = gaussian(orders, *pair) - math.log(DELTA) / (orders - 1)
    assert epsilon[0] <= tried.min() * (1 + 1e-9)
    assert epsilon[0] == pytest.approx(tried.min(), rel=1e-4)
    assert order[0] > 1


def test_a_law_on_a_grid_against_exact_fractions():
    from fractions import Fraction

    p = [Fraction(n, 100) for n in (10, 20, 30, 40)]
    q = [Fraction(n, 100) for n in (25, 25, 25, 25)]
    exact = math.log(sum(a**3 / b**2 for a, b in zip(p, q, strict=True))) / 2
    found = on_grid(3.0, np.array([float(x) for x in p]), np.array([float(x) for x in q]))
    assert abs(found - exact) <= rounding_bound(3.0, 4)
    assert on_grid(2.0, np.array([0.5, 0.5]), np.array([1.0, 0.0])) == math.inf
    assert on_grid(2.0, np.array([1.0, 0.0]), np.array([0.5, 0.5])) == pytest.approx(math.log(2))


def test_extreme_spreads_give_numbers_or_infinity_and_no_warning():
    spreads = np.array([0.0, 1e-300, 1e-30, 1e-17, 1e-9, 0.3, 1.0, 1.0 + 1e-15, 3.0, 1e9, 1e30])
    orders = 1 + np.geomspace(1e-4, 1e9, 40)
    found = gaussian(orders[:, None, None], 0.1, spreads[:, None], 0.0, spreads)
    assert not np.isnan(found).any() and (found >= 0).all()
    assert np.isfinite(found[:, 6, 8]).all() and math.isinf(found[-1, 8, 6])
