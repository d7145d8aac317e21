"""words.tem: the truncated exponential mechanism. Near words by their distance, all far words alike.

Claim. Let L = {y : d(w, y) <= gamma}. A word of L is chosen with odds exp(-epsilon d(w, y) / 2), the far set as a whole with
odds |W \\ L| exp(-epsilon gamma / 2), and then a far word uniformly. This satisfies P[M(w) = y] <=
exp(epsilon d(w, w')) P[M(w') = y].

Derivation. Each far word has odds exp(-epsilon gamma / 2), so this *is* the exponential mechanism for min(d, gamma), which
is a metric again and never larger than d. The score of the far set must therefore be -gamma + (2 / epsilon) ln |W \\ L|; with
ln(|W| / |L|) in its place the two worlds differ by nats.

gamma: the paper's choice (2 / epsilon) ln((1 - beta)(|W| - 1) / beta) keeps the chance of a far word below beta.

Source: Carvalho, Vasiloudis, Feyisetan 2021, "TEM: High Utility Metric Differential Privacy on Text", corrected as above.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

from textveil.core.example import Example
from textveil.core.params import open_fraction, positive
from textveil.words.exponential import Exponential


class TEM(Exponential):
    """Draw each word's substitute by the truncated exponential mechanism.

    Parameters
    ----------
    gamma
        Beyond this distance all words are equally likely; None computes it from `beta`.
    beta
        The chance that a word beyond gamma is drawn, at most; unused where gamma is given.

    Examples
    --------
    >>> from textveil.text.vectors import from_arrays
    >>> words = from_arrays(["cold", "cool", "warm", "hot"], [[-2.0], [-1.0], [1.0], [2.0]])
    >>> TEM(epsilon=2, gamma=1.5).fit(words).odds([0]).round(3).tolist()
    [[0.551, 0.203, 0.123, 0.123]]
    """

    name: ClassVar[str] = "words.tem"
    source: ClassVar[str] = "Carvalho, Vasiloudis, Feyisetan 2021 (TEM), far set of size |W \\ L|"

    def __init__(
        self,
        epsilon: float = 3.0,
        distance: str = "euclidean",
        gamma: float | None = None,
        beta: float = 0.001,
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
            epsilon, distance, vectors=vectors, oov=oov, keep=keep, case=case, once=once, kinds=kinds,
            kinds_epsilon=kinds_epsilon, seed=seed,
        )  # fmt: skip
        self.gamma, self.beta = gamma, beta

    def _check(self) -> None:
        super()._check()
        open_fraction("beta", self.beta)
        if self.gamma is not None:
            positive("gamma", self.gamma)

    @property
    def gamma_(self) -> float:
        """The distance beyond which all words are alike."""
        if self.gamma is not None:
            return float(self.gamma)
        others = max(len(self.vectors_) - 1, 1)
        return max(2 / self.epsilon * math.log((1 - self.beta) * others / self.beta), 0.0)

    @property
    def _cut(self) -> float:
        return self.gamma_

    @classmethod
    def example(cls) -> Example:
        """Far words keep a chance of `beta` at every epsilon: a small one, so that words stay where noise vanishes."""
        usual = super().example()
        return replace(usual, mechanism=cls(epsilon=2.0, beta=1e-9).fit(usual.mechanism.vectors_))
