"""Recognisers that are nets. Training takes most of the study: the small scale cuts what they learn from and are tested on.

`most` examples, drawn by the seed, stand for all (0: all of them). With such a cut only sentences with an entity are read, so
other mentions of a name are looked for among these alone; without it, all text is read, as for the CRF.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .models import MODELS
from .recognisers import _tested, readings, test_sentences, training_sentences

SHORT = ("articles", "development", "automatic", "manual")


def net_recogniser(
    data: Path,
    *,
    model: str,
    labels: str,
    biographies: int,
    most: int,
    epochs: int,
    batch: int,
    rate: float,
    pieces: int,
    seed: int,
) -> dict[str, Any]:
    """Table 5 for a net: trained on automatic labels, and its scores by reading and test."""
    sentences = training_sentences(data, labels, biographies)
    order = np.random.default_rng(seed).permutation(len(sentences))[: most or None]
    learnt = [sentences[n].example(True) for n in order]
    tag = MODELS[model](data, learnt, epochs=epochs, batch=batch, rate=rate, pieces=pieces, seed=seed)
    tests = {name: own for name, own in test_sentences(data).items() if name in SHORT or not most}
    distinct = {(s.document, s.number): s for own in tests.values() for s in own}
    read = readings(list(distinct.values()), tag)
    scores = {name: {test: _tested(own, tags) for test, own in tests.items()} for name, tags in read.items()}
    return {"examples": len(learnt), **scores}


__all__ = ["net_recogniser"]
