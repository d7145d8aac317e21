"""Noisy counts are cut after the noise was added, never before: a cut tells nothing that the noisy count does not."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import sparse

from textveil.counts import LimitedPrecision, matrix
from textveil.counts.matrix import noisy_corpus_counts
from textveil.noise import secure

FAR = [-(2**63) + 1, -(2**40), -(2**30) - 1, -(2**30), -3, 0, 5, 2**30, 2**31, 2**45, 2**63 - 1]


def steer(monkeypatch, noise):
    """Let the sampler give these numbers, in 64 bits."""
    drawn = np.array(noise, np.int64)
    monkeypatch.setattr(matrix, "geometric", lambda shape, scale, source: drawn.reshape(shape).copy())


@pytest.mark.parametrize("clamp", [True, False])
@pytest.mark.parametrize("count", [0, 1, 7, 2**30])
def test_the_output_is_the_cut_sum(monkeypatch, count, clamp):
    steer(monkeypatch, FAR)
    rows = sparse.csr_array(np.full((1, len(FAR)), count))
    out = matrix.with_noise(rows, 1e12, secure(), clamp=clamp, to_sparse=False)[0].tolist()
    low, high = (0 if clamp else -(2**30)), 2**30
    assert out == [max(low, min(high, count + k)) for k in FAR]


@pytest.mark.parametrize("a, b", [(0, 1), (1, 4), (3, 5), (8, 7)])
@pytest.mark.parametrize("clamp", [True, False])
def test_the_law_of_a_cell_obeys_the_bound_where_sums_are_cut(monkeypatch, a, b, clamp):
    """Exact: all draws up to 60, the tails as single draws that are beyond every cut, and a cut at 8 in place of 2^30."""
    monkeypatch.setattr(matrix, "LARGEST_COUNT", 8)
    scale, reach = 50.0, 60
    noise = [-(10**12), *range(-reach, reach + 1), 10**12]
    ratio = math.exp(-1 / scale)
    law = [(1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in noise[1:-1]]
    tail = ratio ** (reach + 1) / (1 + ratio)
    chances = [tail, *law, tail]
    assert sum(chances) == pytest.approx(1.0)
    steer(monkeypatch, noise)
    laws = []
    for count in (a, b):
        rows = sparse.csr_array(np.full((1, len(noise)), count))
        out = matrix.with_noise(rows, scale, secure(), clamp=clamp, to_sparse=False)[0].tolist()
        chance = Counter()
        for value, weight in zip(out, chances, strict=True):
            chance[value] += weight
        laws.append(chance)
    assert set(laws[0]) == set(laws[1])  # nothing can be seen under one count alone
    worst = max(abs(math.log(laws[0][y] / laws[1][y])) for y in laws[0])
    assert worst <= abs(a - b) / scale + 1e-9


@pytest.mark.parametrize("compress", [None, 6])
def test_at_a_tiny_epsilon_no_cell_shows_its_count(compress):
    """Noise of scale 1e11 meets 0 with chance 5e-12 in a cell; false alarm: 2e-10."""
    counts = np.arange(1, 37).reshape(6, 6)
    mechanism = LimitedPrecision(1e-10, compress=compress, method="random", prior="uniform", decompress=False)
    out = mechanism.fit_transform(counts)
    truth = counts if compress is None else np.stack(
        [counts[:, mechanism.groups_ == g].sum(axis=1) for g in range(6)], axis=1
    )  # fmt: skip
    shown = np.asarray(out.toarray() if sparse.issparse(out) else out)
    inner = (shown != 0) | (truth != 0)  # a group without words sums to 0, where half of all outputs are clamped to
    assert not ((shown == truth) & inner).any()


def test_corpus_counts_are_cut_after_the_noise_too(monkeypatch):
    steer(monkeypatch, [2**63 - 1, -(2**63) + 1, 2**40])
    assert noisy_corpus_counts(sparse.csr_array([[5, 6, 7]]), 1e15, secure()).tolist() == [2**60, -(2**60), 2**40 + 7]


def test_large_counts_are_cut_and_not_refused():
    assert matrix.checked([[2**30 + 1, 2**62, 3]]).toarray().tolist() == [[2**30, 2**30, 3]]
    doubled = sparse.csr_array((np.full(2, 2**30), np.zeros(2, int), np.array([0, 2])), shape=(1, 2))
    assert matrix.checked(doubled).toarray().tolist() == [[2**30, 0]]
