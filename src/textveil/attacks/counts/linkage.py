"""Whose document is this row? Link released rows to candidate documents that the adversary holds.

The adversary has candidate documents (the originals, or what it knows of them: part of the words, an author's other texts)
and the noise law, and names for each released row the candidate of the largest likelihood: the best rule for equally likely
candidates. Two documents are usually much further apart than N counts, and the promise at distance D is eps * D / N: a high
success is in keeping with (N, eps), which protects passages and not whole documents. The evidence says so by its distance.

Source. Linkage by maximum likelihood: Narayanan and Shmatikov 2008, with the exact noise law in place of their score.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.counts.seen import CountsSeen
from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive_integer


class LinkageAttack(Estimator):
    """Match rows and documents.

    With `truth`: `channel.released[rows]` are matched and scored. Without: candidates are drawn, run through the public
    mechanism and matched.

    Parameters
    ----------
    tries
        How many documents are drawn where there is no truth.

    Examples
    --------
    >>> from textveil.attacks.counts.channel import CountChannel
    >>> from textveil.noise import secure
    >>> letters = CountChannel(0.5, np.array([[9, 0, 0], [0, 9, 0], [0, 0, 9]]))
    >>> LinkageAttack(tries=200).run(CountsSeen(letters), rng=secure()).value > 0.8
    True
    """

    name = "counts.linkage"
    sees = CountsSeen
    needs: tuple[str, ...] = ()

    def __init__(self, tries: int = 2_000):
        self.tries = tries

    def run(self, exposure: CountsSeen, *, rng: Any) -> Evidence:
        check_exposure(self, exposure)
        channel = exposure.channel
        if len(channel.documents) < 2:
            raise BadInput("the linkage attack needs counts of two candidate documents or more")
        if exposure.truth is not None and exposure.rows is not None and channel.released is not None:
            truth, rows = exposure.truth.ids, channel.released[exposure.rows]
            what = "scored on the released rows"
        else:
            truth = rng.below(len(channel.documents), positive_integer("tries", self.tries))
            rows, what = channel.sample(truth, rng), "expected for candidates drawn at random"
        if len(rows) == 0:
            raise BadInput("there is no released row to link")
        tie = rng.permutation(len(channel.documents))
        guesses = tie[channel.log_odds(rows)[:, tie].argmax(axis=1)]
        hits = int(np.count_nonzero(guesses == truth))
        notes = (
            f"likeliest of {len(tie)} candidates, {what}",
            "the distance is that of the two most different candidates",
        )
        return Evidence(
            self.name,
            "success",
            hits / len(rows),
            1 / len(tie),
            hits,
            len(rows),
            Unit.DOCUMENT,
            channel.largest_distance,
            notes=notes,
        )

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.counts.examples import rows_told

        return AttackExample(cls(), rows_told)
