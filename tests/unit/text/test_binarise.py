"""Near-lossless binarisation: the gradient, determinism, and that training is worth it."""

import numpy as np
import pytest

from textveil.core.errors import BadParameter
from textveil.text import binarise as module
from textveil.text.binarise import binarise, fidelity, random_projection
from textveil.text.codes import Codes
from textveil.text.vectors import from_arrays, load


def cloud(count: int = 300, dimensions: int = 10):
    """Points with a large common mean and unequal spread, as word vectors have."""
    rng = np.random.default_rng()
    points = 3 + rng.standard_normal((count, dimensions)) * np.linspace(0.5, 2, dimensions)
    return from_arrays([f"w{i}" for i in range(count)], points)


def test_slopes_match_finite_differences():
    """With the bits held fixed the loss is smooth; its slope in every weight and offset is the one used."""
    rng = np.random.default_rng()
    batch, weights, offset = rng.uniform(-1, 1, (5, 3)), rng.standard_normal((7, 3)), rng.standard_normal(3)
    bits = (batch @ weights.T > 0).astype(float)

    def loss(w, c):
        decoded = np.tanh(bits @ w + c)
        spread = w.T @ w - np.eye(3)
        return np.square(decoded - batch).sum() / 5 + module.PENALTY / 2 * np.square(spread).sum()

    weights_slope, offset_slope = module._slopes(batch, weights, offset, np.eye(3))
    tiny = 1e-5
    for place in np.ndindex(7, 3):
        nudge = np.zeros((7, 3))
        nudge[place] = tiny
        rise = (loss(weights + nudge, offset) - loss(weights - nudge, offset)) / (2 * tiny)
        assert weights_slope[place] == pytest.approx(rise, rel=1e-4, abs=1e-6)
    for place in range(3):
        nudge = np.eye(3)[place] * tiny
        rise = (loss(weights, offset + nudge) - loss(weights, offset - nudge)) / (2 * tiny)
        assert offset_slope[place] == pytest.approx(rise, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(("rows", "columns"), [(12, 5), (5, 12), (6, 6)])
def test_start_is_orthonormal(rows, columns):
    start = module._orthonormal(rows, columns, np.random.default_rng())
    product = start.T @ start if rows >= columns else start @ start.T
    assert start.shape == (rows, columns)
    np.testing.assert_allclose(product, np.eye(min(rows, columns)), atol=1e-5)


@pytest.mark.parametrize("bits", [1, 8, 16, 64, 100, 512])
def test_any_number_of_bits(bits):
    vectors = cloud(80, 6)
    codes = binarise(vectors, bits, epochs=1)
    assert codes.bits == bits
    assert codes.words == vectors.words
    assert vectors.with_codes(codes).codes is codes


def test_same_seed_same_codes():
    vectors = cloud()
    first = binarise(vectors, 64, epochs=2, seed=3)
    assert binarise(vectors, 64, epochs=2, seed=3).fingerprint == first.fingerprint
    assert binarise(vectors, 64, epochs=2, seed=4).fingerprint != first.fingerprint


def test_scale_of_the_vectors_does_not_matter():
    vectors = cloud()
    doubled = from_arrays(vectors.words, vectors.matrix * 2)  # a power of two: exact in floating point
    assert binarise(doubled, 64, epochs=2).fingerprint == binarise(vectors, 64, epochs=2).fingerprint


def test_training_lowers_the_reconstruction_error():
    inputs = np.clip(module.centred(cloud(2000, 20).matrix) / 6, -1, 1).astype(np.float32)
    start = module._orthonormal(64, 20, np.random.default_rng(0))
    trained = module._train(inputs, 64, 10, np.random.default_rng(0))

    def error(weights):
        decoded = (inputs @ weights.T > 0) @ weights
        decoded = np.tanh(decoded - decoded.mean(axis=0))  # the best offset is close to this
        return np.square(decoded - inputs).mean()

    assert error(trained) < 0.7 * error(start)


def test_fidelity_of_known_codes():
    """One bit a corner of a square: the codes are the geometry."""
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]], dtype=float)
    vectors = from_arrays(list("abcd"), corners)
    perfect = fidelity(vectors, Codes.from_bits(vectors.words, corners > 0))
    assert (perfect.spearman, perfect.kept, perfect.colliding) == (pytest.approx(1), 1, 0)
    assert (perfect.least_ones, perfect.most_ones) == (0.5, 0.5)
    blind = fidelity(vectors, Codes.from_bits(vectors.words, (corners * [1, -1]).prod(axis=1, keepdims=True) > 0))
    assert blind.colliding == 4
    assert blind.spearman < 0.9


def test_bundled_vectors_trained_beats_random():
    """Seeds 1 to 3 for both sides; the margins (about .08 and .06) are many times the spread between seeds (.005)."""
    vectors = load("default", limit=8000)
    for seed in (1, 2, 3):
        trained = fidelity(vectors, binarise(vectors, 256, seed=seed), queries=300)
        random = fidelity(vectors, random_projection(vectors, 256, seed=seed), queries=300)
        assert trained.spearman > random.spearman + 0.02
        assert trained.kept > random.kept + 0.02
        assert trained.colliding == 0
        assert 0.4 < trained.least_ones <= trained.most_ones < 0.6


@pytest.mark.parametrize("bits", [0, 513, 2.5, True])
def test_bad_bits(bits):
    with pytest.raises(BadParameter, match="bits"):
        binarise(cloud(), bits)
    with pytest.raises(BadParameter, match="bits"):
        random_projection(cloud(), bits)


def test_bad_epochs():
    with pytest.raises(BadParameter, match="epochs"):
        binarise(cloud(), 8, epochs=0)
