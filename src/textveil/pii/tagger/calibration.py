"""Scores that mean what they say: one temperature for all weights, fitted to documents that were held out.

The temperature is the one of a fixed row of them that gives the held-out tags the largest likelihood. `calibration_error`
is the mean gap between score and share of right findings, over ten bins of scores, weighted by findings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

TEMPERATURES = tuple(float(t) for t in np.geomspace(0.5, 4.0, 19))


def fit_temperature(chances_at: Callable[[float], np.ndarray], tags: np.ndarray) -> float:
    """The temperature under which the true tags are likeliest."""
    losses = [-np.log(chances_at(t)[np.arange(len(tags)), tags] + 1e-12).mean() for t in TEMPERATURES]
    return TEMPERATURES[int(np.argmin(losses))]


def calibration_error(scores: Sequence[float], right: Sequence[bool]) -> float:
    """
    >>> round(calibration_error([0.75] * 4, [True, True, True, False]), 3)
    0.0
    """
    if not len(scores):
        return 0.0
    s, r = np.asarray(scores), np.asarray(right, float)
    bins = np.minimum((s * 10).astype(int), 9)
    gaps = [abs(s[bins == b].mean() - r[bins == b].mean()) * (bins == b).sum() for b in np.unique(bins)]
    return float(sum(gaps) / len(s))


__all__ = ["calibration_error", "fit_temperature"]
