"""Binary codes from float vectors by near-lossless binarisation.

Source: Tissier, Gravier, Habrard, "Near-lossless binarization of word embeddings" (AAAI 2019). Claim: none about
privacy. Codes are a public function of public vectors; the better they keep neighbours, the more useful what a
mechanism on codes puts out.

    encoder   b = step(W x)            W has one row a bit, step(t) = 1 for t > 0, else 0
    decoder   y = tanh(W^T b + c)      the same W: the two are tied
    loss      mean over words of ||y - x||^2  +  (penalty / 2) ||W^T W - I||^2

The step has no useful gradient, so W learns from the decoder's side only, with b held fixed:

    e = 2 (y - x) (1 - y^2)            gradient at W^T b + c, one row a word
    dW = b^T e / batch + 2 penalty W (W^T W - I)      dc = mean of e

by stochastic gradient descent with momentum .95 and a rate that falls to zero. The penalty keeps the columns of W near
orthonormal, so that bits stay spread over all directions; the start is a random matrix with exactly that property.

Two choices of ours, measured on GloVe at 256 bits by what randomized response on the codes puts out:
- vectors are centred, so every bit is 1 for about half of the words; the common mean otherwise makes bits lopsided;
- tanh reaches only (-1, 1): the paper clips; we first divide by four times the root mean square of all values, which
  leaves hardly anything to clip and makes the constants independent of the scale of the vectors.

Everything is decided by the vectors and `seed` (public: it protects nothing). The arithmetic is float32 matrix products,
so another linear-algebra library, or another number of its threads, may flip bits that lie on the edge; codes are stored
and shipped, not recomputed. The products are small: threads only get in each other's way (badly so on a busy
machine), so training keeps to one where `threadpoolctl` is installed; else set OMP_NUM_THREADS=1.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np

from textveil.core.errors import BadParameter
from textveil.text.codes import Codes, hamming
from textveil.text.vectors import Vectors

RATE, MOMENTUM, PENALTY, BATCH = 1e-3, 0.95, 0.01, 75


@dataclass(frozen=True)
class Fidelity:
    """How well codes keep the geometry of the vectors."""

    spearman: float  # rank correlation of Hamming similarity with cosine, random pairs of words
    spearman_centred: float  # the same with cosine of centred vectors, which is what centred codes aim at
    kept: float  # share of the 10 nearest words by cosine that are among the 10 nearest by Hamming distance
    least_ones: float  # share of ones in the rarest and in the commonest bit: .5 each would be balanced
    most_ones: float
    colliding: int  # words that share their code with another word


def binarise(vectors: Vectors, bits: int = 256, *, epochs: int = 10, seed: int = 0) -> Codes:
    """Codes of `bits` bits for the same words, the trained way. About 2 s for 30,000 words, 100 dimensions, 256 bits.

    >>> from textveil.text.vectors import from_arrays
    >>> points = np.random.default_rng(0).standard_normal((500, 8))
    >>> codes = binarise(from_arrays([f"w{i}" for i in range(500)], points), 64, epochs=2)
    >>> len(codes), codes.bits, bool(fidelity(from_arrays(codes.words, points), codes).spearman > 0.8)
    (500, 64, True)
    """
    _check(bits, epochs)
    inputs = centred(vectors.matrix)
    inputs = np.clip(inputs / (4 * max(float(np.sqrt(np.mean(np.square(inputs)))), 1e-30)), -1, 1)
    with _one_thread():
        encoder = _train(inputs, bits, epochs, np.random.default_rng(seed))
    return Codes.from_bits(vectors.words, inputs @ encoder.T > 0)


def random_projection(vectors: Vectors, bits: int = 256, *, seed: int = 0) -> Codes:
    """Signs of random projections of the centred vectors: the untrained codes to compare with."""
    _check(bits, 1)
    directions = np.random.default_rng(seed).standard_normal((vectors.dimensions, bits)).astype(np.float32)
    return Codes.from_bits(vectors.words, centred(vectors.matrix) @ directions > 0)


def centred(matrix: np.ndarray) -> np.ndarray:
    """The matrix minus its mean row."""
    return matrix - matrix.mean(axis=0, dtype=np.float64).astype(np.float32)


def _check(bits: int, epochs: int) -> None:
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 512:
        raise BadParameter("bits", bits, "a whole number from 1 to 512")
    if isinstance(epochs, bool) or not isinstance(epochs, int) or epochs < 1:
        raise BadParameter("epochs", epochs, "a whole number above 0")


def _one_thread() -> AbstractContextManager[object]:
    """Linear algebra on one thread, if there is a way to say so."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    return threadpool_limits(1)


