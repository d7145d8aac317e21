"""The trainer against python-crfsuite (weight by weight), the compiled pass against the rule as it is written."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest

from textveil.hashed import decode as decoding
from textveil.hashed import passive_aggressive
from textveil.hashed.corpus import Block, Corpus, label_tokens
from textveil.hashed.decode import decode
from textveil.hashed.features import Slots, slots_of
from textveil.hashed.passive_aggressive import PassiveAggressive, State, slow_score, slow_viterbi
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.segments import tokenize

ROWS = 64


def random_block(rng, sequences=40, labels=2, slots=ROWS):
    """Sequences of 1 to 8 tokens with 1 to 5 slots each; the label leans on the slots, so there is something to learn."""
    sizes = rng.integers(1, 9, sequences)
    rows = [rng.choice(slots, rng.integers(1, 6), replace=False) for _ in range(sizes.sum())]
    gold = [int((row.mean() + rng.normal(0, 6)) * labels / slots) % labels for row in rows]
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    bounds = np.cumsum([0, *sizes]).astype(np.int64)
    return Block(np.concatenate(rows).astype(np.uint32), starts, np.array(gold, np.uint8), bounds)


def sequences_of(block):
    for first, last in zip(block.bounds, block.bounds[1:], strict=False):
        items = [[str(s) for s in block.indices[block.starts[t] : block.starts[t + 1]]] for t in range(first, last)]
        yield items, [str(y) for y in block.labels[first:last]]


def crfsuite_order(count, epochs, seed):
    """The orders in which crfsuite takes the sequences: it swaps each place with one that the C library's rand() names."""
    libc = ctypes.CDLL(None)
    libc.srand(seed)
    order, orders = np.arange(count), []
    for _ in range(epochs):
        for i in range(count):
            j = libc.rand() % count
            order[i], order[j] = order[j], order[i]
        orders.append(order.copy())
    libc.srand(seed)
    return orders


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("c", [1.0, 0.05])
def test_every_weight_equals_crfsuite(tmp_path, labels, c):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    block, epochs = random_block(np.random.default_rng(7), labels=labels), 4
    orders = crfsuite_order(len(block.bounds) - 1, epochs, seed=5)
    trainer = pycrfsuite.Trainer(algorithm="pa", verbose=False)
    trainer.set_params({"c": c, "max_iterations": epochs, "type": 1, "error_sensitive": True, "averaging": True})
    for items, gold in sequences_of(block):
        trainer.append(items, gold)
    trainer.train(str(tmp_path / "model"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))
    info = tagger.info()

    # crfsuite numbers labels by first appearance; ties between equal scores go to the lowest number there as here
    seen = list(dict.fromkeys(str(y) for y in block.labels))
    ours = block._replace(labels=np.array([seen.index(str(y)) for y in block.labels], np.uint8))
    state = State(ROWS, labels)
    state.note(ours)
    for order in orders:
        state.train(ours, order, c)
    table = state.table(tuple(seen), average=True)
    want = np.zeros((ROWS, labels))
    for (slot, label), weight in info.state_features.items():
        want[int(slot), seen.index(label)] = weight
    steps = np.zeros((labels, labels))
    for (a, b), weight in info.transitions.items():
        steps[seen.index(a), seen.index(b)] = weight
    np.testing.assert_allclose(table.weights, want, atol=2e-6)
    np.testing.assert_allclose(table.transitions, steps, atol=2e-6)
    assert np.abs(want).max() > 0.01

    decoded = decode(Slots(ours.indices, ours.starts), ours.bounds, table)
    theirs = [seen.index(y) for items, _ in sequences_of(block) for y in tagger.tag(items)]
    assert decoded.labels.tolist() == theirs


@pytest.mark.parametrize("labels", [2, 4])
def test_the_compiled_pass_is_the_rule(labels, monkeypatch):
    pytest.importorskip("numba")
    blocks = [random_block(np.random.default_rng(s), labels=labels) for s in (1, 2)]
    names = tuple("OABC"[:labels])
    trainer = PassiveAggressive(epochs=3, c=0.1)
    fast = trainer.train(blocks, ROWS, names)
    monkeypatch.setattr(passive_aggressive, "has_numba", lambda: False)
    slow = trainer.train(blocks, ROWS, names)
    np.testing.assert_allclose(fast.weights, slow.weights, atol=1e-6)
    np.testing.assert_allclose(fast.transitions, slow.transitions, atol=1e-6)
    assert np.array_equal(fast.present, slow.present)


