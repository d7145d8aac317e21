"""A transition matrix in logarithms, with what is known of its errors; and matrices whose entries are finite sums.

- Exact odds (words.exponential, words.tem): the mechanism's own `odds`, row by row.
- words.brr on codes of up to 16 bits: all noised codes are enumerated. Each goes to its nearest words in equal
  shares; the noise is undone bit by bit. If s_y(z) is the share of word y at the noised code z, then P[y | code c] is
  s_y averaged over flips of c, one bit after the other: s <- (1 - p) s + p (s with that bit flipped). Sixteen passes
  instead of a product of 2^16 columns, and only positive terms, so no digits cancel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textveil.noise.bits import flip_probability
from textveil.text.codes import hamming
from textveil.words.brr import BRR
from textveil.words.mechanism import WordMechanism

MOST_BITS = 16
_EPS = float(np.finfo(np.float64).eps)
_SMALLEST = 1e-290  # odds below this have lost digits, or are 0 only by underflow
_CELLS = 4_000_000  # doubles held at once


@dataclass(frozen=True)
class Transition:
    """ln P[input, output] with a bound on the error of each; -inf where an output is impossible, not merely rare."""

    log_odds: np.ndarray
    log_error: np.ndarray | float

    @property
    def unresolved(self) -> int:
        """Entries about which nothing is known."""
        return int(np.isinf(self.log_error).sum())


def from_odds(
    odds: np.ndarray, error: np.ndarray | float, impossible: np.ndarray | None = None, rounding: float = 0.0
) -> Transition:
    """Logarithms of odds known up to a relative `rounding` and an absolute `error`.

    Odds of 0 that are not declared impossible are too rare to be seen: nothing is known about them.
    """
    seen = np.maximum(odds, _SMALLEST)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.asarray(error) / seen
        log_error = rounding - np.log1p(-np.minimum(share, 1.0))
    log_odds = np.log(seen)
    log_error[odds < _SMALLEST] = np.inf
    if impossible is not None:
        log_odds[impossible], log_error[impossible] = -np.inf, 0.0
    return Transition(log_odds, log_error)


def by_exact_odds(mechanism: WordMechanism) -> Transition:
    """From the mechanism's `odds`, for every word and for the point of unknown words."""
    rows = np.arange(len(mechanism.vectors_) + 1)
    block = max(1, _CELLS // len(rows))
    parts = [mechanism.odds(rows[i : i + block]) for i in range(0, len(rows), block)]  # type: ignore[attr-defined]
    odds = np.concatenate(parts)
    span = -float(np.log(max(odds.min(), _SMALLEST)))
    # exp of a score of size s errs by about s + 1 roundings, a sum of n terms by at most log2 n + 8 (numpy adds pairwise)
    return from_odds(odds, 0.0, rounding=_EPS * (2 * span + np.log2(len(rows)) + 16))


def by_enumeration(mechanism: BRR) -> Transition:
    """words.brr by its noised codes.

    >>> from textveil.text.codes import Codes
    >>> from textveil.text.vectors import from_arrays
    >>> words = from_arrays(["a", "b"], [[1.0], [2.0]])
    >>> words = words.with_codes(Codes.from_bits(words.words, np.array([[0], [1]])))
    >>> made = by_enumeration(BRR(epsilon=np.log(3)).fit(words))
    >>> np.exp(made.log_odds[:2]).round(9).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    bits, words = mechanism.codes_.bits, mechanism.codes_.words64[:, 0]
    inputs = np.append(words, mechanism.codes_.fallback[0]).astype(np.int64)
    nearest, ties = _nearest(words, bits)
    keep_flip = float(flip_probability(mechanism.epsilon))
    odds = np.empty((len(inputs), len(words)))
    block = max(1, _CELLS >> bits)
    for start in range(0, len(words), block):
        some = slice(start, start + block)
        share = (_away(words[some], bits) == nearest) / ties
        odds[:, some] = _noised(share, bits, keep_flip)[:, inputs].T
    return from_odds(odds, 0.0, rounding=_EPS * (4 * bits + 8))


def _away(words: np.ndarray, bits: int) -> np.ndarray:
    codes = np.arange(1 << bits, dtype=np.uint64)
    return hamming(words[:, None, None], codes[None, :, None])


def _nearest(words: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """For every code the distance of its nearest word, and how many words share it."""
    best, ties = np.full(1 << bits, bits + 1), np.zeros(1 << bits)
    block = max(1, _CELLS >> bits)
    for start in range(0, len(words), block):
        away = _away(words[start : start + block], bits)
        here = away.min(axis=0)
        count = (away == here).sum(axis=0)
        ties = np.where(here < best, count, ties + np.where(here == best, count, 0))
        best = np.minimum(best, here)
    return best, ties


def _noised(share: np.ndarray, bits: int, p: float) -> np.ndarray:
    """Each row, a function of codes, averaged over independent flips of every bit."""
    for bit in range(bits):
        cut = share.reshape(len(share), -1, 2, 1 << bit)
        share = ((1 - p) * cut + p * cut[:, :, ::-1]).reshape(len(share), -1)
    return share
