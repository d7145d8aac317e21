"""Paper 08: regression values of its prices, a plan without gaps, and its cells on a made-up corpus."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from textveil.reproduce import study_of
from textveil.reproduce.cells import Cell
from textveil.reproduce.claims import gaps, judge_all, load_claims
from textveil.reproduce.paper08 import cells
from textveil.reproduce.paper08.figures import figures
from textveil.reproduce.study import Results
from textveil.training.tagger import Tagger

STUDY = study_of("08")
WORDS = "anna boris bern oslo lives in wrote from".split()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "conll2003").mkdir()
    (folder / "glove-100d").mkdir()
    lines = ["-DOCSTART- X X O\n\n"]
    for n in range(40):
        who, where = ("Anna", "Bern") if n % 2 else ("Boris", "Oslo")
        lines.append(f"{who} X X B-PER\nlives X X O\nin X X O\n{where} X X B-LOC\n\n")
    for part in ("train", "testa"):
        with gzip.open(folder / "conll2003" / f"eng.{part}.gz", "wt") as file:
            file.write("".join(lines))
    matrix = np.random.default_rng(0).normal(size=(len(WORDS), 100)).astype(np.float16)
    joined = np.frombuffer("\n".join(WORDS).encode(), np.uint8)
    np.savez(folder / "glove-100d" / "glove.6B.100d.100k.f16.npz", words=joined, vectors=matrix)
    return folder


def test_every_claim_has_its_cells():
    assert gaps(load_claims("08"), STUDY) == []
    assert {c.kind for c in STUDY.cells("small")} == set(STUDY.kinds)


def test_the_printed_epsilon_is_that_of_batch_one():
    found = cells.prices(None, noise=1.0, batch=32, epochs=10)
    assert round(found["printed_reading"], 3) == 0.688
    assert round(found["true"]["best"], 3) == 0.762 and round(found["true"]["rdp"], 2) == 1.05


def test_the_baseline_finds_no_entity(data):
    found = cells.baseline(data)
    assert found["entity_f1"] == 0.0
    assert found["token_f1"] == pytest.approx(0.5 * 2 / 3)  # half of the tokens are O: precision .5, recall 1


def test_cells_of_the_tables(data, monkeypatch):
    monkeypatch.setattr(cells, "UNITS", 40)
    setting = {"epochs": 2, "batch": 40, "rate": 0.15, "clip": 1.5, "seed": 0}
    for output in ("softmax", "crf"):
        for noise in (0.0, 50.0):
            found = cells.table_cell(data, output=output, noise=noise, **setting)
            assert 0 <= found["entity_f1"] <= 1 and 0 <= found["token_f1"] <= 1
            assert found["noise"] == (noise or None) and not found["diverged"]


def test_a_run_that_diverges_counts_as_all_outside_and_other_errors_are_told(data, monkeypatch):
    from textveil.core.errors import BadInput
    from textveil.training.clipping_tape import NotFinite

    def stop(error):
        def fit(self, *_, **__):
            raise error

        monkeypatch.setattr(Tagger, "fit", fit)
        return cells.tagger_cell(data, output="crf", epsilon=0.0, epochs=1, seed=0)

    scores = stop(NotFinite("the loss is not a number"))
    assert scores["diverged"]
    assert scores["token_f1"] == cells.baseline(data)["token_f1"]
    with pytest.raises(BadInput, match="not a number"):
        stop(BadInput("a field is not a number"))


def test_our_tagger_as_a_cell(data):
    found = cells.tagger_cell(data, output="crf", epsilon=0.0, epochs=4, seed=0)
    assert found["entity_f1"] > 0.9 and found["noise"] is None


def test_claims_are_judged_on_results():
    rows = {}
    for cell in STUDY.cells("small", "central"):
        p = cell.parameters
        if cell.kind == "prices":
            rows[cell] = {"printed_reading": 0.688, "true": {"best": 0.762}}
        elif cell.kind == "baseline":
            rows[cell] = {"token_f1": 0.756, "entity_f1": 0.0}
        elif cell.kind == "table":
            rows[cell] = {"token_f1": 0.9 - 0.01 * p["noise"] - 0.001 * p["seed"], "entity_f1": 0.6 - 0.001 * p["seed"]}
        else:
            rows[cell] = {"entity_f1": {0.0: 0.92, 3.0: 0.86, 1.0: 0.7}[p["epsilon"]]}
    results = Results(rows)
    words = {j.claim.id: j.verdict.word for j in judge_all(load_claims("08"), STUDY, results, set())}
    assert words["eps-1-reading"] == "confirmed" and words["eps-1-true"] == "refuted"
    assert words["all-outside"] == "refuted" and words["t2-softmax-stable"] == "refuted"
    assert words["tagger-crf-3"] == "confirmed" and words["tagger-crf-1"] == "refuted"
    once = Results({cell: row for cell, row in rows.items() if cell.parameters.get("seed", 0) == 0})
    reasons = {j.claim.id: j.verdict.reason for j in judge_all(load_claims("08"), STUDY, once, set())}
    assert reasons["tagger-crf-3"] == reasons["t1-order"] == "one run"
    assert {f.name for f in figures(results)} == {"table-2", "tagger"}
    assert figures(Results({Cell.of("baseline"): {"token_f1": 0.7, "entity_f1": 0.0}})) == []