def _train(inputs: np.ndarray, bits: int, epochs: int, rng: np.random.Generator) -> np.ndarray:
    dimensions = inputs.shape[1]
    weights = _orthonormal(bits, dimensions, rng)
    offset: np.ndarray = np.zeros(dimensions, dtype=np.float32)
    weights_speed, offset_speed = np.zeros_like(weights), np.zeros_like(offset)
    identity = np.eye(dimensions, dtype=np.float32)
    starts = range(0, len(inputs), BATCH)
    for step in range(epochs * len(starts)):
        if step % len(starts) == 0:
            order = rng.permutation(len(inputs))
        start = starts[step % len(starts)]
        batch = inputs[order[start : start + BATCH]]
        rate = np.float32(RATE * (1 - step / (epochs * len(starts))))
        weights_slope, offset_slope = _slopes(batch, weights, offset, identity)
        weights_speed = MOMENTUM * weights_speed - rate * weights_slope
        offset_speed = MOMENTUM * offset_speed - rate * offset_slope
        weights, offset = weights + weights_speed, offset + offset_speed
    return weights


def _slopes(
    batch: np.ndarray, weights: np.ndarray, offset: np.ndarray, identity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the loss with the bits held fixed."""
    codes = (batch @ weights.T > 0).astype(np.float32)
    decoded = np.tanh(codes @ weights + offset)
    error = 2 * (decoded - batch) * (1 - decoded * decoded) / np.float32(len(batch))
    spread = 2 * np.float32(PENALTY) * (weights @ (weights.T @ weights - identity))
    return codes.T @ error + spread, error.sum(axis=0)


def _orthonormal(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """A random matrix with orthonormal columns (orthonormal rows, if there are fewer rows)."""
    tall = rng.standard_normal((max(rows, columns), min(rows, columns)))
    basis = np.linalg.qr(tall)[0].astype(np.float32)
    return np.ascontiguousarray(basis if rows >= columns else basis.T)


def fidelity(vectors: Vectors, codes: Codes, *, pairs: int = 20_000, queries: int = 1_000, seed: int = 0) -> Fidelity:
    """Measure `codes` against the vectors they stand for, on random pairs and random query words."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, len(vectors), size=(2, pairs))
    different = left != right
    left, right = left[different], right[different]
    likeness = -hamming(codes.words64[left], codes.words64[right])
    plain, middle = _unit(vectors.matrix), _unit(centred(vectors.matrix))
    asked = rng.choice(len(vectors), size=min(queries, len(vectors)), replace=False)
    ones = codes.unpacked().mean(axis=0)
    return Fidelity(
        spearman=_spearman(likeness, np.einsum("ij,ij->i", plain[left], plain[right])),
        spearman_centred=_spearman(likeness, np.einsum("ij,ij->i", middle[left], middle[right])),
        kept=_kept(plain, codes, asked, rng),
        least_ones=float(ones.min()),
        most_ones=float(ones.max()),
        colliding=codes.collisions(),
    )


def _unit(matrix: np.ndarray) -> np.ndarray:
    return matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-30)


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])


def _kept(unit: np.ndarray, codes: Codes, asked: np.ndarray, rng: np.random.Generator, nearest: int = 10) -> float:
    nearest = min(nearest, len(unit) - 1)
    shares = []
    for word in asked:
        by_cosine = -(unit @ unit[word])
        by_bits = hamming(codes.words64, codes.words64[word]) + rng.random(len(unit))  # ties at random
        by_cosine[word] = by_bits[word] = np.inf
        here, there = (np.argpartition(d, nearest - 1)[:nearest] for d in (by_cosine, by_bits))
        found = np.intersect1d(here, there)
        shares.append(len(found) / nearest)
    return float(np.mean(shares))
