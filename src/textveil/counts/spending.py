"""How the budget of a release is divided, and what its parts cost together.

Claim. Noise of scale N / e_1 on every released count of a document and noise of scale N / e_2 on the corpus counts are, for
two documents at L1 distance N, together (N, e_1 + e_2): for any number of cells.

Derivation. log P(y | x) - log P(y | x') = (e / N) sum_j (|y_j - x'_j| - |y_j - x_j|) <= (e / N) ||x - x'||_1 <= e, for the
whole row at once, so the number of cells does not matter. Summing columns into groups cannot increase the L1 distance
(triangle inequality), nor can leaving columns out. The sum over all documents moves by at most ||x - x'||_1 too: L1
sensitivity N. The two add (sequential composition).

`budget="total"`: epsilon is the sum. `budget="paper"`: the printed rule of the paper, e_1 = M epsilon / K per entry of
K groups of M words, read literally. There is no budget per entry: the sum above is then (M / K) epsilon + e_2, and that is
what is promised and charged (34 for 0.5 at 6800 -> 100).

Source. Schofield, Yauney, Mimno 2019, section 4 and appendix A; Schein et al. 2019 for (N, epsilon).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Spending:
    """What goes where; `corpus` is 0 where only public facts are used.

    >>> divide(1.0, share=0.25, needs_corpus=True)
    Spending(noise=0.75, corpus=0.25)
    >>> divide(0.5, share=0.1, needs_corpus=False, growth=Fraction(6800, 100)).total
    34.0
    """

    noise: float
    corpus: float

    @property
    def total(self) -> float:
        """The sum, rounded up."""
        exact = Fraction(self.noise) + Fraction(self.corpus)
        total = self.noise + self.corpus
        return total if Fraction(total) >= exact else math.nextafter(total, math.inf)


def divide(epsilon: float, *, share: float, needs_corpus: bool, growth: Fraction | None = None) -> Spending:
    """`growth` is the M / K of the paper's rule; without it the parts sum to epsilon and no more."""
    corpus = epsilon * share if needs_corpus else 0.0
    if growth is not None:
        return Spending(float(Fraction(epsilon) * growth), corpus)
    noise = epsilon - corpus
    while Fraction(noise) + Fraction(corpus) > Fraction(epsilon):
        noise = math.nextafter(noise, 0.0)
    return Spending(noise, corpus)


def scale_for(epsilon: float, precision: int) -> float:
    """The smallest double at or above precision / epsilon: rounding never spends more than epsilon.

    >>> scale_for(0.5, 10), Fraction(scale_for(0.3, 1)) >= 1 / Fraction(0.3)
    (20.0, True)
    """
    wanted = Fraction(precision) / Fraction(epsilon)
    scale = precision / epsilon
    while Fraction(scale) < wanted:
        scale = math.nextafter(scale, math.inf)
    return scale
