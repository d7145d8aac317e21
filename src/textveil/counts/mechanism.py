"""Word counts per document under (N, epsilon) limited-precision local privacy, with or without horizontal compression.

Claim. For two documents whose counts differ by at most N in total (N words more, or N/2 words exchanged), no released table
becomes more than e^epsilon times as likely. At distance D the loss is epsilon * D / N: the promise is about N counts, and
a whole document of many words is not hidden by it. Derivation: see `spending`.

How. The counts (or their sums over groups of words) get two-sided geometric noise of scale N / e_1 in every cell, drawn
exactly. Whatever follows is post-processing: clamping at 0, dealing group counts out to words. If the words are ranked,
weighted or chosen by corpus counts, these get noise of scale N / e_2 first, once, and all three uses share them.

Source. Schofield, Yauney, Mimno 2019, "Combatting the Challenges of Local Privacy for Distributional Semantics with
Compression"; Schein, Wu, Schofield, Zhou, Wallach 2019, "Locally Private Bayesian Inference for Count Models".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from scipy import sparse

from textveil.accounting.account import unrecorded
from textveil.core import (
    Adjacency,
    BadInput,
    BadParameter,
    CountNoise,
    Estimator,
    Event,
    Guarantee,
    Shape,
    Unit,
)
from textveil.core.draft import as_draft
from textveil.core.example import Example, Worlds
from textveil.core.losses import upward
from textveil.core.params import choice, open_fraction, positive, positive_integer
from textveil.noise import Source

from . import grouping, matrix
from .decompression import decompress
from .public_randomness import public_source
from .spending import Spending, divide, scale_for
from .tables import NamedColumns, counts_tags, width_of

SOURCE = (
    "Schofield et al. 2019, Definition 2 (limited-precision local privacy, after Schein et al.); loss of the whole row"
)
WHY_KEPT = "whether a release happens must not depend on a count"
LEAST = 1e-290  # epsilon per count: noise for less has a scale that no double holds
SPARSE_BELOW = 0.25  # noise leaves fewer cells than this above 0: the table is returned sparse


@dataclass(frozen=True)
class Released:
    """All that left the private side: the table, and the public or noisy values it was made with."""

    counts: Any  # documents x words (or x groups, when not decompressed)
    columns: np.ndarray  # places of the released words in the vocabulary that was given
    groups: np.ndarray | None = None  # the compressed index of each released word
    weights: np.ndarray | None = None  # public or noisy corpus counts of the released words
    corpus_counts: np.ndarray | None = None  # noisy corpus counts of all words that were given, if any were drawn


class LimitedPrecision(NamedColumns, Estimator):
    """Noisy bags of words, in the manner of a scikit-learn transformer: put it after `CountVectorizer`.

    Why there is no `empty="refuse"`: take a document with a single word, and its neighbour at distance 1 without it. One of
    the two would be released and the other not, so the outcome "released" has chance 1 and 0: an infinite loss where
    epsilon / N is promised. Leaving empty documents out would show the same by the number of rows.

    Parameters
    ----------
    epsilon
        Total loss between two documents whose counts differ by `precision` in total; all uses share it.
    precision
        N: how many counts the promise hides. A whole document of many words is not hidden.
    compress
        Number of groups that words are summed into before the noise: fewer cells carry noise, counts become
        coarser. None: no groups.
    method
        How words are grouped: "random", "frequency", "cluster" (near words together) or "disperse" (near words
        apart). The last two need `words`.
    clamp
        Turn negative noisy counts into 0.
    seed
        None draws from the secure source. A number makes a draft, which protects nobody: whoever knows it can undo
        it.
    budget
        "total": epsilon is all that is spent. "paper": the paper's rule taken literally, with the promise that it
        really keeps.
    prior
        Weights of the words: "noisy" corpus counts (they cost `prior_share` of epsilon), "uniform", or public
        weights, one per column.
    prior_share
        Share of epsilon for noisy corpus counts, where they are needed.
    columns
        Keep the M columns with the largest noisy corpus counts: a vocabulary chosen under the same budget. None
        keeps all.
    decompress
        Deal the noisy count of a group out to its words; False releases the groups.
    words
        Names of the columns. None: those of a DataFrame, or numbers.
    vectors
        Public word vectors for "cluster" and "disperse": None for the bundled ones, a file, or `Vectors`.
    empty
        Has one value, "keep": documents without any count are released as noise alone.

    Examples
    --------
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
        empty: str = "keep",
    ):
        self.epsilon, self.precision, self.compress, self.method = epsilon, precision, compress, method
        self.clamp, self.seed, self.budget, self.prior, self.prior_share = clamp, seed, budget, prior, prior_share
        self.columns, self.decompress, self.words, self.vectors, self.empty = columns, decompress, words, vectors, empty

    def public_params(self) -> dict[str, Any]:
        """Parameters as they may be published. The words stand in vocabulary.txt, and a seed would undo the noise."""
        shown = {name: value for name, value in super().public_params().items() if name != "words"}
        if not isinstance(self.prior, str):
            shown["prior"] = "public weights"
        if self.vectors is not None:
            shown["vectors"] = str(getattr(self.vectors, "name", self.vectors))
        return shown

    # ---- fit: public facts only --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the number of columns, which is public, and make the public groupings. No count is looked at."""
        self._check()
        self._take_columns(X)
        self._check_width(self.n_features_in_)
        self.groups_ = self._public_groups()
        self.corpus_counts_: np.ndarray | None = None
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _check(self) -> None:
        positive("epsilon", self.epsilon)
        positive_integer("precision", self.precision)
        choice("method", self.method, grouping.METHODS)
        choice("budget", self.budget, ("total", "paper"))
        if self.empty != "keep":
            raise BadParameter("empty", self.empty, f"'keep' ({WHY_KEPT})")
        open_fraction("prior_share", self.prior_share)
        if float(self.epsilon) * float(self.prior_share) < LEAST * float(self.precision):
            raise BadParameter("epsilon", self.epsilon, f"{LEAST:g} or more for each of the {self.precision} counts")
        public_source(self.seed)
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
            grouping.public_weights(self.prior, width)

    def _public_groups(self) -> np.ndarray | None:
        """Groups that do not depend on the data; None where there are none, or where noisy counts make them."""
        if self.compress is None or (self.method == "frequency" and isinstance(self.prior, str)):
            return None
        groups, width, source = int(self.compress), self._kept(self.n_features_in_), public_source(self.seed)
        if self.method == "random":
            return grouping.at_random(width, groups, source)
        if self.method == "frequency":
            return grouping.by_frequency(grouping.public_weights(self.prior, width), groups)
        points = self._points()
        return (grouping.by_cluster if self.method == "cluster" else grouping.by_dispersion)(points, groups, source)

    def _points(self) -> np.ndarray:
        from textveil.text.vectors import Vectors, load

        words = self._words()
        if words is None:
            raise BadInput(
                f"method '{self.method}' needs the words of the columns", possible="words=[...], or a DataFrame"
            )
        vectors = self.vectors if isinstance(self.vectors, Vectors) else load(self.vectors or "default")
        return np.stack([vectors.vector(word) for word in words])

    def _words(self) -> Sequence[str] | None:
        return getattr(self, "feature_names_in_", None) if self.words is None else self.words

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
        fitted = getattr(self, "n_features_in_", None)
        if None not in (width, fitted) and width != fitted:
            raise BadInput(
                f"a vocabulary of {width} words was declared, but the mechanism was fitted to {fitted} columns",
                possible=f"Shape(vocabulary={fitted})",
            )
        growth = None
        if self.budget == "paper":
            width = width or fitted
            if width is None:
                raise BadInput(
                    "the paper's budget depends on the vocabulary", possible="fit first, or Shape(vocabulary=M)"
                )
            growth = Fraction(self._kept(width), int(self.compress or 1))
        return divide(
            float(self.epsilon), share=float(self.prior_share), needs_corpus=self._needs_corpus, growth=growth
        )

    def check_data(self, data: Any, shape: Shape) -> None:
        """Refuse counts that cannot be released, or that the shape does not describe; nothing is drawn or kept."""
        self._check()
        width = width_of(data)
        if shape.vocabulary is not None and shape.vocabulary != width:
            raise BadInput(
                f"a vocabulary of {shape.vocabulary} words was declared, but the counts have {width} columns",
                possible=f"Shape(vocabulary={width})",
            )
        self._check_width(width)
        if self.__sklearn_is_fitted__():
            self._check_columns(data)
        matrix.checked(data, columns=getattr(self, "n_features_in_", None))

    def event(self, shape: Shape | None = None) -> Event:
        """What one release costs each document. Neither the number of documents nor that of words matters."""
        parts = self.spending(None if shape is None else shape.vocabulary)
        noise = CountNoise(parts.total, int(self.precision))
        return Event(noise, Unit.DOCUMENT, Adjacency.METRIC, 1, self._assumes(parts), SOURCE, self.name)

    def _assumes(self, parts: Spending) -> tuple[str, ...]:
        sentences = [
            f"about {int(self.precision)} counts of a document, not about all of it: documents that differ in more are told "
            f"apart with a loss of epsilon for every {int(self.precision)} counts",
            "the vocabulary and the number of documents are public",
            "noise is drawn exactly (no delta)",
        ]
        if parts.corpus:
            sentences.append(f"noisy corpus counts took epsilon {upward(parts.corpus)} of {upward(parts.total)}")
        if self.budget == "paper":
            sentences.append(f"the paper's rule asked for {self.epsilon:g}; the true total is {upward(parts.total)}")
        return tuple(sentences)

    @property
    def guarantee_(self) -> Guarantee:
        from textveil.accounting import guarantee_of

        event = self.event()
        return guarantee_of(event if self.seed is None else as_draft(event))

    @classmethod
    def example(cls) -> Example:
        """What the conformance suite checks it on: two counts more in one cell, and one more in each of two."""
        sample = np.array([[3, 0, 1, 0], [0, 2, 0, 5]] * 4)
        start, one_cell, two_cells = np.zeros(4, np.int64), np.array([2, 0, 0, 0]), np.array([1, 1, 0, 0])
        worlds = (Worlds(start, one_cell, 2.0, by_row=True), Worlds(start, two_cells, 2.0, by_row=True))
        made = cls(epsilon=1.0, precision=2, clamp=False, empty="keep")
        return Example(made.fit(sample), sample, worlds=worlds)

    # ---- drawing -----------------------------------------------------------------------------------------------

    def apply(self, data: Any, *, noise: Source) -> Any:
        """A new table of noisy counts; sparse where noise leaves most cells at 0, or where groups were dealt out."""
        return self.release(data, noise=noise).counts

    def release(self, data: Any, *, noise: Source, corpus_counts: np.ndarray | None = None) -> Released:
        """The table with the public and noisy values behind it. `corpus_counts`: noisy ones of an earlier release."""
        if not self.__sklearn_is_fitted__():
            self.fit(data)
        self._check_columns(data)
        rows = matrix.checked(data, columns=self.n_features_in_)
        spent = self.spending(rows.shape[1])
        if self._needs_corpus and corpus_counts is None:
            corpus_counts = matrix.noisy_corpus_counts(rows, scale_for(spent.corpus, self.precision), noise)
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
            return grouping.public_weights(self.prior, self.n_features_in_)[kept]
        return None if corpus_counts is None else corpus_counts[kept].astype(np.float64)

    def _noised(
        self, rows: sparse.csr_array, weights: np.ndarray | None, scale: float, noise: Source
    ) -> tuple[Any, np.ndarray | None]:
        if self.compress is None:
            few = self.clamp and matrix.noise_density(scale) <= SPARSE_BELOW
            return matrix.with_noise(rows, scale, noise, clamp=self.clamp, to_sparse=few), None
        groups = self.groups_
        if groups is None:
            assert weights is not None
            groups = grouping.by_frequency(weights, int(self.compress))
        summed = sparse.csr_array(rows @ grouping.membership(groups, int(self.compress)))
        counts = matrix.with_noise(summed, scale, noise, clamp=self.clamp, to_sparse=False)
        if not self.decompress:
            return counts, groups
        if weights is None or (isinstance(self.prior, str) and self.prior == "uniform"):
            weights = np.ones(len(groups))
        return decompress(counts, groups, weights, noise), groups

    def transform(self, X: Any) -> Any:
        """Noisy counts, outside any ledger. After `fit_transform`, its noisy corpus counts are used again.

        Each call draws anew: the same counts again cost epsilon again (docs/scikit-learn.md).
        """
        kept = getattr(self, "corpus_counts_", None)
        return self._contained(self.release(X, noise=unrecorded(self.seed, of_a_transform=True), corpus_counts=kept), X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, release, and keep what is public of the release: `released_`, `corpus_counts_`."""
        self.fit(X)
        self.released_ = self.release(X, noise=unrecorded(self.seed, of_a_transform=True))
        self.corpus_counts_ = self.released_.corpus_counts
        return self._contained(self.released_, X)

    def _contained(self, released: Released, X: Any) -> Any:
        return self._in_container(released.counts, lambda: self._names_out(released.columns), X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the released columns. With `columns`, those of the last `fit_transform`."""
        self._check_names_in(input_features)
        released = getattr(self, "released_", None)
        if self.columns is not None and released is None:
            raise BadInput("which columns are kept is known after fit_transform")
        return self._names_out(np.arange(self.n_features_in_) if released is None else released.columns, input_features)

    def _names_out(self, columns: np.ndarray, names: Any = None) -> np.ndarray:
        if self.compress is not None and not self.decompress:
            return np.array([f"group{k}" for k in range(int(self.compress))], dtype=object)
        names = self._words() if names is None else names
        if names is None:
            names = [f"word{j}" for j in range(self.n_features_in_)]
        return np.asarray(list(names), dtype=object)[columns]

    def __sklearn_tags__(self) -> Any:
        return counts_tags(super().__sklearn_tags__(), seeded=self.seed is not None)
