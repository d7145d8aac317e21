"""Word alignment in both directions, compiled, by one of two models.

    aligner = Aligner().fit(corpus, words)           # five rounds of variational EM, both directions at once
    links = aligner.links(source, target)            # (source place, target place) of each pair, symmetrised

"diagonal" is a reparameterised IBM Model 2 (Dyer, Chahuneau and Smith 2013; `lexicon_kernel`): links lie near the diagonal.
"hmm" begins with two rounds of it, and goes on with hidden Markov models of both directions, trained to agree (Vogel, Ney
and Tillmann 1996; Liang, Taskar and Klein 2006; `hmm_kernel`): each link lies near the one before.

What is learnt from a text depends on all its sentence pairs. So where a promise per sentence pair is wanted, the
aligner is fitted on public text and then `closed`: the links of a pair then follow from that pair alone.

Memory: the numbers of all words (4 bytes each, on disk if the corpus is a file) and a table of fixed size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from textveil.core import Estimator
from textveil.core.errors import BadParameter, not_fitted
from textveil.core.params import choice, needs, positive_integer

from .sentences import LONGEST, Side, WordNumbers

MODELS = ("diagonal", "hmm")
DIAGONAL_ROUNDS = 2  # of the diagonal model, where the others are of the HMM
SYMMETRY = ("union", "intersection", "grow-diag", "grow-diag-final", "grow-diag-final-and")
ALPHA = 0.01  # of the Dirichlet prior: few translations a word
TENSION, TENSIONS = 4.0, (0.1, 14.0)  # at first, and its limits
_TABLE = 24  # 2^24 slots: 400 MB, 12 million pairs of words


class Links(NamedTuple):
    """Links of a batch of sentence pairs: places in source and target, and where each pair's links start."""

    source: np.ndarray
    target: np.ndarray
    starts: np.ndarray


Directions = tuple[
    np.ndarray, np.ndarray
]  # for each target word its place in the source or -1, and the other way round


@dataclass(frozen=True)
class Corpus:
    """Sentence pairs as numbers of words; the arrays may be files."""

    source: np.ndarray
    source_starts: np.ndarray
    target: np.ndarray
    target_starts: np.ndarray

    def cells(self) -> int:
        """Pairs of words that stand in one sentence pair, with repeats."""
        return int((np.diff(self.source_starts) * np.diff(self.target_starts)).sum())


class TensionRule(Protocol):
    """How the tension of each direction is fitted after a round; `early` is for rules that count places otherwise."""

    early: int

    def step(self, tensions: np.ndarray, features: np.ndarray, corpus: Corpus) -> np.ndarray:
        """New tensions. A row of features: expected, the model's, its variance, log likelihood; summed over words."""
        ...


class NewtonTension:
    """One Newton step towards the tension under which the model's feature is the expected one."""

    early = 0

    def step(self, tensions: np.ndarray, features: np.ndarray, corpus: Corpus) -> np.ndarray:
        gain = (features[:, 0] - features[:, 1]) / np.maximum(features[:, 2], 1e-9)
        return np.clip(tensions + gain, *TENSIONS)


