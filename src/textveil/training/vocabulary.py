"""A private word list: which words a corpus uses, and how often, without showing what any one unit holds.

Claim. For one unit (an example, or all texts of a user) that is there or not there, the released words and counts keep
(epsilon, delta). Pieces (WordPiece) are computed from the released counts alone.

Derivation. A unit counts at most D0 different words, each once (which of them is chosen at random, by itself), so it
moves the histogram by at most D0 in L1 and sqrt(D0) in L2. Noise on the words that both worlds have keeps (epsilon,
delta1): Laplace of scale D0/epsilon with delta1 = 0, or a Gaussian of multiplier m (times sqrt(D0)) by the exact
formula. A word that only this unit holds has count 1; only if its noisy count reaches the threshold T does it show. T
is the smallest whole number for which this happens with chance delta2 at most, for D0 such words together. Leaving them
out changes the output's law by delta2 in one direction, and multiplies it by at least 1 - delta2 in the other: both
directions keep delta1 + delta2, and so does whatever is composed with it (training), in one accountant.

    gaussian   delta1 = delta2 = delta/2 (default)
    laplace    delta2 = delta; cheap for one word a unit, useless for hundreds
    policy     finds the words by policy weights (`vocabulary_policy`), for 4/5 of the zCDP budget, then counts the
               found ones, without a threshold, by a second Gaussian for the rest. Better than both
    paper      Lap(2/epsilon) and threshold 1 + 2 ln(2/delta)/epsilon on all occurrences (Hoory et al. 2021, section
               3.2): protects ONE OCCURRENCE of one word that is replaced by another. An example of 256 words has 256
               epsilon

Exactness. Draws are exact (OpenDP). The accountant prices the continuous Gaussian; whole-numbered noise of a small
deviation would cost more (at D0 = 1 and (1, 1e-6) its delta is 5 % larger), so counts stand on a grid on
which the deviation s is 2^20 steps or more. There P(k) differs from the continuous law rounded to the grid, which is
post-processing, by factors within 1 -+ 70/s^2 < 1 + 1e-10 for |k| < 40 s (and mass 1e-340 beyond), for each of D0
words: the deviation is raised by SLACK for that. Two-sided geometric noise is pure as it stands, with whole counts.
Source. Korolova et al. 2009; Wilson et al. 2020; Gopi et al. 2020; Canonne, Kamath, Steinke 2020.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textveil.accounting.calibration import gaussian_multiplier
from textveil.core import Adjacency, Estimator, Event, GaussianNoise, LaplaceNoise, Shape, Stated, Together, Unit
from textveil.core.events import RepeatedNoise
from textveil.core.example import Example, Worlds
from textveil.core.params import choice, open_fraction, positive, positive_integer
from textveil.noise.discrete import discrete_gaussian, geometric
from textveil.noise.source import Source

from .vocabulary_policy import ABOVE, GRID, SLACK, even_weights, on_grid, policy_weights, threshold_of

METHODS = ("gaussian", "laplace", "policy", "paper")
UNITS = ("example", "user")
DISTINCT = {"example": 16, "user": 512}  # public defaults of D0: about what a unit holds serves best
SOURCE = "thresholded noisy histogram (Korolova et al. 2009; Wilson et al. 2020); pieces are post-processing"
SEARCH = 0.8  # share of the zCDP budget of "policy" that finds words; the rest counts them
_LEAST_DEVIATION = 2**20  # of Gaussian noise, in grid steps


@dataclass(frozen=True)
class Noising:
    """The noise of one vocabulary: what is charged, and the threshold that follows. Public numbers only."""

    method: str
    distinct: int
    multiplier: float  # of all its Gaussian draws together, relative to the contribution; of Laplace, to D0
    threshold_delta: float

    def parts(self) -> tuple[RepeatedNoise, ...]:
        """The draws, as the accountant composes them."""
        threshold = RepeatedNoise(Stated(0.0, self.threshold_delta))
        if self.method == "policy":
            return RepeatedNoise(GaussianNoise(self.searching)), RepeatedNoise(GaussianNoise(self.counting)), threshold
        kind = GaussianNoise if self.method == "gaussian" else LaplaceNoise
        return RepeatedNoise(kind(self.multiplier)), threshold

    @property
    def searching(self) -> float:
        """The multiplier of policy's first draw: zCDP adds, so both draws cost as much as one of `multiplier`."""
        return self.multiplier / math.sqrt(SEARCH)

    @property
    def counting(self) -> float:
        return self.multiplier / math.sqrt(1 - SEARCH)

    def threshold(self) -> float:
        """The count from which a word is shown, before it is rounded up to a whole number.

        >>> [round(noising(1.0, 1e-6, "laplace", d).threshold()) for d in (1, 128, 256)]
        [14, 2302, 4780]
        >>> [round(noising(1.0, 1e-6, "gaussian", d).threshold()) for d in (1, 128, 256)]
        [22, 286, 412]
        >>> round(noising(1 / 256, 1e-6 / 256, "paper", 1).threshold())   # the paper's rule composed 256 times
        10269
        """
        if self.method == "policy":
            return threshold_of(self.searching * (1 + SLACK), self.threshold_delta, self.distinct)
        if self.method == "paper":
            return 1 + self.multiplier * math.log(2 / self.threshold_delta)
        if self.method == "laplace":
            return 1 + self.scale * math.log(self.distinct / (2 * self.threshold_delta))
        from scipy.special import ndtri_exp

        tail = float(ndtri_exp(math.log(-math.expm1(math.log1p(-self.threshold_delta) / self.distinct))))
        return (
            1 - self.scale * tail + 2 / self.grid
        )  # P(noise >= k) <= P(N >= (k - 1) / s): one grid step, and one to spare

    @property
    def scale(self) -> float:
        """Deviation of the Gaussian, or scale of the Laplace noise, on counts."""
        if self.method == "gaussian":
            return self.multiplier * math.sqrt(self.distinct) * (1 + SLACK)
        return self.multiplier * (self.distinct if self.method == "laplace" else 1.0)

    @property
    def grid(self) -> int:
        """Grid steps a count: a power of two."""
        if self.method != "gaussian":
            return 1
        return 1 << max(0, math.ceil(math.log2(_LEAST_DEVIATION / self.scale)))

    def least(self) -> int:
        """The threshold in grid steps, rounded up; of Laplace noise the smallest that its whole-numbered law allows."""
        at = math.ceil(self.threshold() * self.grid)
        if self.method == "laplace":
            while -math.expm1(self.distinct * math.log1p(-self.tail(at - 1))) > self.threshold_delta:
                at += 1
        return at

    def tail(self, k: int) -> float:
        """P(two-sided geometric noise >= k), k above 0, rounded up."""
        return math.exp(-k / self.scale) / (1 + math.exp(-1 / self.scale)) * (1 + 1e-12)


