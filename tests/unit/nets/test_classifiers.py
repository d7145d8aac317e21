"""The text classifiers learn, repeat themselves, and treat a text the same alone and in any batch."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.core import BadInput, BadParameter
from textveil.nets.bilstm import BiLSTM
from textveil.nets.data import FIRST, UNKNOWN, WordTable, bags, folded, pad, with_pairs
from textveil.nets.fasttext import FastText
from textveil.text import tokens
from textveil.text.vectors import from_arrays

GOOD, BAD, REST = ("fine", "warm", "kind"), ("cold", "rude", "late"), ("the", "tea", "was", "and", "it", "came")


def toy(count: int, seed: int) -> tuple[list[str], list[str]]:
    """One telling word among six others; the label is a word, to see that labels come back as given."""
    draw = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(count):
        good = bool(i % 2)
        words = [*draw.choice(REST, size=6), draw.choice(GOOD if good else BAD)]
        texts.append(" ".join(draw.permutation(words)))
        labels.append("praise" if good else "blame")
    return texts, labels


def small_vectors():
    words = [*GOOD, *BAD, *REST]
    return from_arrays(words, np.random.default_rng(7).normal(size=(len(words), 8)))


def classifiers() -> dict:
    return {
        "fasttext": FastText(dimensions=8, pairs=64, epochs=15, batch_size=16),
        "fasttext, words alone": FastText(dimensions=8, pairs=0, epochs=15, batch_size=16),
        "bilstm": BiLSTM(hidden=8, dimensions=8, epochs=12, batch_size=16, rate=0.02),
        "bilstm, given vectors": BiLSTM(hidden=8, vectors=small_vectors(), epochs=12, batch_size=16, rate=0.02),
        "bilstm, moving vectors": BiLSTM(
            hidden=8, vectors=small_vectors(), freeze=False, epochs=12, batch_size=16, rate=0.02
        ),
    }


NAMES = list(classifiers())


@pytest.fixture
def torch():
    """One thread: these networks are so small that more would only wait for each other."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", NAMES)
