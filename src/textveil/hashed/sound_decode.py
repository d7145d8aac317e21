"""How a sound table is applied: sentence by sentence.

A sentence scores <w, x> - offset, its log-odds of being a clause. The best sentence of a document is taken from -alone
upwards and any other from -among upwards: most clauses stand once in a contract, so the best candidate needs less. These are
public constants, and looking at the whole of the *new* document costs nothing: it is not the private one.
"""

from __future__ import annotations

import numpy as np

from textveil.hashed.decode import Decoded
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import Tokens
from textveil.hashed.sound_features import Rows, rows_of
from textveil.hashed.sound_plan import SoundPlan
from textveil.hashed.table import SOUND, WeightTable


def decode_sentences(tokens: Tokens, plan: FeaturePlan, table: WeightTable) -> Decoded:
    """Labels and margins of all tokens; a margin is above 0 where the sentence is taken."""
    sound = SoundPlan.from_json(table.facts[SOUND])
    margins = sentence_margins(rows_of(tokens, plan, sound.rows), table.weights, sound)
    spread = np.repeat(margins, np.diff(tokens.sentences)).astype(np.float32)
    return Decoded((spread > 0).astype(np.uint8), spread)


def sentence_margins(rows: Rows, weights: np.ndarray, plan: SoundPlan) -> np.ndarray:
    """How far each sentence of a document is above what it takes to be found."""
    if not len(rows):
        return np.zeros(0)
    difference = weights[rows.slots, 1].astype(np.float64) - weights[rows.slots, 0]
    scores = np.add.reduceat(np.append(difference * rows.values, 0.0), rows.starts[:-1])
    scores[np.diff(rows.starts) == 0] = 0.0  # reduceat gives an empty row its neighbour's first value
    return taken_from(scores - plan.offset, plan)


def taken_from(odds: np.ndarray, plan: SoundPlan) -> np.ndarray:
    """Log-odds above their threshold, for the sentences of one document.

    >>> taken_from(np.array([-1.0, -0.6, 0.0]), SoundPlan(alone=2.0, among=0.5)).tolist()
    [-0.5, -0.09999999999999998, 2.0]
    """
    best = np.arange(len(odds)) == np.argmax(odds)
    return odds + np.where(best, max(plan.alone, plan.among), plan.among)
