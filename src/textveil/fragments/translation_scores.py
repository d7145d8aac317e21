"""BLEU and chrF of translations (sacreBLEU), their lengths, and the interval of a gain by paired bootstrap over sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from textveil.core.params import needs

RESAMPLED = 500


def scores(outputs: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """BLEU, chrF, words a sentence, and how long outputs are beside the references.

    >>> shown = scores(["a small house stands here"], ["a small house stands here"])
    >>> round(shown["bleu"]), shown["length_ratio"]
    (100, 1.0)
    """
    needs("fragments", "sacrebleu")
    import sacrebleu

    words, wanted = sum(len(o.split()) for o in outputs), sum(len(r.split()) for r in references)
    return {
        "bleu": float(sacrebleu.corpus_bleu(list(outputs), [list(references)]).score),
        "chrf": float(sacrebleu.corpus_chrf(list(outputs), [list(references)]).score),
        "words": words / max(len(outputs), 1),
        "length_ratio": words / max(wanted, 1),
    }


def bleu_gain(before: Sequence[str], after: Sequence[str], references: Sequence[str], seed: int = 0) -> dict[str, Any]:
    """BLEU after less BLEU before, with the 95 % interval over sentences drawn again."""
    needs("fragments", "sacrebleu")
    from sacrebleu.metrics import BLEU

    metric = BLEU()
    sums = [np.array(metric._extract_corpus_statistics(list(texts), [list(references)])) for texts in (before, after)]

    def gain(places: np.ndarray) -> float:
        first, second = (metric._compute_score_from_stats(s[places].sum(axis=0).tolist()).score for s in sums)
        return float(second - first)

    rng, every = np.random.default_rng(seed), np.arange(len(references))
    drawn = [gain(rng.integers(len(references), size=len(references))) for _ in range(RESAMPLED)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return {"gain": gain(every), "interval": [float(low), float(high)]}


__all__ = ["bleu_gain", "scores"]