class Aligner(Estimator):
    """Learns which words translate which, and links them.

    Parameters
    ----------
    symmetry
        How the two directions are joined: "union", "intersection", "grow-diag", "grow-diag-final" or
        "grow-diag-final-and".
    rounds
        Rounds of EM. With "hmm" the first two are of the diagonal model.
    table
        The lexicon has at most 2 to the power of this many slots, of 24 bytes each.
    model
        "diagonal" (links lie near the diagonal; fast) or "hmm" (each link lies near the one before; it takes up to half
        as long again, and finds words that have moved).
    """

    name = "fragments.aligner"

    def __init__(self, symmetry: str = "union", rounds: int = 5, table: int = _TABLE, model: str = "diagonal"):
        self.symmetry, self.rounds, self.table, self.model = symmetry, rounds, table, model

    def check(self) -> None:
        """Refuse settings outside their range."""
        choice("symmetry", self.symmetry, SYMMETRY)
        positive_integer("rounds", self.rounds)
        positive_integer("table", self.table)
        if choice("model", self.model, MODELS) == "hmm" and self.rounds <= DIAGONAL_ROUNDS:
            raise BadParameter("rounds", self.rounds, f"more than {DIAGONAL_ROUNDS} with the model 'hmm'")

    def fit(
        self,
        corpus: Corpus,
        words: tuple[WordNumbers, WordNumbers],
        *,
        step: Any = lambda done: None,
        tension: TensionRule | None = None,
    ) -> Self:
        """Learn from sentence pairs whose words were numbered by `words`. `step` is called after each round.

        tension: how it is fitted; without, by Newton's method.
        """
        self.check()
        needs("fragments", "numba")
        from . import lexicon_kernel as kernel

        self.words_, rule = words, tension or NewtonTension()
        bits = min(self.table, max(10, int(np.ceil(np.log2(max(corpus.cells(), 1) / kernel.LOAD + 1)))))
        self.keys_, self.shift_ = np.zeros(1 << bits, np.int64), 64 - bits
        self.values_ = np.zeros((1 << bits, 4), np.float32)
        self.values_[:, :2] = 1.0  # the first round is uniform
        self.nulls_ = tuple(np.array([[1.0, 0.0]] * max(len(w), 1)) for w in (words[1], words[0]))
        self.tensions_, used = np.full(2, TENSION), np.zeros(1, np.int64)
        for number in range(self.rounds if self.model == "diagonal" else DIAGONAL_ROUNDS):
            feats = np.zeros((2, 4))
            kernel.expectation(
                corpus.source, corpus.source_starts, corpus.target, corpus.target_starts, self.keys_, self.shift_,
                self.values_, used, *self.nulls_, self.tensions_, rule.early, feats, LONGEST, number == 0,
            )  # fmt: skip
            self._maximise()
            if number > 0:  # the first round is uniform in the words and says little
                self.tensions_ = rule.step(self.tensions_, feats, corpus)
            step(number + 1)
        if self.model == "hmm":
            self._fit_hmm(corpus, step)
        return self

    def _maximise(self) -> None:
        """Expected counts of the lexicon become chances."""
        from . import lexicon_kernel as kernel

        totals = [np.zeros(max(len(words), 1)) for words in self.words_]
        kernel.maximisation(self.keys_, self.values_, *self.nulls_, *totals, ALPHA)

    def _fit_hmm(self, corpus: Corpus, step: Any) -> None:
        """The rounds of the HMM, from the lexicon as it is."""
        from . import hmm_kernel as kernel

        self.jumps_ = kernel.first_jumps()
        for number in range(DIAGONAL_ROUNDS, self.rounds):
            counts = np.zeros((2, 2, 3, kernel.JUMPS))
            self._walk(corpus, counts)
            self._maximise()
            self.jumps_ = kernel.next_jumps(self.jumps_, counts)
            step(number + 1)

    def _walk(self, corpus: Corpus, counts: np.ndarray | None = None) -> Directions:
        """One pass of the HMM: expected counts are added where `counts` is given; else the links are what it returns."""
        from . import hmm_kernel as kernel

        learn = counts is not None
        links = [np.full(0 if learn else len(side), -1, np.int32) for side in (corpus.target, corpus.source)]
        kernel.walk(
            corpus.source, corpus.source_starts, corpus.target, corpus.target_starts, self.keys_, self.shift_, self.values_,
            *self.nulls_, self.jumps_, np.zeros((2, 2, 3, kernel.JUMPS)) if counts is None else counts, np.zeros(2), LONGEST,
            learn, *links,
        )  # fmt: skip
        return links[0], links[1]

    def close(self) -> Self:
        """Take no new words: the links of a pair follow from it and from what was learnt."""
        for numbers in self.words_:
            numbers.closed = True
        return self

    def links(self, source: Side, target: Side) -> Links:
        """The symmetrised links of a batch of sentence pairs."""
        if not hasattr(self, "keys_"):
            raise not_fitted(self, "fit(corpus, words)")
        numbers = (self.words_[0].of(source.words), self.words_[1].of(target.words))
        return symmetrise(*self.directions(numbers[0], source.starts, numbers[1], target.starts),
                          source.starts, target.starts, self.symmetry)  # fmt: skip

    def directions(
        self, source: np.ndarray, source_starts: np.ndarray, target: np.ndarray, target_starts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """For each target word its place in the source sentence or -1, and for each source word its place in the target."""
        if self.model == "hmm":
            return self._walk(Corpus(source, source_starts, target, target_starts))
        from . import lexicon_kernel as kernel

        forward, backward = np.empty(len(target), np.int32), np.empty(len(source), np.int32)
        kernel.best_links(
            source, source_starts, target, target_starts, self.keys_, self.shift_, self.values_, *self.nulls_,
            self.tensions_, LONGEST, forward, backward,
        )  # fmt: skip
        return forward, backward


def symmetrise(
    forward: np.ndarray, backward: np.ndarray, source_starts: np.ndarray, target_starts: np.ndarray, method: str
) -> Links:
    """Join two directions.

    >>> starts = np.array([0, 2])
    >>> forward, backward = np.array([0, 0], np.int32), np.array([0, 1], np.int32)
    >>> for method in ("union", "intersection"):
    ...     links = symmetrise(forward, backward, starts, starts, method)
    ...     print([*zip(links.source.tolist(), links.target.tolist())])
    [(0, 0), (0, 1), (1, 1)]
    [(0, 0)]
    """
    from . import phrase_kernel as kernel

    most = len(forward) + len(backward)
    out_i, out_j = np.empty(most, np.int32), np.empty(most, np.int32)
    starts = np.empty(len(source_starts), np.int64)
    which = SYMMETRY.index(choice("symmetry", method, SYMMETRY))
    count = kernel.symmetrise(forward, backward, source_starts, target_starts, which, out_i, out_j, starts)
    return Links(out_i[:count], out_j[:count], starts)


def corpus_of(source: Side, target: Side, words: tuple[WordNumbers, WordNumbers]) -> Corpus:
    """One batch as a corpus."""
    return Corpus(words[0].of(source.words), source.starts, words[1].of(target.words), target.starts)


__all__ = ["MODELS", "SYMMETRY", "Aligner", "Corpus", "Directions", "Links", "TensionRule", "corpus_of", "symmetrise"]
