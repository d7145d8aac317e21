"""Made-up releases of counts, on which attacks are checked: with hardly any noise, or with far too much."""

from __future__ import annotations

import numpy as np

from textveil.attacks.counts.channel import CountChannel
from textveil.attacks.counts.seen import CountsSeen
from textveil.attacks.exposure import Owners, TwoWorlds
from textveil.noise import secure

RATES = {"all": 20.0, "nothing": 1e-7}
DOCUMENTS, WORDS = 40, 12


def passages_told(tells: str) -> TwoWorlds:
    """A document without and with three words."""
    return TwoWorlds(CountChannel(RATES[tells], np.array([[1, 0, 2], [4, 0, 2]]), clamp=False))


def rows_told(tells: str) -> CountsSeen:
    """Released rows of documents of which no two are alike."""
    documents, truth = _documents(), secure().permutation(DOCUMENTS)
    released = CountChannel(RATES[tells], documents, False).sample(truth, secure())
    channel = CountChannel(RATES[tells], documents, False, released)
    return CountsSeen(channel, rows=np.arange(DOCUMENTS), truth=Owners(truth))


def phrases_told(tells: str) -> CountsSeen:
    """A word that one document alone has, for each document."""
    phrases, order = 3 * np.eye(DOCUMENTS, dtype=np.int64), secure().permutation(DOCUMENTS)
    released = CountChannel(RATES[tells], phrases[order], False).sample(np.arange(DOCUMENTS), secure())
    channel = CountChannel(RATES[tells], phrases, False, released)
    return CountsSeen(channel, phrases=phrases, truth=Owners(np.argsort(order)))


def _documents() -> np.ndarray:
    documents = secure().below(4, (DOCUMENTS, WORDS))
    documents[:, 0] = np.arange(DOCUMENTS)
    return documents
