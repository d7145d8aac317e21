"""Papers 03 and 06: every claim has cells, every measure can be computed, the cells' own arithmetic is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from textveil.cli.reproduce import reproduce
from textveil.noise.source import seeded
from textveil.reproduce import PAPERS, datasets, study_of
from textveil.reproduce.claims import gaps, judge_all, load_claims
from textveil.reproduce.figures import svg
from textveil.reproduce.paper03.cells import _average_hamming, _complement, certificate
from textveil.reproduce.paper06.measures import error_at_loss, loss_at_error
from textveil.reproduce.paper06.tasks import ARMS
from textveil.reproduce.paper06.words import (
    RANKS,
    READINGS,
    inference_error,
    lexicon,
    line_certificate,
    line_odds,
    outputs_of_arms,
)
from textveil.reproduce.study import Results
from textveil.reproduce.verdicts import WORDS
from textveil.text.codes import Codes, hamming
from textveil.text.vectors import from_arrays


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_every_claim_has_a_cell_a_measure_and_a_rule(paper):
    claims = load_claims(paper)
    assert len(claims) > 5
    assert gaps(claims, study_of(paper)) == []


@pytest.mark.parametrize("paper", sorted(PAPERS))
@pytest.mark.parametrize("scale", ["small", "full"])
def test_every_kind_is_planned_in_some_part(paper, scale):
    study = study_of(paper)
    cells = study.cells(scale)
    assert {c.kind for c in cells} == set(study.kinds)
    assert len(set(cells)) == len(cells)
    assert {k for kinds in study.parts.values() for k in kinds} == set(study.kinds)


def _arm(noise: np.random.Generator, level: float) -> dict[str, float]:
    return {"sampling": level + 0.01 * noise.random(), "optimal": 0.9 * level, "stay": 1 - level, "loss": 0.1 * level}


def _made_up(kind: str, parameters: dict[str, Any], noise: np.random.Generator) -> dict[str, Any]:
    """A result of the right form, so that measures can be tried without running anything."""

    def arms(names: Any, epsilon: float) -> dict[str, Any]:
        found = {name: _arm(noise, (0.5 + 0.4 * noise.random()) / (1 + 0.05 * epsilon)) for name in names}
        if epsilon >= 50:
            found["sound t=0"]["sampling"] = 0.0  # Laplace hides nothing there
        return found

    if kind == "lexicon":
        ranks = [f"{r} rank={k}" for r in READINGS for k in RANKS]
        names = [*ARMS, "printed t=0", *ranks]
        return {"words": 100, "arms": arms(names, parameters["epsilon"])}
    if kind == "task":
        return {"words": 90, "epsilons": {f"{e:g}": arms(ARMS, e) for e in parameters["epsilons"]}}
    if kind == "target":
        return {"accuracy": 0.6 + 0.1 * noise.random(), "auc": 0.5 + 0.05 * noise.random()}
    if kind == "attack":
        success = min(0.95, 0.05 * parameters["epsilon"])
        return {"success": success, "low": success - 0.01, "high": success + 0.01, "chance": 0.05, "tries": 1000}
    if kind == "sizes":
        part = {"words": 10, "index_codes": 3, "index_floats": 100, "file_codes": 4, "file_floats": 120}
        return {"100": part, "300": part}
    assert kind == "speed"
    return {"seconds_a_word": {"laplace": [3e-5, 4e-5], "brr": [1e-5, 1e-5]}, "vocabulary": 10}


@pytest.mark.parametrize("paper", ["03", "06"])
def test_every_claim_can_be_judged_and_every_figure_drawn(paper):
    study, noise = study_of(paper), np.random.default_rng(5)
    light = {"line_odds", "line_certificate", "certificate", "geometry"}  # these are quick enough to run
    by_cell = {}
    for cell in study.cells("small"):
        parameters = {**cell.parameters, **({"sample": 200} if cell.kind == "geometry" else {})}
        runs = cell.kind in light
        by_cell[cell] = (
            study.kinds[cell.kind].function(None, **parameters) if runs else _made_up(cell.kind, parameters, noise)
        )
    results = Results(by_cell)
    judged = judge_all(load_claims(paper), study, results, set())
    assert all(j.measures for j in judged)
    assert {j.verdict.word for j in judged} <= set(WORDS)
    assert all(svg(figure).startswith("<svg") for figure in study.figures(results))


# ---- paper 06 --------------------------------------------------------------------------------------------------------


def test_theorem_1_holds_without_the_exclusion_and_fails_with_it():
    sound = line_certificate(None, t=0.5, epsilon=1.0, reading="sound", points=4001)
    printed = line_certificate(None, t=0.5, epsilon=1.0, reading="printed", points=4001)
    assert sound["worst"] <= 1e-9
    assert printed["worst"] == "inf"
    assert printed["stay"] == [0.0] * 5


def test_figure_1_has_one_and_two_candidates():
    assert line_odds(None, t=0.0, points=301)["most_candidates"] == 1
    found = line_odds(None, t=0.5, points=301)
    assert (found["fewest_candidates"], found["most_candidates"]) == (2, 2)
    assert np.allclose(np.sum(list(found["odds"].values()), axis=0), 1, atol=1e-5)


def test_arms_without_noise_are_the_neighbours_themselves():
    words = from_arrays(["a", "b", "c", "d"], [[0.0], [1.0], [2.5], [4.5]], allow_zero=True)
    inputs = np.array([0, 1, 2, 3])
    arms = outputs_of_arms(words, inputs, 1e7, seeded(1), ranks=(1, 2))
    assert arms["sound t=0"].tolist() == [0, 1, 2, 3]
    assert arms["mahalanobis"].tolist() == [0, 1, 2, 3]
    assert arms["sound t=1"].tolist() == [1, 0, 1, 2]
    assert arms["printed t=0"].tolist() == [1, 0, 1, 2]
    assert arms["printed t=1"].tolist() == [2, 2, 3, 1]
    assert arms["sound rank=2"].tolist() == arms["sound t=1"].tolist()


def test_inference_error_of_a_channel_that_tells_all_and_nothing():
    noise = seeded(3)
    inputs = noise.below(4, 4000)
    prior = np.full(4, 0.25)
    assert inference_error(inputs, inputs, prior, noise)["optimal"] == 0
    told_nothing = inference_error(inputs, np.zeros_like(inputs), prior, noise)
    assert told_nothing["sampling"] > 0.6  # 3/4, far beyond chance of falling below


def test_curves_are_read_between_their_points():
    runs = {
        e: [{"x": {"loss": loss, "sampling": error}}]
        for e, loss, error in ((1, 0.4, 0.9), (10, 0.2, 0.5), (100, 0.1, 0.1))
    }
    assert error_at_loss(runs, 0, "x", 0.3, "sampling") == pytest.approx(0.7)
    assert error_at_loss(runs, 0, "x", 0.05, "sampling") is None
    assert loss_at_error(runs, 0, "x", 0.3, "sampling") == pytest.approx(0.15)
    assert loss_at_error(runs, 0, "x", 0.95, "sampling") is None


# ---- paper 03 --------------------------------------------------------------------------------------------------------


def test_theorem_3_by_enumeration():
    assert certificate(None, bits=6, words=8, epsilon=0.7, seed=1)["worst"] <= 1e-9


def test_average_and_largest_hamming_distance():
    bits = np.random.default_rng(0).integers(2, size=(40, 70))
    codes = Codes.from_bits([f"w{i}" for i in range(40)], bits)
    table = hamming(codes.words64[:, None], codes.words64[None])
    assert _average_hamming(codes) == pytest.approx(table.mean())
    assert 70 - hamming(_complement(codes)[:, None], codes.words64[None]).min() == table.max()


def test_first_words_cuts_after_a_word():
    assert datasets.first_words("One, two. Three!", 2) == "One, two"
    assert datasets.first_words("One!", 5) == "One!"


# ---- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def app():
    app = typer.Typer()
    app.command()(reproduce)
    return app


def test_a_part_runs_without_data_and_leaves_a_page(app, tmp_path, monkeypatch):
    monkeypatch.delenv("TEXTVEIL_DATA", raising=False)
    arguments = [
        "06",
        "--part",
        "figure1",
        "--out",
        str(tmp_path / "out"),
        "--cache",
        str(tmp_path / "cache"),
        "--json",
    ]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    whole = json.loads(result.stdout)
    verdicts = {c["id"]: c["verdict"] for c in whole["claims"]}
    assert verdicts["theorem-1"] == "refuted"
    assert verdicts["theorem-1-sound"] == verdicts["f1-vickrey"] == "confirmed"
    assert verdicts["f2a-higher-t"] == "not run"
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["README.md", "figure-1.svg", "results.json"]


@pytest.mark.data
def test_a_lexicon_cell_on_real_vectors(data_dir: Path):
    found = lexicon(data_dir, embedding="word2vec", epsilon=50, seed=0, draws=4000)
    arms = found["arms"]
    assert found["words"] > 3500
    assert arms["sound t=0"]["stay"] > 0.99  # noise of length 6 in 300 dimensions hardly moves a word
    assert arms["sound t=0"]["loss"] < arms["sound t=1"]["loss"] < 0.3
