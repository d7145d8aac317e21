"""Paper 11 on made-up reviews: what was encoded or trained is kept, and measures say what they should."""

from __future__ import annotations

import gzip
import json
import tempfile

import numpy as np
import pytest

from textveil.reproduce.cells import Cell
from textveil.reproduce.paper11 import cells, data
from textveil.reproduce.paper11.measures import above_majority, copy_within, queries_until
from textveil.reproduce.paper11.study import STUDY
from textveil.reproduce.study import Results


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for kept in (data.read_reviews, data.encoded, data.trained, data.inputs_of, data._digest):
        kept.cache_clear()
    rng, path = np.random.default_rng(1), tmp_path / "amazon_reviews" / "train.jsonl.gz"
    path.parent.mkdir()
    words = {5: "excellent wonderful happy", 1: "awful broken terrible"}
    with gzip.open(path, "wt") as file:
        for number in range(240):
            stars = 5 if number % 4 else 1
            text = " ".join(rng.permutation(f"the parcel came {words[stars]}".split()))
            file.write(json.dumps({"text": text, "rating": stars}) + "\n")
    return tmp_path


def test_what_was_encoded_and_trained_is_kept(folder, monkeypatch):
    parts = [cells.encoding(folder, inputs="words", part=part)["texts"] for part in range(data.PARTS)]
    assert sum(parts) == 240 and cells.stars(folder)["reviews"] == 240
    found = cells.plain(folder, network="linear", inputs="words", seed=0)
    assert found["test"] == 48 and found["fixed_agrees"] == 48 and found["majority_hits"] == 36
    data.encoded.cache_clear()
    data.trained.cache_clear()
    monkeypatch.setattr(data, "train_network", None)  # nobody trains or encodes again
    monkeypatch.setattr(data.Inputs, "rows", None)
    assert cells.plain(folder, network="linear", inputs="words", seed=0) == found
    assert not list(folder.glob("*.part"))


def test_measures():
    plain = Cell.of("plain", network="paper", inputs="sentence", seed=0)
    copies = {n: Cell.of("extraction", queries=n, network="paper", draw=0) for n in (25, 100, 400)}
    results = Results(
        {plain: {"hits": 90, "test": 100, "majority": 0.75}}
        | {cell: {"agreement": 0.8 + n / 1000} for n, cell in copies.items()}
    )
    (gain,) = above_majority(results, label="gain", network="paper")
    assert gain.value == pytest.approx(0.15) and gain.low < 0.15 < gain.high
    assert queries_until(results, agreement=0.9, label="labels")[0].value == 100
    assert queries_until(results, agreement=2.0, label="labels") == []
    assert copy_within(results, budget=100, label="copy")[0].value == pytest.approx(0.9)
    assert copy_within(results, budget=10, label="copy") == []


def test_both_scales_compare_a_thousand_labels_in_both_trusts():
    for scale in ("small", "full"):
        asked = [cell.parameters for cell in STUDY.cells(scale) if cell.kind == "agreement"]
        assert {(p["trust"], p["texts"]) for p in asked if p["answer"] == "label"} == {
            ("dealer", 1000),
            ("three", 1000),
        }
