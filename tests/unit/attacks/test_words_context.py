"""The context attack: its language model and decoder against slow oracles, its gain on a source of known structure."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from textveil.attacks.exposure import Attack, OriginalWords, TwoWorlds
from textveil.attacks.words.bayes import BayesAttack
from textveil.attacks.words.candidates import exact_candidates, learnt_candidates
from textveil.attacks.words.context import ContextAttack, worth
from textveil.attacks.words.decoding import guess_texts
from textveil.attacks.words.language_model import BigramModel
from textveil.attacks.words.seen import WordsSeen
from textveil.core import Adjacency, BadInput, BadParameter, Guarantee, Pure, Unit, registry
from textveil.noise import secure
from textveil.testing import check_attack

PRIOR = np.array([0.4, 0.3, 0.2, 0.1])


class Sampled:
    def __init__(self, rows):
        self.rows = np.asarray(rows, dtype=float)

    def sample(self, ids, source):
        steps = np.cumsum(self.rows, axis=1)
        steps[:, -1] = 1.0
        return (source.uniforms(len(ids))[:, None] >= steps[ids]).sum(axis=1)


class Open(Sampled):
    def odds(self, ids):
        return self.rows[ids]


def mostly_stays(words: int, stay: float) -> np.ndarray:
    return np.full((words, words), (1 - stay) / (words - 1)) + np.eye(words) * (stay - (1 - stay) / (words - 1))


def chain(words: int, texts: int, length: int) -> list[np.ndarray]:
    """Each word is followed by the next one with chance 0.9, otherwise by any: plain to whoever sees the neighbours."""
    source = secure()
    found = source.below(words, (texts, length))
    moves = source.uniforms((texts, length)) < 0.9
    for t in range(1, length):
        found[:, t] = np.where(moves[:, t], (found[:, t - 1] + 1) % words, found[:, t])
    return list(found)


# ---- language model ------------------------------------------------------------------------------------------------

TEXTS = [np.array([0, 1, 0, 1, 2]), np.array([-1, 0, 1, -1, 3, 3]), np.array([2, 2, 2]), np.array([], dtype=int)]


def slow_odds(texts, prior, before, after):
    """The formula of the header, counted by hand. Contexts: a word, -1 for an unknown one, None for the start."""
    pairs: dict[tuple, int] = {}
    for text in texts:
        for previous, word in zip([None, *text], text, strict=False):
            if word >= 0:
                pairs[previous, word] = pairs.get((previous, word), 0) + 1
    once, twice = (sum(c == n for c in pairs.values()) for n in (1, 2))
    discount = once / (once + 2 * twice)
    types = len({w for _, w in pairs})
    lower = (sum(w == after for _, w in pairs) + types * prior[after]) / (len(pairs) + types)
    total = sum(c for (v, _), c in pairs.items() if v == before)
    if not total:
        return lower
    followers = sum(v == before for v, _ in pairs)
    return max(pairs.get((before, after), 0) - discount, 0) / total + discount * followers / total * lower


def test_the_model_equals_its_formula():
    model = BigramModel(TEXTS, PRIOR)
    contexts = {0: 0, 1: 1, 2: 2, 3: 3, -1: 4, None: model.start}
    for before, row in contexts.items():
        found = model.odds(np.array([[row]]), np.arange(4)[None])[0, 0]
        assert found == pytest.approx([slow_odds(TEXTS, PRIOR, before, after) for after in range(4)])
        assert found.sum() == pytest.approx(1)


def test_rows_sum_to_one_on_random_text():
    texts = [secure().below(7, 50) - 1 for _ in range(5)]
    prior = np.full(6, 1 / 6)
    model = BigramModel(texts, prior)
    contexts = np.arange(8)[None]
    assert model.odds(contexts, np.arange(6)[None]).sum(axis=2) == pytest.approx(np.ones((1, 8)))
    assert model.unigram.sum() == pytest.approx(1)


def test_without_text_the_model_is_the_prior():
    model = BigramModel([], PRIOR)
    assert model.unigram == pytest.approx(PRIOR)
    assert model.odds(np.array([[0, model.start]]), np.arange(4)[None])[0] == pytest.approx(np.stack([PRIOR, PRIOR]))


# ---- candidates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [1, 4_000_000])
def test_exact_candidates_are_the_likeliest(monkeypatch, cells):
    monkeypatch.setattr("textveil.attacks.words.candidates._CELLS", cells)
    rows = np.random.default_rng(1).dirichlet(np.ones(9), size=9)
    law = np.random.default_rng(2).dirichlet(np.ones(9))
    table = exact_candidates(Open(rows), law, 3)
    for y in range(9):
        best = np.argsort(-law * rows[:, y])[:3]
        assert table.words[y].tolist() == best.tolist()
        assert table.odds[y] == pytest.approx(rows[best, y])


def test_learnt_odds_come_near_the_exact_ones():
    """Four words, 100,000 runs: an estimate more than 0.03 off would be ten standard errors away."""
    rows = np.array([[0.7, 0.1, 0.1, 0.1], [0.3, 0.4, 0.2, 0.1], [0.05, 0.05, 0.8, 0.1], [0.25, 0.25, 0.25, 0.25]])
    table = learnt_candidates(Sampled(rows), PRIOR, 4, 100_000, secure())
    for y in range(4):
        assert sorted(table.words[y].tolist()) == [0, 1, 2, 3]
        assert table.odds[y] == pytest.approx(rows[table.words[y], y], abs=0.03)


def test_lucky_pairs_are_not_believed():
    """Outputs that say nothing, among 500 words: "1 of 4 runs" is worth about 1 in 500, not a quarter.

    False alarm below 1e-6: some 2,000 singly seen pairs foretell about 500 hits of which about 4 are found.
    """
    words = 500
    table = learnt_candidates(Sampled(np.full((words, words), 1 / words)), np.full(words, 1 / words), 8, 4000, secure())
    strangers = table.words != np.arange(words)[:, None]
    assert table.odds[strangers].mean() < 0.05


def test_the_released_word_is_always_a_candidate():
    table = learnt_candidates(Sampled(np.roll(np.eye(6), 1, axis=1)), np.full(6, 1 / 6), 2, 1000, secure())
    assert (table.words == np.arange(6)[:, None]).any(axis=1).all()
    assert (
        guess_texts([np.arange(6)], table, BigramModel([], np.full(6, 1 / 6)), 0.0)[0] == np.roll(range(6), 1)
    ).all()


# ---- decoder -------------------------------------------------------------------------------------------------------


def slow_guess(text, rows, model, weight):
    """Add up all sequences."""
    words = len(rows)
    mass = np.zeros((len(text), words))
    for sequence in product(range(words), repeat=len(text)):
        odds, before = 1.0, model.start
        for word, shown in zip(sequence, text, strict=True):
            move = model.odds(np.array([[before]]), np.array([[word]]))[0, 0, 0]
            odds *= move**weight * model.unigram[word] ** (1 - weight) * rows[word, shown]
            before = word
        for t, word in enumerate(sequence):
            mass[t, word] += odds
    return mass.argmax(axis=1)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("cells", [1, 20_000_000])
def test_the_decoder_equals_the_sum_over_all_sequences(monkeypatch, weight, cells):
    monkeypatch.setattr("textveil.attacks.words.decoding._CELLS", cells)
    draw = np.random.default_rng(3)
    rows, model = draw.dirichlet(np.ones(4), size=4), BigramModel(TEXTS, PRIOR)
    table = exact_candidates(Open(rows), model.unigram, 4)
    texts = [draw.integers(0, 4, size=n) for n in (5, 1, 4, 0, 5, 2)]
    for text, guess in zip(texts, guess_texts(texts, table, model, weight), strict=True):
        assert guess.tolist() == slow_guess(text, rows, model, weight).tolist()


def test_what_the_model_holds_impossible_does_not_spread():
    """Word 2 has prior 0 and was never seen; the words after it are still guessed."""
    model = BigramModel([np.array([0, 1, 0, 1])], np.array([0.5, 0.5, 0.0]))
    table = exact_candidates(Open(np.eye(3)), np.array([0.5, 0.5, 0.0]), 2)
    assert guess_texts([np.array([0, 2, 1, 0])], table, model, 1.0)[0][[0, 2, 3]].tolist() == [0, 1, 0]


# ---- the attack ----------------------------------------------------------------------------------------------------


def markov_exposure(kind, words=12, texts=60, length=25, stay=0.5) -> WordsSeen:
    truth = chain(words, texts, length)
    channel = kind(mostly_stays(words, stay))
    flat = np.concatenate(truth)
    return WordsSeen(
        observed=channel.sample(flat, secure()),
        documents=np.repeat(np.arange(texts), length),
        vocabulary=[f"w{i}" for i in range(words)],
        prior=np.full(words, 1 / words),
        channel=channel,
        public=chain(words, 100, length),
        truth=OriginalWords(flat),
    )


@pytest.mark.parametrize("kind", [Sampled, Open])
def test_context_helps_where_words_follow_each_other(kind):
    """Alone a word is right with chance 0.5, with its neighbours in about 0.8 of 1,500 words; the gain varies between
    trials with a standard deviation of 0.03, so that 0.1 is missed by chance less than once in a million trials."""
    seen = markov_exposure(kind)
    alone, together = (a.run(seen, rng=secure()) for a in (BayesAttack(draws=20_000), ContextAttack(draws=20_000)))
    assert together.value > alone.value + 0.1
    assert "weight 0 " not in together.notes[0]


def test_without_truth_it_is_scored_on_public_text():
    seen = markov_exposure(Open)
    blind = WordsSeen(seen.vocabulary, seen.prior, seen.channel, public=seen.public)
    found = ContextAttack().run(blind, rng=secure())
    assert found.value > 0.55  # 0.8 with a standard deviation of 0.04 between trials; single words give 0.5
    assert 0 < found.tries < sum(map(len, seen.public))


def test_context_alone_refutes_nothing():
    """Independent release at loss 0.1, words that are plain from their neighbours: the promise holds, and stands."""
    stay = np.exp(0.1) / (np.exp(0.1) + 1)
    seen = markov_exposure(Open, words=2, stay=stay)
    promise = Guarantee(Pure(0.1), Unit.WORD, Adjacency.REPLACE)
    found = ContextAttack().run(seen, rng=secure())
    assert found.epsilon_floor() == 0
    assert not found.refutes(promise)


def test_useless_public_text_is_not_believed():
    """Public words in random order and a word that almost always stays: the success stays that of single words."""
    seen = markov_exposure(Open, stay=0.98)
    noise = [secure().below(12, 25) for _ in range(100)]
    found = ContextAttack().run(replace(seen, public=noise), rng=secure())
    alone = BayesAttack().run(seen, rng=secure())
    assert found.hits >= alone.hits - 0.02 * alone.tries


def test_no_public_text_is_the_attack_on_single_words():
    seen = markov_exposure(Open)
    found = ContextAttack().run(replace(seen, public=[]), rng=secure())
    assert found.hits == BayesAttack().run(seen, rng=secure()).hits
    assert "weight 0" in found.notes[0]


def test_the_interval_counts_texts():
    """Ten texts, each wholly right or wholly wrong, tell as much as ten tries, however long they are."""
    hits, sizes = np.array([50, 0] * 5), np.full(10, 50)
    assert 5 < worth(hits, sizes) < 10
    even = worth(np.full(10, 25), sizes)
    assert even == 500
    assert worth(np.array([3]), np.array([5])) is None
    assert worth(sizes, sizes) is None


def test_wrong_use_of_the_context_attack_is_named():
    seen = markov_exposure(Open)
    with pytest.raises(BadInput, match=r"words\.context needs public"):
        ContextAttack().run(replace(seen, public=None), rng=secure())
    with pytest.raises(BadInput, match="takes WordsSeen"):
        ContextAttack().run(TwoWorlds(seen.channel), rng=secure())
    with pytest.raises(BadInput, match="needs documents"):
        ContextAttack().run(replace(seen, documents=None), rng=secure())
    with pytest.raises(BadParameter, match="candidates"):
        ContextAttack(candidates=0).run(seen, rng=secure())
    with pytest.raises(BadInput, match="too little public text"):
        ContextAttack().run(WordsSeen(seen.vocabulary, seen.prior, seen.channel, public=[]), rng=secure())
    nothing = np.array([], dtype=int)
    with pytest.raises(BadInput, match="no released word"):
        empty = replace(seen, observed=nothing, truth=OriginalWords(nothing), documents=nothing)
        ContextAttack().run(empty, rng=secure())
    with pytest.raises(BadInput, match="documents has another number"):
        replace(seen, truth=None, observed=np.array([0, 1]), documents=np.array([0]))


@pytest.mark.parametrize("kind", [Sampled, Open])
def test_it_keeps_every_law_on_single_words(kind):
    """Texts of one word each: there the success does bound the loss, and the laws can be asked for."""
    words, released = 20, 2000

    def exposure(tells: str) -> WordsSeen:
        channel = kind(np.eye(words) if tells == "all" else np.full((words, words), 1 / words))
        secret = secure().below(words, released)
        return WordsSeen(
            vocabulary=[str(i) for i in range(words)],
            observed=channel.sample(secret, secure()),
            documents=np.arange(released),
            prior=np.full(words, 1 / words),
            channel=channel,
            public=[secure().below(words, 40) for _ in range(20)],
            truth=OriginalWords(secret),
        )

    check_attack(ContextAttack(draws=5000), exposure)


def test_it_is_an_attack_by_name():
    assert isinstance(registry.make("attack", "words.context"), Attack)
