"""The federated secret sharer: planting, ranks against enumeration, beams against the exhaustive search."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from textveil.attacks.federated.beam import BeamSearchAttack, beams
from textveil.attacks.federated.examples import shared_told
from textveil.attacks.federated.sampling import Candidates, draw_candidates, ranked, suffix_losses
from textveil.attacks.federated.secret_sharer import SecretSharerAttack
from textveil.attacks.federated.seen import NextWordsSeen
from textveil.attacks.federated.sharers import SharedCanaries, make_shared, plant
from textveil.core import BadInput
from textveil.noise import seeded

WORDS = [f"word{i}" for i in range(7)]


def random_model(words: int = 7, seed: int = 0):
    """Chances that depend on the whole beginning."""

    def next_logs(rows: np.ndarray) -> np.ndarray:
        scores = np.stack([np.random.default_rng([seed, *row]).normal(size=words) for row in rows.tolist()])
        return scores - np.log(np.exp(scores).sum(1, keepdims=True))

    return next_logs


def loss_of(next_logs, row: tuple[int, ...], known: int) -> float:
    """The slow way: one word after the other."""
    return -sum(next_logs(np.array([row[:i]]))[0, row[i]] for i in range(known, len(row)))


def test_losses_equal_those_of_each_suffix_alone():
    next_logs, prefix = random_model(), np.array([3, 1])
    some = draw_candidates(np.array([0, 5, 2]), 7, 12, 4, seeded(1))
    losses = suffix_losses(next_logs, prefix, some)
    for b, leaf in itertools.product(range(12), range(4)):
        row = (3, 1, *some.stems[b].tolist(), int(some.leaves[b, leaf]))
        assert losses[b, leaf] == pytest.approx(loss_of(next_logs, row, 2))


def test_every_leaf_would_have_another_rank():
    """Exchangeable: were any other leaf of the same candidates the true one, ranks 1 to |R| would come out, each once."""
    stems = np.array([[a, b] for a, b in itertools.product(range(5), range(2))])
    leaves = np.tile(np.arange(6), (10, 1))
    losses = suffix_losses(random_model(), np.array([3, 1]), Candidates(stems, leaves))
    ranks = []
    for b, leaf in itertools.product(range(10), range(6)):
        first, last = np.roll(np.arange(10), -b), np.roll(np.arange(6), -leaf)
        moved = Candidates(stems[first], leaves[first][:, last])
        ranks.append(1 + ranked(losses[first][:, last], moved).better)
    assert sorted(ranks) == list(range(1, 61))


def test_ties_count_against_the_attacker_and_are_split_where_shown():
    flat = Candidates(np.arange(4)[:, None], np.arange(8)[:, None].T.repeat(4, 0))
    found = ranked(np.ones((4, 8)), flat)
    assert (found.better, found.ties, found.memorised, found.tested) == (0, 31, False, 0.0)
    assert found.exposure == pytest.approx(np.log2(32 / 16.5))


def test_a_wide_beam_finds_the_likeliest_of_all():
    next_logs = random_model(words=4)
    everything = [(2, *rest) for rest in itertools.product(range(4), repeat=3)]
    order = sorted(everything, key=lambda row: loss_of(next_logs, row, 1))
    written = beams(next_logs, np.array([2]), 4, width=64)[0]
    assert [tuple(row) for row in written.tolist()] == order


def test_planting_keeps_users_apart_and_counts_right():
    texts = {f"u{i}": [f"sentence {i} {j}" for j in range(30)] for i in range(500)}
    canaries = make_shared(WORDS * 3 + [f"more{i}" for i in range(99)], seeded(3), users=40)
    planted, counted = plant(texts, canaries, seeded(4))
    found = Counter(text for own in planted.values() for text in own)
    for canary in counted.canaries:
        holders = [user for user, own in planted.items() if canary.text in own]
        assert 1 <= len(holders) <= canary.sharers
        assert found[canary.text] == canary.occurrences >= 1
        if canary.share == 1:
            assert len(holders) == canary.sharers and canary.occurrences == 30 * canary.sharers
    taking_part = [user for user in planted if user.startswith("canary-")]
    assert len(taking_part) == sum(c.inserted for c in counted.users)
    assert all(set(planted[u]) == {counted.users[int(u[7:])].text} for u in taking_part)
    assert texts["u0"] == [f"sentence 0 {j}" for j in range(30)]


def test_the_file_comes_back(tmp_path):
    made = make_shared(WORDS, seeded(1), users=3)
    made.save(tmp_path / "c.json")
    assert SharedCanaries.load(tmp_path / "c.json") == made
    (tmp_path / "c.json").write_text("{}")
    with pytest.raises(BadInput, match="no file of shared canaries"):
        SharedCanaries.load(tmp_path / "c.json")


def test_what_cannot_be_planted_or_asked_is_refused():
    with pytest.raises(BadInput, match="420 users would share"):
        plant({"u": ["a"]}, make_shared(WORDS, seeded(1)), seeded(1))
    with pytest.raises(BadInput, match="at most 1"):
        make_shared(WORDS, seeded(1), shares=[2.0])
    told = shared_told("all")
    with pytest.raises(BadInput, match="not among the model's words"):
        BeamSearchAttack().run(NextWordsSeen(told.next_logs, ["other"], told.canaries), rng=seeded(1))


def test_a_promise_is_told_where_its_line_lies():
    told = shared_told("all")
    notes = SecretSharerAttack(20, 20, epsilon=0.01, delta=1e-9).run(told, rng=seeded(1)).notes
    assert sum("above the cap" in note for note in notes) == 3  # 400 candidates cannot refute at .01 / 18
    notes = SecretSharerAttack(200, 200, epsilon=0.01, delta=1e-9).run(told, rng=seeded(1)).notes
    assert sum("CROSSED" in note for note in notes) == 3


@pytest.mark.torch
def test_a_net_is_asked_as_a_black_box():
    torch = pytest.importorskip("torch")
    from textveil.nets.language_model import CIFGLanguageModel
    from textveil.nets.next_words import next_word_logs

    torch.manual_seed(0)
    net = CIFGLanguageModel.of(WORDS, dimensions=4, hidden=5).eval()
    logs = next_word_logs(net, np.array([[0, 3], [6, 2]]), batch_size=1)
    for row, text in zip(logs, ("word0 word3", "word6 word2"), strict=True):
        expected = dict(net.next_words(text, 7))
        assert {w: pytest.approx(expected[w], rel=1e-4) for w in WORDS} == dict(zip(WORDS, np.exp(row), strict=True))
