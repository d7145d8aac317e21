"""The journey of the sound variant: charged before it draws, refused in time, the same folder and `apply` as any model."""

from __future__ import annotations

import json
from contextlib import contextmanager

import numpy as np
import pytest

from textveil.accounting.ledger import Ledger
from textveil.attacks.exposure import Exposure
from textveil.attacks.hashed_retrain import RetrainAttack
from textveil.core import BadInput, BudgetExceeded
from textveil.hashed import load
from textveil.hashed.plan import FeaturePlan
from textveil.noise import seeded
from textveil.recipes import hashed_sound
from textveil.recipes.hashed_files import MarkedFiles
from textveil.recipes.hashed_sound_study import sound_labels, two_worlds
from textveil.recipes.hashed_train import TrainJob, train_model

TEXT = "The fee is due in May. Nothing else is said.\n\nTexas law governs this paper. The parties agree to it."
CLAUSE = (TEXT.index("Texas"), TEXT.index(" The parties"))


@contextmanager
def bar(title, total, unit):
    yield lambda amount: None


def numbers(value):
    """All numbers inside a JSON value."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [n for v in inner for n in numbers(v)]
    return [value] if isinstance(value, int | float) else []


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"id": i, "text": TEXT, "spans": [list(CLAUSE)]}) for i in range(317)]
    path.write_text("\n".join(lines) + "\n")
    return path


def job(source, out, **changed):
    settings = {"epsilon": 2.0, "delta": 1e-6, "unit": "paragraph"} | changed
    return TrainJob(MarkedFiles(source), out, FeaturePlan(bits=12), **settings)


@pytest.mark.parametrize("method", [None, "output"])
def test_the_folder_holds_a_model_under_a_guarantee(source, tmp_path, method):
    ledger = tmp_path / "l"
    found = train_model(job(source, tmp_path / "out", ledger=ledger, method=method), bar=bar)
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert manifest["guarantee"]["label"] == "guarantee" and manifest["guarantee"]["unit"] == "example"
    assert manifest["entry"] == found["entry"] is not None and manifest["draft"] is False
    assert manifest["guarantee"]["loss"]["epsilon"] <= 2.0 and found["units"] == 634
    spans = load(tmp_path / "out").predict([TEXT])[0]
    assert [(s.start, s.end) for s in spans] == [CLAUSE]
    written = [v for p in (tmp_path / "out").rglob("*.json") for v in numbers(json.loads(p.read_text()))]
    assert 1 << 12 in written
    assert not {317, 634} & set(written)  # how many there are was not charged
    assert not (tmp_path / "out/model/documents.bin").exists()


def test_the_charge_is_on_disk_before_the_first_draw(source, tmp_path, monkeypatch):
    def no_noise(seed):
        raise RuntimeError("drawn")

    monkeypatch.setattr(hashed_sound, "source_for", no_noise)
    with pytest.raises(RuntimeError, match="drawn"):
        train_model(job(source, tmp_path / "out", ledger=tmp_path / "l"), bar=bar)
    assert Ledger(tmp_path / "l", must_exist=True).total()
    assert not (tmp_path / "out").exists()


def test_a_budget_that_is_too_small_refuses_before_noise(source, tmp_path, monkeypatch):
    Ledger(tmp_path / "l").allow(unit="example", epsilon=1.0, delta=1e-6)
    monkeypatch.setattr(hashed_sound, "source_for", lambda seed: pytest.fail("noise was drawn"))
    with pytest.raises(BudgetExceeded):
        train_model(job(source, tmp_path / "out", ledger=tmp_path / "l"), bar=bar)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"delta": None}, "--delta"),
        ({"unit": None}, "--unit"),
        ({"unit": "word"}, "paragraph"),
        ({"method": "magic"}, "descent"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
    ],
)
def test_bad_options_are_refused_before_anything_is_charged(source, tmp_path, changed, says):
    with pytest.raises(BadInput, match=says):
        train_model(job(source, tmp_path / "out", ledger=tmp_path / "l", **changed), bar=bar)
    assert not (tmp_path / "out").exists() and not (tmp_path / "l").exists()


def test_documents_without_a_clause_are_refused(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"id": 1, "text": TEXT, "spans": [[0, 3]]}) + "\n")
    with pytest.raises(BadInput, match="single label"):
        train_model(job(path, tmp_path / "out", ledger=tmp_path / "l"), bar=bar)
    assert not (tmp_path / "l").exists()


def test_a_seed_makes_a_draft(source, tmp_path):
    for out in ("a", "b"):
        train_model(job(source, tmp_path / out, parameters={"seed": 3}), bar=bar)
    assert json.loads((tmp_path / "a/release.json").read_text())["draft"] is True
    assert (tmp_path / "a/model/weights.bin").read_bytes() == (tmp_path / "b/model/weights.bin").read_bytes()


def test_study_labels_tokens():
    labels = sound_labels([TEXT] * 300, [[CLAUSE]] * 300, [TEXT], epsilon=2.0, delta=1e-6, unit="example", bits=12)
    assert labels[0].tolist() == [0] * 12 + [1] * 6 + [0] * 6


def test_two_worlds_are_told_apart_without_noise_and_hardly_with_it():
    """With 40 draws of each world the AUC's deviation is at most .065; the sound one is at most .624, so .97 is 5.3 off."""
    texts, spans = [TEXT] * 6, [[CLAUSE]] * 6
    strong = two_worlds(texts, spans, epsilon=200.0, delta=1e-6, bits=6)
    weak = two_worlds(texts, spans, epsilon=2.0, delta=1e-6, bits=6)
    assert np.abs(weak.expected[1] - weak.expected[0]).max() > 0
    seen = [RetrainAttack(tries=40).run(Exposure(channel=w), rng=seeded(1)).value for w in (strong, weak)]
    assert seen[0] > 0.99 and 0.15 < seen[1] < 0.97