def test_it_learns_a_toy_task(torch, name):
    model = classifiers()[name].fit(*toy(200, seed=1))
    texts, labels = toy(100, seed=2)
    assert model.score(texts, labels) >= 0.95
    assert model.classes_.tolist() == ["blame", "praise"]
    assert set(model.predict(texts)) == {"blame", "praise"}
    assert model.losses_[-1] < model.losses_[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_text_scores_the_same_alone_and_in_a_batch(torch, name):
    model = classifiers()[name].set_params(epochs=1).fit(*toy(40, seed=1))
    texts = ["tea", "the tea was cold and it came late " * 5, "", "!?", "strangers only here", "kind"]
    together = model.predict_proba(texts)
    alone = np.concatenate([model.predict_proba([text]) for text in texts])
    assert together == pytest.approx(alone, abs=1e-6)
    assert together.sum(axis=1) == pytest.approx(np.ones(len(texts)))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_network(torch, name):
    texts, labels = toy(60, seed=1)
    state = torch.get_rng_state()
    first, second = (classifiers()[name].set_params(epochs=2).fit(texts, labels) for _ in range(2))
    other = classifiers()[name].set_params(epochs=2, seed=1).fit(texts, labels)
    assert (first.predict_proba(texts) == second.predict_proba(texts)).all()
    assert (first.predict_proba(texts) != other.predict_proba(texts)).any()
    assert (torch.get_rng_state() == state).all()


@pytest.mark.parametrize("name", NAMES)
def test_texts_without_words_can_be_learnt_from(torch, name):
    texts, labels = toy(20, seed=1)
    model = classifiers()[name].set_params(epochs=1).fit(["", "...", *texts], ["blame", "praise", *labels])
    assert np.isfinite(model.predict_proba(["", "tea"])).all()
    assert model.predict_proba([]).shape == (0, 2)


def test_given_vectors_rest_unless_they_are_set_free(torch):
    texts, labels = toy(40, seed=1)
    vectors = small_vectors()
    for freeze in (True, False):
        model = BiLSTM(hidden=4, vectors=vectors, freeze=freeze, epochs=1).fit(texts, labels)
        table = model.net_["embed"].weight.detach().numpy()
        given = np.stack([vectors.vector(word) for word in model.table_.words])
        assert (table[FIRST:] == given).all() == freeze
        assert (table[0] == 0).all()


def test_words_beyond_the_limit_are_not_read(torch):
    model = BiLSTM(hidden=4, dimensions=4, max_words=3, epochs=1).fit(*toy(40, seed=1))
    assert (model.predict_proba(["the tea was cold"]) == model.predict_proba(["the tea was kind and late"])).all()


def test_order_of_words_matters_to_those_who_see_it(torch):
    texts, labels = toy(40, seed=1)
    both = ["the tea was cold", "cold was tea the"]
    bag = FastText(pairs=0, epochs=1).fit(texts, labels).predict_proba(both)
    assert bag[0] == pytest.approx(bag[1], abs=1e-7)
    for model in (FastText(pairs=4096, epochs=1), BiLSTM(hidden=4, epochs=1)):
        shown = model.fit(texts, labels).predict_proba(both)
        assert abs(shown[0, 0] - shown[1, 0]) > 1e-7


def test_it_stands_at_the_end_of_a_pipeline(torch):
    pytest.importorskip("sklearn")
    from sklearn.base import clone, is_classifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    texts, labels = toy(40, seed=1)
    ends = make_pipeline(FunctionTransformer(list), FastText(dimensions=8, pairs=64, epochs=30, batch_size=8))
    assert ends.fit(texts, labels).score(texts, labels) > 0.9
    assert is_classifier(ends[-1])
    assert clone(ends[-1]).get_params() == ends[-1].get_params()


def test_wrong_use_of_a_classifier_is_named(torch):
    with pytest.raises(BadInput, match="not been fitted"):
        FastText().predict(["tea"])
    with pytest.raises(BadInput, match="2 texts need 2 labels"):
        FastText().fit(["tea", "milk"], [1])
    with pytest.raises(BadInput, match="two classes"):
        FastText().fit(["tea", "milk"], [1, 1])
    with pytest.raises(BadInput, match="not one text"):
        FastText().fit("tea", [1, 2, 3])
    with pytest.raises(BadInput, match="text 1 is a int"):
        FastText().fit(["tea", 5], [1, 0])
    with pytest.raises(BadParameter, match="epochs"):
        FastText(epochs=0).fit(["tea", "milk"], [1, 0])


# ---- texts as numbers (no torch) -------------------------------------------------------------------------------------


def test_the_table_is_ordered_by_frequency_then_spelling():
    table = WordTable.of(["b a c", "b a", "b d"])
    assert table.words == ["b", "a", "c", "d"]
    assert WordTable.of(["b a c", "b a", "b d"], min_count=2).words == ["b", "a"]
    assert WordTable.of(["b a c", "b a", "b d"], most=1).words == ["b"]
    assert table.rows("A stranger, b!").tolist() == [FIRST + 1, UNKNOWN, FIRST]
    assert len(table) == 4 + FIRST


def test_folding_first_gives_the_same_words():
    text = "It’s DON'T Straße O'Neil 'S’ 5 o'clock naïve N’T 🙂🙂x"
    assert folded(text) == [tokens.fold(word) for word in tokens.words(text)]


def test_padding_and_bags_lose_nothing():
    rows = [np.array([3, 4, 5]), np.array([], dtype=np.int64), np.array([6])]
    padded, lengths = pad(rows)
    assert padded.tolist() == [[3, 4, 5], [UNKNOWN, 0, 0], [6, 0, 0]]
    assert lengths.tolist() == [3, 1, 1]
    flat, starts = bags(rows)
    assert [part.tolist() for part in np.split(flat, starts[1:])] == [[3, 4, 5], [], [6]]
    assert bags([])[0].shape == (0,)


def test_pairs_depend_on_their_order_and_stay_in_their_rows():
    rows = np.arange(2, 200)
    found = with_pairs(rows, first=1000, buckets=50)
    assert (found[: len(rows)] == rows).all()
    assert len(found) == 2 * len(rows) - 1
    assert set(found[len(rows) :]) == set(range(1000, 1050))
    assert with_pairs(np.array([2, 3]), 10, 2**20)[-1] != with_pairs(np.array([3, 2]), 10, 2**20)[-1]
    assert with_pairs(np.array([2]), 10, 50).tolist() == [2]
