"""A linear chain of labels, trained by the Passive-Aggressive rule over a stream of sequences.

Score of a labelling y of tokens x_1..x_n:  s(y) = sum_t sum_{slot in x_t} w[slot, y_t] + sum_t v[y_{t-1}, y_t].
One sequence at a time, let z be the best-scoring labelling and h the number of tokens where it differs from the truth y:

    h = 0    nothing changes (passive)
    h > 0    cost = s(z) - s(y) + sqrt(h);  D = features(y) - features(z);  tau = min(c, cost / |D|^2);  (w, v) += tau D

This is the smallest change that scores y above z by sqrt(h), cut at c (PA-I of Crammer et al. 2006), as python-crfsuite's
`pa` does it, which is the oracle of the tests. As there, only weights (slot, label) and steps (label, label) that occur in
the training data exist (`present`); the others stay absent. The result is the average of the weights over all sequences
seen: with u the number of the sequence, w - sum(tau u D) / u.

Sequences are paragraphs, taken in the order of the documents unless `shuffle` gives a seed: the same documents in the same
order give the same weights, bit by bit on one machine. That is what the retrain attack exploits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from textveil.hashed.corpus import Block
from textveil.hashed.table import WeightTable
from textveil.text.chain import has_numba, slow_emissions, slow_score, slow_viterbi


@dataclass(frozen=True)
class PassiveAggressive:
    """Settings of the trainer."""

    epochs: int = 10
    c: float = 1.0
    shuffle: int | None = None  # None: the documents' order; a number: reshuffled each epoch from this seed
    average: bool = True

    def train(
        self,
        blocks: Sequence[Block],
        rows: int,
        labels: tuple[str, ...],
        *,
        advance: Callable[[float], None] | None = None,
    ) -> WeightTable:
        """The table of a corpus; `advance` hears of each sequence trained on."""
        state = State(rows, len(labels))
        for block in blocks:
            state.note(block)
        rng = None if self.shuffle is None else np.random.default_rng(self.shuffle)
        for _ in range(self.epochs):
            wrong = 0
            for b in range(len(blocks)) if rng is None else rng.permutation(len(blocks)):
                block = blocks[b]
                count = len(block.bounds) - 1
                order = np.arange(count) if rng is None else rng.permutation(count)
                wrong += state.train(block, order, self.c)
                if advance is not None:
                    advance(count)
            if not wrong:
                break  # everything is labelled right: no later pass would change a weight, nor (much) their average
        return state.table(labels, self.average)


class State:
    """Weights under way, in double precision."""

    def __init__(self, rows: int, labels: int):
        self.model, self.sums = np.zeros((rows, labels)), np.zeros((rows, labels))
        self.present = np.zeros((rows, labels), np.bool_)
        self.steps, self.steps_sums = np.zeros((labels, labels)), np.zeros((labels, labels))
        self.allowed = np.zeros((labels, labels), np.bool_)
        self.delta = np.zeros((rows, labels), np.int32)
        self.u, self.losses = 1, list[float]()

    def note(self, block: Block) -> None:
        """Which weights and steps the data knows."""
        inside = np.ones(len(block.labels), bool)
        inside[block.bounds[:-1]] = False  # the first token of a sequence has no step into it
        later = np.flatnonzero(inside)
        self.allowed[block.labels[later - 1], block.labels[later]] = True
        if has_numba():
            from textveil.hashed.pa_kernel import note_presence

            note_presence(block.indices, block.starts, block.labels, self.present)
        else:
            self.present[block.indices, np.repeat(block.labels, np.diff(block.starts))] = True

    def train(self, block: Block, order: np.ndarray, c: float) -> int:
        if not has_numba():
            return self._slow_train(block, order, c)
        from textveil.hashed.pa_kernel import train_pass

        loss, wrong, self.u = train_pass(
            block.indices, block.starts, block.bounds, order, block.labels, self.model, self.sums, self.present,
            self.steps, self.steps_sums, self.allowed, self.delta, self.u, float(c),
        )  # fmt: skip
        self.losses.append(loss)
        return wrong

    def _slow_train(self, block: Block, order: np.ndarray, c: float) -> int:
        """The rule as it is written above; also the oracle of the compiled pass."""
        wrong, total = 0, 0.0
        for s in order:
            first, last = int(block.bounds[s]), int(block.bounds[s + 1])
            gold = block.labels[first:last].astype(np.int64)
            scores = slow_emissions(block.indices, block.starts, first, last, self.model)
            path = slow_viterbi(scores, self.steps)
            errors = int((path != gold).sum())
            if errors:
                cost = slow_score(scores, self.steps, path) - slow_score(scores, self.steps, gold) + math.sqrt(errors)
                total, wrong = total + cost, wrong + 1
                self._slow_update(block, first, gold, path, cost, c)
            self.u += 1
        self.losses.append(total)
        return wrong

    def _slow_update(self, block: Block, first: int, gold: np.ndarray, path: np.ndarray, cost: float, c: float) -> None:
        change = dict[tuple[int, int], int]()
        for t in np.flatnonzero(path != gold):
            row = block.indices[block.starts[first + t] : block.starts[first + t + 1]].tolist()
            for slot in row:
                for y, sign in ((int(gold[t]), 1), (int(path[t]), -1)):
                    if self.present[slot, y]:
                        change[slot, y] = change.get((slot, y), 0) + sign
        steps = np.zeros(self.steps.shape)
        np.add.at(steps, (gold[:-1], gold[1:]), 1)
        np.add.at(steps, (path[:-1], path[1:]), -1)
        steps[~self.allowed] = 0
        norm = sum(v * v for v in change.values()) + float((steps**2).sum())
        if norm == 0:
            return
        tau = min(c, cost / norm)
        for place, value in change.items():
            self.model[place] += tau * value
            self.sums[place] += tau * self.u * value
        self.steps += tau * steps
        self.steps_sums += tau * self.u * steps

    def table(self, labels: tuple[str, ...], average: bool) -> WeightTable:
        if average:
            self.sums /= self.u  # in place: at 2^28 slots another copy would matter
            self.model -= self.sums
            self.steps = self.steps - self.steps_sums / self.u
        weights = self.model.astype(np.float32)
        return WeightTable(weights, self.present, labels, self.steps.astype(np.float32))
