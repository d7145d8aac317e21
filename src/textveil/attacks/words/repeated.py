"""The same word several times: what one output hides, twenty may show.

The promise is about one occurrence of a word. Whoever knows that the same word stands in k places (a name through a
letter, a field that repeats) sees k independent draws from it, and their losses add: k epsilon d. This adversary adds up
what they tell: it guesses argmax_x ln pi(x) + sum_i ln f(y_i | x), the Bayes guess from all outputs together, over the
inputs that are likeliest for one of them (candidates). Where f(y_i | x) is not among the odds that are known, half of the
smallest one known for y_i is taken. Where the channel has public points, the word nearest to the centre of the outputs is a
second rule (centre.py); on a trial with words of its own the adversary finds out which of the two is right more often.

Where a text draws each of its words once (`once=True` of a mechanism), its k outputs of a word are one draw, and repeats in
that text show nothing more: the guess is that from one output. In k texts the word is drawn k times, and `across` shows what
that gives away; `variants` has both run.

What is reported. Without truth: words drawn from the public prior, each released `occurrences` times. With truth: the
words that occur so often in the release, `occurrences` of their outputs at a time. With several occurrences no loss for
one of them follows, so `best_prior` is 1 and the floor 0: it measures exposure and refutes nothing. One draw is held against
the promise like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Ids, check_exposure, needed
from textveil.attacks.words.bayes import draw_words
from textveil.attacks.words.candidates import Candidates, Floats, exact_candidates, learnt_candidates
from textveil.attacks.words.centre import CentreRule
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive_integer

_TRIAL = 512  # words to choose the weight of the prior with, and as many to choose the rule


class RepeatedAttack(Estimator):
    """Guess words from `occurrences` outputs each.

    Parameters
    ----------
    occurrences
        How often each word occurs.
    across
        Count texts in which a word stands, and not its places in one text. It makes no difference where each occurrence is
        drawn by itself.
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

    def __init__(
        self,
        occurrences: int = 20,
        tries: int = 1_000,
        candidates: int = 32,
        draws: int = 400_000,
        across: bool = False,
    ):
        self.occurrences, self.tries, self.candidates, self.draws = occurrences, tries, candidates, draws
        self.across = across

    @staticmethod
    def variants(exposure: WordsSeen) -> tuple[dict[str, Any], ...]:
        """In one text and in many, where that makes a difference."""
        return ({}, {"across": True}) if exposure.unit is Unit.DOCUMENT_TERM else ({},)

    def run(self, exposure: WordsSeen, *, rng: Any) -> Evidence:
        for name in ("occurrences", "tries", "candidates", "draws"):
            positive_integer(name, getattr(self, name))
        check_exposure(self, exposure)
        prior, one_draw = exposure.word_chances, self._is_one_draw(exposure)
        seen = 1 if one_draw else self.occurrences  # outputs that tell something by themselves
        if exposure.released is None:
            secrets = draw_words(prior, self.tries, rng)
            outputs = np.asarray(exposure.channel.sample(np.repeat(secrets, seen), rng))
            where = "words drawn from the public prior"
        else:
            secrets, outputs = self._repeated(exposure)
            where = "words of this release that occur so often"
        guess, rule = self._rule(exposure, prior, seen, rng)
        return self._evidence(exposure, secrets, guess(outputs.reshape(-1, seen)), prior, f"{where}, {rule}")

    def _rule(self, exposure: WordsSeen, prior: Floats, seen: int, rng: Any) -> tuple[Callable[[Ids], Ids], str]:
        """How guesses are made, and a phrase for it."""
        table = self._table(exposure, prior, rng)

        def by_odds(outputs: Ids) -> Ids:
            return guess_repeated(outputs, table, prior)

        points = getattr(exposure.channel, "points", None)
        if points is None:
            return by_odds, "by the odds of the mechanism"
        secrets = draw_words(prior, 2 * _TRIAL, rng)
        outputs = np.asarray(exposure.channel.sample(np.repeat(secrets, seen), rng)).reshape(-1, seen)
        centre = CentreRule(points, prior, outputs[:_TRIAL], secrets[:_TRIAL])
        rules = {"by the odds of the mechanism": by_odds, "by the centre of the outputs": centre.guess}
        right = {name: np.count_nonzero(rule(outputs[_TRIAL:]) == secrets[_TRIAL:]) for name, rule in rules.items()}
        best = max(right, key=lambda name: right[name])
        return rules[best], best

    def _is_one_draw(self, exposure: WordsSeen) -> bool:
        """Whether the outputs that are taken together come from one draw."""
        return self.occurrences == 1 or (exposure.unit is Unit.DOCUMENT_TERM and not self.across)

    def _repeated(self, exposure: WordsSeen) -> tuple[Ids, Ids]:
        """Words with as many of their outputs as are asked for, as often as that can be filled."""
        if exposure.unit is Unit.DOCUMENT_TERM and not self.across:
            return self._repeated_in_one_text(exposure)
        observed, truth = needed(self, "the released words", exposure.draws)
        order = np.argsort(truth, kind="stable")
        if self.occurrences > 1:
            order = order[truth[order] >= 0]  # words outside the vocabulary are not known to be the same
        words, counts = np.unique(truth[order], return_counts=True)
        whole = counts // self.occurrences
        rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        used = order[rank < np.repeat(whole * self.occurrences, counts)]
        if len(used) == 0:
            where = " in as many texts" if self.across else ""
            raise BadInput(f"no word of the release occurs {self.occurrences} times{where}")
        return np.repeat(words, whole), observed[used]

    def _repeated_in_one_text(self, exposure: WordsSeen) -> tuple[Ids, Ids]:
        """Words that stand so often in a text that drew them once, and what they became there."""
        observed, truth = needed(self, "the released words", exposure.released)
        documents = needed(self, "documents", exposure.documents)
        places = np.flatnonzero((truth >= 0) & ~exposure.passes(truth))
        keys = np.stack([documents[places], truth[places]])
        _, first, counts = np.unique(keys, axis=1, return_index=True, return_counts=True)
        used = places[first[counts >= self.occurrences]]
        if len(used) == 0:
            raise BadInput(f"no word of the release occurs {self.occurrences} times in one text")
        return truth[used], observed[used]

    def _table(self, exposure: WordsSeen, prior: Floats, rng: Any) -> Candidates:
        if hasattr(exposure.channel, "odds"):
            return exact_candidates(exposure.channel, prior, self.candidates)
        return learnt_candidates(exposure.channel, prior, self.candidates, self.draws, rng)

    def _evidence(self, exposure: WordsSeen, secrets: Ids, guesses: Ids, prior: Floats, where: str) -> Evidence:
        hits, tries, one_draw = int(np.count_nonzero(secrets == guesses)), len(secrets), self._is_one_draw(exposure)
        many, once = f"{self.occurrences} times", exposure.unit is Unit.DOCUMENT_TERM
        occur = f"in {self.occurrences} texts" if self.across and once else f"{many} in one text" if once else many
        return Evidence(
            self.name,
            f"success on words that occur {occur}",
            hits / tries,
            float(np.mean(secrets == int(np.argmax(prior)))),
            hits,
            tries,
            unit=exposure.unit,
            best_prior=float(np.unique(secrets, return_counts=True)[1].max() / tries) if one_draw else 1.0,
            notes=(f"the outputs of each word are seen together; scored on {where}", *self._why(exposure)),
        )

    def _why(self, exposure: WordsSeen) -> tuple[str, ...]:
        if self.occurrences == 1:
            return ()
        if exposure.unit is not Unit.DOCUMENT_TERM:
            return (f"the promise is about one occurrence: {self.occurrences} of them lose as many times as much",)
        if self.across:
            return (f"each text draws a word anew: {self.occurrences} texts lose as many times as much",)
        return ("a text draws each word once, so that its repeats show no more than one output does",)

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
