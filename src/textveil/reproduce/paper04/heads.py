"""Paper 04: the score of each task."""

from __future__ import annotations

import numpy as np


def score_of(task: str, said: np.ndarray, y: np.ndarray) -> float:
    """The task's own score: Matthews' correlation (CoLA), Pearson's (STS-B), else accuracy."""
    if task == "STS-B":
        spread = said[:, 0].std()
        return 0.0 if spread < 1e-9 else float(np.corrcoef(said[:, 0], y[:, 0])[0, 1])
    guess, truth = said.argmax(1), y.argmax(1)
    if task != "CoLA":
        return float((guess == truth).mean())
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(truth, guess))
