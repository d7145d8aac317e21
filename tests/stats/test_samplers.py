"""Every sampler against its law, on fresh randomness each run.

False alarms: at most (chi-square: about) one in a million for each test of this file, through `textveil.testing.statistics`.
Power: the plausible mistakes at the end are rejected by the same checks on the same number of draws.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from textveil.noise import Source, bits, discrete, secure, seeded
from textveil.noise import multivariate as mv
from textveil.testing.statistics import (
    Outcome,
    assert_accepted,
    assert_binomial,
    assert_chi_square,
    assert_ks,
    assert_rejected,
    at_once,
    binomial_test,
    chi_square_test,
    ks_test,
    two_sample_test,
)

DRAWS = 40_000
EPSILON = 2.5


def fresh_seed() -> Source:
    return seeded(int(secure().below(2**62, 1)[0]))


@pytest.fixture(params=[secure, fresh_seed], ids=["secure", "seeded"])
def source(request) -> Source:
    return request.param()


# What is checked of vector noise, for the right sampler and for the wrong ones.


def radius_test(noise: np.ndarray, epsilon: float) -> Outcome:
    """The length follows Gamma(dimension, 1/epsilon)."""
    law = stats.gamma(noise.shape[1], scale=1 / epsilon)
    return ks_test(np.linalg.norm(noise.astype(float), axis=1), law.cdf)


def direction_test(noise: np.ndarray) -> Outcome:
    """Along axes and along a random direction, (u + 1) / 2 ~ Beta((d-1)/2, (d-1)/2): uniform on the sphere."""
    noise = noise.astype(float)
    unit = noise / np.linalg.norm(noise, axis=1, keepdims=True)
    dimension = noise.shape[1]
    probe = secure().normals(dimension)
    shadows = [*unit.T[:10], unit @ (probe / np.linalg.norm(probe))]
    law = stats.beta((dimension - 1) / 2, (dimension - 1) / 2)
    return at_once([ks_test((shadow + 1) / 2, law.cdf) for shadow in shadows])


# The source.


@pytest.mark.parametrize("draw", ["uniforms", "open_uniforms"])
def test_uniforms(source, draw):
    assert_ks(getattr(source, draw)(200_000), stats.uniform.cdf)


def test_every_bit_of_a_word_is_fair(source):
    words = source.words(100_000)
    ones = [int(((words >> np.uint64(i)) & np.uint64(1)).sum()) for i in range(64)]
    assert_accepted(at_once([binomial_test(n, len(words), 0.5) for n in ones]))


def test_neighbouring_words_are_independent(source):
    top = (source.words(200_000) >> np.uint64(60)).reshape(-1, 2)
    assert_chi_square(np.bincount((top[:, 0] * np.uint64(16) + top[:, 1]).astype(int), minlength=256), [1 / 256] * 256)


def test_exponentials(source):
    assert_ks(source.exponentials(200_000), stats.expon.cdf)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normals(source, dtype):
    drawn = source.normals(500_000, dtype).astype(float)
    assert_ks(drawn[:200_000], stats.norm.cdf)
    assert_binomial(int((np.abs(drawn) > 3.5).sum()), len(drawn), 2 * stats.norm.sf(3.5))


def test_the_two_normals_of_a_pair_are_independent(source):
    """Partners stand half a block apart: quartile of the one against quartile of the other, 16 equal cells."""
    block = 8192
    drawn = source.normals((40, 2, block // 2))
    quartile = np.searchsorted(stats.norm.ppf([0.25, 0.5, 0.75]), drawn)
    cells = np.bincount((4 * quartile[:, 0] + quartile[:, 1]).ravel(), minlength=16)
    assert_chi_square(cells, [1 / 16] * 16)


@pytest.mark.parametrize("bound", [2, 7, 1000])
def test_below(source, bound):
    assert_chi_square(np.bincount(source.below(bound, 100_000), minlength=bound), [1 / bound] * bound)


BIASED_BOUND = 3 * 2**61  # a remainder without rejection would favour a third of the values


def test_below_a_bound_that_does_not_divide(source):
    cells = np.bincount(source.below(BIASED_BOUND, 50_000) // 2**59, minlength=12)
    assert_chi_square(cells, [1 / 12] * 12)


def test_permutations(source):
    orders = np.array([source.permutation(4) for _ in range(5_000)])
    _, counts = np.unique(orders @ [64, 16, 4, 1], return_counts=True)
    assert_chi_square(counts, [1 / 24] * 24)


# Vector noise.


@pytest.mark.parametrize("shape", [1, 2, 16, 17, 300])
def test_gamma(source, shape):
    assert_ks(mv.gamma(source, DRAWS // 4, shape), stats.gamma(shape).cdf)


@pytest.mark.parametrize("dimension", [1, 2, 3, 100])
def test_radius_of_the_laplace_noise(source, dimension):
    assert_accepted(radius_test(mv.laplace(source, DRAWS, dimension, EPSILON), EPSILON))


@pytest.mark.parametrize("dimension", [2, 3, 100])
def test_direction_of_the_laplace_noise(source, dimension):
    assert_accepted(direction_test(mv.laplace(source, DRAWS, dimension, EPSILON)))


def test_sign_in_one_dimension(source):
    assert_binomial(int((mv.laplace(source, DRAWS, 1, EPSILON) > 0).sum()), DRAWS, 0.5)


@pytest.mark.parametrize("dimension", [2, 20])
def test_radius_and_direction_are_independent(source, dimension):
    """Lengths of the vectors that point near an axis, and of the others."""
    noise = mv.laplace(source, DRAWS, dimension, EPSILON).astype(float)
    radius = np.linalg.norm(noise, axis=1)
    share = np.abs(noise[:, 0]) / radius
    near = share > np.median(share)
    assert_accepted(two_sample_test(radius[near], radius[~near]))


@pytest.mark.parametrize("lam", [0.2, 0.95])
def test_whitened_mahalanobis_noise_is_laplace_noise(source, lam):
    stretched = source.normals((300, 12)) * np.linspace(0.3, 5, 12) @ source.normals((12, 12))
    root, inverse = mv.regularised_root(stretched, lam)
    noise = mv.mahalanobis(source, DRAWS, root, EPSILON, np.float64)
    assert_accepted(radius_test(noise @ inverse, EPSILON))
    assert_accepted(direction_test(noise @ inverse))
    axes = np.linalg.eigh(root)[1]  # turned so that the stretched axes are looked at
    assert_rejected(direction_test(noise @ axes), "noise that was not whitened")


# Randomized response.

BITS = 130  # two words and a bit


def flipped_bits(source: Source, epsilon: float, count: int = 20_000) -> np.ndarray:
    """(count, BITS) zeros and ones: which bits of random codes came out different."""
    codes = secure().words(3 * count).reshape(count, 3)
    codes[:, 2] &= np.uint64(3)
    changed = codes ^ bits.flip(source, codes, BITS, epsilon)
    return np.unpackbits(changed.astype("<u8").view(np.uint8), axis=1, bitorder="little", count=BITS)


def flip_tests(flips: np.ndarray, probability: float) -> Outcome:
    """Number per code, each bit by itself, each pair of neighbours."""
    count, width = flips.shape
    pair = (2 * flips[:, :-1] + flips[:, 1:]).ravel()[:: width // 2]  # pairs that share no bit
    stay = 1 - probability
    return at_once(
        [
            chi_square_test(
                np.bincount(flips.sum(axis=1), minlength=width + 1),
                stats.binom.pmf(np.arange(width + 1), width, probability),
            ),
            at_once([binomial_test(int(n), count, probability) for n in flips.sum(axis=0)]),
            chi_square_test(
                np.bincount(pair, minlength=4),
                [stay * stay, stay * probability, probability * stay, probability * probability],
            ),
        ]
    )


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0])
def test_flips(source, epsilon):
    assert_accepted(flip_tests(flipped_bits(source, epsilon), 1 / (1 + np.exp(epsilon))))


# Whole-number noise.


def cells_of(drawn: np.ndarray, end: int) -> np.ndarray:
    """Counts of -end .. end, and of everything beyond."""
    inside = drawn[np.abs(drawn) <= end]
    return np.append(np.bincount(inside + end, minlength=2 * end + 1), len(drawn) - len(inside))


def geometric_law(scale: float, end: int) -> np.ndarray:
    return np.tanh(0.5 / scale) * np.exp(-np.abs(np.arange(-end, end + 1)) / scale)


def gaussian_law(scale: float, end: int) -> np.ndarray:
    far = np.arange(-40 * int(scale + 1), 40 * int(scale + 1) + 1)
    total = np.exp(-0.5 * (far / scale) ** 2).sum()
    return np.exp(-0.5 * (np.arange(-end, end + 1) / scale) ** 2) / total


@pytest.mark.parametrize("scale", [0.4, 1.0, 3.7])
def test_geometric(source, scale):
    end = int(4 * scale) + 1
    assert_chi_square(cells_of(discrete.geometric(DRAWS // 2, scale, source), end), geometric_law(scale, end))


@pytest.mark.parametrize("scale", [0.4, 1.0, 3.7])
def test_discrete_gaussian(source, scale):
    end = int(3 * scale) + 1
    assert_chi_square(cells_of(discrete.discrete_gaussian(DRAWS // 2, scale, source), end), gaussian_law(scale, end))


# Mistakes that the checks above must reject.


def wrong_radius(shape: int, dimension: int) -> np.ndarray:
    direction = secure().normals((DRAWS, dimension))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * mv.gamma(secure(), DRAWS, shape)[:, None] / EPSILON


def one_laplace_per_coordinate(dimension: int) -> np.ndarray:
    source = secure()
    signs = 2.0 * source.below(2, (DRAWS, dimension)) - 1
    return signs * source.exponentials((DRAWS, dimension)) / EPSILON


@pytest.mark.parametrize("dimension", [2, 3, 100])
def test_a_shape_too_small_by_one_is_caught(dimension):
    assert_rejected(radius_test(wrong_radius(dimension - 1, dimension), EPSILON))


@pytest.mark.parametrize("dimension", [2, 3, 100])
def test_an_exponential_radius_is_caught(dimension):
    assert_rejected(radius_test(wrong_radius(1, dimension), EPSILON))


@pytest.mark.parametrize("dimension", [2, 3, 100])
def test_one_laplace_per_coordinate_is_caught(dimension):
    noise = one_laplace_per_coordinate(dimension)
    assert_rejected(radius_test(noise, EPSILON))
    assert_rejected(direction_test(noise))


def test_a_scale_off_by_three_percent_is_caught():
    assert_rejected(radius_test(1.03 * mv.laplace(secure(), DRAWS, 3, EPSILON), EPSILON))


def test_noise_that_prefers_one_side_is_caught():
    noise = mv.laplace(secure(), DRAWS, 3, EPSILON)
    turned = noise * np.where(secure().uniforms(DRAWS) < 0.1, np.sign(noise[:, 0]), 1)[:, None]
    assert_rejected(direction_test(turned))


def test_a_remainder_without_rejection_is_caught():
    biased = (secure().words(50_000) % np.uint64(BIASED_BOUND)).astype(np.int64)
    assert_rejected(chi_square_test(np.bincount(biased // 2**59, minlength=12), [1 / 12] * 12))


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_flip_odds_off_by_three_percent_are_caught(factor):
    assert_rejected(flip_tests(flipped_bits(secure(), 1.0), factor / (1 + np.e)))


def test_one_coin_for_two_bits_is_caught():
    flips = flipped_bits(secure(), 1.0)
    flips[:, 1::2] = flips[:, 0::2]
    assert_rejected(flip_tests(flips, 1 / (1 + np.e)))


def test_one_sided_and_wrong_scales_of_whole_noise_are_caught():
    drawn = discrete.geometric(DRAWS // 2, 3.7, fresh_seed())
    assert_rejected(chi_square_test(cells_of(np.abs(drawn), 15), geometric_law(3.7, 15)))
    assert_rejected(chi_square_test(cells_of(drawn, 15), geometric_law(3.7 * 1.1, 15)))
    assert_rejected(chi_square_test(cells_of(drawn, 15), gaussian_law(3.7, 15)))


def test_a_rounded_gaussian_is_caught():
    """Rounding a continuous normal is not the discrete Gaussian: at scale 0.4 it is off 0 five times as often."""
    rounded = np.rint(0.4 * secure().normals(DRAWS // 2)).astype(int)
    assert_rejected(chi_square_test(cells_of(rounded, 2), gaussian_law(0.4, 2)))
