"""What an output says about its input: g(x | y) = pi(x) f(y | x) / sum_u pi(u) f(y | u), counted or exact.

Counted. The mechanism is public, so the adversary runs it: x drawn from the prior, y from the mechanism. Among the draws
that gave y, the inputs are draws from g(. | y); one of them picked at random *is* a draw from the posterior, without bias.
The commonest of them estimates the best guess, badly where y was seen only a few times: there a default guess (y itself, or
the prior's commonest word) is better. So the default gets a handicap of some extra counts, and how many is learnt too,
on draws that were not counted. An endless handicap is among the choices, so the rule hardly falls behind its default.

Exact. Where the rows f(. | x) can be written down, sums over blocks of rows give everything, in memory of one block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.attacks.exposure import Ids
from textveil.attacks.words.seen import Channel

Floats = NDArray[np.float64]
_CELLS = 4_000_000  # doubles held at once
_HANDICAPS = (0.5, 1, 2, 4, 8, 16, 32, 64, np.inf)  # 0.5 only settles ties


class CountedPosterior:
    """Posterior learnt from pairs (input, output) of the public mechanism.

    >>> learnt = CountedPosterior(np.array([0, 0, 2, 1]), np.array([1, 1, 1, 2]), np.array([0.5, 0.2, 0.2, 0.1]))
    >>> learnt.best(np.array([1, 2])).tolist()
    [0, 1]
    """

    def __init__(self, inputs: Ids, outputs: Ids, prior: Floats):
        order = np.argsort(outputs, kind="stable")
        self._inputs = inputs[order].astype(np.int64)
        self._starts = np.searchsorted(outputs[order], np.arange(len(prior) + 1))
        self._default = _choose_default(inputs, outputs, prior)
        held_out = len(inputs) // 5
        handicap = _HANDICAPS[0]
        if held_out:
            tally = _Tally(inputs[held_out:], outputs[held_out:], self._default)
            right = [np.count_nonzero(tally.rule(h)[outputs[:held_out]] == inputs[:held_out]) for h in _HANDICAPS]
            handicap = _HANDICAPS[int(np.argmax(right))]
        self._best = _Tally(inputs, outputs, self._default).rule(handicap)

    def best(self, outputs: Ids) -> Ids:
        """The likeliest input of each output."""
        return self._best[outputs]

    def draw(self, outputs: Ids, rng: Any) -> Ids:
        """An input drawn from the posterior of each output."""
        first, past = self._starts[outputs], self._starts[np.asarray(outputs) + 1]
        seen = past > first
        guesses = self._default[outputs]
        places = first[seen] + rng.below((past - first)[seen], int(seen.sum()))
        guesses[seen] = self._inputs[places]
        return guesses


class _Tally:
    """For each output, how often its commonest input and its default guess occurred."""

    def __init__(self, inputs: Ids, outputs: Ids, default: Ids):
        words = len(default)
        pairs, counts = np.unique(outputs.astype(np.int64) * words + inputs, return_counts=True)
        out, inp = np.divmod(pairs, words)
        order = np.lexsort((counts, out))
        last = order[np.flatnonzero(np.diff(out[order], append=-1))]  # the commonest pair of each output
        self._default, self._top = default, default.copy()
        self._top_count, self._default_count = np.zeros(words), np.zeros(words)
        self._top[out[last]], self._top_count[out[last]] = inp[last], counts[last]
        usual = inp == default[out]
        self._default_count[out[usual]] = counts[usual]

    def rule(self, handicap: float) -> Ids:
        """The guess for each output when the default is given some extra counts."""
        return np.where(self._default_count + handicap >= self._top_count, self._default, self._top)


def _choose_default(inputs: Ids, outputs: Ids, prior: Floats) -> Ids:
    """The output itself, or the commonest word, whichever was right more often."""
    words, top = len(prior), int(np.argmax(prior))
    if np.count_nonzero(inputs == outputs) >= np.count_nonzero(inputs == top):
        return np.arange(words)
    return np.full(words, top)


class ExactPosterior:
    """Posterior from a channel's exact odds.

    >>> class Flip:   # keeps its input with chance 3/4
    ...     def odds(self, ids):
    ...         return np.array([[0.75, 0.25], [0.25, 0.75]])[ids]
    >>> exact = ExactPosterior(Flip(), np.array([0.5, 0.5]))
    >>> exact.success_of_best, exact.success_of_draw
    (0.75, 0.625)
    """

    def __init__(self, channel: Channel, prior: Floats):
        self._channel, self._prior = channel, np.asarray(prior, dtype=np.float64)
        words = len(self._prior)
        self._best: Ids = np.zeros(words, dtype=np.int64)
        self._total, best_mass, squares = np.zeros(words), np.full(words, -1.0), np.zeros(words)
        for start, joint in self._blocks():
            self._total += joint.sum(axis=0)
            squares += (joint**2).sum(axis=0)
            rows = joint.argmax(axis=0)
            mass = joint[rows, np.arange(words)]
            better = mass > best_mass
            best_mass[better], self._best[better] = mass[better], rows[better] + start
        self.success_of_best = float(best_mass.sum())
        possible = self._total > 0
        self.success_of_draw = float((squares[possible] / self._total[possible]).sum())

    def best(self, outputs: Ids) -> Ids:
        """The likeliest input of each output."""
        return self._best[outputs]

    def draw(self, outputs: Ids, rng: Any) -> Ids:
        """An input drawn from the posterior of each output: the first at which the running mass passes u * total."""
        targets = rng.uniforms(len(outputs)) * self._total[outputs]
        guesses = self._best[outputs]  # stays only where rounding lets no block pass its target
        running = np.zeros(len(self._prior))
        for start, joint in self._blocks():
            after = running + joint.sum(axis=0)
            here = np.flatnonzero((running[outputs] <= targets) & (targets < after[outputs]))
            step = max(1, _CELLS // len(joint))
            for chunk in (here[i : i + step] for i in range(0, len(here), step)):
                mass = running[outputs[chunk]] + np.cumsum(joint[:, outputs[chunk]], axis=0)
                passed = (mass <= targets[chunk]).sum(axis=0)
                guesses[chunk] = start + np.minimum(passed, len(joint) - 1)
            running = after
        return guesses

    def _blocks(self) -> Iterator[tuple[int, Floats]]:
        words = len(self._prior)
        rows = max(1, min(words, _CELLS // words))
        for start in range(0, words, rows):
            ids = np.arange(start, min(start + rows, words))
            yield start, self._prior[ids, None] * self._channel.odds(ids)  # type: ignore[attr-defined]
