"""Word counts per document under (N, epsilon) limited-precision local privacy, with or without horizontal compression.

Claim. For two documents whose counts differ by at most N in total (N words more, or N/2 words exchanged), no released table
becomes more than e^epsilon times as likely. At distance D the loss is epsilon * D / N. Derivation: see `spending`.

How. The counts (or their sums over groups of words) get two-sided geometric noise of scale N / e_1 in every cell, drawn
exactly. Whatever follows is post-processing: clamping at 0, dealing group counts out to words. If the words are ranked,
weighted or chosen by corpus counts, these get noise of scale N / e_2 first, once, and all three uses share them.

Source. Schofield, Yauney, Mimno 2019, "Combatting the Challenges of Local Privacy for Distributional Semantics with
Compression"; Schein, Wu, Schofield, Zhou, Wallach 2019, "Locally Private Bayesian Inference for Count Models".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from scipy import sparse

from textveil.core import (
    Adjacency,
    BadInput,
    BadParameter,
    CountNoise,
    Estimator,
    Event,
    Guarantee,
    NoPromise,
    Shape,
    Unit,
    Unpriced,
)
from textveil.core.events import Noise
from textveil.core.params import choice, open_fraction, positive, positive_integer
from textveil.noise import Source, source_for

from . import grouping, matrix
from .decompress import decompress
from .spending import Spending, divide, scale_for

SOURCE = (
    "Schofield et al. 2019, Definition 2 (limited-precision local privacy, after Schein et al.); loss of the whole row"
)
SPARSE_BELOW = 0.25  # noise leaves fewer cells than this above 0: the table is returned sparse


@dataclass(frozen=True)
class Released:
    """All that left the private side: the table, and the public or noisy values it was made with."""

    counts: Any  # documents x words (or x groups, when not decompressed)
    columns: np.ndarray  # places of the released words in the vocabulary that was given
    groups: np.ndarray | None = None  # the compressed index of each released word
    weights: np.ndarray | None = None  # public or noisy corpus counts of the released words
    corpus_counts: np.ndarray | None = None  # noisy corpus counts of all words that were given, if any were drawn


class LimitedPrecision(Estimator):
    """Noisy bags of words, in the manner of a scikit-learn transformer: put it after `CountVectorizer`.

    `compress`: number of groups K, or None. `method`: random, frequency, cluster or disperse (the last two need `words`, the
    names of the columns, and take their vectors from `vectors`). `prior`: "noisy" corpus counts (they cost `prior_share`
    of epsilon), "uniform", or public weights, one per column. `columns=M` keeps the M columns with the largest noisy corpus
    counts: a vocabulary chosen under the same budget. `empty="refuse"` raises on a document without any count.
    `budget="paper"` takes the paper's rule literally and promises what that really costs.

    >>> noisy = LimitedPrecision(epsilon=1000.0, precision=1).fit_transform(np.array([[3, 0, 1], [0, 2, 0]]))
    >>> noisy.toarray().tolist()
    [[3, 0, 1], [0, 2, 0]]
    >>> literal = LimitedPrecision(epsilon=0.5, compress=100, method="random", prior="uniform", budget="paper")
    >>> literal.event(Shape(vocabulary=6800)).noise.epsilon
    34.0
    """

    name = "counts.limited_precision"

    def __init__(
        self,
        epsilon: float = 1.0,
        precision: int = 10,
        compress: int | None = None,
        method: str = "frequency",
        clamp: bool = True,
        seed: int | None = None,
        *,
        budget: str = "total",
        prior: Any = "noisy",
        prior_share: float = 0.1,
        columns: int | None = None,
        decompress: bool = True,
        words: Sequence[str] | None = None,
        vectors: Any = None,
        empty: str = "refuse",
    ):
        self.epsilon = epsilon
        self.precision = precision
        self.compress = compress
        self.method = method
        self.clamp = clamp
        self.seed = seed
        self.budget = budget
        self.prior = prior
        self.prior_share = prior_share
        self.columns = columns
        self.decompress = decompress
        self.words = words
        self.vectors = vectors
        self.empty = empty

    # ---- fit: public facts only --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the number of columns, which is public, and make the public groupings. No count is looked at."""
        self._check()
        self.n_features_in_ = _width(X)
        self._check_width(self.n_features_in_)
        self.groups_ = self._public_groups()
        self.corpus_counts_ = None
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _check(self) -> None:
        positive("epsilon", self.epsilon)
        positive_integer("precision", self.precision)
        choice("method", self.method, grouping.METHODS)
        choice("budget", self.budget, ("total", "paper"))
        choice("empty", self.empty, ("refuse", "keep"))
        open_fraction("prior_share", self.prior_share)
        source_for(self.seed)
        if isinstance(self.prior, str):
            choice("prior", self.prior, ("noisy", "uniform"))
        if self.compress is None:
            if self.budget == "paper":
                raise BadParameter("budget", "paper", "'total' without compression: the paper's rule is about groups")
        else:
            positive_integer("compress", self.compress)
            if self.decompress and not self.clamp:
                raise BadParameter("clamp", False, "True when groups are dealt out to words (or set decompress=False)")
        if self.columns is not None:
            positive_integer("columns", self.columns)
            if self._by_vectors or not isinstance(self.prior, str):
                raise BadParameter(
                    "columns", self.columns, "None with vectors or a public prior: take their words instead"
                )

    def _check_width(self, width: int) -> None:
        if self.columns is not None and self.columns > width:
            raise BadParameter("columns", self.columns, f"at most the number of words in the vocabulary ({width})")
        if self.compress is not None:
            grouping.check_groups(self.compress, self._kept(width))
        if self.words is not None and len(self.words) != width:
            raise BadInput(f"the counts have {width} columns, the vocabulary has {len(self.words)} words")
        if not isinstance(self.prior, str):
            _public_weights(self.prior, width)

    def _public_groups(self) -> np.ndarray | None:
        """Groups that do not depend on the data; None where there are none, or where noisy counts make them."""
        if self.compress is None or (self.method == "frequency" and isinstance(self.prior, str)):
            return None
        groups, width, source = int(self.compress), self._kept(self.n_features_in_), source_for(self.seed)
        if self.method == "random":
            return grouping.at_random(width, groups, source)
        if self.method == "frequency":
            return grouping.by_frequency(_public_weights(self.prior, width), groups)
        points = self._points()
        return (grouping.by_cluster if self.method == "cluster" else grouping.by_dispersion)(points, groups, source)

    def _points(self) -> np.ndarray:
        from textveil.text.vectors import Vectors, load

        if self.words is None:
            raise BadInput(f"method '{self.method}' needs the words of the columns", possible="words=[...]")
        vectors = self.vectors if isinstance(self.vectors, Vectors) else load(self.vectors or "default")
        return np.stack([vectors.vector(word) for word in self.words])

    # ---- the promise -------------------------------------------------------------------------------------------

    @property
    def _by_vectors(self) -> bool:
        return self.compress is not None and self.method in ("cluster", "disperse")

    @property
    def _needs_corpus(self) -> bool:
        """Whether noisy corpus counts are drawn: for choosing, ranking or weighting words."""
        if self.columns is not None:
            return True
        if self.compress is None or not isinstance(self.prior, str):
            return False
        return self.method == "frequency" or (self.decompress and self.prior == "noisy")

    def _kept(self, width: int) -> int:
        return width if self.columns is None else min(int(self.columns), width)

    def spending(self, width: int | None = None) -> Spending:
        """How epsilon is divided between the counts and the corpus counts."""
        self._check()
        growth = None
        if self.budget == "paper":
            width = width or getattr(self, "n_features_in_", None)
            if width is None:
                raise BadInput(
                    "the paper's budget depends on the vocabulary", possible="fit first, or Shape(vocabulary=M)"
                )
            growth = Fraction(self._kept(width), int(self.compress or 1))
        return divide(
            float(self.epsilon), share=float(self.prior_share), needs_corpus=self._needs_corpus, growth=growth
        )

    def event(self, shape: Shape | None = None) -> Event:
        """What one release costs each document. Neither the number of documents nor that of words matters."""
        parts = self.spending(None if shape is None else shape.vocabulary)
        noise: Noise = CountNoise(parts.total, int(self.precision))
        if self.seed is not None:
            noise = Unpriced(
                NoPromise(f"drawn with a seed, which undoes the noise for whoever knows it ({noise})", "seeded")
            )
        return Event(noise, Unit.DOCUMENT, Adjacency.METRIC, 1, self._assumes(parts), SOURCE, self.name)

    def _assumes(self, parts: Spending) -> tuple[str, ...]:
        found = ["the vocabulary and the number of documents are public", "noise is drawn exactly (no delta)"]
        if parts.corpus:
            found.append(f"noisy corpus counts took epsilon {parts.corpus:.4g} of {parts.total:.4g}")
        if self.budget == "paper":
            found.append(f"the paper's rule asked for {self.epsilon:g}; the true total is {parts.total:.4g}")
        return tuple(found)

    @property
    def guarantee_(self) -> Guarantee:
        from textveil.accounting import guarantee_of

        return guarantee_of(self.event())

    # ---- drawing -----------------------------------------------------------------------------------------------

    def apply(self, data: Any, *, noise: Source) -> Any:
        """A new table of noisy counts; sparse where noise leaves most cells at 0, or where groups were dealt out."""
        return self.release(data, noise=noise).counts

    def release(self, data: Any, *, noise: Source, corpus_counts: np.ndarray | None = None) -> Released:
        """The table with the public and noisy values behind it. `corpus_counts`: noisy ones of an earlier release."""
        if not self.__sklearn_is_fitted__():
            self.fit(data)
        rows = matrix.checked(data, columns=self.n_features_in_, empty=self.empty)
        spent = self.spending(rows.shape[1])
        if self._needs_corpus and corpus_counts is None:
            corpus_counts = noisy_corpus_counts(rows, scale_for(spent.corpus, self.precision), noise)
        kept = self._choose(corpus_counts, rows.shape[1])
        if self.columns is not None:
            rows = rows[:, kept]
        weights = self._weights(corpus_counts, kept)
        counts, groups = self._noised(rows, weights, scale_for(spent.noise, self.precision), noise)
        return Released(counts, kept, groups, weights, corpus_counts)

    def _choose(self, corpus_counts: np.ndarray | None, width: int) -> np.ndarray:
        if self.columns is None or corpus_counts is None:
            return np.arange(width)
        return np.sort(np.argsort(-corpus_counts, kind="stable")[: self.columns])

    def _weights(self, corpus_counts: np.ndarray | None, kept: np.ndarray) -> np.ndarray | None:
        if not isinstance(self.prior, str):
            return _public_weights(self.prior, self.n_features_in_)[kept]
        return None if corpus_counts is None else corpus_counts[kept].astype(np.float64)

    def _noised(
        self, rows: sparse.csr_array, weights: np.ndarray | None, scale: float, noise: Source
    ) -> tuple[Any, np.ndarray | None]:
        if self.compress is None:
            few = self.clamp and noise_density(scale) <= SPARSE_BELOW
            return matrix.with_noise(rows, scale, noise, clamp=self.clamp, to_sparse=few), None
        groups = self.groups_
        if groups is None:
            assert weights is not None
            groups = grouping.by_frequency(weights, int(self.compress))
        summed = sparse.csr_array(rows @ membership(groups, int(self.compress)))
        counts = matrix.with_noise(summed, scale, noise, clamp=self.clamp, to_sparse=False)
        if not self.decompress:
            return counts, groups
        even = weights is None or (isinstance(self.prior, str) and self.prior == "uniform")
        return decompress(counts, groups, np.ones(len(groups)) if even else weights, noise), groups

    def transform(self, X: Any) -> Any:
        """Noisy counts, outside any ledger. After `fit_transform`, its noisy corpus counts are used again."""
        return self.release(X, noise=source_for(self.seed), corpus_counts=getattr(self, "corpus_counts_", None)).counts

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, release, and keep what is public of the release: `released_`, `corpus_counts_`."""
        self.fit(X)
        self.released_ = self.release(X, noise=source_for(self.seed))
        self.corpus_counts_ = self.released_.corpus_counts
        return self.released_.counts

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the released columns."""
        if self.compress is not None and not self.decompress:
            return np.array([f"group{k}" for k in range(int(self.compress))], dtype=object)
        names = self.words if input_features is None else input_features
        if names is None:
            names = [f"word{j}" for j in range(self.n_features_in_)]
        chosen = np.asarray(list(names), dtype=object)
        return chosen if self.columns is None else chosen[self.released_.columns]


