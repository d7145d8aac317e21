"""words.brr: randomized response on binary word codes.

Claim. For public codes b of n bits, M(w) = a word nearest in Hamming distance to b(w) with each bit flipped
independently with probability p >= 1 / (1 + e^epsilon) satisfies
P[M(w) = y] <= exp(epsilon * hamming(b(w), b(w'))) P[M(w') = y].

Derivation. Bit by bit the odds change by at most (1-p)/p <= e^epsilon, and by 1 where the codes agree; bits are
independent, so the product is at most exp(epsilon * hamming). The nearest word is a function of the noised code and of a
tie-breaking draw that does not depend on the input: post-processing. Ties are broken uniformly, otherwise one of two words
with equal codes could never be output.

p is rounded up to a multiple of a power of two (noise.bits), so that rounding errs towards privacy. 256 bits allow a
worst loss of 256 * epsilon between two words with opposite codes: the card says so.

Source: Carvalho, Vasiloudis, Feyisetan 2021, Theorem 3. Codes: Tissier, Gravier, Habrard 2019.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from textveil.core import BadInput
from textveil.noise import Source
from textveil.noise.bits import flip, flip_probability
from textveil.text.codes import Codes, hamming
from textveil.words.codes_only import CodesOnly
from textveil.words.mechanism import WordMechanism
from textveil.words.search import HammingSearch


class BRR(WordMechanism):
    """Replace each word by one whose code is nearest to its code with flipped bits.

    Parameters
    ----------
    epsilon
        Loss per bit in which the codes of two words differ: each bit is kept with chance e^epsilon / (1 +
        e^epsilon). 0.3 hides much and ruins much, 0.8 hides little.
    bits
        Length of the codes, 64 to 512; None takes the codes that come with the vectors (256).

    Examples
    --------
    >>> BRR(epsilon=40).fit().transform(["The bank owes me a letter."])
    ['The bank owes me a letter.']
    """

    name: ClassVar[str] = "words.brr"
    metric: ClassVar[str] = "hamming"
    source: ClassVar[str] = "Carvalho, Vasiloudis, Feyisetan 2021, Theorem 3"
    rounding: ClassVar[str] = "bits are flipped with odds rounded towards privacy, by an exact integer sampler"

    fitted_parameters: ClassVar[tuple[str, ...]] = ("vectors", "keep", "bits")

    def __init__(
        self,
        epsilon: float = 0.5,
        bits: int | None = None,
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
        self.epsilon, self.bits, self.vectors, self.oov, self.keep = epsilon, bits, vectors, oov, keep
        self.case, self.once, self.kinds, self.kinds_epsilon, self.seed = case, once, kinds, kinds_epsilon, seed

    def _prepare(self) -> None:
        self.__dict__.pop("_search", None)
        self.codes_ = self._public_codes()
        self._points = np.vstack([self.codes_.words64, self.codes_.fallback[None]])

    def _public_codes(self) -> Codes:
        codes = self.vectors_.codes
        if codes is not None and self.bits in (None, codes.bits):
            return codes
        if isinstance(self.vectors_, CodesOnly):
            raise BadInput(f"bits is {self.bits}, but the codes have {self.vectors_.codes.bits} bits")
        if self.bits is None or 64 <= self.bits <= 512:
            from textveil.text.binarise import binarise

            return binarise(self.vectors_, bits=self.bits or 256)
        raise BadInput(f"bits is {self.bits}", possible="64 to 512")

    @cached_property
    def _search(self) -> HammingSearch:
        return HammingSearch(self.codes_.words64, self.codes_.bits)

    def public_params(self) -> dict[str, Any]:
        return {**super().public_params(), "bits": self.codes_.bits}

    def metric_id(self) -> str:
        return self.codes_.fingerprint

    def diameter(self) -> float:
        return float(self.codes_.bits)

    def noised(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        """The noised codes. They are private: only what the search makes of them may leave."""
        return flip(noise, self._points[rows], self.codes_.bits, self.epsilon)

    def log_odds(self, noised: np.ndarray) -> np.ndarray:
        p = float(flip_probability(self.epsilon))
        distance = hamming(noised[:, None, :], self.codes_.words64[None])
        return -(np.log1p(-p) - np.log(p)) * distance

    def _draw(self, rows: np.ndarray, noise: Source) -> np.ndarray:
        return self._search.nearest(self.noised(rows, noise), noise.words(len(rows)))