def test_one_update_by_hand():
    """One token of slots {0, 1}, truth 1: the guess is 0, cost 1, |D|^2 = 2 (only weights of label 1 exist)."""
    block = Block(np.array([0, 1], np.uint32), np.array([0, 2]), np.array([1], np.uint8), np.array([0, 1]))
    table = PassiveAggressive(epochs=1, c=10, average=False).train([block], 4, ("O", "A"))
    assert table.weights.tolist() == [[0, 0.5], [0, 0.5], [0, 0], [0, 0]]
    assert table.present.tolist() == [[False, True], [False, True], [False, False], [False, False]]
    capped = PassiveAggressive(epochs=1, c=0.125, average=False).train([block], 4, ("O", "A"))
    assert capped.weights[0, 1] == 0.125
    # averaged over u = 1 (before) and 2 (after): half the weight
    assert PassiveAggressive(epochs=1, c=10).train([block], 4, ("O", "A")).weights[0, 1] == 0.25


def test_order_decides_and_the_same_order_gives_the_same_bits():
    block = random_block(np.random.default_rng(3))
    first, again = (PassiveAggressive(epochs=3).train([block], ROWS, ("O", "A")) for _ in range(2))
    assert np.array_equal(first.weights, again.weights)
    mixed = PassiveAggressive(epochs=3, shuffle=1).train([block], ROWS, ("O", "A"))
    assert not np.array_equal(first.weights, mixed.weights)
    assert np.array_equal(
        mixed.weights, PassiveAggressive(epochs=3, shuffle=1).train([block], ROWS, ("O", "A")).weights
    )


def test_viterbi_and_margins_by_enumeration(monkeypatch):
    """All 3^5 labellings of a chain: the best path and every max-marginal."""
    rng = np.random.default_rng(4)
    block = random_block(rng, sequences=12, labels=3)
    table = PassiveAggressive(epochs=2).train([block], ROWS, ("O", "A", "B"))
    slots = Slots(block.indices, block.starts)
    fast = decode(slots, block.bounds, table)
    monkeypatch.setattr(decoding, "has_numba", lambda: False)
    slow = decode(slots, block.bounds, table)
    assert np.array_equal(fast.labels, slow.labels)
    np.testing.assert_allclose(fast.margins, slow.margins, atol=1e-5)
    steps = table.transitions.astype(float)
    for first, last in zip(block.bounds, block.bounds[1:], strict=False):
        if last - first > 5:
            continue
        scores = np.array(
            [
                table.weights[block.indices[block.starts[t] : block.starts[t + 1]]].sum(axis=0)
                for t in range(first, last)
            ]
        )
        paths = np.array(np.meshgrid(*[range(3)] * (last - first), indexing="ij")).reshape(last - first, -1).T
        values = np.array([slow_score(scores, steps, path) for path in paths])
        assert slow_score(scores, steps, slow_viterbi(scores, steps)) == pytest.approx(values.max())
        for t in range(last - first):
            outside, inside = (values[(paths[:, t] != 0) == flag].max() for flag in (False, True))
            assert fast.margins[first + t] == pytest.approx(inside - outside, abs=1e-4)


def test_a_corpus_spills_into_a_nameless_file_and_trains_the_same(made_up_contracts, monkeypatch, tmp_path):
    import tempfile

    monkeypatch.setattr("textveil.hashed.corpus.TOKENS_A_BLOCK", 200)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plan, tables, corpora = FeaturePlan(bits=14), [], []
    for memory in (1 << 30, 0):
        corpus = Corpus(plan, memory=memory)
        for text, spans in made_up_contracts():
            corpus.add(text, [(a, b, 1) for a, b in spans])
        tables.append(PassiveAggressive(epochs=3).train(corpus.blocks(), plan.slots, ("O", "LAW")))
        corpora.append(corpus)
    held, spilled = corpora
    assert len(held.blocks()) > 3 and all(isinstance(b.indices, np.memmap) for b in spilled.blocks())
    assert list(tmp_path.iterdir()) == [], "nothing of the documents has a name on the disk"
    assert np.array_equal(tables[0].weights, tables[1].weights) and np.abs(tables[0].weights).max() > 0
    assert np.array_equal(held.documents, spilled.documents)


@pytest.mark.parametrize("kernel", [True, False])
def test_documents_are_counted_once_each(kernel, monkeypatch, made_up_contracts):
    monkeypatch.setattr("textveil.hashed.corpus.has_numba", lambda: kernel)
    plan = FeaturePlan(bits=10)
    corpus, want = Corpus(plan), np.zeros(plan.slots, int)
    for text, _ in made_up_contracts(8):
        corpus.add(text)
        want[np.unique(slots_of(tokenize(text), plan).indices)] += 1
    assert corpus.documents.tolist() == want.tolist() and corpus.count == 8


def test_labels_of_tokens_by_overlap():
    text = "one two three four"
    tokens = tokenize(text)
    cases = {
        (0, 3): [1, 0, 0, 0],
        (2, 5): [1, 1, 0, 0],
        (3, 4): [0, 0, 0, 0],
        (5, 6): [0, 1, 0, 0],
        (0, 18): [1, 1, 1, 1],
    }
    for (start, end), want in cases.items():
        assert label_tokens(tokens, [(start, end, 1)]).tolist() == want, re.escape(text[start:end])
