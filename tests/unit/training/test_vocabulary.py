"""The private vocabulary: thresholds, contribution bounds, exact loss of the thresholded histogram, pieces."""

from __future__ import annotations

import math

import numpy as np
import pytest

from textveil.accounting import guarantee_of
from textveil.core import BadInput, Unit
from textveil.noise import secure, seeded
from textveil.training.vocabulary import METHODS, Noising, Vocabulary, bounded, noising
from textveil.training.vocabulary_policy import even_weights, policy_weights, threshold_of

pytest.importorskip("tokenizers")

from textveil.training.vocabulary_wordpiece import fit_of, save_folder, smallest_size, wordpiece
from textveil.training.vocabulary_words import STAND_IN, Words, alphabet


@pytest.mark.parametrize(("method", "expected"), [("laplace", [14, 2302, 4780]), ("gaussian", [22, 286, 412])])
def test_thresholds_at_one_and_a_millionth(method, expected):
    assert [round(noising(1.0, 1e-6, method, d).threshold()) for d in (1, 128, 256)] == expected
    for distinct in (1, 128, 256):
        own = noising(1.0, 1e-6, method, distinct)
        assert 0 <= own.least() / own.grid - own.threshold() < 2


def test_the_papers_rule_composed():
    assert round(noising(1.0, 1e-6, "paper", 1).threshold(), 2) == 30.02
    assert round(noising(1 / 256, 1e-6 / 256, "paper", 1).threshold()) == 10269


def law(own: Noising, count: int, grid: int) -> tuple[np.ndarray, float]:
    """The law of a word's noisy count from the threshold on, and its chance to stay hidden."""
    steps = np.arange(-60 * grid, 200 * grid + 1) - count * grid
    spread = own.scale * grid
    mass = np.exp(-((steps / spread) ** 2) / 2) if own.method == "gaussian" else np.exp(-np.abs(steps) / spread)
    mass /= mass.sum()
    seen = steps + count * grid >= own.threshold() * grid
    return mass * seen, float(mass[~seen].sum())


def hockey_stick(p: tuple[np.ndarray, float], q: tuple[np.ndarray, float], epsilon: float) -> float:
    gain = math.exp(epsilon)
    return float(np.maximum(0, p[0] - gain * q[0]).sum() + max(0.0, p[1] - gain * q[1]))


