"""The simplest guess: the released word is the true one.

Claim. Its success is the chance that a word stays itself. Of all words the released one is nearest to the output, so this is
also the nearest-neighbour attack on mechanisms that release words. An adversary who knows more (words.bayes, words.context)
should do at least as well; where it does not, its posterior was learnt from too few runs.

What is reported. Without truth: the chance of staying when words follow the public prior, as a finite sum with exact odds, or
as a share of `draws` runs of the mechanism. With truth: the share of released words that stayed. The floor on the loss is
that of a guess among candidates (see evidence), against the best constant guess.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Ids, check_exposure
from textveil.attacks.words.bayes import draw_words
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive_integer

_CELLS = 4_000_000  # doubles held at once


class NearestAttack(Estimator):
    """Guess that every word stayed itself.

    Parameters
    ----------
    draws
        Runs of the mechanism, where there is neither truth nor exact odds.

    Examples
    --------
    >>> from textveil.attacks.exposure import OriginalWords
    >>> from textveil.noise.source import secure
    >>> truth = OriginalWords(np.array([0, 1, 0, -1]))
    >>> seen = WordsSeen(["a", "b"], np.array([0.5, 0.5]), object(), observed=np.array([0, 1, 1, 0]), truth=truth)
    >>> found = NearestAttack().run(seen, rng=secure())
    >>> found.hits, found.tries, found.value
    (2, 4, 0.5)
    """

    name = "words.nearest"
    sees = WordsSeen
    needs: tuple[str, ...] = ()

    def __init__(self, draws: int = 100_000):
        self.draws = draws

    def run(self, exposure: WordsSeen, *, rng: Any) -> Evidence:
        positive_integer("draws", self.draws)
        check_exposure(self, exposure)
        return replace(self._run(exposure, exposure.word_chances, rng), unit=exposure.unit)

    def _run(self, exposure: WordsSeen, prior: np.ndarray, rng: Any) -> Evidence:
        if exposure.draws is not None:
            return self._score_truth(prior, *exposure.draws)
        if hasattr(exposure.channel, "odds"):
            note = "computed from exact odds under the public prior"
            return self._evidence(_stay(exposure.channel, prior), 0, 0, float(prior.max()), float(prior.max()), note)
        inputs = draw_words(prior, self.draws, rng)
        hits = int(np.count_nonzero(exposure.channel.sample(inputs, rng) == inputs))
        note = f"expected under the public prior, from {self.draws} runs of the mechanism"
        return self._evidence(hits / self.draws, hits, self.draws, float(prior.max()), float(prior.max()), note)

    def _score_truth(self, prior: np.ndarray, observed: Ids, truth: Ids) -> Evidence:
        if len(truth) == 0:
            raise BadInput("there is no released word to guess")
        hits = int(np.count_nonzero(observed == truth))
        blind = float(np.mean(truth == int(np.argmax(prior))))
        best = float(np.bincount(truth + 1).max() / len(truth))  # words outside the vocabulary count as one
        note = "scored on the true words of this release; chance: always the prior's commonest word"
        return self._evidence(hits / len(truth), hits, len(truth), blind, best, note)

    def _evidence(self, value: float, hits: int, tries: int, chance: float, best: float, note: str) -> Evidence:
        who = "guesses that each word stayed itself"
        return Evidence(
            self.name, "success", min(1.0, value), chance, hits, tries, Unit.WORD, best_prior=best, notes=(who, note)
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.words.examples import words_told

        return AttackExample(cls(draws=4_000), words_told)


def _stay(channel: Any, prior: np.ndarray) -> float:
    """sum_x pi(x) f(x | x), a block of rows at a time."""
    words = len(prior)
    rows = max(1, _CELLS // words)
    total = 0.0
    for start in range(0, words, rows):
        ids = np.arange(start, min(start + rows, words))
        total += float(prior[ids] @ channel.odds(ids)[np.arange(len(ids)), ids])
    return total
