"""words.vickrey: choose among the k nearest words of the noised point, not always the first.

Claim. Let z = phi(w) + Z, Z with density ~ exp(-epsilon ||z||), let n_1 .. n_k be the words nearest to z *over the whole
vocabulary*, and choose n_r with odds p_r(z) that depend on z alone. Then P[M(w) = y] <= exp(epsilon ||phi(w) -
phi(w')||) P[M(w') = y] for all words.

Derivation. The densities of z from w and w' differ by at most exp(epsilon d) (words.laplace); neighbours and odds are
functions of z and of randomness that does not depend on the input: post-processing.

What the paper prints differs: Algorithm 1 looks for neighbours in W \\ {w}, so that P[M(w) = w] = 0 while P[M(w') = w] > 0,
and no finite epsilon holds. Its Theorem 1 integrates over the same regions for both inputs, which proves the variant
above and only that one (which also is the only one that equals Laplace at t = 0). `paper_mode=True` runs the printed
algorithm and carries no promise.

Odds. A number t (Algorithm 1, k = 2): p_1 = (1-t) d_2 / (t d_1 + (1-t) d_2), and 1 - t where that is 0/0. A list t_1 .. t_k
(Algorithm 3): p_r ~ exp(-t_r d_r); a number with k > 2 stands for a list of k equal ones. `rank` = r always takes the r-th
neighbour (the paper's Figure 3). Neighbours at equal distance are ordered at random.

Source: Xu, Aggarwal, Feyisetan, Teissier 2021, "On a Utilitarian Approach to Privacy Preserving Text Generation".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from textveil.core import BadParameter, NoPromise, Unpriced
from textveil.core.events import Noise
from textveil.core.params import fraction, non_negative, positive_integer
from textveil.noise import Source
from textveil.words.laplace import Laplace


class Vickrey(Laplace):
    """Replace each word by one of the k words nearest to its noised vector.

    Parameters
    ----------
    t
        How often the second nearest word is taken, from 0 (never: `Laplace`) to 1 (always). A list of k numbers
        weighs the k nearest by a softmax of their distances.
    k
        How many near words there are to choose among.
    rank
        Always take the neighbour of this rank; None chooses by `t`.
    paper_mode
        Run the algorithm as printed, which never returns the word itself and so promises nothing.

    Examples
    --------
    >>> from textveil.text.vectors import from_arrays
    >>> words = from_arrays(["cold", "cool", "warm", "hot"], [[-2.0], [-1.0], [1.0], [2.0]])
    >>> Vickrey(epsilon=1000, t=1).fit(words).transform(["cold warm"])
    ['Cool hot']
    """

    name: ClassVar[str] = "words.vickrey"
    source: ClassVar[str] = "Xu et al. 2021, Theorem 1, for neighbours over the whole vocabulary"

    def __init__(
        self,
        epsilon: float = 10.0,
        t: float | Sequence[float] = 0.5,
        k: int = 2,
        rank: int | None = None,
        *,
        paper_mode: bool = False,
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
        self.t, self.k, self.rank, self.paper_mode = t, k, rank, paper_mode

    def _check(self) -> None:
        super()._check()
        positive_integer("k", self.k)
        if self.rank is not None:
            positive_integer("rank", self.rank)
        if self._is_list():
            if len(self._list()) != self.k:
                raise BadParameter("t", self.t, f"a number from 0 to 1, or a list of k = {self.k} numbers")
            for value in self._list():
                non_negative("t", value)
        else:
            fraction("t", self.t)

    def _is_list(self) -> bool:
        return not isinstance(self.t, (int, float, np.floating, np.integer))

    def _list(self) -> list[float]:
        return list(self.t) if self._is_list() else [float(self.t)] * self.k  # type: ignore[arg-type]

    def _noise(self) -> Noise:
        if not self.paper_mode:
            return super()._noise()
        why = (
            f"Algorithm 1 as printed never returns the word itself, so no finite epsilon holds (it states "
            f"{self.epsilon:g} times the euclidean distance)"
        )
        return Unpriced(NoPromise(why, "broken"))

    def _draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        wanted = min((self.rank or self.k) + self.paper_mode, len(self.vectors_))
        near, distance = self._search.k_nearest(self.noised(rows, noise), wanted, tie_words=noise.words(len(rows)))
        if self.paper_mode:
            near, distance = _without(rows, near, distance)
        if self.rank is not None:
            return near[:, -1]
        chosen = choose(self.odds_given(distance), noise)
        return near[np.arange(len(rows)), chosen]

    def odds_given(self, distance: np.ndarray) -> np.ndarray:
        """The odds of each neighbour given its distance to the noised point: (points, k)."""
        if not self._is_list() and self.k == 2 and distance.shape[1] == 2:
            return pair_odds(float(self.t), distance)  # type: ignore[arg-type]
        score = -np.asarray(self._list()[: distance.shape[1]]) * distance
        odds = np.exp(score - score.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)


def pair_odds(t: float, distance: np.ndarray) -> np.ndarray:
    """Algorithm 1's p(t, z) and its complement; 0/0 counts as equal distances.

    >>> pair_odds(0.25, np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 3.0]])).round(9).tolist()
    [[0.75, 0.25], [0.75, 0.25], [0.9, 0.1]]
    """
    near, far = t * distance[:, 0], (1 - t) * distance[:, 1]
    whole = near + far
    first = np.full(len(distance), 1.0 - t)
    np.divide(far, whole, out=first, where=whole > 0)
    return np.stack([first, 1 - first], axis=1)


def choose(odds: np.ndarray, noise: Source) -> np.ndarray:
    """One column per row, drawn with the given odds."""
    edge = noise.uniforms(len(odds))
    return np.minimum((np.cumsum(odds, axis=1) <= edge[:, None]).sum(axis=1), odds.shape[1] - 1)


def _without(rows: np.ndarray, near: np.ndarray, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours without the input word (paper mode only)."""
    is_input = near == rows[:, None]
    is_input[~is_input.any(axis=1), -1] = True  # not among them: drop the last instead
    keep = ~is_input
    shape = (len(rows), near.shape[1] - 1)
    return near[keep].reshape(shape), distance[keep].reshape(shape)
