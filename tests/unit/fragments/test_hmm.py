"""The hidden Markov model equals enumeration of all links: likelihood, posteriors, expected jumps, lexicon and links."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

pytest.importorskip("numba")

from textveil.core import BadInput
from textveil.fragments import Aligner
from textveil.fragments import hmm_kernel as kernel
from textveil.fragments.aligner import MODELS, corpus_of
from textveil.fragments.hmm_kernel import JUMPS, NONE, REACH
from textveil.fragments.lexicon_kernel import FLOOR
from textveil.fragments.sentences import LONGEST, WordNumbers, side_of

RATE, START, END = range(3)


# ---- the slow model: every way to link, written out ------------------------------------------------------------------


def bucket(jump):
    """The number of a rate: of a short jump, or of all long ones to a side."""
    if jump < -REACH:
        return 2 * REACH + 1
    return jump + REACH if jump <= REACH else 2 * REACH + 2


def number(place, to, m):
    """Which of the jumps it is: table and number."""
    if to == m + 1:
        return END, min(to - place, REACH + 1) - 1
    return (START, min(to, REACH + 1) - 1) if place == 0 else (RATE, bucket(to - place))


def norm(jumps, place, m):
    return sum(jumps[number(place, to, m)] for to in range(1, m + 2))


def path_chance(jumps, emit, nobody, makers):
    """The chance of words and makers (0: nobody), and the jumps that it takes as (place, to)."""
    m, place, chance, taken = emit.shape[1], 0, 1.0, []
    for j, maker in enumerate([*makers, emit.shape[1] + 1]):
        if maker == 0:
            chance *= NONE * nobody[j]
            continue
        chance *= (1 - NONE) * jumps[number(place, maker, m)] / norm(jumps, place, m)
        if maker <= m:
            chance *= emit[j, maker - 1]
        taken.append((place, maker))
        place = maker
    return chance, taken


class Enumerated:
    """All sums over the (m + 1)^n ways to link n words."""

    def __init__(self, jumps, emit, nobody):
        n, m = emit.shape
        paths = [(w, *path_chance(jumps, emit, nobody, w)) for w in product(range(m + 1), repeat=n)]
        total = sum(chance for _, chance, _ in paths)
        self.log, self.posterior, self.counts = math.log(total), np.zeros((n, m + 1)), np.zeros((2, 3, JUMPS))
        for makers, chance, taken in paths:
            self.posterior[np.arange(n), makers] += chance / total
            for place, to in taken:
                self.counts[0][number(place, to, m)] += chance / total
                for other in range(1, m + 2):
                    self.counts[1][number(place, other, m)] += chance / total / norm(jumps, place, m)


def fast(jumps, emit, nobody):
    """The kernel's log likelihood, posteriors (nobody first) and counts."""
    trellis = kernel.trellis_of(kernel.space_for(max(emit.shape)), *emit.shape)
    trellis.emit[:], trellis.nobody[:] = emit, nobody
    counts = np.zeros((2, 3, JUMPS))
    log = kernel.posteriors(jumps, trellis, counts, True)
    return log, np.column_stack([trellis.nobody, trellis.made]), counts


def random_jumps(rng):
    jumps = rng.uniform(0.05, 2.0, (3, JUMPS))
    jumps[1:, REACH + 1 :] = 0.0  # starts and ends have fewer
    return jumps


@pytest.mark.parametrize("n, m", [(1, 1), (2, 1), (1, 2), (4, 3), (3, 9), (5, 2), (2, 12), (3, 10)])
def test_forward_and_backward_equal_enumeration(n, m):
    rng = np.random.default_rng(n * 100 + m)
    jumps, emit, nobody = random_jumps(rng), rng.uniform(0.001, 1, (n, m)), rng.uniform(0.001, 1, n)
    expected = Enumerated(jumps, emit, nobody)
    log, posterior, counts = fast(jumps, emit, nobody)
    assert log == pytest.approx(expected.log, rel=1e-12)
    assert posterior == pytest.approx(expected.posterior, rel=1e-9, abs=1e-15)
    assert counts == pytest.approx(expected.counts, rel=1e-9, abs=1e-15)


