"""Epsilon from its effect, and Algorithm 2, against mechanisms whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest

import textveil as tv
from textveil.core import BadInput
from textveil.noise import secure
from textveil.recipes.words import tune as words_tune
from textveil.recipes.words.compare import Aim, compare
from textveil.recipes.words.tune import TunePlan, inference_errors, prior_of, with_epsilon
from textveil.text.vectors import from_arrays
from textveil.words import tuning
from textveil.words.priors import PrivatePrior, smoothed
from textveil.words.tuning import Estimate, algorithm_2, epsilon_for, epsilon_for_stay


def cloud(count: int = 50, dimension: int = 3):
    rng = np.random.default_rng(7)
    return from_arrays(
        [f"w{i}" for i in range(count)], rng.normal(size=(count, dimension)), prior=1 / np.arange(1, count + 1)
    )


@pytest.mark.parametrize("stay", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("cls", [tv.words.Laplace, tv.words.Vickrey, tv.words.Exponential, tv.words.TEM])
def test_the_epsilon_found_has_the_wanted_effect(cls, stay):
    """Half a percent by the search, and six deviations of its 20,000 draws and of our own (false alarms below 1e-6)."""
    m = cls().fit(cloud())
    found = tuning.at(m, epsilon=epsilon_for_stay(m, stay))
    rows = tuning.rows_from(m.vectors_.prior, 40_000, secure())
    measured = float(np.mean(found.draw(rows, secure()) == rows))
    draws = 1_000 if hasattr(m, "odds") else 20_000
    assert measured == pytest.approx(stay, abs=0.02 + 6 * np.sqrt(stay * (1 - stay)) * (draws**-0.5 + 40_000**-0.5))


def test_epsilon_for_solves_a_smooth_equation():
    m = tv.words.Laplace(epsilon=1.0).fit(cloud())
    found = epsilon_for(m, 0.7, lambda x, effort: x.epsilon / (x.epsilon + 30))
    assert found == pytest.approx(70, rel=0.03)


def test_a_stay_out_of_reach_says_what_is_in_reach():
    with pytest.raises(BadInput, match=r"does not reach 0\.5.*a word stays with a chance of 0 to 0"):
        epsilon_for_stay(tv.words.Vickrey(paper_mode=True).fit(cloud()), 0.5, draws=500)


@pytest.mark.parametrize("stay", [0, 1, -0.1, 1.5, float("nan")])
def test_stay_must_be_a_chance(stay):
    with pytest.raises(BadInput, match="stay"):
        epsilon_for_stay(tv.words.Laplace().fit(cloud()), stay)


def test_with_epsilon_takes_exactly_one_and_repeats_itself():
    m = tv.words.Laplace().fit(cloud())
    with pytest.raises(BadInput, match="missing"):
        with_epsilon(m, None, None, None)
    with pytest.raises(BadInput, match="exclude"):
        with_epsilon(m, 1.0, 0.3, None)
    found = [with_epsilon(m, None, 0.3, None)[0].epsilon for _ in range(2)]
    assert found[0] == found[1]


def test_attack_success_is_met_and_must_beat_blind_guessing():
    """Six deviations of 20,000 scored draws beside the half percent of the search."""
    m = tv.words.Laplace().fit(cloud())
    found = tuning.at(m, epsilon=words_tune.epsilon_for_attack(m, 0.6))
    seen = words_tune.bayes_success(found, m.vectors_.prior, 40_000, secure())
    assert seen.value == pytest.approx(0.6, abs=0.01 + 12 * np.sqrt(0.24 / 20_000))
    with pytest.raises(BadInput, match="commonest word"):
        words_tune.epsilon_for_attack(m, 0.1)


class Scripted:
    """L_M and E_M by formula: what Algorithm 2 must choose can be worked out by hand."""

    def __init__(self):
        self.asked = []

    def __call__(self, m, with_errors):
        self.asked.append((m.epsilon, getattr(m, "t", None)))
        t = getattr(m, "t", 0.0)
        loss, error = 1 / m.epsilon + t / 10, t * (1.2 - t)
        return Estimate(loss, loss, loss), {n: Estimate(error, error, error) for n in ("sampling", "optimal")}


def test_algorithm_2_doubles_then_walks_t():
    scripted = Scripted()
    tuned = algorithm_2(tv.words.Vickrey().fit(cloud()), 0.3, scripted, start=0.5)
    assert [x.epsilon for x in tuned.trials[:4]] == [0.5, 1.0, 2.0, 4.0]  # 1/4 < 0.3
    assert [x.t for x in tuned.trials[4:]] == [round(0.05 * i, 2) for i in range(1, 21)]
    assert (tuned.best.epsilon, tuned.best.t) == (4.0, 0.5)  # E_M peaks at .6, but L_M <= .3 ends at t = .5


def test_algorithm_2_keeps_t_0_when_no_other_t_is_allowed():
    tuned = algorithm_2(tv.words.Vickrey().fit(cloud()), 0.2501, Scripted(), start=1.0)
    assert (tuned.best.epsilon, tuned.best.t) == (4.0, 0.0)


def test_without_t_only_epsilon_is_tuned():
    tuned = algorithm_2(tv.words.Laplace().fit(cloud()), 0.3, Scripted(), start=0.5)
    assert tuned.best.epsilon == 4.0 and tuned.best.t is None and len(tuned.trials) == 4


def test_a_limit_that_is_never_met():
    def constant(m, with_errors):
        return Estimate(0.8, 0.8, 0.8), {}

    with pytest.raises(BadInput, match=r"never fell below C = 0\.5; the smallest was 0\.8"):
        algorithm_2(tv.words.Laplace().fit(cloud()), 0.5, constant, start=1.0)


@pytest.mark.parametrize("kind", ["changed", "euclidean"])
def test_inference_errors_match_exact_sums(kind):
    """Four words with known odds; six deviations of 100,000 scored draws, and the optimal rule is learnt without fault."""
    words = from_arrays(list("abcd"), [[-2.0], [-1.0], [1.0], [2.0]], prior=[0.4, 0.3, 0.2, 0.1])
    m = tv.words.Exponential(epsilon=2.0).fit(words)
    pi, f = words.prior, m.odds(np.arange(4))
    joint = pi[:, None] * f
    g = joint / joint.sum(axis=0)
    x = words.matrix[:, 0].astype(float)
    d = abs(x[:, None] - x) if kind == "euclidean" else 1.0 - np.eye(4)
    sampling = sum(joint[w, y] * g[z, y] * d[z, w] for w in range(4) for y in range(4) for z in range(4))
    optimal = sum((joint[:, y] @ d).min() for y in range(4))
    rows = tuning.rows_from(pi, 200_000, secure())
    measure = tuning.changed if kind == "changed" else tuning.euclidean(words.matrix)
    found = inference_errors(rows, m.draw(rows, secure()).astype(np.int64), pi, measure, kind, words, secure())
    margin = 6 * 4 / np.sqrt(100_000) / 2
    assert found["sampling"].value == pytest.approx(sampling, abs=margin)
    assert found["optimal"].value == pytest.approx(optimal, abs=margin)


def test_tune_end_to_end_on_a_lexicon(tmp_path):
    (tmp_path / "good").write_text("; positive words\n\nw0\nw1\nw2\nw999\n")
    (tmp_path / "bad").write_text("w3\nw4\nw5\n")
    m = tv.words.Vickrey().fit(cloud())
    plan = TunePlan(0.2, loss="sentiment", draws=2_000, lexicon=(tmp_path / "good", tmp_path / "bad"))
    result = words_tune.tune(m, plan, m.vectors_.prior)
    assert "6 words of the lexicon" in result["notes"][0]
    assert result["best"]["loss"]["value"] <= 0.2
    assert result["t"] in [x["t"] for x in result["trials"]]


def test_the_prior_of_private_text_is_charged_per_document(tmp_path):
    source, ledger = tmp_path / "in.txt", tmp_path / "l.ledger"
    source.write_text("w1 w1 w2\n" * 400)
    private = words_tune.PrivateText(source, ledger, epsilon=2.0, cap=2)
    prior, told, notices = prior_of("empirical", cloud(), private)
    total = tv.Ledger(ledger).total()[0]
    assert str(total.unit) == "document" and total.to_json()["loss"]["epsilon"] == pytest.approx(2.0)
    assert prior.sum() == pytest.approx(1) and prior.argmax() == 1 and prior[1] > 0.8  # only the first two words count
    assert "charged" in told
    assert any("did not exist and was made" in notice for notice in notices)
    assert prior_of("empirical", cloud(), private).notices == ()


def test_the_histogram_changes_by_at_most_the_cap():
    counted = PrivatePrior(cloud(), 1.0, 3).count(["w1 w2 w3 w4 w5", "unknown w1"])
    assert counted.sum() == 4 and counted[4] == 0


def test_smoothing_without_anything_above_the_noise_is_the_public_prior():
    public = np.array([0.7, 0.3])
    assert smoothed(np.array([-3, 2]), public, 5.0) == pytest.approx(public)


def test_an_empirical_prior_needs_a_ledger():
    with pytest.raises(BadInput, match="ledger"):
        prior_of("empirical", cloud(), None)


def test_compare_at_equal_stay():
    vectors = cloud()
    made = [tv.words.Laplace(vectors=vectors), tv.words.Exponential(vectors=vectors)]
    result = compare(made, Aim("stay", 0.5, draws=4_000))
    assert [row["mechanism"] for row in result["mechanisms"]] == ["words.laplace", "words.exponential"]
    assert result["privacy_ratio"][1]["by_average"]["ratio"] == pytest.approx(1)  # the same metric
    with pytest.raises(BadInput, match="nothing to compare"):
        compare(made[:1], Aim("stay", 0.5))
