"""Noise on vectors: multivariate Laplace, and its stretched form in a regularised Mahalanobis metric.

Claim. x + z with density p(z) ~ exp(-epsilon ||z||) is epsilon-metric-DP for the Euclidean distance: by the triangle
inequality p(y - x) / p(y - x') <= exp(epsilon ||x - x'||). With z = root u instead, the same holds for
||root^-1 (x - x')||, the Mahalanobis distance of M = root^2.

Derivation. In polar coordinates z = r u the density becomes r^(d-1) exp(-epsilon r) in the radius and uniform in the
direction: r ~ Gamma(shape d, scale 1/epsilon), u uniform on the sphere, independent. Shape d, not 1 and not d-1; and not
one Laplace draw per coordinate, which protects the L1 distance and loses up to sqrt(d) times more here.
- Direction: a standard normal vector divided by its length.
- Radius: Gamma(d) for whole d is a sum of d exponentials, -log(U_1 ... U_d), taken over products of at most 16 uniforms:
  each is at least 2^-53, so no product falls below 2^-848, far above where doubles lose digits (2^-1022).
- Mahalanobis: M = lam Sigma + (1 - lam) I. Sigma is the covariance of *public* vectors divided by its mean variance, so
  its trace is d like that of I, and lam moves between two matrices of equal size. root = M^(1/2), the symmetric one.

Floats. The noise is computed in double precision and handed out as `dtype`; values rarer than the grid never occur. A
mechanism must release only what it selects by the noised vector, never the vector.

Source. Feyisetan et al. 2020 (Laplace), Xu et al. 2020 (Mahalanobis).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from textveil.core.errors import BadParameter
from textveil.core.params import fraction, positive, positive_integer

from .source import Floats, Source

_SAFE_PRODUCT = 16
_BLOCK = 32_768  # numbers per block: 256 KB of doubles


def laplace(
    source: Source, count: int, dimension: int, epsilon: float, dtype: npt.DTypeLike = np.float32
) -> npt.NDArray[Any]:
    """`count` vectors with density ~ exp(-epsilon ||z||).

    >>> from textveil.noise import seeded
    >>> laplace(seeded(1), 3, 100, epsilon=10.0).shape
    (3, 100)
    """
    scale = 1.0 / positive("epsilon", epsilon)
    dimension = positive_integer("dimension", dimension)
    out = np.empty((count, dimension), dtype)
    for rows in _row_blocks(count, dimension):
        size = rows.stop - rows.start
        direction = source.normals((size, dimension))
        length = np.sqrt(np.einsum("ij,ij->i", direction, direction))
        radius = gamma(source, size, dimension) * scale
        np.multiply(direction, (radius / length)[:, None], out=out[rows], casting="same_kind")
    return out


def mahalanobis(
    source: Source, count: int, root: Floats, epsilon: float, dtype: npt.DTypeLike = np.float32
) -> npt.NDArray[Any]:
    """`count` vectors with density ~ exp(-epsilon ||root^-1 z||): multivariate Laplace noise, stretched by `root`.

    >>> from textveil.noise import seeded
    >>> root, inverse = regularised_root(np.eye(5), lam=0.2)
    >>> mahalanobis(seeded(1), 2, root, epsilon=1.0).shape
    (2, 5)
    """
    root = np.asarray(root, np.float64)
    if root.ndim != 2 or root.shape[0] != root.shape[1]:
        raise BadParameter("root", root.shape, "a square matrix")
    return (laplace(source, count, len(root), epsilon, np.float64) @ root.T).astype(dtype, copy=False)


def regularised_root(vectors: npt.NDArray[Any], lam: float) -> tuple[Floats, Floats]:
    """M^(1/2) and M^(-1/2) for M = lam Sigma + (1 - lam) I, Sigma the trace-normalised covariance of public vectors.

    >>> root, inverse = regularised_root(np.array([[1.0, 0], [-1, 0], [0, 2], [0, -2]]), lam=1.0)
    >>> np.round(root @ root, 3).tolist()
    [[0.4, 0.0], [0.0, 1.6]]
    >>> bool(np.allclose(root @ inverse, np.eye(2)))
    True
    """
    lam = fraction("lam", lam)
    covariance = _normalised_covariance(np.asarray(vectors, np.float64))
    values, axes = np.linalg.eigh(covariance)
    spread = lam * np.maximum(values, 0.0) + (1.0 - lam)
    if spread.min() <= 1e-12 * spread.max():
        raise BadParameter("lam", lam, "below 1, because the vectors do not spread in every direction")
    return (axes * np.sqrt(spread)) @ axes.T, (axes / np.sqrt(spread)) @ axes.T


def mahalanobis_distance(first: npt.NDArray[Any], second: npt.NDArray[Any], inverse: Floats) -> Floats:
    """||inverse (first - second)|| along the last axis, `inverse` as returned by `regularised_root`.

    >>> mahalanobis_distance(np.array([3.0, 4.0]), np.zeros(2), np.eye(2))
    np.float64(5.0)
    """
    difference = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    return np.linalg.norm(difference @ inverse.T, axis=-1)


def gamma(source: Source, count: int, shape: int) -> Floats:
    """`count` draws of Gamma(shape, scale 1) for a whole shape: minus the logarithm of a product of uniforms."""
    total = np.empty(count)
    for rows in _row_blocks(count, shape):
        uniforms = source.open_uniforms((rows.stop - rows.start, shape))
        starts = range(0, shape, _SAFE_PRODUCT)
        products = np.stack([uniforms[:, s : s + _SAFE_PRODUCT].prod(axis=1) for s in starts])
        total[rows] = -np.log(products).sum(axis=0)
    return total


def _row_blocks(count: int, width: int) -> Iterator[slice]:
    """Slices of rows that together hold about one block of numbers."""
    step = max(1, _BLOCK // width)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def _normalised_covariance(vectors: Floats) -> Floats:
    if vectors.ndim != 2 or len(vectors) < 2 or not np.isfinite(vectors).all():
        raise BadParameter("vectors", vectors.shape, "two or more rows of finite numbers")
    centred = vectors - vectors.mean(axis=0)
    covariance = centred.T @ centred / len(vectors)
    mean_variance = np.trace(covariance) / len(covariance)
    if not mean_variance > 0:
        raise BadParameter("vectors", vectors.shape, "two or more different rows")
    return covariance / mean_variance
