"""Is a mechanism's promise true? Checked on its whole transition matrix, wherever that can be written down.

Claim. `certify` computes max over inputs a, b and outputs y of ln P[a, y] - ln P[b, y] - epsilon d(a, b), with the
numeric error of that figure. "refuted": it exceeds 0 by more than 1e-9 and its own error, somewhere. "certified": it
does so nowhere. "beyond enumeration": the matrix cannot be had, and nothing is said.

What can be had: words.exponential and words.tem by their exact odds, up to 5,000 words; words.brr on codes of up to
16 bits, by enumeration; words.laplace, words.mahalanobis and words.vickrey on one- and two-dimensional vectors, by
integration. A larger vocabulary is cut to its first words, which is a metric space of its own: the certificate then
speaks of that one. The point of unknown words is one of the inputs. Paper mode is held against the promise that the
paper states, epsilon times the Euclidean distance.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from textveil.accounting.largest_gaps import worst_excess
from textveil.core.params import positive_integer
from textveil.words.brr import BRR
from textveil.words.laplace import Laplace
from textveil.words.mechanism import WordMechanism
from textveil.words.transition import rays
from textveil.words.transition.matrix import MOST_BITS, Transition, by_enumeration, by_exact_odds
from textveil.words.transition.metric import all_distances

TOLERANCE = 1e-9
UNKNOWN = "(any unknown word)"
BEYOND = "beyond enumeration"


@dataclass(frozen=True)
class Certificate:
    """What the matrix says: the worst excess over the promise in nats, its numeric error, and where it occurs."""

    verdict: str  # certified | refuted | beyond enumeration
    method: str
    words: int
    worst: float | None = None
    error: float | None = None
    at: tuple[str, str, str] | None = None  # inputs a and b, output y
    unresolved: int = 0
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        worst = "inf" if self.worst == math.inf else self.worst
        return {
            "verdict": self.verdict,
            "method": self.method,
            "words": self.words,
            "worst": worst,
            "numeric_error": self.error,
            "at": None if self.at is None else dict(zip(("first", "second", "output"), self.at, strict=True)),
            "unresolved": self.unresolved,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class _Method:
    name: str
    most_words: int
    compute: Callable[[Any], Transition]


def certify(mechanism: WordMechanism, words: int | None = None, *, angles: int = rays.ANGLES) -> Certificate:
    """Check the promise on the whole matrix, of the first `words` words if there are more (None: as many as are feasible).

    >>> from textveil.text.vectors import from_arrays
    >>> from textveil.words.vickrey import Vickrey
    >>> line = from_arrays(["cold", "cool", "warm", "hot"], [[-2.0], [-1.0], [1.0], [2.0]])
    >>> certify(Vickrey(epsilon=2.0).fit(line)).verdict
    'certified'
    >>> found = certify(Vickrey(epsilon=2.0, paper_mode=True).fit(line))
    >>> found.verdict, found.worst
    ('refuted', inf)
    """
    mechanism._ready()
    method = _method(mechanism, angles)
    count = len(mechanism.vectors_)
    if method is None:
        return Certificate(BEYOND, "none", count, notes=(why_not(mechanism),))
    limit = method.most_words if words is None else positive_integer("words", words)
    notes: tuple[str, ...] = ()
    if count > limit:
        mechanism = first_words(mechanism, limit)
        notes = (f"the vocabulary of {count:,} words was cut to its first {limit:,}: a metric space of its own",)
    return judge(mechanism, method.compute(mechanism), method.name, notes)


def judge(mechanism: WordMechanism, matrix: Transition, method: str, notes: tuple[str, ...] = ()) -> Certificate:
    """Hold a transition matrix against epsilon times the distance."""
    allowed = float(mechanism.epsilon) * all_distances(mechanism)
    log, error = matrix.log_odds, np.broadcast_to(matrix.log_error, matrix.log_odds.shape)
    known = np.isfinite(error)
    if not known.all():
        log_up, log_down = np.where(known, log, -np.inf), np.where(known, log, np.inf)
        notes = (*notes, f"{int((~known).sum()):,} of {known.size:,} odds are too rare to be resolved and are left out")
    else:
        log_up = log_down = log
    worst, (a, b, y) = worst_excess(log_up, log_down, allowed)
    margin = float(error[a, y] + error[b, y]) + 8 * float(np.finfo(float).eps) * (1 + float(min(allowed[a, b], 1e15)))
    refuted = worst - margin > TOLERANCE or (known.any() and _surely(log_up, log_down, error, allowed) > TOLERANCE)
    names = [*mechanism.vectors_.words, UNKNOWN]
    return Certificate(
        verdict="refuted" if refuted else "certified",
        method=method,
        words=len(mechanism.vectors_),
        worst=worst,
        error=margin,
        at=(names[a], names[b], names[y]),
        unresolved=matrix.unresolved,
        notes=notes,
    )


def first_words(mechanism: WordMechanism, count: int) -> WordMechanism:
    """The same mechanism on the first words of its vocabulary."""
    smaller = copy.copy(mechanism)
    return smaller.fit(mechanism.vectors_.head(count))


def _surely(up: np.ndarray, down: np.ndarray, error: np.ndarray, allowed: np.ndarray) -> float:
    """The worst excess after each entry's own error is taken off; only needed where errors differ."""
    if float(error.min()) == float(error.max()):
        return -math.inf  # the worst place is the same, and was judged already
    finite = np.where(np.isfinite(error), error, 0.0)
    return worst_excess(up - finite, down + finite, allowed)[0]


def _method(mechanism: WordMechanism, angles: int) -> _Method | None:
    if hasattr(mechanism, "odds"):
        return _Method("exact odds", 5_000, by_exact_odds)
    if isinstance(mechanism, BRR) and mechanism.codes_.bits <= MOST_BITS:
        return _Method(f"enumeration of all codes of {mechanism.codes_.bits} bits", 5_000, by_enumeration)
    if isinstance(mechanism, Laplace) and mechanism.vectors_.dimensions == 1:
        return _Method("integration along a line", 300, rays.by_rays)
    if isinstance(mechanism, Laplace) and mechanism.vectors_.dimensions == 2:
        return _Method(f"integration along {angles} rays a word", 24, lambda m: rays.by_rays(m, angles))
    return None


def why_not(mechanism: WordMechanism) -> str:
    if isinstance(mechanism, BRR):
        return f"codes of {mechanism.codes_.bits} bits cannot be enumerated (up to {MOST_BITS} can)"
    if isinstance(mechanism, Laplace):
        return f"noise in {mechanism.vectors_.dimensions} dimensions cannot be integrated (in 1 and 2 it can)"
    return f"{mechanism.name} states no odds"
