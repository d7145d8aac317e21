"""From weights to spans: the best label sequence of each paragraph, and what tokens and spans score.

The margin of a token is the score of the best labelling of its paragraph that gives the token a label other than "O", less
that of the best one that leaves it out (max-marginals). It is above 0 exactly where Viterbi's path has a label there,
ties aside, so that one number serves users as a score and attackers as a signal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textveil.hashed.features import Slots
from textveil.hashed.segments import Tokens
from textveil.hashed.table import WeightTable
from textveil.text.chain import has_numba, slow_emissions, slow_viterbi


class Span(NamedTuple):
    """text[start:end] was found to be a `label`; the score is its mean margin per token.

    A span that grew to its sentence holds tokens that were not found themselves, so its score may lie below 0.
    """

    start: int
    end: int
    label: str
    score: float


class Decoded(NamedTuple):
    labels: np.ndarray  # uint8, one per token
    margins: np.ndarray  # float32, one per token


def decode(slots: Slots, bounds: np.ndarray, table: WeightTable) -> Decoded:
    """Labels and margins of all tokens; `bounds` are the tokens at which sequences begin, and the end."""
    if has_numba():
        from textveil.text.chain_kernel import decode_all

        labels, through = decode_all(
            slots.indices, slots.starts, bounds.astype(np.int64), table.weights, table.transitions.astype(np.float64)
        )
    else:
        labels, through = _slow_decode(slots, bounds, table)
    return Decoded(labels, through[:, 1:].max(axis=1) - through[:, 0])


def spans_of(tokens: Tokens, labels: np.ndarray, margins: np.ndarray, names: tuple[str, ...]) -> list[Span]:
    """Runs of one label inside a paragraph."""
    if not labels.any():
        return []
    breaks = np.zeros(len(labels), bool)
    breaks[tokens.paragraphs[:-1]] = True
    breaks[1:] |= labels[1:] != labels[:-1]
    begins = np.flatnonzero(breaks)
    ends = np.append(begins[1:], len(labels))
    return [
        Span(int(tokens.starts[a]), int(tokens.ends[b - 1]), names[labels[a]], float(margins[a:b].mean()))
        for a, b in zip(begins.tolist(), ends.tolist(), strict=True)
        if labels[a]
    ]


def _slow_decode(slots: Slots, bounds: np.ndarray, table: WeightTable) -> tuple[np.ndarray, np.ndarray]:
    steps = table.transitions.astype(np.float64)
    labels = np.zeros(len(slots.starts) - 1, np.uint8)
    through = np.zeros((len(labels), len(table.labels)), np.float32)
    for first, last in zip(bounds.tolist(), bounds[1:].tolist(), strict=False):
        scores = slow_emissions(slots.indices, slots.starts, first, last, table.weights)
        labels[first:last] = slow_viterbi(scores, steps)
        before, after = scores.copy(), np.zeros(scores.shape)
        for t in range(1, len(scores)):
            before[t] += (before[t - 1][:, None] + steps).max(axis=0)
            back = len(scores) - 1 - t
            after[back] = (steps + scores[back + 1] + after[back + 1]).max(axis=1)
        through[first:last] = before + after - before[-1].max()
    return labels, through