@pytest.mark.parametrize(("method", "grid"), [("gaussian", 4096), ("laplace", 1)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_exact_loss_of_one_word(method, grid, epsilon):
    """A unit with one word, D0 = 1: known words keep the noise's delta, a word of its own the threshold's. (On this
    grid of 4,096 steps a count, coarser than the real one, the discrete Gaussian is within a thousandth of the
    continuous one.)"""
    delta = 1e-3
    own = noising(epsilon, delta, method, 1)
    for below in (1, 5, round(own.threshold()), round(own.threshold()) + 3):
        for a, b in ((below, below + 1), (below + 1, below)):
            found = hockey_stick(law(own, a, grid), law(own, b, grid), epsilon)
            assert found <= (delta - own.threshold_delta) * 1.001 + 1e-12
    alone, absent = law(own, 1, grid), (np.zeros(1), 1.0)
    assert alone[0].sum() <= own.threshold_delta * 1.001
    assert max(0.0, absent[1] - math.exp(epsilon) * alone[1]) <= delta


def test_whole_numbered_gaussian_noise_would_cost_more():
    """Why counts stand on a fine grid: at D0 = 1 the same multiplier on whole numbers exceeds the delta that is priced."""
    worst = 0.0
    for epsilon in np.linspace(0.8, 1.2, 21):
        own = noising(float(epsilon), 1e-6, "gaussian", 1)
        steps = np.arange(-400, 401)
        p, q = (np.exp(-(((steps - count) / own.scale) ** 2) / 2) for count in (1, 0))
        delta = np.maximum(0, p / p.sum() - math.exp(epsilon) * q / q.sum()).sum()
        worst = max(worst, delta / (1e-6 - own.threshold_delta))
        assert own.grid * own.scale >= 2**20
    assert worst > 1.05


def test_the_laplace_threshold_is_the_smallest_that_holds():
    own = noising(1.0, 1e-3, "laplace", 3)
    passes = [1 - (1 - own.tail(t - 1)) ** 3 for t in (own.least(), own.least() - 1)]
    assert passes[0] <= own.threshold_delta < passes[1]


@pytest.mark.parametrize("distinct", [1, 16, 256])
def test_the_gaussian_threshold_holds_for_all_words_of_a_unit(distinct):
    from scipy.special import log_ndtr

    own = noising(1.0, 1e-6, "gaussian", distinct)
    tail = float(np.exp(log_ndtr(-(own.least() - own.grid - 1) / (own.scale * own.grid))))
    assert 0.99 * own.threshold_delta < -math.expm1(distinct * math.log1p(-tail)) <= own.threshold_delta * (1 + 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_the_event_costs_what_was_asked(method):
    wanted = Vocabulary(0.8, 1e-5, method=method)
    promise = guarantee_of(wanted.event(), delta=1e-5)
    assert promise.loss.epsilon <= 0.8 + 1e-12 and promise.loss.delta == 1e-5
    assert promise.loss.epsilon > 0.799
    assert promise.unit is (Unit.WORD if method == "paper" else Unit.EXAMPLE)


def test_a_unit_counts_each_word_once_and_not_too_many():
    words: dict[str, int] = {}
    assert len(bounded(["a"] * 50, 4, words, seeded(1))) == 1
    long = bounded([f"w{i}" for i in range(1000)], 4, words, seeded(1))
    assert len(long) == 4 == len(set(long.tolist()))
    other = bounded([f"w{i}" for i in range(1000)], 4, words, seeded(2))
    assert set(other.tolist()) != set(long.tolist())


def test_policy_weights_of_neighbours_are_at_most_one_apart():
    source = np.random.default_rng(5)
    for _ in range(200):
        units = [source.choice(12, size=source.integers(1, 6), replace=False) for _ in range(30)]
        more = [*units]
        more.insert(int(source.integers(0, 31)), source.choice(12, size=source.integers(1, 12), replace=False))
        cutoff = float(source.uniform(0.3, 6))
        apart = policy_weights(units, 12, cutoff) - policy_weights(more, 12, cutoff)
        assert np.linalg.norm(apart) <= 1 + 1e-9
        assert np.linalg.norm(even_weights(units, 12) - even_weights(more, 12)) <= 1 + 1e-9
        assert policy_weights(more, 12, cutoff).max() <= cutoff + 1e-9


def test_words_of_one_unit_stay_below_the_policy_threshold():
    from scipy.special import ndtr

    sigma, delta, distinct = 5.0, 1e-4, 40
    least = threshold_of(sigma, delta, distinct)
    for own in range(1, distinct + 1):
        shows = 1 - ndtr((least - 1 / math.sqrt(own)) / sigma) ** own
        assert shows <= delta * (1 + 1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_common_words_show_and_rare_ones_do_not(method):
    units = [["common", "words", "here"]] * 3000 + [["once"], ["secret", "name"]]
    shown = Vocabulary(2.0, 1e-9, method=method, distinct=4).apply(units, noise=secure())
    assert {"common", "words", "here"} == set(shown)
    assert all(count > 0 for count in shown.values())


def test_a_seed_repeats_itself_and_the_secure_source_does_not():
    units = [[f"w{i}" for i in range(16)]] * 500
    make = Vocabulary(1.0, 1e-6)
    assert make.apply(units, noise=seeded(3)) == make.apply(units, noise=seeded(3))
    assert make.apply(units, noise=secure()) != make.apply(units, noise=secure())  # .02 a word, 16 words


def test_small_noise_gets_a_finer_grid():
    own = noising(20.0, 1e-3, "gaussian", 1)
    assert own.scale < 1 and own.grid * own.scale >= 2**20
    assert Vocabulary(20.0, 1e-3, distinct=1).apply([["a"]] * 50, noise=seeded(1))["a"] == pytest.approx(50, abs=5)


def test_every_character_has_a_piece():
    made = wordpiece({}, smallest_size())
    text = "".join(alphabet()) + " x☃y 中文 Ünïcode"
    assert fit_of(made, [text]).unknown == 0
    assert STAND_IN in made.encode("a☃").tokens[2]
    assert Words()("ÀB c") == ["ab", "c"]


def test_pieces_come_from_counts_alone():
    made = wordpiece({"hospital": 900.0, "hospitals": 300.5, "ward": 200.0}, smallest_size() + 30)
    assert made.encode("Hospital ward").tokens == ["[CLS]", "hospital", "ward", "[SEP]"]
    assert made.get_vocab_size() <= smallest_size() + 30
    with pytest.raises(BadInput, match="public alphabet"):
        wordpiece({}, smallest_size() - 1)


def test_transformers_loads_the_folder(tmp_path):
    transformers = pytest.importorskip("transformers")
    save_folder(wordpiece({"ward": 10.0}, smallest_size() + 5), tmp_path / "t")
    made = transformers.AutoTokenizer.from_pretrained(tmp_path / "t")
    assert made.tokenize("Ward") == ["ward"]
    assert made.mask_token == "[MASK]" and made.pad_token_id == 0
    assert isinstance(made, transformers.PreTrainedTokenizerFast)


ALIKE = ("Ward, wards!", "Don't WALK", "café Élan", "3.5 %", "a\tb  c", "x_y z-w", "[MASK] ward", "U.S. 1,000")


def test_the_tokenizer_of_bert_reads_the_folder_as_every_other_does(tmp_path):
    """Signs outside the public alphabet aside: there it has [UNK], and the folder's own normaliser a stand-in."""
    transformers = pytest.importorskip("transformers")
    own = wordpiece({"ward": 10.0, "walk": 7.0}, smallest_size() + 9)
    save_folder(own, tmp_path / "t")
    loaded = [
        cls.from_pretrained(tmp_path / "t") for cls in (transformers.AutoTokenizer, transformers.BertTokenizerFast)
    ]
    for text in ALIKE:
        assert loaded[0].tokenize(text) == loaded[1].tokenize(text) == own.encode(text).tokens[1:-1]
    for text in ("a☃", "ward 漢字", "naïve 中 €5 ☃"):  # as docs/training-vocabulary.md says
        stood_in = [token.replace(f"##{STAND_IN}", STAND_IN) for token in loaded[0].tokenize(text)]
        assert loaded[0].tokenize(text) == own.encode(text).tokens[1:-1]
        assert STAND_IN in stood_in and "[UNK]" not in stood_in
        assert "[UNK]" in loaded[1].tokenize(text)