def test_the_chances_of_all_lengths_add_up_to_one():
    """With one word in the language, the likelihood of n words is the chance of the length n."""
    jumps = random_jumps(np.random.default_rng(1))
    none = (1 - NONE) * jumps[number(0, 4, 3)] / norm(jumps, 0, 3)
    lengths = [math.exp(fast(jumps, np.ones((n, 3)), np.ones(n))[0]) for n in range(1, 400)]
    assert none + sum(lengths) == pytest.approx(1.0, abs=1e-9)


# ---- in the aligner ----------------------------------------------------------------------------------------------------


def small_text(pairs=60):
    rng = np.random.default_rng(5)
    for _ in range(pairs):
        words = rng.integers(0, 12, rng.integers(1, 5)).tolist()
        turned = words[::-1] if rng.random() < 0.3 else words
        yield [f"s{w}" for w in words], [f"t{w}" for w in turned if rng.random() < 0.8] or ["t0"]


def read(text):
    """The numbers of words, and the corpus."""
    sides = tuple(side_of([" ".join(pair[n]) for pair in text]) for n in (0, 1))
    numbers = WordNumbers(), WordNumbers()
    return numbers, corpus_of(*sides, numbers)


def tables(aligner, numbers, source, target):
    """Emissions of one sentence pair in both directions, from the aligner's own lexicon."""
    slots = {int(key): slot for slot, key in enumerate(aligner.keys_) if key}
    s, t = numbers[0].of(source), numbers[1].of(target)
    at = [[slots[(int(a) << 32) + int(b) + 1] for b in t] for a in s]
    forward, backward = aligner.values_[at, 0].T.astype(float), aligner.values_[at, 1].astype(float)
    return at, (forward, aligner.nulls_[0][t, 0]), (backward, aligner.nulls_[1][s, 0])


def test_links_are_the_likeliest_makers_in_both_directions():
    text = [*small_text()]
    numbers, corpus = read(text)
    aligner = Aligner(model="hmm").fit(corpus, numbers)
    expected = [], []
    for source, target in text:
        _, *both = tables(aligner, numbers, source, target)
        for side, (emit, nobody) in enumerate(both):
            posterior = Enumerated(aligner.jumps_[side], emit, nobody).posterior
            expected[side].extend((posterior.argmax(1) - 1).tolist())
    links = aligner.directions(corpus.source, corpus.source_starts, corpus.target, corpus.target_starts)
    assert [side.tolist() for side in links] == [*expected]
    assert -1 in expected[0]  # some words have no maker