def noising(epsilon: float, delta: float, method: str = "gaussian", distinct: int = 16) -> Noising:
    """The least noise that keeps (epsilon, delta) by itself.

    >>> noising(1.0, 1e-6, "laplace", 128).least()
    2303
    """
    positive("epsilon", epsilon)
    open_fraction("delta", delta)
    choice("method", method, METHODS)
    positive_integer("distinct", distinct)
    if method == "paper":
        return Noising(method, 1, 2 / epsilon, delta)
    if method == "laplace":
        return Noising(method, distinct, 1 / epsilon, delta)
    return Noising(method, distinct, gaussian_multiplier(epsilon, delta / 2), delta / 2)


class Vocabulary(Estimator):
    """The words of private texts with noisy counts. `apply` takes units: each an iterable of its words.

    Parameters
    ----------
    epsilon
        Loss of one unit.
    delta
        Chance that the bound fails, shared by the noise and the threshold.
    unit
        Whom the promise is about: "example", or "user".
    method
        How words are chosen: "gaussian", "laplace", "policy" (finds most) or "paper" (protects one occurrence of
        one word only).
    distinct
        How many different words of a unit count; None: 16, or 512 for users.
    shared
        A `Noising` in the place of epsilon and delta, where the vocabulary shares a budget with training.

    Examples
    --------
    >>> from textveil.noise import seeded
    >>> units = [["a", "rare", "word"]] + [["the", "common", "words"]] * 400
    >>> counts = Vocabulary(1.0, 1e-6, distinct=4).apply(units, noise=seeded(1))
    >>> sorted(counts)
    ['common', 'the', 'words']
    """

    name = "training.vocab"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        unit: str = "example",
        method: str = "gaussian",
        distinct: int | None = None,
        shared: Noising | None = None,
    ):
        self.epsilon, self.delta, self.unit = epsilon, delta, unit
        self.method, self.distinct, self.shared = method, distinct, shared

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on: a word that one unit more has, and one that nobody else has."""
        units = [["tea", "with", "milk"], ["tea"]] * 30
        made = cls(epsilon=2.0, delta=0.01, distinct=3, method="laplace")
        worlds = (
            Worlds([["tea"]] * 12, [["tea"]] * 13, see=lambda counts: counts.get("tea", 0.0)),
            Worlds([["tea"]] * 12, [*[["tea"]] * 12, ["secret"]], see=lambda counts: "secret" in counts),
        )
        return Example(made, units, worlds=worlds, tries=1_500)

    def noising(self) -> Noising:
        choice("unit", self.unit, UNITS)
        if self.shared is not None:
            return self.shared
        wanted = DISTINCT[self.unit] if self.distinct is None else self.distinct
        return noising(self.epsilon, self.delta, self.method, wanted)

    def public_params(self) -> dict[str, Any]:
        """The parameters as a release shows them; defaults that depend on others are filled in."""
        own = self.noising()
        shown = {"epsilon": self.epsilon, "delta": self.delta, "unit": self.unit}
        return {**shown, "method": own.method, "distinct": own.distinct}

    def event(self, shape: Shape | None = None) -> Event:
        """What is charged; for the paper's rule the unit is a word."""
        own = self.noising()
        paper = own.method == "paper"
        return Event(
            Together(own.parts()),
            Unit.WORD if paper else Unit(self.unit),
            Adjacency.REPLACE if paper else Adjacency.ADD_REMOVE,
            assumes=self._assumes(own),
            source="Hoory et al. 2021, section 3.2: one occurrence of one word" if paper else SOURCE,
            mechanism=self.name,
        )

    def _assumes(self, own: Noising) -> tuple[str, ...]:
        first = "the alphabet, the folding and the way words are split are public"
        if own.method == "paper":
            return (first, "nothing is promised for an example, a document or a person")
        return (first, f"a unit counts at most {own.distinct} different words, each once")

    def apply(self, data: Iterable[Iterable[str]], *, noise: Source) -> dict[str, float]:
        """Noisy counts of the words that reached the threshold."""
        own = self.noising()
        if own.method == "paper":
            return _noised(Counter(word for unit in data for word in unit), own, noise)
        words: dict[str, int] = {}
        units = [bounded(unit, own.distinct, words, noise) for unit in data]
        if own.method == "policy":
            return _by_policy(units, list(words), own, noise)
        counts = np.bincount(np.concatenate(units), minlength=len(words)) if units else np.zeros(0, np.int64)
        return _noised(dict(zip(words, counts.tolist(), strict=True)), own, noise)


