"""The Bayes attack on single words: guess the input word from the output word, the mechanism and a public prior.

Claim. The *optimal* adversary guesses argmax_x g(x | y) and no other rule that sees one word at a time succeeds more often;
the *sampling* adversary draws its guess from g(. | y) (the one of the Vickrey paper, after its Eq. 3 is put right).

What is reported.
- Without truth: the expected success when words follow the public prior. With exact odds it is a finite sum. Otherwise
  the posterior is learnt from one half of `draws` runs of the mechanism and scored on the other half: the rule is fixed
  before it meets the second half, so the hits are binomial and their interval is exact. A learnt rule is at best optimal, so
  its success is a lower bound for the optimal adversary. The mean of the largest posterior chance given the *noised
  point* (of which the output word is a function) is an upper bound; `upper` is its upper 95 % limit (Hoeffding).
- With truth: hits among the released words. `chance` is then what the same adversary scores without looking at the
  release (always the prior's commonest word, or a draw from the prior); `best_prior`, which the loss floor uses, is the share
  of the truth's own commonest word, since no constant guess can do better than that.

Source: Xu, Aggarwal, Feyisetan, Teissier, "On a Utilitarian Approach to Privacy Preserving Text Generation" (2021),
whose inference attack follows Shokri, Theodorakopoulos, Le Boudec, Hubaux, "Quantifying Location Privacy" (2011).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Ids, check_exposure
from textveil.attacks.words.posterior import CountedPosterior, ExactPosterior, Floats
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput, BadParameter, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import choice, positive_integer

_BATCH = 16_384
_BOUND_LEVEL = 0.95


class BayesAttack(Estimator):
    """Guess words with Bayes' rule.

    Parameters
    ----------
    adversary
        "optimal" guesses the likeliest word; "sampling" draws its guess from the posterior.
    draws
        Runs of the mechanism from which the posterior is learnt and scored; unused with exact odds.
    bound_draws
        Noised points behind the upper bound; 0: none.

    Examples
    --------
    >>> from textveil.noise.source import secure
    >>> class Flip:   # two words, kept with chance 3/4
    ...     def odds(self, ids):
    ...         return np.array([[0.75, 0.25], [0.25, 0.75]])[ids]
    ...     def sample(self, ids, source):
    ...         return np.where(source.uniforms(len(ids)) < 0.75, ids, 1 - ids)
    >>> seen = WordsSeen(["yes", "no"], np.array([0.5, 0.5]), Flip())
    >>> found = BayesAttack().run(seen, rng=secure())
    >>> found.value, found.exact, round(found.epsilon_floor(), 4)   # ln 3
    (0.75, True, 1.0986)
    """

    name = "words.bayes"
    sees = WordsSeen
    needs: tuple[str, ...] = ()

    def __init__(self, adversary: str = "optimal", draws: int = 400_000, bound_draws: int = 2_000):
        self.adversary = adversary
        self.draws = draws
        self.bound_draws = bound_draws

    def run(self, exposure: WordsSeen, *, rng: Any) -> Evidence:
        self._check(exposure)
        if exposure.draws is not None:
            return replace(self._score_truth(exposure, *exposure.draws, rng), unit=exposure.unit)
        evidence = replace(self._expect(exposure, rng), unit=exposure.unit)
        upper = self._upper(exposure, rng)
        if upper is None:
            return evidence
        note = (
            "`upper` holds for words drawn from the public prior: no adversary who sees one word at a time is right more "
            "often on average over such words (95 % limit); on another text he may be"
        )
        return replace(evidence, upper=upper, notes=(*evidence.notes, note))

    def _check(self, exposure: WordsSeen) -> None:
        choice("adversary", self.adversary, ("optimal", "sampling"))
        if positive_integer("draws", self.draws) < 2:
            raise BadParameter("draws", self.draws, "2 or more: one half to learn from, one to score")
        if self.bound_draws:
            positive_integer("bound_draws", self.bound_draws)
        check_exposure(self, exposure)
        if exposure.truth is not None and len(exposure.truth) == 0:
            raise BadInput("there is no released word to guess")

    def _expect(self, exposure: WordsSeen, rng: Any) -> Evidence:
        """Success to be expected on words that follow the public prior."""
        prior = exposure.word_chances
        guess_blindly = float(prior.max() if self.adversary == "optimal" else (prior**2).sum())
        if hasattr(exposure.channel, "odds"):
            exact = ExactPosterior(exposure.channel, prior)
            value = exact.success_of_best if self.adversary == "optimal" else exact.success_of_draw
            notes = (self._who(), "computed from exact odds under the public prior")
            return self._evidence(min(1.0, value), guess_blindly, 0, 0, float(prior.max()), notes)
        inputs, outputs = self._run_mechanism(exposure, rng)
        half = self.draws // 2
        posterior = CountedPosterior(inputs[:half], outputs[:half], prior)
        guesses = self._guess(posterior, outputs[half:], rng)
        hits, tries = int(np.count_nonzero(guesses == inputs[half:])), self.draws - half
        notes = (self._who(), f"expected under the public prior; learnt from {half} runs, scored on {tries} others")
        return self._evidence(hits / tries, guess_blindly, hits, tries, float(prior.max()), notes)

    def _score_truth(self, exposure: WordsSeen, observed: Ids, truth: Ids, rng: Any) -> Evidence:
        """Success on the words of this release."""
        prior = exposure.word_chances
        if hasattr(exposure.channel, "odds"):
            posterior: ExactPosterior | CountedPosterior = ExactPosterior(exposure.channel, prior)
        else:
            posterior = CountedPosterior(*self._run_mechanism(exposure, rng), prior)
        hits = int(np.count_nonzero(self._guess(posterior, observed, rng) == truth))
        best = float(np.bincount(truth + 1).max() / len(truth))  # words outside the vocabulary count as one
        notes = (self._who(), "scored on the true words of this release; chance: the same guesser without the release")
        return self._evidence(hits / len(truth), self._blind_score(prior, truth), hits, len(truth), best, notes)

    def _blind_score(self, prior: Floats, truth: Ids) -> float:
        """What the guesser scores on these words when it knows the public prior and nothing else."""
        if self.adversary == "optimal":
            return float(np.mean(truth == int(np.argmax(prior))))
        return float(np.where(truth >= 0, prior[truth], 0.0).mean())

    def _guess(self, posterior: ExactPosterior | CountedPosterior, outputs: Ids, rng: Any) -> Ids:
        return posterior.best(outputs) if self.adversary == "optimal" else posterior.draw(outputs, rng)

    def _run_mechanism(self, exposure: WordsSeen, rng: Any) -> tuple[Ids, Ids]:
        """Pairs of a word drawn from the prior and what the mechanism makes of it."""
        inputs = draw_words(exposure.word_chances, self.draws, rng)
        outputs = np.empty_like(inputs)
        for start in range(0, self.draws, _BATCH):
            batch = slice(start, min(start + _BATCH, self.draws))
            outputs[batch] = exposure.channel.sample(inputs[batch], rng)
        return inputs, outputs

    def _upper(self, exposure: WordsSeen, rng: Any) -> float | None:
        bound = getattr(exposure.channel, "posterior_bound", None)
        if bound is None or not self.bound_draws:
            return None
        largest = bound(draw_words(exposure.word_chances, self.bound_draws, rng), rng)
        margin = math.sqrt(math.log(1 / (1 - _BOUND_LEVEL)) / (2 * self.bound_draws))
        return min(1.0, float(np.mean(largest)) + margin)

    def _who(self) -> str:
        return f"{self.adversary} adversary, one word at a time"

    def _evidence(
        self, value: float, chance: float, hits: int, tries: int, best: float, notes: tuple[str, ...]
    ) -> Evidence:
        metric = "success" if self.adversary == "optimal" else "success of the sampling adversary"
        return Evidence(
            self.name, metric, value, chance, hits, tries, unit=Unit.WORD, best_prior=min(1.0, best), notes=notes
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.words.examples import words_told

        return AttackExample(cls(draws=4_000), words_told)


def draw_words(prior: Floats, count: int, rng: Any) -> Ids:
    """`count` words from the prior, by inversion; a word of chance 0 is never drawn."""
    steps = np.cumsum(prior)
    return np.searchsorted(steps / steps[-1], rng.uniforms(count), side="right").astype(np.int64)
