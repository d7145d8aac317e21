"""The compiled aligner equals exact variational EM, written the slow way: chances, tension and links."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

pytest.importorskip("numba")
pytest.importorskip("scipy")

from scipy.special import digamma

from textveil.fragments.aligner import ALPHA, TENSION, Aligner, corpus_of
from textveil.fragments.lexicon_kernel import FLOOR, P0
from textveil.fragments.sentences import WordNumbers, side_of

NONE = ""


class SlowModel:
    """Dyer et al. 2013 in one direction, word by word; a maker's chances add up over the words it was seen with."""

    def __init__(self, pairs, rounds):
        self.pairs, self.chances, self.tension = pairs, defaultdict(lambda: 1.0), TENSION
        for number in range(rounds):
            self.round(first=number == 0)

    def prior(self, place, size, others):
        row = [math.exp(-self.tension * abs(i / others - place / size)) for i in range(1, others + 1)]
        return [value / sum(row) for value in row]

    def joint(self, makers, words, j):
        row = self.prior(j + 1, len(words), len(makers))
        made = [(1 - P0) * p * self.chances[maker, words[j]] for p, maker in zip(row, makers, strict=True)]
        return row, [P0 * self.chances[NONE, words[j]], *made]

    def round(self, first):
        counts, gain, curvature = defaultdict(float), 0.0, 0.0
        for makers, words in self.pairs:
            for j, word in enumerate(words):
                row, joint = self.joint(makers, words, j)
                shares = [value / sum(joint) for value in joint]
                far = [-abs(i / len(makers) - (j + 1) / len(words)) for i in range(1, len(makers) + 1)]
                for maker, share in zip([NONE, *makers], shares, strict=True):
                    counts[maker, word] += share
                mean = np.dot(row, far)
                gain += np.dot(shares[1:], far) - sum(shares[1:]) * mean
                curvature += sum(shares[1:]) * (np.dot(row, np.square(far)) - mean**2)
        totals = defaultdict(float)
        for (maker, _), count in counts.items():
            totals[maker] += count + ALPHA
        for (maker, word), count in counts.items():
            chance = math.exp(digamma(count + ALPHA) - digamma(totals[maker]))
            self.chances[maker, word] = max(chance, FLOOR)
        if not first:
            self.tension = min(max(self.tension + gain / max(curvature, 1e-9), 0.1), 14.0)

    def links(self, makers, words):
        return [int(np.argmax(self.joint(makers, words, j)[1])) - 1 for j in range(len(words))]


def small_text():
    rng = np.random.default_rng(5)
    for _ in range(120):
        words = (rng.zipf(1.5, rng.integers(1, 9)) % 40).tolist()
        turned = words[::-1] if rng.random() < 0.15 else words
        target = [f"t{w}" for w in turned if rng.random() < 0.9] or ["t0"]
        yield [f"s{w}" for w in words], target


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_the_kernel_equals_exact_em(rounds):
    text = [*small_text()]
    slow = SlowModel(text, rounds), SlowModel([(t, s) for s, t in text], rounds)
    source, target = (side_of([" ".join(pair[n]) for pair in text]) for n in (0, 1))
    numbers = WordNumbers(), WordNumbers()
    corpus = corpus_of(source, target, numbers)
    aligner = Aligner(rounds=rounds).fit(corpus, numbers)

    assert aligner.tensions_ == pytest.approx([s.tension for s in slow], rel=1e-3)
    kept = {int(key): aligner.values_[slot] for slot, key in enumerate(aligner.keys_) if key}
    pairs_of_words = {(s, t) for sources, targets in text for s in sources for t in targets}
    assert len(kept) == len(pairs_of_words)
    for s, t in pairs_of_words:
        key = (int(numbers[0].of([s])[0]) << 32) + int(numbers[1].of([t])[0]) + 1
        expected = (slow[0].chances[s, t], slow[1].chances[t, s])
        assert kept[key][:2].tolist() == pytest.approx(expected, rel=2e-3, abs=1e-6)
    forward, backward = aligner.directions(*(getattr(corpus, f) for f in corpus.__dataclass_fields__))
    same = [
        np.mean(links == np.concatenate([s.links(*pair) for pair in s.pairs]))
        for links, s in zip((forward, backward), slow, strict=True)
    ]
    assert min(same) > 0.98  # ties are broken by rounding


def test_a_rare_word_is_linked_although_the_vocabulary_is_large():
    """A prior that counts the whole vocabulary would give a word seen once a chance below that of none."""
    pairs = [(f"der a{i} kam", f"the b{i} came") for i in range(500)]
    source, target = (side_of([pair[n] for pair in pairs]) for n in (0, 1))
    numbers = WordNumbers(), WordNumbers()
    links = Aligner("intersection").fit(corpus_of(source, target, numbers), numbers).links(source, target)
    assert np.mean(links.source[links.target == 1] == 1) > 0.99
    assert len(links.source) > 0.99 * len(target.words)