def bounded(unit: Iterable[str], most: int, words: dict[str, int], noise: Source) -> np.ndarray:
    """The numbers of at most `most` different words of a unit, chosen at random; new words get new numbers."""
    own = sorted(set(unit))
    if len(own) > most:
        own = [own[i] for i in noise.permutation(len(own))[:most]]
    return np.array([words.setdefault(word, len(words)) for word in own], dtype=np.int64)


def _noised(counts: Mapping[str, int], own: Noising, noise: Source) -> dict[str, float]:
    names = sorted(word for word, count in counts.items() if count > 0)
    grid = own.grid
    clear = np.array([counts[name] for name in names], np.int64) * grid
    draw = discrete_gaussian if own.method == "gaussian" else geometric
    seen = clear + draw(len(names), own.scale * grid, noise)
    least = own.least()
    return {name: value / grid for name, value in zip(names, seen.tolist(), strict=True) if value >= least}


def _by_policy(units: Sequence[np.ndarray], names: list[str], own: Noising, noise: Source) -> dict[str, float]:
    """Find the words, then count them: two Gaussian draws on contributions of length 1."""
    sigma, second = (multiplier * (1 + SLACK) for multiplier in (own.searching, own.counting))
    least = own.threshold()
    order = noise.permutation(len(units))
    weights = policy_weights([units[i] for i in order], len(names), least + ABOVE * sigma)
    seen = on_grid(weights) + discrete_gaussian(len(names), sigma * GRID, noise)
    found = np.flatnonzero((weights > 0) & (seen >= math.ceil(least * GRID)))
    found = found[np.argsort([names[i] for i in found])] if len(found) else found
    counted = on_grid(even_weights(units, len(names))[found]) + discrete_gaussian(len(found), second * GRID, noise)
    # A found word is kept whatever its second draw says; its count is at least the smallest that shows at all.
    return {names[i]: max(float(value) / GRID, 1.0) for i, value in zip(found, counted.tolist(), strict=True)}


def facts(own: Noising) -> dict[str, Any]:
    """Public numbers for the card."""
    return {
        "method": own.method,
        "distinct": own.distinct,
        "multiplier": own.multiplier,
        "threshold": own.threshold(),
        "threshold_delta": own.threshold_delta,
    }
