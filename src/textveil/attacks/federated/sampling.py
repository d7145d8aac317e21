"""Random sampling (paper 05): does a canary's suffix have the least log-perplexity among many random ones?

Candidates. The paper draws each suffix by itself; each costs a pass over the whole output layer. Here suffixes grow on
`branches` random stems (all words of the suffix but the last), each with `leaves` random last words: one pass serves all
leaves of a stem. The true suffix is a leaf like the others: its stem carries leaves of its own. If the model knows nothing of
the secret, stems and leaves are uniform and independent of it, so the true leaf is exchangeable with all others and

    P[rank <= r] <= r / (branches * leaves),

with ties counted against the attacker, exactly as for independent suffixes (leaves = 1 is the paper's own design). What
dependence costs is power in the middle of the scale, not validity.

Exposure is log2|R| - log2(rank), at most log2|R|; ties are split for the number that is shown, and count against the attacker
where a promise is tested. The interval is of -log2 of the share of all suffixes that the model likes at least as well: one
leaf of each other stem is an independent uniform suffix, and Clopper and Pearson's limits of that many are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.evidence import lower_limit, upper_limit
from textveil.attacks.federated.seen import NextLogs, Rows
from textveil.core import BadInput

PREFIX = 2  # words that the attacker knows
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Candidates:
    """Random suffixes: (branches, length - 1) stems and (branches, leaves) last words. The true one is at 0, 0."""

    stems: Rows
    leaves: Rows

    def __len__(self) -> int:
        return int(self.leaves.size)


@dataclass(frozen=True)
class Ranked:
    """One canary after random sampling: others with a smaller loss, others with the same, and all candidates."""

    better: int
    ties: int
    candidates: int
    low: float
    high: float

    @property
    def memorised(self) -> bool:
        """Whether no other suffix is as likely."""
        return self.better + self.ties == 0

    @property
    def exposure(self) -> float:
        """In bits, ties split."""
        return math.log2(self.candidates / (1 + self.better + self.ties / 2))

    @property
    def tested(self) -> float:
        """In bits, ties against the attacker: what a promise bounds."""
        return math.log2(self.candidates / (1 + self.better + self.ties))


def draw_candidates(suffix: Rows, words: int, branches: int, leaves: int, rng: Any) -> Candidates:
    """Random suffixes with the true one among them.

    >>> from textveil.noise import seeded
    >>> some = draw_candidates(np.array([4, 5, 6]), 100, 20, 3, seeded(1))
    >>> len(some), some.stems[0].tolist(), int(some.leaves[0, 0])
    (60, [4, 5], 6)
    """
    if len(suffix) < 2:
        raise BadInput("random sampling needs canaries of four words or more")
    stems = rng.below(words, (branches, len(suffix) - 1))
    last = rng.below(words, (branches, leaves))
    stems[0], last[0, 0] = suffix[:-1], suffix[-1]
    return Candidates(stems, last)


def suffix_losses(next_logs: NextLogs, prefix: Rows, candidates: Candidates) -> Floats:
    """-ln P(suffix | prefix) of every candidate, (branches, leaves)."""
    stems, total = candidates.stems, np.zeros(len(candidates.stems))
    for place in range(stems.shape[1]):
        known, back = np.unique(stems[:, :place], axis=0, return_inverse=True)  # beginnings that several stems share
        logs = next_logs(_begun(prefix, known))
        total -= logs[back.reshape(-1), stems[:, place]]
    logs = next_logs(_begun(prefix, stems))
    return total[:, None] - np.take_along_axis(logs, candidates.leaves, axis=1)


def _begun(prefix: Rows, further: Rows) -> Rows:
    return np.concatenate([np.tile(prefix, (len(further), 1)), further], axis=1)


def ranked(losses: Floats, candidates: Candidates, level: float = 0.95) -> Ranked:
    """The true suffix among the others; candidates that equal it word for word are left out.

    >>> some = Candidates(np.array([[1], [2]]), np.array([[3, 3], [4, 5]]))
    >>> found = ranked(np.array([[2.0, 2.0], [1.0, 2.0]]), some)      # one twin, one better, one tie
    >>> found.better, found.ties, found.candidates, found.memorised
    (1, 1, 3, False)
    """
    if not np.all(np.isfinite(losses)):
        raise BadInput("the model gives a chance that is not a number")
    twins = (candidates.stems == candidates.stems[0]).all(1)[:, None] & (candidates.leaves == candidates.leaves[0, 0])
    own, others = losses[0, 0], losses[~twins]
    better, ties = int((others < own).sum()), int((others == own).sum())
    low, high = _limits(losses[1:, 0], own, level)
    cap = math.log2(len(others) + 1)
    return Ranked(better, ties, len(others) + 1, min(low, cap), min(high, cap))


def _limits(independent: Floats, own: float, level: float) -> tuple[float, float]:
    """Limits of -log2 of the share of suffixes that are at least as likely."""
    side, as_likely = 1 - (1 - level) / 2, int((independent <= own).sum())
    if not len(independent):
        return 0.0, math.inf
    shares = upper_limit(as_likely, len(independent), side), lower_limit(as_likely, len(independent), side)
    low, high = (abs(-math.log2(share)) if share > 0 else math.inf for share in shares)
    return low, high
