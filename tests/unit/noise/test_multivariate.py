"""Vector noise without chance: the radius from known uniforms, the matrix root and its distance, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.core.errors import BadParameter
from textveil.noise import Source, secure, seeded
from textveil.noise import multivariate as mv


class AllWords:
    """A stream in which every word is the same."""

    seeded = True

    def __init__(self, word):
        self.word = word

    def fill(self, out):
        out[:] = np.uint64(self.word)

    def spawn(self, n):
        return []


@pytest.mark.parametrize("shape", [1, 15, 16, 17, 100, 4000])
@pytest.mark.parametrize("word", [0, 2**63, 2**64 - 1])
def test_the_radius_is_minus_the_log_of_all_uniforms(shape, word):
    """At the smallest uniform, 2^-53, a plain product would be 0 from 21 factors on."""
    uniform = float(Source(AllWords(word)).open_uniforms(1)[0])
    assert mv.gamma(Source(AllWords(word)), 3, shape) == pytest.approx([-shape * np.log(uniform)] * 3, rel=1e-9)


@pytest.mark.parametrize(("count", "dimension"), [(0, 3), (1, 1), (5, 100), (3, 50_000), (40_000, 1)])
def test_shapes_and_finite_values(count, dimension):
    noise = mv.laplace(secure(), count, dimension, 2.0)
    assert noise.shape == (count, dimension)
    assert noise.dtype == np.float32
    assert np.isfinite(noise).all()
    assert (np.linalg.norm(noise, axis=1) > 0).all()


def test_epsilon_is_only_a_scale():
    one, ten = mv.laplace(seeded(3), 50, 7, 1.0, np.float64), mv.laplace(seeded(3), 50, 7, 10.0, np.float64)
    assert np.allclose(one, 10 * ten)


def test_mahalanobis_is_laplace_stretched_by_the_root():
    root, _ = mv.regularised_root(seeded(1).normals((50, 6)) * np.arange(1, 7), 0.7)
    plain = mv.laplace(seeded(2), 30, 6, 3.0, np.float64)
    stretched = mv.mahalanobis(seeded(2), 30, root, 3.0, np.float64)
    assert np.allclose(stretched, [root @ z for z in plain])


@pytest.mark.parametrize("lam", [0.0, 0.3, 1.0])
def test_the_root_squares_to_the_regularised_covariance(lam):
    vectors = seeded(5).normals((400, 8)) @ seeded(6).normals((8, 8)) + 3.0
    root, inverse = mv.regularised_root(vectors, lam)
    covariance = np.cov(vectors.T)
    expected = lam * covariance * 8 / np.trace(covariance) + (1 - lam) * np.eye(8)
    assert np.allclose(root @ root, expected)
    assert np.allclose(root, root.T)
    assert np.allclose(root @ inverse, np.eye(8))
    assert np.trace(root @ root) == pytest.approx(8)


def test_scale_and_place_of_the_vectors_do_not_matter():
    vectors = seeded(5).normals((100, 4)) * [1, 2, 3, 4]
    assert np.allclose(mv.regularised_root(vectors, 0.5)[0], mv.regularised_root(1000 * vectors - 77, 0.5)[0])


def test_flat_vectors_need_regularisation():
    flat = np.array([[1.0, 1.0], [2.0, 2.0], [5.0, 5.0]])
    with pytest.raises(BadParameter, match="lam must be below 1"):
        mv.regularised_root(flat, 1.0)
    root, inverse = mv.regularised_root(flat, 0.9)
    assert np.allclose(root @ inverse, np.eye(2))


def test_distance_against_the_textbook_form():
    vectors = seeded(5).normals((100, 4)) * [1, 2, 3, 4]
    root, inverse = mv.regularised_root(vectors, 0.5)
    metric = np.linalg.inv(root @ root)
    first, second = vectors[:10], vectors[10:20]
    expected = [np.sqrt((a - b) @ metric @ (a - b)) for a, b in zip(first, second, strict=True)]
    assert np.allclose(mv.mahalanobis_distance(first, second, inverse), expected)
    assert mv.mahalanobis_distance(first[:, None], second[None], inverse).shape == (10, 10)


@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), float("inf")])
def test_other_epsilons_are_refused(epsilon):
    with pytest.raises(BadParameter, match="epsilon must be"):
        mv.laplace(seeded(1), 1, 2, epsilon)


@pytest.mark.parametrize("dimension", [0, -2, 2.5])
def test_other_dimensions_are_refused(dimension):
    with pytest.raises(BadParameter, match="dimension must be"):
        mv.laplace(seeded(1), 1, dimension, 1.0)


@pytest.mark.parametrize("vectors", [np.ones((1, 3)), np.ones((5, 3)), np.ones(3), np.array([[1.0, np.nan], [2, 3]])])
def test_other_vectors_are_refused(vectors):
    with pytest.raises(BadParameter, match="vectors must be"):
        mv.regularised_root(vectors, 0.5)


@pytest.mark.parametrize("root", [np.ones(3), np.ones((2, 3))])
def test_other_roots_are_refused(root):
    with pytest.raises(BadParameter, match="root must be"):
        mv.mahalanobis(seeded(1), 1, root, 1.0)


@pytest.mark.parametrize("lam", [-0.1, 1.1, float("nan")])
def test_other_lambdas_are_refused(lam):
    with pytest.raises(BadParameter, match="lam must be"):
        mv.regularised_root(np.eye(3), lam)
