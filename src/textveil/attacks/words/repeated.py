"""The same word several times: what one output hides, twenty may show.

The promise is about one occurrence of a word. Whoever knows that the same word stands in k places (a name through a
letter, a field that repeats) sees k independent draws from it, and their losses add: k epsilon d. This adversary adds up
what they tell: it guesses argmax_x ln pi(x) + sum_i ln f(y_i | x), the Bayes guess from all outputs together, over the
inputs that are likeliest for one of them (candidates). Where f(y_i | x) is not among the odds that are known, half of the
smallest one known for y_i is taken.

What is reported. Without truth: words drawn from the public prior, each released `occurrences` times. With truth: the
words that occur so often in the release, `occurrences` of their outputs at a time. With several occurrences no loss for
one of them follows, so `best_prior` is 1 and the floor 0: it measures exposure and refutes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Ids, check_exposure
from textveil.attacks.words.bayes import draw_words
from textveil.attacks.words.candidates import Candidates, Floats, exact_candidates, learnt_candidates
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive_integer


class RepeatedAttack(Estimator):
    """Guess words from `occurrences` outputs each.

    Parameters
    ----------
    occurrences
        How often each word occurs.
    tries
        Words that are drawn where there is no truth.
    candidates
        Inputs that are weighed for each output.
    draws
        Runs of the mechanism that teach its odds; unused with exact odds.

    Examples
    --------
    >>> class Flip:   # two words, kept with chance 3/4
    ...     def odds(self, ids):
    ...         return np.array([[0.75, 0.25], [0.25, 0.75]])[ids]
    ...     def sample(self, ids, source):
    ...         return np.where(source.uniforms(len(ids)) < 0.75, ids, 1 - ids)
    >>> from textveil.noise import secure
    >>> seen = WordsSeen(["yes", "no"], np.array([0.5, 0.5]), Flip())
    >>> RepeatedAttack(occurrences=21, tries=500).run(seen, rng=secure()).value > 0.95
    True
    """

    name = "words.repeated"
    sees = WordsSeen
    needs: tuple[str, ...] = ()

    def __init__(self, occurrences: int = 20, tries: int = 1_000, candidates: int = 32, draws: int = 400_000):
        self.occurrences, self.tries, self.candidates, self.draws = occurrences, tries, candidates, draws

    def run(self, exposure: WordsSeen, *, rng: Any) -> Evidence:
        for name in ("occurrences", "tries", "candidates", "draws"):
            positive_integer(name, getattr(self, name))
        check_exposure(self, exposure)
        prior = exposure.word_chances
        if exposure.released is None:
            secrets = draw_words(prior, self.tries, rng)
            outputs = np.asarray(exposure.channel.sample(np.repeat(secrets, self.occurrences), rng))
            where = "words drawn from the public prior"
        else:
            secrets, outputs = self._repeated(*exposure.released)
            where = "words of this release that occur so often"
        guesses = guess_repeated(outputs.reshape(-1, self.occurrences), self._table(exposure, prior, rng), prior)
        return self._evidence(secrets, guesses, prior, where)

    def _repeated(self, observed: Ids, truth: Ids) -> tuple[Ids, Ids]:
        """Words with as many of their outputs as are asked for, as often as that can be filled."""
        order = np.argsort(truth, kind="stable")
        if self.occurrences > 1:
            order = order[truth[order] >= 0]  # words outside the vocabulary are not known to be the same
        words, counts = np.unique(truth[order], return_counts=True)
        whole = counts // self.occurrences
        rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        used = order[rank < np.repeat(whole * self.occurrences, counts)]
        if len(used) == 0:
            raise BadInput(f"no word of the release occurs {self.occurrences} times")
        return np.repeat(words, whole), observed[used]

    def _table(self, exposure: WordsSeen, prior: Floats, rng: Any) -> Candidates:
        if hasattr(exposure.channel, "odds"):
            return exact_candidates(exposure.channel, prior, self.candidates)
        return learnt_candidates(exposure.channel, prior, self.candidates, self.draws, rng)

    def _evidence(self, secrets: Ids, guesses: Ids, prior: Floats, where: str) -> Evidence:
        hits, tries = int(np.count_nonzero(secrets == guesses)), len(secrets)
        alone = self.occurrences == 1
        notes = [f"{self.occurrences} outputs of each word are seen together; scored on {where}"]
        if not alone:
            notes.append(f"the promise is about one occurrence: {self.occurrences} of them lose as many times as much")
        return Evidence(
            self.name,
            f"success on words that occur {self.occurrences} times",
            hits / tries,
            float(np.mean(secrets == int(np.argmax(prior)))),
            hits,
            tries,
            unit=Unit.WORD,
            best_prior=float(np.unique(secrets, return_counts=True)[1].max() / tries) if alone else 1.0,
            notes=tuple(notes),
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on: single occurrences, where the success does bound the loss."""
        from textveil.attacks.words.examples import words_told

        return AttackExample(cls(occurrences=1, tries=1_000, draws=4_000), words_told)


def guess_repeated(outputs: Ids, table: Candidates, prior: Floats) -> Ids:
    """The likeliest input of each row of outputs."""
    with np.errstate(divide="ignore"):
        log_odds, log_prior = np.log(table.odds), np.log(np.maximum(prior, 1e-300))
    known = np.isfinite(log_odds)
    floor = np.where(known, log_odds, np.inf).min(axis=1) - np.log(2)
    gains = np.where(known, log_odds - floor[:, None], 0.0)
    guesses = np.empty(len(outputs), dtype=np.int64)
    for row, seen in enumerate(outputs):
        words, which = np.unique(table.words[seen], return_inverse=True)
        gained = np.bincount(which.ravel(), gains[seen].ravel(), minlength=len(words))
        guesses[row] = words[int((gained + log_prior[words]).argmax())]
    return guesses
