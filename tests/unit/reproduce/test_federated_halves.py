"""The federated halves of papers 08 and 09 on made-up sentences: every setting trains, prices are a client's own."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

from textveil.federated.local import LocalTraining
from textveil.federated.weights import flat_of
from textveil.reproduce.paper08 import federated as paper08
from textveil.reproduce.paper09 import federated as paper09
from textveil.reproduce.paper09.data import Sentence
from textveil.text.vectors import from_arrays
from textveil.training.plan import TrainingPlan

WORDS = ["anna", "bert", "lives", "works", "in", "rome", "oslo", "."]
TAGS = {"anna": "B-PER", "bert": "B-PER", "rome": "B-LOC", "oslo": "B-LOC"}
NOWHERE = Path("nowhere")


def sentences(count: int, seed: int = 0) -> list[tuple[list[str], list[str]]]:
    rng = np.random.default_rng(seed)
    rows = [[str(w) for w in rng.choice(WORDS, 5)] for _ in range(count)]
    return [(row, [TAGS.get(w, "O") for w in row]) for row in rows]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    vectors = from_arrays(WORDS, np.eye(8, dtype=np.float32), name="made up")
    for module in (paper08, paper09):
        monkeypatch.setattr(module, "embedding", lambda data, name: vectors)
    parts = {"train": tuple(sentences(200)), "testa": tuple(sentences(40, 1))}
    monkeypatch.setattr(paper08, "sentences", lambda data, part: parts[part])
    marked = {
        name: [Sentence(f"{name} {i}", 0, tuple(w), tuple(t)) for i, (w, t) in enumerate(own)]
        for name, own in parts.items()
    }
    monkeypatch.setattr(paper09, "read", lambda data, dataset: (marked["train"], marked["testa"]))
    paper08.new_net.cache_clear()
    yield
    paper08.new_net.cache_clear()


def test_more_clients_cost_each_of_them_more():
    setting = {"noise": 1.0, "epochs": 1, "batch": 25, "rate": 0.1, "clip": 1.5, "seed": 0}
    few, many = (paper08.one_round(NOWHERE, clients=n, **setting) for n in (1, 2))
    assert (few["sentences"], many["sentences"]) == (200, 100)
    assert 0 < few["epsilon"] < many["epsilon"]
    plain = paper08.one_round(NOWHERE, clients=2, **{**setting, "noise": 0.0})
    assert plain["epsilon"] is None and 0 <= plain["entity_f1"] <= 1


def test_one_round_is_the_mean_of_what_the_clients_learnt():
    net, sites = paper08.new_net(NOWHERE, "softmax", True, 0), paper08.dealt(NOWHERE, 4, 1.0, 0)
    local, ends = LocalTraining("sgd", rate=0.1, batch=len(sites[0])), []
    for site in sites:
        own = copy.deepcopy(net)
        local(own, site, seed=0, part=0)
        ends.append(flat_of(own))
    found, _ = paper08.trained(net, sites, local, 1, 0)
    np.testing.assert_allclose(flat_of(found), np.mean(ends, axis=0), atol=1e-6)


def test_incremental_training_is_scored_after_every_second_tenth():
    setting = {"clients": 2, "epochs": 1, "batch": 8, "rate": 0.1, "clip": 1.5, "seed": 0}
    found = paper08.incremental(NOWHERE, noise=0.0, **setting)
    assert len(found["curve"]) == 5 and found["sentences"] == 10


def test_the_printed_epsilon_is_not_that_of_a_client():
    """Regression values: classic Renyi accounting at batch 32 and at batch 1, for 5 and 20 clients."""
    five, twenty = (paper08.client_prices(None, clients=n, noise=1.0, batch=32, epochs=10) for n in (5, 20))
    assert [round(five[k], 2) for k in ("classic", "printed_reading")] == [2.75, 0.87]
    assert [round(twenty[k], 2) for k in ("classic", "printed_reading")] == [5.82, 1.19]


def test_the_cure_keeps_the_epsilon_of_every_client_and_its_noise_grows_with_their_root():
    one, four = (paper08.cured(NOWHERE, clients=n, epsilon=3.0, epochs=2, output="crf", seed=0) for n in (1, 4))
    assert 2.9 < one["epsilon"] <= 3.0 and 2.9 < four["epsilon"] <= 3.0 and one["rounds"] == four["rounds"] == 2
    assert four["noise_on_mean"] == pytest.approx(2 * one["noise_on_mean"], rel=0.01)


def test_noisy_gradients_of_clients_average_to_the_gradient_of_all_of_them():
    net, sites = paper08.new_net(NOWHERE, "crf", False, 0), paper08.dealt(NOWHERE, 4, 1.0, 0)
    examples = [e for site in sites for e in site]

    def direction(own):
        plan = TrainingPlan(noise=1e-9, batch=len(own), examples=len(own), steps=1, clip=0.2)  # every example is drawn
        return paper08.NoisyGradient(plan, paper08.PartSeeds(0))(copy.deepcopy(net), own, seed=0, part=0).update

    whole = direction(examples)
    np.testing.assert_allclose(np.mean([direction(site) for site in sites], axis=0), whole, atol=1e-6)
    assert np.abs(whole).max() > 1e-4


def test_the_cured_incremental_training_uses_every_sentence_in_one_phase():
    found = paper08.cured_incremental(NOWHERE, clients=2, epsilon=3.0, epochs=2, output="crf", seed=0)
    assert len(found["curve"]) == 5 and found["sentences"] == 10 and found["epsilon"] <= 3.0


@pytest.mark.parametrize("setting", paper09.SETTINGS)
def test_every_setting_learns(setting):
    net = paper09.new_net(NOWHERE, "bilstm", ["O", "B-LOC", "B-PER"], 0)
    workers = paper09.dealt(sentences(200), 2, 0)
    found, curve = paper09.trained(net, workers, setting, LocalTraining("adam", rate=0.01, batch=8), 2, 0)
    assert curve[-1] < 0.5 * curve[0]
    assert not np.allclose(flat_of(found), flat_of(net))
    if setting.endswith("half"):
        weights = flat_of(found)
        np.testing.assert_allclose(weights, weights.astype(np.float16).astype(np.float32), rtol=1e-6, atol=1e-7)


def test_cells_give_scores_and_curves():
    shared = {"model": "bilstm", "epochs": 1, "batch": 16, "rate": 0.01, "seed": 0}
    one = paper09.setting_cell(NOWHERE, dataset="conll", setting="central", workers=2, **shared)
    assert {"strict", "exact", "type", "partial", "curve", "final_loss"} <= set(one)
    json.dumps(one, allow_nan=False)
