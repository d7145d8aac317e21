"""The centre of a word's outputs: where each output is a noisy point, their mean lies near the word's own point.

The adversary has public points of all words (vectors, or bits of codes) and k outputs of one word. With y the mean of their
points it guesses argmax_x -|x - y|^2 + t ln pi(x). For noise that is symmetric in that space the mean loses its noise
like 1/sqrt(k), so this finds words whose outputs were never seen together before, where learnt odds know nothing. How much
the prior counts (t) is tried out beforehand, on words drawn from the prior and run through the public mechanism; t = 0 is
among the choices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.exposure import Ids

Floats = NDArray[np.float64]
_SHARES = (0.0, 1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4)  # of the spread of scores, for each unit of ln pi
_ROWS = 128  # outputs whose scores for all words are held at once


class CentreRule:
    """Guesses by the centre of outputs, its weight of the prior chosen on a trial.

    >>> points = np.array([[0.0], [1.0], [2.0], [9.0]], dtype=np.float32)
    >>> rule = CentreRule(points, np.full(4, 0.25), np.array([[0, 2], [3, 3]]), np.array([1, 3]))
    >>> rule.guess(np.array([[0, 2, 1], [3, 3, 2]])).tolist()
    [1, 3]
    """

    def __init__(self, points: NDArray[Any], prior: Floats, outputs: Ids, secrets: Ids):
        self._points = np.asarray(points, dtype=np.float32)
        self._norms = (self._points**2).sum(axis=1)
        with np.errstate(divide="ignore"):
            self._log_prior = np.log(prior).astype(np.float32)  # words of chance 0 are never guessed
        self._weight = self._chosen(outputs, secrets)

    def guess(self, outputs: Ids) -> Ids:
        """The likeliest input of each row of outputs."""
        parts = [self._best(self._scores(outputs[i : i + _ROWS]), self._weight) for i in range(0, len(outputs), _ROWS)]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    def _chosen(self, outputs: Ids, secrets: Ids) -> float:
        right = np.zeros(len(_SHARES))
        spread = float(self._scores(outputs[:_ROWS]).std(axis=1).mean())
        for start in range(0, len(outputs), _ROWS):
            scores = self._scores(outputs[start : start + _ROWS])
            for i, share in enumerate(_SHARES):
                right[i] += np.count_nonzero(self._best(scores, share * spread) == secrets[start : start + _ROWS])
        return _SHARES[int(right.argmax())] * spread

    def _scores(self, outputs: Ids) -> NDArray[np.float32]:
        """-|x - y|^2 for all words x, up to a constant of each row."""
        centre = self._points[outputs].mean(axis=1)
        return 2 * centre @ self._points.T - self._norms

    def _best(self, scores: NDArray[np.float32], weight: float) -> Ids:
        bias = np.where(np.isfinite(self._log_prior), weight * self._log_prior, -np.inf) if weight else self._possible
        return np.asarray((scores + bias).argmax(axis=1), dtype=np.int64)

    @property
    def _possible(self) -> NDArray[np.float32]:
        return np.where(np.isfinite(self._log_prior), np.float32(0), np.float32(-np.inf))
