"""words.mahalanobis: noise shaped like the cloud of words, so that sparse regions move too.

Claim. With A = lambda Sigma + (1 - lambda) I, Sigma the covariance of the public vectors scaled to mean variance 1, and
m(x, y) = ||A^(-1/2) (x - y)||, the nearest word to phi(w) + r A^(1/2) u, r ~ Gamma(n, 1/epsilon), u uniform on the sphere,
satisfies P[M(w) = y] <= exp(epsilon m(phi(w), phi(w'))) P[M(w') = y].

Derivation. A^(-1/2) maps the noise to the multivariate Laplace noise of words.laplace and m to the Euclidean distance; the
nearest-word step, in whatever metric, is post-processing. The promise is in the metric m, not in the Euclidean one.

Source: Xu, Aggarwal, Feyisetan, Teissier 2020, "A Differentially Private Text Perturbation Method Using a Regularized
Mahalanobis Metric".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from textveil.core.params import fraction
from textveil.noise import Source
from textveil.noise.multivariate import mahalanobis, regularised_root
from textveil.words.geometry import diameter, distances
from textveil.words.laplace import Laplace


class Mahalanobis(Laplace):
    """Replace each word by the word nearest to its vector under elliptical noise.

    Parameters
    ----------
    epsilon
        Loss per unit of the regularised Mahalanobis distance between two word vectors.
    lam
        Shape of the noise: 0 is round (`Laplace`), 1 has the shape of the cloud of words.
    """

    name: ClassVar[str] = "words.mahalanobis"
    metric: ClassVar[str] = "mahalanobis"
    source: ClassVar[str] = "Xu et al. 2020, Theorem 1 (metric: regularised Mahalanobis)"

    fitted_parameters: ClassVar[tuple[str, ...]] = ("vectors", "keep", "lam")

    def __init__(
        self,
        epsilon: float = 10.0,
        lam: float = 0.5,
        *,
        vectors: Any = None,
        oov: str = "draw",
        keep: str | Iterable[str] = (),
        case: str = "sentence",
        once: bool = False,
        kinds: bool = False,
        kinds_epsilon: float = 1.0,
        seed: int | None = None,
    ):
        super().__init__(
            epsilon, vectors=vectors, oov=oov, keep=keep, case=case, once=once, kinds=kinds, kinds_epsilon=kinds_epsilon,
            seed=seed,
        )  # fmt: skip
        self.lam = lam

    def _check(self) -> None:
        super()._check()
        fraction("lam", self.lam)

    def _prepare(self) -> None:
        super()._prepare()
        self._root, self._inverse = regularised_root(self.vectors_.matrix, float(self.lam))
        self._diameter: float | None = None
        self._check_reach(stretch=float(np.linalg.norm(self._root, 2)))

    def metric_id(self) -> str:
        """The space is the vectors and lambda."""
        return hashlib.blake2b(f"{self.vectors_.fingerprint} {float(self.lam)!r}".encode(), digest_size=16).hexdigest()

    def diameter(self) -> float:
        if self._diameter is None:
            self._diameter = diameter(self._points.astype(np.float64) @ self._inverse) * (1 + 1e-9)
        return self._diameter

    def noised(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        return self._points[rows] + mahalanobis(noise, len(rows), self._root, self.epsilon)

    def log_odds(self, noised: np.ndarray) -> np.ndarray:
        words = self.vectors_.matrix.astype(np.float64) @ self._inverse
        points = noised.astype(np.float64) @ self._inverse
        return -self.epsilon * distances(points, words)
