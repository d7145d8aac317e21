"""For each released word, the inputs that may have given it: the k likeliest under a law q, with their odds f(y | x).

Exact. Where the channel's odds can be written down, the k largest of q(x) f(y | x), found in blocks of rows.

Learnt. The mechanism is public, so the adversary runs it: half of the runs spread evenly over the vocabulary, so that no
word's odds rest on luck, half drawn from q, so that the odds of frequent words are sharp. Let c of the n runs from x have
given y. The share c / n is a poor estimate for the many pairs that were seen once: those that were seen are the lucky
ones. So shares are corrected by held-out estimation. The runs are split in two at random; over all pairs with c of n in one
half, the share found in the other half tells what "c of n" is worth. Pairs x = y are a class of their own, because many
words stay, and for them c = 0 is estimated too: the released word itself is always among its candidates.

Source: Jelinek and Mercer (1985) for held-out estimation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.exposure import Ids
from textveil.attacks.words.bayes import draw_words
from textveil.attacks.words.seen import Channel

Floats = NDArray[np.float64]
_CELLS = 4_000_000  # doubles held at once
_BATCH = 16_384
_MOST, _SIZES = 8, 32  # counts from 8 on are one class; sizes are classed by powers of 2


class Candidates(NamedTuple):
    """Row y: the candidate inputs of output y and f(y | x); places that are not used have odds 0."""

    words: Ids
    odds: Floats


def exact_candidates(channel: Channel, law: Floats, k: int) -> Candidates:
    """The best k inputs of each output from the channel's exact odds."""
    words = len(law)
    k = min(k, words)
    best: Ids = np.zeros((words, 0), np.int64)
    joint: Floats = np.zeros((words, 0))
    odds: Floats = np.zeros((words, 0))
    rows = max(k, _CELLS // words)
    for start in range(0, words, rows):
        ids = np.arange(start, min(start + rows, words))
        block = np.asarray(channel.odds(ids)).T  # type: ignore[attr-defined]
        best = np.hstack([best, np.broadcast_to(ids, block.shape)])
        joint, odds = np.hstack([joint, block * law[ids]]), np.hstack([odds, block])
        keep = np.argsort(-joint, axis=1, kind="stable")[:, :k]
        best = np.take_along_axis(best, keep, axis=1)
        joint, odds = (np.take_along_axis(part, keep, axis=1) for part in (joint, odds))
    return Candidates(best, odds)


def learnt_candidates(channel: Channel, law: Floats, k: int, draws: int, rng: Any) -> Candidates:
    """The best k inputs of each output from `draws` runs of the mechanism."""
    words = len(law)
    inputs = np.concatenate([np.arange(draws // 2) % words, draw_words(law, draws - draws // 2, rng)])
    outputs = np.empty_like(inputs)
    for start in range(0, draws, _BATCH):
        outputs[start : start + _BATCH] = channel.sample(inputs[start : start + _BATCH], rng)
    half = rng.below(2, draws).astype(bool)
    own = np.arange(words) * (words + 1)
    pairs, place = np.unique(np.concatenate([own, outputs * words + inputs]), return_inverse=True)
    counts = np.stack([np.bincount(place[words:][side], minlength=len(pairs)) for side in (half, ~half)])
    sizes = np.stack([np.bincount(inputs[side], minlength=words) for side in (half, ~half)])
    out, inp = np.divmod(pairs, words)
    return _top(out, inp, _held_out(counts, sizes[:, inp], out == inp), law, k)


def _held_out(counts: NDArray[Any], sizes: NDArray[Any], stayed: NDArray[np.bool_]) -> Floats:
    """f(y | x) of each pair, from its counts and sizes in two halves of the runs, both of shape (2, pairs)."""
    found, foretold, runs = (np.zeros(2 * (_MOST + 1) * _SIZES) for _ in range(3))
    for here, there in ((0, 1), (1, 0)):
        usable = (sizes[here] > 0) & (sizes[there] > 0)
        group = _class(counts[here], sizes[here], stayed)[usable]
        share = counts[here][usable] / sizes[here][usable]
        for total, value in (
            (found, counts[there][usable]),
            (foretold, share * sizes[there][usable]),
            (runs, sizes[there][usable]),
        ):
            total += np.bincount(group, weights=value, minlength=len(total))
    count, size = counts.sum(axis=0), sizes.sum(axis=0)
    group = _class(count, size, stayed)
    worth = _filled(np.divide(found, foretold, out=np.full(len(found), np.nan), where=foretold > 0), 1.0)
    stay = float(count[stayed].sum() / max(1, size[stayed].sum()))
    unseen = _filled(np.divide(found, runs, out=np.full(len(found), np.nan), where=runs > 0), stay)
    return np.where(count > 0, worth[group] * count / np.maximum(size, 1), unseen[group] * stayed)


def _class(counts: NDArray[Any], sizes: NDArray[Any], stayed: NDArray[np.bool_]) -> NDArray[Any]:
    size = np.minimum(np.log2(sizes + 1).astype(np.int64), _SIZES - 1)
    return (stayed * (_MOST + 1) + np.minimum(counts, _MOST)) * _SIZES + size


def _filled(values: Floats, otherwise: float) -> Floats:
    """A size that was never met takes the value of the next smaller one."""
    table = values.reshape(-1, _SIZES)
    for size in range(_SIZES):
        before = table[:, size - 1] if size else np.full(len(table), otherwise)
        table[:, size] = np.where(np.isnan(table[:, size]), before, table[:, size])
    return table.ravel()


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