def test_the_lexicon_counts_what_both_directions_believe():
    text = [*small_text(20)]
    numbers, corpus = read(text)
    aligner = Aligner(model="hmm", rounds=3).fit(corpus, numbers)
    links, nobody = np.zeros(len(aligner.keys_)), np.zeros(len(numbers[1]))
    jumps = np.zeros((2, 2, 3, JUMPS))
    for source, target in text:
        at, *both = tables(aligner, numbers, source, target)
        sides = [Enumerated(aligner.jumps_[side], *both[side]) for side in (0, 1)]
        agreed = sides[0].posterior[:, 1:].T * sides[1].posterior[:, 1:]
        np.add.at(links, np.array(at), agreed)
        np.add.at(nobody, numbers[1].of(target), 1 - agreed.sum(0))
        jumps += [side.counts for side in sides]
    counts = np.zeros((2, 2, 3, JUMPS))
    aligner._walk(corpus, counts)
    for side in (2, 3):
        assert aligner.values_[:, side] == pytest.approx(links, rel=1e-4, abs=1e-6)  # counts have four bytes
    assert aligner.nulls_[0][:, 1] == pytest.approx(nobody, rel=1e-9, abs=1e-12)
    assert counts == pytest.approx(jumps, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_round_of_plain_em_lowers_the_likelihood(seed):
    """One direction, counts of its own posteriors, chances as shares: EM, with the step of the jumps that we take.

    The agreement of both directions and the variational lexicon have no such bound (see `hmm_kernel`).
    """
    rng = np.random.default_rng(seed)
    text = [(rng.integers(0, 6, rng.integers(1, 14)), rng.integers(0, 5, rng.integers(1, 14))) for _ in range(30)]
    lexicon, nobody, jumps = rng.dirichlet(np.ones(5), 6), rng.dirichlet(np.ones(5)), random_jumps(rng)
    logs = []
    for _ in range(12):
        links, alone, counts, total = np.zeros((6, 5)), np.zeros(5), np.zeros((2, 2, 3, JUMPS)), 0.0
        for source, target in text:
            log, posterior, own = fast(jumps, lexicon[source][:, target].T, nobody[target])
            np.add.at(links, (source[None, :], target[:, None]), posterior[:, 1:])
            np.add.at(alone, target, posterior[:, 0])
            counts[0] += own
            total += log
        logs.append(total)
        lexicon, nobody = links / links.sum(1, keepdims=True), alone / alone.sum()
        jumps = kernel.next_jumps(np.stack([jumps, jumps]), counts)[0]
    assert np.all(np.diff(logs) > -1e-9 * abs(logs[0]))
    assert logs[-1] > logs[0] + 1


@pytest.mark.parametrize("n, m", [(100, 100), (LONGEST, LONGEST), (LONGEST, 1), (1, LONGEST)])
def test_long_sentences_do_not_underflow(n, m):
    rng = np.random.default_rng(n + m)
    emit = np.where(rng.random((n, m)) < 0.01, 0.5, FLOOR)
    log, posterior, counts = fast(kernel.first_jumps()[0], emit, np.full(n, FLOOR))
    assert -math.inf < log < 0
    assert posterior.sum(1) == pytest.approx(np.ones(n), rel=1e-9)
    assert counts[0].sum() + posterior[:, 0].sum() == pytest.approx(n + 1, rel=1e-9)


def swapped_text(rng, pairs=300):
    """Sentences of two blocks that change places; half of the words are two frequent ones, told apart by neighbours."""
    for _ in range(pairs):
        words = [int(w) if rng.random() < 0.5 else int(rng.integers(2)) for w in rng.integers(2, 60, 16)]
        order = [*range(8, 16), *range(8)] if rng.random() < 0.5 else [*range(16)]
        yield [f"s{w}" for w in words], [f"t{words[i]}" for i in order], order


def test_words_that_moved_in_a_block_are_found_better_than_by_the_diagonal_model():
    text = [*swapped_text(np.random.default_rng(8))]
    numbers, corpus = read([pair[:2] for pair in text])
    meant = np.concatenate([order for *_, order in text])
    right = {}
    for model in MODELS:
        aligner = Aligner(model=model).fit(corpus, numbers)
        forward, _ = aligner.directions(corpus.source, corpus.source_starts, corpus.target, corpus.target_starts)
        right[model] = np.mean(forward == meant)
    assert right["hmm"] > 0.97
    assert right["diagonal"] < 0.75


def test_a_closed_hmm_links_a_pair_by_itself():
    text = [*small_text()]
    numbers, corpus = read(text)
    aligner = Aligner(model="hmm").fit(corpus, numbers).close()
    pairs = [("s1 s2 Xyz", "t1 t2 Xyz"), ("", "t1"), ("s3 s4", "t4 t3"), (" ".join(["s1"] * (LONGEST + 1)), "t1")]
    among = aligner.links(*(side_of([pair[n] for pair in pairs]) for n in (0, 1)))
    for place, pair in enumerate(pairs):
        alone = aligner.links(*(side_of([side]) for side in pair))
        own = slice(among.starts[place], among.starts[place + 1])
        assert among.source[own].tolist() == alone.source.tolist()
        assert among.target[own].tolist() == alone.target.tolist()
    assert (2, 2) in zip(among.source.tolist(), among.target.tolist(), strict=True)  # an unknown word is itself
    assert among.starts[1] == among.starts[2]
    assert among.starts[3] == among.starts[4]


def test_what_cannot_be_is_told_in_one_sentence():
    with pytest.raises(BadInput, match="unknown model 'model 2'; there are: diagonal, hmm"):
        Aligner(model="model 2").check()
    with pytest.raises(BadInput, match="rounds must be more than 2 with the model 'hmm', not 2"):
        Aligner(model="hmm", rounds=2).check()
