"""The sound variant from the command line: train under a budget, apply, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

LAW = "Governing Law"
PROMISE = ("--epsilon", 2, "--delta", 1e-6)


@pytest.fixture
def documents(textveil, made_up_contracts):
    """250 documents to train on, 10 to ask."""
    made = made_up_contracts(260)
    rows = [
        {"id": n, "text": t, "spans": [{"start": a, "end": b, "label": LAW} for a, b in s]}
        for n, (t, s) in enumerate(made)
    ]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:250]))
    Path("new.jsonl").write_text("".join(json.dumps({"id": r["id"], "text": r["text"]}) + "\n" for r in rows[250:]))
    return made[250:]


@pytest.mark.parametrize("unit", ["paragraph", "document"])
def test_train_apply_and_the_second_time_is_refused(textveil, documents, unit):
    assert textveil("ledger", "new", "l", "--unit", unit, "--epsilon", 2.5, "--delta", 1e-6).code == 0
    said = textveil("hashed", "train", "in.jsonl", "-o", "model", *PROMISE, "--unit", unit, "--ledger", "l", "--json")
    assert said.code == 0, said.err
    assert (said.json["unit"], said.json["method"], said.json["slots"]) == (unit, "descent", 1 << 18)
    manifest = json.loads(Path("model/release.json").read_text())
    assert manifest["guarantee"]["label"] == "guarantee" and manifest["guarantee"]["unit"] == unit
    assert manifest["mechanism"] == "hashed.sound" and manifest["draft"] is False
    card = Path("model/card.html").read_text()
    assert "every one of 262,144 slots" in card and "Blue Finch" not in card

    said = textveil("hashed", "apply", "model", "new.jsonl", "-o", "found")
    assert said.code == 0, said.err
    found = [json.loads(line) for line in Path("found/spans.jsonl").read_text().splitlines()]
    right = {(250 + n, a, b) for n, (_, spans) in enumerate(documents) for a, b in spans}
    # Every clause pulls alike in 250 documents: the noise of a score is about a tenth of the margin.
    assert len(right & {(f["id"], f["start"], f["end"]) for f in found}) >= 8

    said = textveil("hashed", "train", "in.jsonl", "-o", "again", *PROMISE, "--unit", unit, "--ledger", "l")
    assert said.code == 1 and not Path("again").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--epsilon", 2, "--unit", "paragraph"), "--delta"),
        (("--epsilon", 2, "--delta", 1e-6), "--unit"),
        ((*PROMISE, "--unit", "word"), "paragraph"),
        ((*PROMISE, "--unit", "paragraph", "--method", "magic"), "descent"),
        (("--epsilon", 0, "--delta", 1e-6, "--unit", "paragraph"), "epsilon"),
    ],
)
def test_bad_options_are_one_sentence(textveil, documents, options, says):
    said = textveil("hashed", "train", "in.jsonl", "-o", "model", *options, "--ledger", "l")
    assert said.code == 2 and says in said.err and said.err.count("\n") == 1, said.err
    assert not Path("model").exists() and not Path("l").exists()


def test_settings_of_the_other_trainer_are_refused(textveil):
    Path("in.jsonl").write_text('{"id": 1, "text": "x"}\n')
    said = textveil("hashed", "train", "in.jsonl", "-o", "out", "--epsilon", "2", "--delta", "1e-6", "--epochs", "3")
    assert said.code == 2 and "with --epsilon there is no --epochs" in said.err and not Path("out").exists()
