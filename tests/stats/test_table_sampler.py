"""Draws of the table sampler against the law and against OpenDP's, on fresh randomness each run.

False alarms: about one in a million for each test (chi-square, cells merged until each expects 25 or more). Power: the
plausible mistakes at the end are rejected by the same checks on the same number of draws.
"""

from __future__ import annotations

import numpy as np
import pytest

from textveil.noise import secure, seeded
from textveil.noise.discrete import geometric
from textveil.noise.table import GeometricTable, table_geometric
from textveil.testing.statistics import Outcome, assert_accepted, assert_rejected, at_once, chi_square_test

DRAWS = 400_000
SCALES = (0.2, 1.0, 4.0, 20.0, 300.0)


def law(scale: float, reach: int) -> np.ndarray:
    """Odds of -reach .. reach, with both tails in the outermost cells."""
    a = np.exp(-1 / scale)
    k = np.abs(np.arange(-reach, reach + 1))
    odds = (1 - a) / (1 + a) * a**k
    odds[[0, -1]] = a**reach / (1 + a)
    return odds / odds.sum()  # which is 1 up to rounding


def follows(draws: np.ndarray, scale: float) -> Outcome:
    reach = int(12 * scale) + 3
    cells = np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1)
    return chi_square_test(cells, law(scale, reach))


def fresh() -> int:
    return int(secure().below(2**62, 1)[0])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("make", [secure, lambda: seeded(fresh())], ids=["secure", "seeded"])
def test_draws_follow_the_law(make, scale):
    assert_accepted(follows(table_geometric(make(), DRAWS, scale), scale))


@pytest.mark.parametrize("scale", [0.5, 3.0, 20.0])
def test_rare_steps_follow_the_law_where_they_are_made_frequent(scale):
    table = GeometricTable(scale, word_bits=22, tail_bits=2)
    out = np.empty(DRAWS, np.int32)
    table.fill(secure(), out)
    assert_accepted(follows(out, scale))


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_draws_agree_with_opendp(scale):
    """Two samples of equal size: half of the pooled counts is expected in each cell of either."""
    ours, theirs = table_geometric(secure(), 60_000, scale), geometric(60_000, scale)
    assert_accepted(two_samples(ours, theirs, scale))


def two_samples(first: np.ndarray, second: np.ndarray, scale: float) -> Outcome:
    """Chi-square on the first sample's share of each cell that holds enough of both."""
    reach = int(6 * scale) + 1
    a, b = (np.bincount(np.clip(d, -reach, reach) + reach, minlength=2 * reach + 1) for d in (first, second))
    enough = a + b >= 50
    z = (a - b)[enough] / np.sqrt((a + b)[enough])
    from scipy.stats import chi2

    statistic = float((z**2).sum())
    return Outcome("two-sample chi-square", statistic, float(chi2.sf(statistic, int(enough.sum()) - 1)))


def test_neighbouring_draws_are_independent():
    """Disjoint pairs of draws: quarters of one word, and quarters of neighbouring words."""
    draws = np.clip(table_geometric(secure(), 4 * DRAWS, 1.0), -2, 2) + 2
    odds = np.outer(law(1.0, 2), law(1.0, 2)).ravel()
    tables = [_pairs(draws, lag) for lag in (1, 2, 3, 4)]
    assert_accepted(at_once([chi_square_test(table, odds) for table in tables]))


def _pairs(draws: np.ndarray, lag: int) -> np.ndarray:
    """Disjoint pairs `lag` apart."""
    pairs = draws[: len(draws) // (2 * lag) * 2 * lag].reshape(-1, 2, lag)[:, :, 0]
    return np.bincount(pairs[:, 0] * 5 + pairs[:, 1], minlength=25)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda n: (np.abs(table_geometric(secure(), n, 20.0)) + 1) * np.where(secure().uniforms(n) < 0.5, -1, 1),
        lambda n: table_geometric(secure(), n, 20.6),
        lambda n: np.floor(np.where(secure().uniforms(n) < 0.5, -20.0, 20.0) * secure().exponentials(n)).astype(int),
        lambda n: np.maximum(table_geometric(secure(), n, 20.0), -60),
    ],
    ids=["no zero", "scale 3 % off", "Laplace rounded down", "one tail cut"],
)
def test_mistakes_are_seen(wrong):
    assert_rejected(follows(wrong(DRAWS), 20.0))
