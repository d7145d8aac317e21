"""The hashed chain: its gradient by enumeration, its two versions, noisy labels, scores, folders."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import textveil as tv
from textveil.core.errors import BadInput
from textveil.pii.tagger import crf, crf_kernel, crf_plain
from textveil.pii.tagger.crf import Chains, HashedCrf
from textveil.pii.tagger.features import WIDTH, Batch, WordHashes, rows_of
from textveil.pii.tagger.marked import CutDocument, batch_of
from textveil.text.spans import Span

TAGS = ("O", "B-A", "I-A")


def small(seed: int = 0, tokens: int = 7) -> tuple[HashedCrf, Chains]:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 16, (tokens, 3)).astype(np.uint32)
    model = HashedCrf(TAGS, 4)
    model.weights[:] = rng.normal(size=model.weights.shape)
    model.steps[model.legal] = rng.normal(size=int(model.legal.sum()))
    tags = np.array([0, 1, 2, 0, 1, 0, 1][:tokens])
    return model, Chains(rows, np.array([0, 4, tokens]), tags, rng.uniform(0.3, 1.0, tokens))


def paths(model: HashedCrf, scores: np.ndarray):
    """All legal paths of a chain and their scores."""
    for path in itertools.product(range(len(TAGS)), repeat=len(scores)):
        score = model.first[path[0]] + sum(scores[t, y] for t, y in enumerate(path))
        score += sum(model.steps[a, b] for a, b in itertools.pairwise(path))
        if score > -1e8:
            yield path, score


def seen_chance(model: HashedCrf, chains: Chains) -> float:
    """log of the chance of what was seen, by enumeration."""
    total = 0.0
    for a, b in itertools.pairwise(chains.bounds.tolist()):
        scores = model.weights[chains.rows[a:b]].sum(axis=1).astype(float)
        whole = held = 0.0
        for path, score in paths(model, scores):
            q = [
                chains.trust[a + t] if y == chains.tags[a + t] else (1 - chains.trust[a + t]) / (len(TAGS) - 1)
                for t, y in enumerate(path)
            ]
            whole, held = whole + np.exp(score), held + np.exp(score) * np.prod(q)
        total += np.log(held / whole)
    return total


def test_a_step_follows_the_slope_of_the_chance_of_what_was_seen():
    """With a long memory a step of AdaGrad is the gradient times a constant: here a hundredth of it."""
    model, chains = small()
    one = Chains(chains.rows[:4], np.array([0, 4]), chains.tags[:4], chains.trust[:4])
    before = model.weights.astype(np.float64)
    slope = np.zeros(before.shape)
    for slot, y in itertools.product(range(16), range(len(TAGS))):
        for sign in (1, -1):
            model.weights = before.copy()
            model.weights[slot, y] += sign * 1e-4
            slope[slot, y] += sign * seen_chance(model, one) / 2e-4
    model.weights = before.astype(np.float32)
    grown = np.full(before.shape, 1e8, np.float32)
    crf_plain.train_pass(
        one.rows, one.bounds, np.array([0]), one.tags, one.trust, model.weights, grown, model.steps,
        np.full(model.steps.shape, 1e8), model.first, model.legal, 100.0,
    )  # fmt: skip
    moved = model.weights - before.astype(np.float32)
    assert np.abs(slope).max() > 0.1 and np.allclose(100 * moved, slope, atol=2e-3)


def test_the_compiled_passes_are_the_plain_ones():
    (one, chains), (other, _) = small(3), small(3)
    grown = [np.full(one.weights.shape, 1e-8, np.float32) for _ in range(2)]
    steps_grown = [np.full(one.steps.shape, 1e-8) for _ in range(2)]
    for number, (model, module) in enumerate(((one, crf_kernel), (other, crf_plain))):
        for _ in range(3):
            module.train_pass(
                chains.rows, chains.bounds, np.array([1, 0]), chains.tags, chains.trust, model.weights, grown[number],
                model.steps, steps_grown[number], model.first, model.legal, 0.1,
            )  # fmt: skip
    assert np.allclose(one.weights, other.weights, atol=1e-4) and np.allclose(one.steps, other.steps, atol=1e-4)
    read = [
        m.read_all(chains.rows, chains.bounds, one.weights, one.steps, one.first, 1.7) for m in (crf_kernel, crf_plain)
    ]
    assert (read[0][0] == read[1][0]).all() and np.allclose(read[0][1], read[1][1], atol=1e-6)


def test_chances_and_the_best_path_by_enumeration():
    model, chains = small(5)
    chosen, chances = model.chances(chains.rows, chains.bounds)
    for a, b in itertools.pairwise(chains.bounds.tolist()):
        scores = model.weights[chains.rows[a:b]].sum(axis=1).astype(float)
        listed = list(paths(model, scores))
        assert tuple(chosen[a:b]) == max(listed, key=lambda p: p[1])[0]
        odds = np.exp([s for _, s in listed])
        for t, y in itertools.product(range(b - a), range(len(TAGS))):
            mine = sum(o for (path, _), o in zip(listed, odds, strict=True) if path[t] == y)
            assert chances[a + t, y] == pytest.approx(mine / odds.sum(), abs=1e-6)


def test_features_do_not_reach_over_lines_and_batches_change_nothing():
    texts = ["Anna Meyer\nshe met Anna today.", "One line only", ""]
    cuts = [CutDocument.of(text) for text in texts]
    together = rows_of(batch_of(cuts), WordHashes(), 18)
    alone = np.concatenate([rows_of(batch_of([cut]), WordHashes(), 18) for cut in cuts])
    assert (together == alone).all() and together.shape[1] == WIDTH
    apart = rows_of(Batch(["she", "met"], [0, 2], []), WordHashes(), 18)
    inside = rows_of(batch_of([CutDocument.of("Anna\nshe met")]), WordHashes(), 18)[1:]
    assert (apart == inside).mean() > 0.9  # but for the flag of the head


def corpus(count: int, noisy: float = 0.0, seed: int = 0):
    """Names after 'Dear' are people; a share of the labels is wrong (and says so)."""
    rng = np.random.default_rng(seed)
    texts, spans = [], []
    for _ in range(count):
        word = "".join(rng.choice(list("abcdefgh"), 5)).title()
        greets = rng.random() < 0.5
        texts.append(f"{'Dear' if greets else 'In'} {word}, the fee is due.")
        wrong = rng.random() < noisy
        start = texts[-1].index(word)
        marked = greets != wrong
        spans.append([Span(start, start + 5, "PERSON", 0.55 if wrong else 0.95)] if marked else [])
    return texts, spans


def f1(model, texts, truth):
    found = [{(s.start, s.end) for s in own} for own in model.find(texts)]
    marked = [{(s.start, s.end) for s in own} for own in truth]
    right = sum(len(a & b) for a, b in zip(found, marked, strict=True))
    return 2 * right / (sum(map(len, found)) + sum(map(len, marked)))


def test_it_learns_and_calibrates_and_comes_back_from_its_folder(tmp_path):
    texts, spans = corpus(300)
    model = tv.pii.Tagger(bits=14, epochs=4, seed=1).fit(texts, spans)
    fresh, truth = corpus(100, seed=9)
    assert f1(model, fresh, truth) > 0.98 and model.backend_.facts["held_out_documents"] == 30
    model.save(tmp_path / "m")
    again = tv.pii.load(str(tmp_path / "m"))
    assert [[(s.start, s.end, s.label) for s in own] for own in again.find(fresh)] == [
        [(s.start, s.end, s.label) for s in own] for own in model.find(fresh)
    ]
    assert "nothing is promised" in (tmp_path / "m" / "tagger.json").read_text()


def test_without_numba_the_same_is_learnt(monkeypatch):
    texts, spans = corpus(40)
    quick = tv.pii.Tagger(bits=10, epochs=2, seed=1, holdout=0.0).fit(texts, spans)
    monkeypatch.setattr(crf, "has_numba", lambda: False)
    plain = tv.pii.Tagger(bits=10, epochs=2, seed=1, holdout=0.0).fit(texts, spans)
    assert np.allclose(quick.backend_.crf.weights, plain.backend_.crf.weights, atol=2e-3)
    assert f1(plain, texts, spans) == f1(quick, texts, spans)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"kind": "rnn"}, "unknown kind"),
        ({"bits": 40}, "bits must be"),
        ({"holdout": 0.9}, "holdout"),
        ({"epochs": 0}, "epochs"),
    ],
)
def test_bad_settings_are_named(bad, sentence):
    with pytest.raises(BadInput, match=sentence):
        tv.pii.Tagger(**bad).fit(["a b"], [[(0, 1, "A")]])


def test_a_folder_that_is_none_is_named(tmp_path):
    with pytest.raises(BadInput, match="is no recogniser"):
        tv.pii.load(str(tmp_path))
    (tmp_path / "tagger.json").write_text("{}")
    with pytest.raises(BadInput, match="header of a tagger"):
        tv.pii.load(str(tmp_path))
