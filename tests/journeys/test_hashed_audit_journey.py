"""Probe and audit a hashed model from the command line, before and after sealing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

LAW = "Governing Law"
ATTACKS = ("lookup", "membership", "redacted", "api", "probing", "retrain")


def write(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def models(textveil, made_up_contracts):
    """A trained model and the same one sealed as printed, with the documents and their spans."""
    made = made_up_contracts(24)
    write("documents.jsonl", [{"id": n, "text": text} for n, (text, _) in enumerate(made)])
    write(
        "spans.jsonl",
        [{"id": n, "start": a, "end": b, "label": LAW} for n, (_, s) in enumerate(made) for a, b in s],
    )
    options = ("--spans", "spans.jsonl", "--label", LAW, "--bits", 16, "--c", 1)
    assert textveil("hashed", "train", "documents.jsonl", "-o", "model", *options).code == 0
    said = textveil("hashed", "seal", "model", "-o", "sealed", "--mode", "paper", "--seed", 1)
    assert said.code == 0, said.err


def test_probe_prints_a_table(textveil, models):
    Path("terms.txt").write_text("Texas\nDelaware\n\nWyoming\nTexas\n", encoding="utf-8")
    template = "The laws of the State of {term} govern this Agreement."
    said = textveil("hashed", "probe", "model", "--terms", "terms.txt", "--template", template)
    assert said.code == 0 and "of 3 terms extracted" in said.out
    shown = textveil("hashed", "probe", "model", "--terms", "terms.txt", "--template", template, "--json").json
    assert [t["term"] for t in shown["terms"]][-1] == "Wyoming"  # never trained on: the lowest score comes last
    assert shown["extracted"] == sum(t["extracted"] for t in shown["terms"])


@pytest.mark.parametrize(
    ("terms", "template", "message"),
    [
        ("Texas\n", "no gap", "needs one gap"),
        ("\n", "The {term}.", "holds no terms"),
        (None, "The {term}.", "cannot be read"),
        (" - \n", "{term}", None),
    ],
)
def test_bad_probes_are_one_sentence(textveil, models, terms, template, message):
    if terms is not None:
        Path("terms.txt").write_text(terms, encoding="utf-8")
    said = textveil("hashed", "probe", "model", "--terms", "terms.txt", "--template", template)
    if message is None:
        assert said.code == 0  # a symbol is a token like another
    else:
        assert said.code == 2 and message in said.err and said.err.count("\n") == 1


def test_every_attack_runs_and_stands_on_the_card(textveil, models):
    chosen = [part for name in ATTACKS for part in ("--attack", f"hashed.{name}")]
    for folder in ("model", "sealed"):
        said = textveil(
            "audit", folder, *chosen, "--truth", "documents.jsonl", "--spans", "spans.jsonl", "--publish", "--json"
        )
        assert said.code == 0, said.err
        found = {(e["attack"], e["metric"]): e for e in said.json["evidence"]}
        assert len(found) == 8  # membership has three detectors
        card = Path(folder, "card.html").read_text()
        assert all(f"hashed.{name}" in card for name in ATTACKS)
        assert "Blue Finch" not in card and "delaware" not in card.lower()
        lookup, retrain = found["hashed.lookup", "auc"]["value"], found["hashed.retrain", "auc"]["value"]
        assert lookup > 0.85 if folder == "model" else lookup == 0.5
        assert retrain > 0.85  # genuine rows are copied: sealing as printed does not help


def test_an_audit_without_the_original_says_what_it_needs(textveil, models):
    said = textveil("audit", "sealed")
    assert said.code == 2 and "--truth IN" in said.err
    said = textveil("audit", "sealed", "--attack", "words.bayes", "--truth", "documents.jsonl")
    assert said.code == 2 and "hashed.lookup" in said.err
