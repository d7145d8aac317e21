"""Plant canaries in users' data, train together, audit the model: the secret sharer from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from textveil.cli import run

WORDS = "the fee is due law of state may rent bank letter year good bad fine poor".split()
SIMULATE = (
    "--user-field user --text-field text --words words.txt --hidden 4 --workers 0 --rounds 2 --users-per-round 8 "
    "--strategy dp-fedavg --epsilon 8 --delta 1e-3 --clip 0.5"
).split()


@pytest.fixture
def planted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = [{"user": f"u{user}", "text": " ".join(rng.choice(WORDS, 7))} for user in range(20) for _ in range(4)]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("words.txt").write_text("\n".join(WORDS))
    arguments = "federate canaries in.jsonl -o planted --words words.txt --sharers 1 --sharers 2 --each 2 --share 1"
    assert run([*arguments.split(), "--text-field", "text", "--canary-users", "12"]) == 0
    return tmp_path


def test_a_model_is_audited_with_its_canaries(planted, capsys):
    assert run(["federate", "simulate", "planted/data.jsonl", "-o", "out", *SIMULATE]) == 0
    capsys.readouterr()
    assert run(["audit", "out", "--truth", "planted/canaries.json", "--json"]) == 0
    found = {row["attack"]: row for row in json.loads(capsys.readouterr().out)["evidence"]}
    assert set(found) == {"federated.secret_sharer", "federated.beam_search", "federated.one_run"}
    assert found["federated.secret_sharer"]["tries"] == found["federated.beam_search"]["tries"] == 4
    assert found["federated.one_run"]["coins"] == 12 and found["federated.one_run"]["unit"] == "user"
    assert any("the promise" in note for note in found["federated.secret_sharer"]["notes"])
    assert Path("out.private/evidence.json").is_file()
    secrets = [" ".join(c["words"]) for c in json.loads(Path("planted/canaries.json").read_text())["canaries"]]
    card = Path("out/card.html").read_text() + Path("out/release.json").read_text()
    assert not any(secret in card for secret in secrets)


def test_other_canaries_are_refused(planted, capsys):
    assert run(["federate", "simulate", "planted/data.jsonl", "-o", "out", *SIMULATE]) == 0
    assert run("train canaries in.jsonl -o others --text-field text --candidates 20".split()) == 0
    capsys.readouterr()
    assert run(["audit", "out", "--truth", "others/canaries.json"]) == 2
    assert "is no file of shared canaries; possible: one made by textveil federate canaries" in capsys.readouterr().err
