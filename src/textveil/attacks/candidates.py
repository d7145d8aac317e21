"""For each released word, the inputs that may have given it: the k likeliest under a law q, with their odds f(y | x).

Exact. Where the channel's odds can be written down, the k largest of q(x) f(y | x), found in blocks of rows.

Learnt. The mechanism is public, so the adversary runs it: half of the runs spread evenly over the vocabulary, so that no
word's odds rest on luck, half drawn from q, so that the odds of frequent words are sharp. With c(x, y) the runs from x
that gave y and n(x) all runs from x,

    f(y | x) ~ (c(x, y) + K s [x = y]) / (n(x) + K),

s being the share of all runs that stayed: a Dirichlet prior worth K runs, of which all that is known without looking is how
often words stay. The released word itself is always among its candidates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .exposure import Channel, Ids
from .words_bayes import draw_words

Floats = NDArray[np.float64]
_CELLS = 4_000_000  # doubles held at once
_BATCH = 16_384
_PRIOR_RUNS = 4.0


class Candidates(NamedTuple):
    """Row y: the candidate inputs of output y and f(y | x); places that are not used have odds 0."""

    words: Ids
    odds: Floats


def exact_candidates(channel: Channel, law: Floats, k: int) -> Candidates:
    """The best k inputs of each output from the channel's exact odds."""
    words = len(law)
    k = min(k, words)
    best, joint, odds = (np.zeros((words, 0), dtype=t) for t in (np.int64, np.float64, np.float64))
    rows = max(k, _CELLS // words)
    for start in range(0, words, rows):
        ids = np.arange(start, min(start + rows, words))
        block = np.asarray(channel.odds(ids)).T  # type: ignore[attr-defined]
        best = np.hstack([best, np.broadcast_to(ids, block.shape)])
        joint, odds = np.hstack([joint, block * law[ids]]), np.hstack([odds, block])
        keep = np.argsort(-joint, axis=1, kind="stable")[:, :k]
        best, joint, odds = (np.take_along_axis(part, keep, axis=1) for part in (best, joint, odds))
    return Candidates(best, odds)


def learnt_candidates(channel: Channel, law: Floats, k: int, draws: int, rng: Any, progress: Any = None) -> Candidates:
    """The best k inputs of each output from `draws` runs of the mechanism."""
    words = len(law)
    inputs = np.concatenate([np.arange(draws // 2) % words, draw_words(law, draws - draws // 2, rng)])
    outputs = np.empty_like(inputs)
    for start in range(0, draws, _BATCH):
        outputs[start : start + _BATCH] = channel.sample(inputs[start : start + _BATCH], rng)
        if progress is not None:
            progress(min(start + _BATCH, draws), draws)
    own = np.arange(words)
    pairs, counts = np.unique(np.concatenate([outputs * words + inputs, own * words + own]), return_counts=True)
    out, inp = np.divmod(pairs, words)
    stayed = inp == out
    counts = counts - stayed  # one of those was not a run: it only made sure that the word itself is there
    stay = counts[stayed].sum() / draws
    odds = (counts + _PRIOR_RUNS * stay * stayed) / (np.bincount(inputs, minlength=words)[inp] + _PRIOR_RUNS)
    return _top(out, inp, odds, law, k)


def _top(out: Ids, inp: Ids, odds: Floats, law: Floats, k: int) -> Candidates:
    """Of triples (output, input, odds) the k of largest joint odds for each output, the output itself always kept."""
    words = len(law)
    score = np.where(inp == out, np.inf, law[inp] * odds)
    order = np.lexsort((-score, out))
    out, inp, odds = out[order], inp[order], odds[order]
    first = np.searchsorted(out, np.arange(words))
    rank = np.arange(len(out)) - first[out]
    kept = rank < k
    table = Candidates(np.zeros((words, k), dtype=np.int64), np.zeros((words, k)))
    table.words[out[kept], rank[kept]] = inp[kept]
    table.odds[out[kept], rank[kept]] = odds[kept]
    return table
