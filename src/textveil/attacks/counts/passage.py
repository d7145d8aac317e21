"""Was this passage in the document? A test of two worlds, and the search for the one document with a unique phrase.

Passage. World 1 is a document, world 0 the same document without a passage of N words. The adversary knows both and the
noise, sees one released row, and says which world it came from: the likelihood-ratio test, which no other test beats at
even odds (Neyman and Pearson). Claim of the defence: its success is at most e^eps / (1 + e^eps), eps the loss at the
distance of the two worlds. The bound is nearly reached by N copies of one word, and far from reached by N different ones when
negatives are clamped.

Phrase. The adversary knows a phrase that only one document holds, and the whole released table, and names the document.
Counts have lost the order of words, so the phrase is a bag of words. The row that gains most likelihood by it is named.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from textveil.attacks.counts.channel import CountChannel
from textveil.attacks.counts.seen import CountsSeen
from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import TwoWorlds, check_exposure, needed
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive_integer

_ROWS_AT_ONCE = 2_000_000  # cells


class PassageAttack(Estimator):
    """Tell a document from the same document without a passage.

    `channel.documents` holds the two worlds: without, with.

    Parameters
    ----------
    tries
        How many releases are judged.

    Examples
    --------
    >>> from textveil.noise import secure
    >>> worlds = CountChannel(0.1, np.array([[0, 3], [10, 3]]))
    >>> found = PassageAttack(tries=4000).run(TwoWorlds(worlds), rng=secure())
    >>> found.distance, round(found.upper, 3), found.value <= found.upper + 0.05
    (10.0, 0.731, True)
    """

    name = "counts.passage"
    sees = TwoWorlds
    needs: tuple[str, ...] = ()

    def __init__(self, tries: int = 20_000):
        self.tries = tries

    def run(self, exposure: TwoWorlds, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        tries, channel = positive_integer("tries", self.tries), exposure.channel
        if not isinstance(channel, CountChannel) or len(channel.documents) != 2:
            raise BadInput("the passage attack compares two worlds: a document without and with the passage")
        truth = rng.below(2, tries)
        hits = 0
        step = max(1, _ROWS_AT_ONCE // channel.documents.shape[1])
        for start in range(0, tries, step):
            worlds = truth[start : start + step]
            odds = channel.log_odds(channel.sample(worlds, rng))
            gain = odds[:, 1] - odds[:, 0]
            guess = np.where(gain == 0, rng.below(2, len(worlds)), gain > 0)
            hits += int(np.count_nonzero(guess == worlds))
        distance = channel.largest_distance
        bound = 1 / (1 + math.exp(-channel.rate * distance))
        notes = (
            "likelihood-ratio test of the document with and without the passage, on fresh runs of the public mechanism",
            "no test can exceed `upper`, which is e^eps / (1 + e^eps) at this distance",
        )
        return Evidence(
            self.name, "success", hits / tries, 0.5, hits, tries, Unit.DOCUMENT, distance, upper=bound, notes=notes
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.counts.examples import passages_told

        return AttackExample(cls(tries=2_000), passages_told)


class PhraseAttack(Estimator):
    """Name the document that holds a unique phrase.

    `channel.released` is the released table, `phrases` holds one phrase per row (as counts), and `truth` the numbers of
    the documents that hold them.

    >>> from textveil.attacks.exposure import Owners
    >>> from textveil.noise import secure
    >>> phrases = np.array([[2, 0, 0], [0, 0, 2]])
    >>> table = CountChannel(9.0, phrases, released=np.array([[0, 1, 2], [2, 1, 0], [0, 3, 0]]))
    >>> seen = CountsSeen(table, phrases=phrases, truth=Owners(np.array([1, 0])))
    >>> PhraseAttack().run(seen, rng=secure()).hits
    2
    """

    name = "counts.phrase"
    sees = CountsSeen
    needs: tuple[str, ...] = ("phrases",)

    def run(self, exposure: CountsSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        phrases, truth = (
            needed(self, "phrases", exposure.phrases),
            needed(self, "the truth to score it", exposure.truth),
        )
        channel = replace(exposure.channel, documents=phrases)
        if channel.released is None or len(channel.released) == 0 or len(phrases) == 0:
            raise BadInput("the phrase attack needs released rows and phrases to look for")
        odds = channel.log_odds(channel.released)  # rows x phrases
        tie = rng.permutation(len(odds))  # equal rows are named at random
        guesses = tie[odds[tie].argmax(axis=0)]
        hits, tries = int(np.count_nonzero(guesses == truth.ids)), len(truth)
        notes = ("likeliest row of the released table for each unique phrase; order of words is not used",)
        distance = float(2 * channel.documents.sum(axis=1).max())  # the phrase moves from one document to another
        return Evidence(
            self.name, "success", hits / tries, 1 / len(odds), hits, tries, Unit.DOCUMENT, distance, notes=notes
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.counts.examples import phrases_told

        return AttackExample(cls(), phrases_told)
