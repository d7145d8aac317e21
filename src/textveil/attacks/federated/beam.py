"""Beam search (paper 05): from its first word alone, is a canary among the few likeliest continuations?

The attacker knows one word and writes on: of all continuations by one word of the beginnings kept, the `width` likeliest are
kept, until there are as many words as the canary has. It is greedy, as in the paper: a likelier sequence whose beginning is
unlikely is not found. All canaries go through the model together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import check_exposure
from textveil.attacks.federated.secret_sharer import by_configuration, canary_rows
from textveil.attacks.federated.seen import NextLogs, NextWordsSeen, Rows
from textveil.core import BadInput, Estimator, Unit
from textveil.core.example import AttackExample
from textveil.core.params import positive_integer

PREFIX = 1


def beams(next_logs: NextLogs, first: Rows, length: int, width: int = 5) -> Rows:
    """(first words, width, length): the sequences kept, the likeliest first.

    >>> chain = np.log(np.array([[0.1, 0.6, 0.3], [0.2, 0.2, 0.6], [0.8, 0.1, 0.1]]))
    >>> beams(lambda rows: chain[rows[:, -1]], np.array([0]), 3, 2)[0].tolist()
    [[0, 1, 2], [0, 2, 0]]
    """
    kept, scores = first[:, None, None], np.zeros((len(first), 1))
    while kept.shape[2] < length:
        count, beam, known = kept.shape
        logs = np.asarray(next_logs(kept.reshape(-1, known)), dtype=np.float64)
        if not np.all(np.isfinite(logs)):
            raise BadInput("the model gives a chance that is not a number")
        words = logs.shape[1]
        total = (scores[:, :, None] + logs.reshape(count, beam, words)).reshape(count, -1)
        best = np.argsort(-total, axis=1, kind="stable")[:, :width]
        scores = np.take_along_axis(total, best, axis=1)
        begun = np.take_along_axis(kept, (best // words)[:, :, None], axis=1)
        kept = np.concatenate([begun, (best % words)[:, :, None]], axis=2)
    return kept


class BeamSearchAttack(Estimator):
    """Write on from the first word of every canary.

    Parameters
    ----------
    width
        Continuations that are kept, and that the canary must be among.
    unit
        Whose promise is tested: "user".
    """

    name = "federated.beam_search"
    sees = NextWordsSeen
    needs: tuple[str, ...] = ()

    def __init__(self, width: int = 5, unit: str = "user"):
        self.width, self.unit = width, unit

    def run(self, exposure: NextWordsSeen, *, rng: Any) -> Evidence:
        extracted = self.extracted(exposure)
        planted, hits = exposure.canaries.canaries, int(extracted.sum())
        return Evidence(
            self.name,
            f"canaries in the {self.width} likeliest continuations of their first word",
            hits / len(planted),
            min(1.0, self.width * float(len(exposure.words)) ** -(len(planted[0].words) - PREFIX)),
            hits,
            len(planted),
            unit=Unit(self.unit),
            group=max(c.sharers for c in planted),
            dependent=True,
            notes=tuple(by_configuration(planted, extracted)),
        )

    def extracted(self, exposure: NextWordsSeen) -> np.ndarray:
        """Which canaries were written out."""
        check_exposure(self, exposure)
        rows = canary_rows(exposure)
        written = beams(exposure.next_logs, rows[:, 0], rows.shape[1], positive_integer("width", self.width))
        return (written == rows[:, None, :]).all(2).any(1)

    @classmethod
    def example(cls) -> AttackExample:
        """What the conformance suite checks it on."""
        from textveil.attacks.federated.examples import shared_told

        return AttackExample(cls(), shared_told)