def noisy_corpus_counts(rows: sparse.csr_array, scale: float, noise: Source) -> np.ndarray:
    """Corpus count of each word plus noise: L1 sensitivity N, whatever the number of words."""
    return matrix.column_sums(rows) + matrix.draw(noise, (rows.shape[1],), scale)


def membership(groups: np.ndarray, count: int) -> sparse.csr_array:
    """The words x groups matrix of zeros and ones that sums columns."""
    words = len(groups)
    return sparse.csr_array((np.ones(words, np.int64), groups, np.arange(words + 1)), shape=(words, count))


def noise_density(scale: float) -> float:
    """Chance that noise alone leaves a cell above 0: a / (1 + a).

    >>> round(noise_density(20.0), 3), round(noise_density(0.5), 3)
    (0.488, 0.119)
    """
    a = math.exp(-1 / scale)
    return a / (1 + a)


def _width(data: Any) -> int:
    shape = getattr(data, "shape", None)
    if shape is None:
        try:
            shape = np.shape(data)
        except ValueError:  # rows of different lengths
            shape = ()
    if len(shape) != 2 or shape[1] == 0:
        raise BadInput("counts must be a table of numbers, one row per document and one column per word")
    return int(shape[1])


def _public_weights(prior: Any, width: int) -> np.ndarray:
    weights = np.asarray(prior, np.float64)
    if weights.shape != (width,) or not np.isfinite(weights).all() or weights.min() < 0:
        raise BadInput(f"the prior must be {width} finite numbers of 0 or more, one per word of the vocabulary")
    return weights
