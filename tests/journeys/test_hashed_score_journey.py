"""`hashed train` on several labels, `hashed apply`, and `hashed score` against what people marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import make_contracts

LAW, DAYS = "Governing Law", "Notice"
SMALL = ("--bits", 14, "--clusters", "none")


@pytest.fixture
def marked(textveil):
    documents, spans = [], []
    for n, (text, found) in enumerate(make_contracts(24)):
        documents.append({"id": n, "text": text})
        spans += [{"id": n, "start": a, "end": b, "label": LAW} for a, b in found]
        title = text.index("\n")
        spans.append({"id": n, "start": 0, "end": title, "label": DAYS})
    for name, rows in (("in.jsonl", documents), ("marked.jsonl", spans)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ("in.jsonl", "--spans", "marked.jsonl")


def test_a_model_of_several_labels_is_scored_by_label(textveil, marked):
    assert "--label with one of" in textveil("hashed", "train", *marked, "-o", "model", *SMALL).err
    labels = ("--label", LAW, "--label", DAYS)
    said = textveil("hashed", "train", *marked, "-o", "model", *SMALL, *labels, "--json")
    assert said.code == 0, said.err
    assert said.json["label"] == [LAW, DAYS]
    assert textveil("hashed", "apply", "model", "in.jsonl", "-o", "found").code == 0
    shown = textveil("hashed", "score", "found", "--spans", "marked.jsonl", "--json").json
    assert set(shown["labels"]) == {LAW, DAYS}
    assert (shown["documents"], shown["not_scored"]) == (24, [])
    law = shown["labels"][LAW]
    assert law["marked"] == 24
    low, high = law["overlap"]["intervals"]["f1"]
    assert low <= law["overlap"]["f1"] <= high
    assert law["overlap"]["f1"] > 0.8
    assert shown["all"]["marked"] == 48
    printed = textveil("hashed", "score", "found/spans.jsonl", "--spans", "marked.jsonl", "--label", LAW)
    assert f"{LAW}: 24 marked" in printed.out
    assert f"marked, but not scored: {DAYS}" in printed.out
    # sealed, updated and attacked like a model of one label
    assert textveil("hashed", "seal", "model", "-o", "sealed").code == 0
    assert textveil("hashed", "update", "sealed", *marked, "-o", "next", *labels).code == 0
    attacked = textveil("audit", "sealed", "--truth", *marked, "--attack", "hashed.retrain", "--json")
    assert attacked.json["evidence"][0]["value"] > 0.5


def test_what_cannot_be_scored_is_said(textveil, marked):
    Path("found.jsonl").write_text('{"id": 0, "start": 0, "end": 5, "label": "Rent"}\n')
    assert "none of its labels" in textveil("hashed", "score", "found.jsonl", "--spans", "marked.jsonl").err
    unknown = textveil("hashed", "score", "found.jsonl", "--spans", "marked.jsonl", "--label", "Rent")
    assert unknown.code == 2
    assert "Governing Law" in unknown.err
    assert textveil("hashed", "score", "nowhere", "--spans", "marked.jsonl").code == 2
    sound = ("--epsilon", 2, "--delta", 1e-6, "--unit", "paragraph", "--label", LAW, "--label", DAYS)
    refused = textveil("hashed", "train", *marked, "-o", "model", *SMALL, *sound, "--ledger", "l.ledger")
    assert "learns one label" in refused.err
    assert not Path("l.ledger").exists()
