"""The law catches what it is there for: eight faults, each planted where somebody might make it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from journeys.law import law
from journeys.law.table import JOURNEYS, LEDGER
from journeys.law.test_rounds import faults_of_rounds
from rooms.test_one_door import faults_in

from textveil.accounting.account import Account, Paid
from textveil.accounting.ledger import Ledger
from textveil.core.estimator import Estimator
from textveil.core.fingerprint import Fingerprint
from textveil.recipes import audit, publish
from textveil.text.formats.base import Reader
from textveil.words.mechanism import WordMechanism

VEIL = JOURNEYS["veil"]


@pytest.fixture(autouse=True)
def come_back():
    here = os.getcwd()
    yield
    os.chdir(here)


def test_charge_after_noise(tmp_path, monkeypatch):
    charge = Account.charge

    def draw_first(self, event, **options):
        Paid(event, None, self).noise()
        return charge(self, event, **options)

    monkeypatch.setattr(Account, "charge", draw_first)
    assert "noise was made before the charge was on disk" in law.drawn_before_charge(VEIL, tmp_path / "run")


def test_seed_in_release_json(tmp_path, monkeypatch):
    monkeypatch.setattr(Estimator, "public_params", lambda self: {"seed": self.seed})
    monkeypatch.setattr(WordMechanism, "public_params", lambda self: {"seed": self.seed})
    assert "the seed stands in out/release.json" in law.seeded(VEIL, tmp_path / "run")


def test_stray_part_settled(tmp_path, monkeypatch):
    finish = publish.Publication.finish

    def with_a_stray(self, *arguments, **options):
        self.file(".part-000001.jsonl.part").write_text("half of a part")
        return finish(self, *arguments, **options)

    monkeypatch.setattr(publish.Publication, "finish", with_a_stray)
    monkeypatch.setattr(publish, "check_names", lambda folder, mechanism: None)
    law.prepare(VEIL, tmp_path / "run")
    assert law.command(VEIL.arguments())[0] == 0
    assert any(".part-000001" in fault for fault in law.names_in_out(tmp_path / "run"))


@pytest.mark.parametrize("name", ["notes.txt", "model/.part-000001.part"])
def test_a_stray_is_refused_by_the_product_itself(tmp_path, monkeypatch, name):
    finish = publish.Publication.finish

    def with_a_stray(self, *arguments, **options):
        self.file(name).parent.mkdir(exist_ok=True)
        self.file(name).write_text("left here")
        return finish(self, *arguments, **options)

    monkeypatch.setattr(publish.Publication, "finish", with_a_stray)
    law.prepare(VEIL, tmp_path / "run")
    code, said = law.command(VEIL.arguments())
    assert (code, name in said) == (2, True)
    assert not (tmp_path / "run/out").exists()


def test_evidence_with_the_truth_in_out(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    law.prepare(VEIL, folder)
    assert law.command(VEIL.arguments())[0] == 0
    assert law.evidence_in_out(folder, "in.jsonl") == []
    monkeypatch.setattr(
        audit, "record_private", lambda out, rows: audit.publish_evidence(out, audit.read_manifest(out), rows, None)
    )
    manifest = audit.read_manifest(folder / "out")
    monkeypatch.setattr(audit, "read_manifest", lambda out: {**manifest, "entry": None})
    assert law.evidence_in_out(folder, "in.jsonl") != []


def test_fingerprint_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr(Fingerprint, "update", lambda self, text: self)
    assert "other data was charged or released" in law.other_data(VEIL, tmp_path / "run")


def test_extra_column_unnamed(tmp_path, monkeypatch):
    monkeypatch.setattr(Reader, "passes", ())
    wrong = law.unnamed_columns(VEIL, tmp_path / "run")
    assert "column user leaves and is not named in the card" in wrong
    assert len(wrong) == 9  # three columns, three places


def test_second_draw_after_a_kill_uncharged(tmp_path, monkeypatch):
    charge = Account.charge
    monkeypatch.setattr(Account, "charge", lambda self, event, **o: charge(self, event, **{**o, "seen": False}))
    assert any("outputs were seen" in fault for fault in faults_of_rounds(tmp_path, every=3).values())


def test_noise_source_made_outside_the_account(tmp_path):
    planted = {
        "recipes/words/extra.py": "from textveil.noise import source_for\nnoise = source_for(None)\n",
        "recipes/counts/extra.py": "from textveil.noise import secure\nvalue = m.apply(x, noise=secure())\n",
        "recipes/hashed/extra.py": "def f(ledger, event):\n    return ledger.charge(event)\n",
        "recipes/training/extra.py": "def f(model):\n    return {'parameters': model.get_params()}\n",
        "words/by_hand.py": "from textveil.noise import Source\nnoise = Source(stream)\n",
        "recipes/words/moves.py": "def f(folder, out):\n    folder.rename(out)\n",
        "recipes/counts/moves.py": "import shutil\nshutil.move('leave', 'out')\n",
        "recipes/hashed/moves.py": "import os\nos.rename('leave', 'out')\n",
        "words/extra.py": "from textveil.core.release import Stamp\nstamp = Stamp.now('a', {}, draft=False)\n",
    }
    for name, code in planted.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    found = faults_in(tmp_path)
    assert {fault.split(":")[0] for fault in found} == set(planted)


def test_the_ledger_of_the_faults_is_a_real_one(tmp_path):
    """The checks read the ledger from disk: one that was never written shows no charge."""
    assert law.charges(tmp_path) == []
    Ledger(tmp_path / LEDGER)
    assert law.charges(tmp_path) == []
    assert Path(tmp_path / LEDGER).exists()
