"""words.laplace: Madlib, the multivariate Laplace mechanism on word vectors.

Claim. For public vectors phi, M(w) = argmin_v ||phi(v) - (phi(w) + Z)||, Z with density proportional to
exp(-epsilon ||z||), satisfies P[M(w) = y] <= exp(epsilon ||phi(w) - phi(w')||) P[M(w') = y].

Derivation. The densities of the noised point from w and from w' differ at z by exp(epsilon (||z - phi(w')|| -
||z - phi(w)||)), at most exp(epsilon ||phi(w) - phi(w')||) by the triangle inequality. The nearest word is a function of
the noised point alone (ties included), so it is post-processing.

In n dimensions that density has a radius with law Gamma(n, 1/epsilon) and a uniform direction (noise.multivariate).

Source: Feyisetan, Balle, Drake, Diethe 2020; Theorem 1 of Carvalho, Vasiloudis, Feyisetan 2021.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from textveil.core.errors import BadParameter
from textveil.noise import Source
from textveil.noise.multivariate import laplace
from textveil.words.geometry import distances, euclidean_diameter
from textveil.words.mechanism import WordMechanism
from textveil.words.search import EuclidSearch
from textveil.words.search.euclid import LARGEST


class Laplace(WordMechanism):
    """Replace each word by the word nearest to its noised vector.

    Parameters
    ----------
    epsilon
        Loss per unit of Euclidean distance between two word vectors; 5 to 20 is usual with the bundled ones.

    Examples
    --------
    >>> from textveil.text.vectors import from_arrays
    >>> words = from_arrays(["cold", "cool", "warm", "hot"], [[-2.0], [-1.0], [1.0], [2.0]])
    >>> Laplace(epsilon=1000).fit(words).transform(["Cold, warm!"])
    ['Cold, warm!']
    """

    name: ClassVar[str] = "words.laplace"
    metric: ClassVar[str] = "euclidean"
    source: ClassVar[str] = "Feyisetan et al. 2020, Theorem 1 (as in Carvalho et al. 2021)"
    rounding: ClassVar[str] = (
        "noise is drawn in floating point and only word indices leave: words rarer than float resolution never occur"
    )

    def __init__(
        self,
        epsilon: float = 10.0,
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
        self.epsilon, self.vectors, self.oov, self.keep = epsilon, vectors, oov, keep
        self.case, self.once, self.kinds, self.kinds_epsilon, self.seed = case, once, kinds, kinds_epsilon, seed

    def _prepare(self) -> None:
        self.__dict__.pop("_search", None)
        self._points = np.vstack([self.vectors_.matrix, self.vectors_.fallback[None]])
        self._check_reach(stretch=1.0)

    def _check_reach(self, stretch: float) -> None:
        """Refuse an epsilon whose noise could leave the numbers that the search handles, before anything is drawn.

        Each of the n uniforms of a radius is at least 2^-53, so no radius is longer than 53 n log(2) / epsilon.
        """
        room = LARGEST - float(np.abs(self._points).max())
        least = 53 * math.log(2) * self._points.shape[1] * stretch / room
        if not self.epsilon >= least:
            raise BadParameter("epsilon", self.epsilon, f"{least:.3g} or more for vectors of this size")

    @cached_property
    def _search(self) -> EuclidSearch:
        return EuclidSearch(self.vectors_.matrix)

    def diameter(self) -> float:
        return euclidean_diameter(self.vectors_)

    def noised(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        """The noised points. They are private: only what the search makes of them may leave."""
        points = self._points[rows]
        return points + laplace(noise, len(rows), points.shape[1], self.epsilon)

    def log_odds(self, noised: np.ndarray) -> np.ndarray:
        words = self.vectors_.matrix.astype(np.float64)
        points = noised.astype(np.float64)
        return -self.epsilon * distances(points, words)

    def _draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        return self._search.nearest(self.noised(rows, noise), tie_words=noise.words(len(rows)))
