"""Tables of other tools: crfsuite, scikit-learn, Vowpal Wabbit."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.core.errors import BadInput
from textveil.hashed.adapters import VowpalModel, from_crfsuite, seal_linear, table_of_rows
from textveil.hashed.decode import decode
from textveil.hashed.features import Slots
from textveil.hashed.seal import seal

BITS = 8


def sequences():
    rng = np.random.default_rng(0)
    for _ in range(60):
        labels = ["O", "O", "LAW", "LAW", "O"]
        yield [[str(rng.integers(0, 40) + (100 if y == "LAW" else 0)) for _ in range(3)] for y in labels], labels


@pytest.fixture(scope="module")
def crf(tmp_path_factory):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    trainer = pycrfsuite.Trainer(algorithm="pa", verbose=False)
    for xs, ys in sequences():
        trainer.append(xs, ys)
    path = str(tmp_path_factory.mktemp("crf") / "model.crfsuite")
    trainer.train(path)
    return path


def labels_by_ours(table, xs):
    rows = [np.unique(np.array([int(a) for a in x], np.uint32)) for x in xs]
    slots = Slots(np.concatenate(rows), np.cumsum([0, *map(len, rows)]).astype(np.int64))
    return [table.labels[y] for y in decode(slots, np.array([0, len(xs)]), table).labels]


def test_a_crfsuite_model_decodes_the_same_from_our_table(crf):
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(crf)
    table = from_crfsuite(crf, BITS)
    for xs, _ in sequences():
        distinct = [sorted(set(x)) for x in xs]
        assert labels_by_ours(table, xs) == tagger.tag(distinct)


def test_a_crfsuite_model_is_sealed(crf):
    table = from_crfsuite(crf, BITS)
    sealed = seal(table, min_documents=1, seed=1)
    assert sealed.present.all() and not table.present.all()
    some = np.flatnonzero(table.present.any(axis=1))
    for seed in range(20):
        xs = np.random.default_rng(seed).choice(some, (6, 3))  # slots that crfsuite kept: no decision changes
        assert labels_by_ours(table, xs) == labels_by_ours(sealed, xs)


def test_crfsuite_bad_input(crf, tmp_path):
    (tmp_path / "no").write_text("nothing")
    with pytest.raises(BadInput, match="not a crfsuite model"):
        from_crfsuite(tmp_path / "no")
    with pytest.raises(BadInput, match="not slot numbers"):
        from_crfsuite(crf, 4)


TEXTS = [f"{'good fine' if i % 2 else 'bad poor'} item{i % 7} seen{i % 11}" for i in range(60)]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("mode", ["quiet", "paper"])
def test_scikit_learn_linear_models(classes, mode):
    sklearn_text = pytest.importorskip("sklearn.feature_extraction.text")
    from sklearn.linear_model import SGDClassifier

    X = sklearn_text.HashingVectorizer(n_features=1000).transform(TEXTS)  # not a power of two
    y = np.arange(60) % classes if classes == 3 else np.arange(60) % 2
    model = SGDClassifier(random_state=0).fit(X, y)
    sealed = seal_linear(model, mode=mode, seed=1)
    assert sealed.coef_.shape == model.coef_.shape and (model.coef_ == 0).any()
    genuine = model.coef_ != 0
    if mode == "paper":
        assert (sealed.coef_[genuine] == model.coef_[genuine]).all() and (sealed.coef_ != 0).all()
    else:
        assert len(np.unique(sealed.coef_[~genuine])) > 20
        known = X.multiply(genuine.any(axis=0)).tocsr()  # without words that the model has no weight for
        assert (sealed.predict(known) == model.predict(known)).all()


def test_scikit_learn_with_document_counts():
    sklearn_text = pytest.importorskip("sklearn.feature_extraction")
    from sklearn.linear_model import LogisticRegression

    X = sklearn_text.FeatureHasher(n_features=256, input_type="string").transform([t.split() for t in TEXTS])
    model = LogisticRegression().fit(X, np.arange(60) % 2)
    documents = np.asarray((X != 0).sum(axis=0)).ravel()
    sealed = seal_linear(model, documents=documents, min_documents=6, seed=2)
    spread = np.abs(model.coef_).max()
    kept = documents >= 6
    assert np.abs(sealed.coef_ - model.coef_)[:, kept].max() < 0.02 * spread
    with pytest.raises(BadInput, match="no matrix of coefficients"):
        seal_linear(LogisticRegression())


VW = "Version 9.10.0\nId \nMin label:-1\nMax label:1\nbits:6\nlda:0\n0 ngram:\n0 skip:\noptions:\nChecksum: 1234\n:0\n"


def test_vowpal_wabbit_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    rows = {int(s): f"{w:.6g}" for s, w in zip(rng.permutation(64)[:30], rng.normal(size=30), strict=True)}
    text = VW + "".join(f"{s}:{w}\n" for s, w in sorted(rows.items()))
    (tmp_path / "model.txt").write_text(text)
    model = VowpalModel.read(tmp_path / "model.txt")
    model.write(tmp_path / "same.txt")
    assert (tmp_path / "same.txt").read_text() == text
    for mode in ("paper", "quiet"):
        sealed = model.seal(mode=mode, seed=1)
        sealed.write(tmp_path / f"{mode}.txt")
        again = VowpalModel.read(tmp_path / f"{mode}.txt")
        assert len(again.weights) == 64 and again.header == model.header
        gap = [abs(float(again.weights[s]) - float(w)) for s, w in rows.items()]
        assert max(gap) == 0 if mode == "paper" else max(gap) < 0.01
    assert all(again.weights[s] != w for s, w in rows.items() if len(w) > 7)  # quiet: on the grid like all others


BAD = [("hello", "not a readable model"), (VW + "99:1\n", "slot:weight"), (VW + "1:x\n", "line 12")]


@pytest.mark.parametrize("text, said", BAD)
def test_vowpal_wabbit_bad_input(tmp_path, text, said):
    (tmp_path / "m.txt").write_text(text)
    with pytest.raises(BadInput, match=said):
        VowpalModel.read(tmp_path / "m.txt")


def test_padding_adds_rows_that_nothing_reaches():
    table = table_of_rows(
        np.ones((5, 2), np.float32), np.ones((5, 2), bool), ("a", "b"), documents=np.ones(5, np.uint16)
    )
    assert len(table.weights) == 8 and table.documents.tolist() == [1] * 5 + [0] * 3
