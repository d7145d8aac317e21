"""Learners and tasks of use: the learner against scikit-learn, the tasks on texts whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from textveil.core import BadInput
from textveil.recipes.use.bags import bags_of
from textveil.recipes.use.classify import Learning, correct_answers, learn_and_test, utility_of
from textveil.recipes.use.labels import FOLDS, folds_of, labels_of
from textveil.recipes.use.linear import Linear, TfIdf, VectorMean, predictions
from textveil.recipes.use.retrieve import nearest, retrieval
from textveil.recipes.use.stay import stay_by_band
from textveil.text.vectors import from_arrays

SUBJECTS = {"tea": "tea cup kettle leaf", "rain": "rain cloud storm puddle", "train": "train track signal ticket"}


def texts(count: int, seed: int, clear: float = 1.0) -> tuple[list[str], np.ndarray]:
    """Texts about one of three subjects; each word is of the subject with the chance `clear`, else of any."""
    rng = np.random.default_rng(seed)
    own = [words.split() for words in SUBJECTS.values()]
    every = [word for words in own for word in words] + "the of and a".split()
    numbers = np.arange(count) % 3
    made = [
        " ".join(str(rng.choice(own[k] if rng.random() < clear else every)) for _ in range(6)) for k in numbers.tolist()
    ]
    return made, numbers


@pytest.mark.parametrize("classes", [2, 3])
def test_the_learner_is_that_of_scikit_learn(classes):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    linear = pytest.importorskip("sklearn.linear_model")
    made, numbers = texts(90, seed=1, clear=0.5)
    numbers = np.minimum(numbers, classes - 1)
    (bags,) = bags_of(made)
    features = TfIdf().fit(bags)(bags)
    reference = text.TfidfVectorizer(token_pattern=r"\w+", vocabulary=bags.words)
    theirs = reference.fit_transform(made)
    assert np.allclose(features.toarray(), theirs.toarray())
    model = linear.LogisticRegression().fit(theirs, numbers)
    ours = Linear().fit(features, numbers, classes)
    assert np.allclose(ours.weights.T, model.coef_, atol=2e-3)
    assert (ours.predict(features) == model.predict(theirs)).all()


def test_words_that_were_never_learnt_count_for_nothing():
    train, test = bags_of(["tea tea", "rain"], ["tea unheard unheard", "unheard"])
    rows = TfIdf().fit(train)(test).toarray()
    assert np.linalg.norm(rows, axis=1).tolist() == [1.0, 0.0]


def test_vectors_let_a_classifier_read_words_it_has_not_learnt():
    words = from_arrays(["tea", "cocoa", "rain", "hail"], [[1.0, 0.1], [1.1, 0.1], [-1.0, 0.2], [-1.1, 0.1]])
    train, test = bags_of(["tea", "rain"] * 5, ["cocoa", "hail"])
    said = predictions(VectorMean(words), train, np.array([0, 1] * 5), 2, test)
    assert said.tolist() == [0, 1]


def test_no_text_is_learnt_from_and_tested():
    numbers = np.array([0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0])
    fold = folds_of(numbers)
    assert sorted(np.unique(fold)) == list(range(FOLDS))
    for number in (0, 1):  # every label is spread over the folds
        assert np.ptp(np.bincount(fold[numbers == number], minlength=FOLDS)) <= 1


def test_a_release_that_tells_nothing_is_worth_nothing_and_a_copy_everything():
    made, numbers = texts(120, seed=2)
    noise, _ = texts(120, seed=3, clear=0.0)
    copy, none, clear = bags_of(made, noise, made)
    kept = utility_of(Learning(copy, clear, numbers, 3), TfIdf(), "t")
    lost = utility_of(Learning(none, clear, numbers, 3), TfIdf(), "t")
    assert kept.value == kept.original == 1.0 and kept.chance == pytest.approx(1 / 3) and kept.kept() == 1.0
    assert lost.original == 1.0 and lost.value < 0.55
    assert kept.sizes == {"train": 96, "test": 120, "labels": 3}
    assert lost.interval[0] < lost.value < lost.interval[1]


def test_a_test_file_takes_the_place_of_the_folds():
    made, numbers = texts(60, seed=4)
    released, clear, test = bags_of(made, made, ["tea cup", "storm"])
    learning = Learning(released, clear, numbers, 3, test, np.array([0, 2]))
    assert correct_answers(learning, released, TfIdf()).tolist() == [True, False]  # 'storm' is rain, not train
    assert learn_and_test(learning, TfIdf()).majority.tolist() == [True, False]
    assert utility_of(learning, TfIdf(), "t").sizes["train"] == 60


def test_labels_that_cannot_be_learnt_are_refused_by_name():
    with pytest.raises(BadInput, match=r"field 'id': holds no labels to learn: 300 different values"):
        labels_of(list(range(300)), "id")
    with pytest.raises(BadInput, match="of which 1 occur 5 times or more"):
        labels_of(["a"] * 9 + ["b"], "kind")
    labels = labels_of(["a", None, "b", ""] * 5 + ["rare"], "kind")
    assert (labels.names, labels.left_out) == (["a", "b"], 11)
    assert labels.numbers_of(["b", "c", "a"]).tolist() == [1, -1, 0]


def test_nearest_documents_are_found_by_hand():
    (bags,) = bags_of(["tea cup", "tea kettle", "rain", "rain storm", *[f"other{i} word{i}" for i in range(10)]])
    assert nearest(bags, bags, np.array([0, 2]))[:, 0].tolist() == [1, 3]


def test_retrieval_of_a_copy_finds_all_and_of_noise_little():
    made, _ = texts(60, seed=5, clear=0.8)
    noise, _ = texts(60, seed=6, clear=0.0)
    copy, none, clear = bags_of(made, noise, made)
    assert retrieval(copy, clear).value == 1.0
    lost = retrieval(none, clear)
    assert lost.chance == pytest.approx(10 / 59) and lost.value < 0.4
    with pytest.raises(BadInput, match="30 records or more"):
        retrieval(copy.take(np.arange(5)), clear.take(np.arange(5)))


def test_words_that_stayed_are_counted_by_band():
    prior = np.arange(12_000, 0, -1.0)
    prior /= prior.sum()
    original = np.array([0, 5, 500, 500, 11_000, -1])
    released = np.array([0, 7, 500, 501, 11_000, 3])
    by_task = {use.task.partition(": ")[2]: use for use in stay_by_band(released, original, prior)}
    assert by_task["all words"].value == 0.5
    assert by_task["the 100 most frequent words"].value == 0.5
    assert by_task["words 101 to 1,000"].sizes == {"words": 2}
    assert by_task["rarer words of the vocabulary"].value == 1.0
    assert by_task["words outside the vocabulary"].value == 0.0
    assert by_task["all words"].chance == pytest.approx((1 / 6 + 0 + 1 / 6 + 1 / 6 + 1 / 6 + 0) / 6)
