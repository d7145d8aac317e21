"""The journey of the sound variant: charged before it draws, refused in time, the same folder and `apply` as any model."""

from __future__ import annotations

import json
from contextlib import contextmanager

import numpy as np
import pytest

from textveil.accounting.account import Paid
from textveil.accounting.ledger import Ledger
from textveil.attacks.exposure import TwoWorlds
from textveil.attacks.hashed.retrain import RetrainAttack
from textveil.core import BadInput, BudgetExceeded
from textveil.hashed import load
from textveil.hashed.plan import FeaturePlan
from textveil.hashed.sound import SoundTrainer
from textveil.hashed.sound_worlds import SoundWorlds
from textveil.noise import seeded
from textveil.recipes.hashed.train import ExtractorJob, train_model
from textveil.text.marked import MarkedFiles

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
    return ExtractorJob(MarkedFiles(source), out, FeaturePlan(bits=12), **settings)


@pytest.mark.parametrize("method", [None, "output"])
def test_the_folder_holds_a_model_under_a_guarantee(source, tmp_path, method):
    ledger = tmp_path / "l"
    found = train_model(job(source, tmp_path / "out", ledger=ledger, method=method), bar=bar)
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert manifest["guarantee"]["label"] == "guarantee" and manifest["guarantee"]["unit"] == "paragraph"
    assert manifest["entry"] == found["entry"] is not None and manifest["draft"] is False
    assert manifest["guarantee"]["loss"]["epsilon"] <= 2.0 and found["units"] == 634
    spans = load(tmp_path / "out").predict([TEXT])[0]
    assert [(s.start, s.end) for s in spans] == [CLAUSE]
    written = [v for p in (tmp_path / "out").rglob("*.json") for v in numbers(json.loads(p.read_text()))]
    assert 1 << 12 in written
    assert not {317, 634} & set(written)  # how many there are was not charged
    assert not (tmp_path / "out/model/documents.bin").exists()


def test_the_charge_is_on_disk_before_the_first_draw(source, tmp_path, monkeypatch):
    def no_noise(paid, part=None):
        raise RuntimeError("drawn")

    monkeypatch.setattr(Paid, "noise", no_noise)
    with pytest.raises(RuntimeError, match="drawn"):
        train_model(job(source, tmp_path / "out", ledger=tmp_path / "l"), bar=bar)
    assert Ledger(tmp_path / "l", must_exist=True).total()
    assert not (tmp_path / "out").exists()


def test_a_budget_that_is_too_small_refuses_before_noise(source, tmp_path, monkeypatch):
    Ledger(tmp_path / "l").allow(unit="paragraph", epsilon=1.0, delta=1e-6)
    monkeypatch.setattr(Paid, "noise", lambda paid, part=None: pytest.fail("noise was drawn"))
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


def test_documents_without_a_clause_are_released_too_and_their_owner_is_warned(tmp_path):
    """Whether there is a release must not hang on the one unit that holds a clause."""
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"id": 1, "text": TEXT, "spans": [[0, 3]]}) + "\n")
    result = train_model(job(path, tmp_path / "out", ledger=tmp_path / "l"), bar=bar)
    assert "no sentence is mostly inside spans" in result["warnings"][0]
    written = "".join(f.read_text(errors="ignore") for f in (tmp_path / "out").rglob("*") if f.is_file())
    assert "single label" not in written


def test_a_seed_makes_a_draft(source, tmp_path):
    for out in ("a", "b"):
        train_model(job(source, tmp_path / out, parameters={"seed": 3}), bar=bar)
    assert json.loads((tmp_path / "a/release.json").read_text())["draft"] is True
    assert (tmp_path / "a/model/weights.bin").read_bytes() == (tmp_path / "b/model/weights.bin").read_bytes()


def test_two_worlds_are_told_apart_without_noise_and_hardly_with_it():
    """With 40 draws of each world the AUC's deviation is at most .065; the sound one is at most .624, so .97 is 5.3 off."""
    strong, weak = (SoundWorlds(SoundTrainer(e, 1e-6), [TEXT] * 6, [[CLAUSE]] * 6) for e in (200.0, 2.0))
    assert np.abs(weak.expected[1] - weak.expected[0]).max() > 0
    areas = [RetrainAttack(tries=40).run(TwoWorlds(w), rng=seeded(1)).value for w in (strong, weak)]
    assert areas[0] > 0.99
    assert 0.15 < areas[1] < 0.97
