"""Seal, cost and update from the command line: what is written, what is refused, what stays private."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from textveil.hashed import load

WORDS = (
    "fee due party shall court paper rent board goods term note sale cost loan bank plan work data site unit".split()
)
STATES = ("Texas", "Ohio", "Utah")
RARE = "Zanzibar"


def write_documents(name: str, count: int, seed: int) -> None:
    rng = random.Random(seed)
    documents, spans = [], []
    for n in range(count):
        text = "".join(" ".join(rng.choices(WORDS, k=12)).capitalize() + ".\n" for _ in range(5))
        state = RARE if n < 2 else rng.choice(STATES)
        clause = f"This paper is governed by the law of {state} alone."
        spans.append({"id": n, "start": len(text), "end": len(text) + len(clause), "label": "LAW"})
        documents.append({"id": n, "text": f"{text}{clause}\n"})
    for path, rows in ((f"{name}.jsonl", documents), (f"{name}-spans.jsonl", spans)):
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def model(textveil):
    write_documents("old", 30, 1)
    write_documents("new", 20, 2)
    said = textveil(
        "hashed",
        "train",
        "old.jsonl",
        "--spans",
        "old-spans.jsonl",
        "--bits",
        13,
        "-o",
        "model",
        "--ledger",
        "firm.ledger",
    )
    assert said.code == 0, said.err
    return "model"


def test_seal(textveil, model):
    said = textveil("hashed", "seal", model, "-o", "sealed", "--min-documents", 4, "--ledger", "firm.ledger", "--json")
    assert said.code == 0, said.err
    result = said.json
    assert result["kept_rows"] + result["drawn_rows"] == 2**13 and result["entry"]
    assert set(result["costs"]) == {"1", "10", "100", "1000"} and result["guarantee"]["label"] == "measured"
    assert sorted(p.name for p in Path("sealed/model").iterdir()) == ["table.json", "weights.bin"]
    manifest = json.loads(Path("sealed/release.json").read_text())
    assert manifest["guarantee"]["loss"]["kind"] == "measured" and not manifest["draft"]
    card = Path("sealed/card.html").read_text()
    assert "terms in fewer than 4 training documents" in card and "in 4 training documents or more" in card
    shown = textveil("ledger", "show", "firm.ledger", "--json").json
    assert len(shown["unpriced"]) == 2 and shown["totals"] == []  # training and sealing
    sealed, before = load("sealed"), load(model)
    assert sealed.guarantee_.label == "measured" and sealed.table_.documents is None and sealed.table_.present.all()
    texts = [json.loads(line)["text"] for line in Path("new.jsonl").read_text().splitlines()][2:]
    found = [[(s.start, s.end) for s in spans] for spans in sealed.predict(texts)]
    assert sum(a == [(s.start, s.end) for s in b] for a, b in zip(found, before.predict(texts), strict=True)) >= 15


def test_the_ledger_must_hold_the_models_own_charge(textveil, model):
    textveil("ledger", "new", "other.ledger")
    other = textveil("hashed", "seal", model, "-o", "sealed", "--ledger", "other.ledger")
    assert other.code == 1 and "does not hold the charge" in other.err
    files = ("old.jsonl", "--spans", "old-spans.jsonl", "--bits", 13)
    assert textveil("hashed", "train", *files, "-o", "uncharged").code == 0
    none = textveil("hashed", "seal", "uncharged", "-o", "sealed", "--ledger", "firm.ledger")
    assert none.code == 1 and "was not charged to a ledger" in none.err
    assert not Path("sealed").exists() and not Path(".sealed.unfinished").exists()
    assert textveil("ledger", "show", "other.ledger", "--json").json["charges"] == 0


def test_a_seed_makes_a_draft_and_half_precision_halves_the_file(textveil, model):
    assert textveil("hashed", "seal", model, "-o", "draft", "--seed", 1, "--half").code == 0
    manifest = json.loads(Path("draft/release.json").read_text())
    assert manifest["draft"] and "seed" not in manifest["parameters"]
    assert Path("draft/model/weights.bin").stat().st_size == 2**13 * 2 * 2


def test_cost(textveil, model):
    options = ("--documents", "old.jsonl", "--min-documents", 4)
    said = textveil("hashed", "cost", model, *options, "--term", RARE, "--term", "rent", "--json")
    assert said.code == 0, said.err
    rare, rent = said.json["asked"]
    assert rare["features"] > 0 and rare["epsilon"] <= rent["epsilon"] and said.json["together"] is not None
    shown = textveil("hashed", "cost", model, *options)
    assert shown.code == 0 and "K counted" in shown.out and "larger" in shown.out
    textveil("hashed", "seal", model, "-o", "sealed")
    assert "measured over 1 release" in textveil("hashed", "cost", "sealed").out


def test_update_and_its_cap(textveil, model):
    textveil("hashed", "seal", model, "-o", "sealed", "--min-documents", 4)
    new = ("new.jsonl", "--spans", "new-spans.jsonl")
    said = textveil("hashed", "update", "sealed", *new, "-o", "sealed-2", "--json")
    assert said.code == 0, said.err
    assert said.json["releases"] == 2 and said.json["documents"] == 20
    assert load("sealed-2").table_.facts["updates"] == 1
    assert sorted(p.name for p in Path("sealed-2/model").iterdir()) == ["table.json", "weights.bin"]
    assert "updates since it was sealed</dt><dd>1</dd>" in Path("sealed-2/card.html").read_text()
    refused = textveil("hashed", "update", "sealed", *new, "-o", "sealed-3", "--cap", 0.01, "--ledger", "l.ledger")
    assert refused.code == 1 and "above the cap" in refused.err
    assert not Path("sealed-3").exists() and not Path("l.ledger").exists()


def test_mistakes(textveil, model):
    textveil("hashed", "seal", model, "-o", "sealed")
    for arguments, said in (
        (("seal", "sealed", "-o", "again"), "sealed already"),
        (("seal", "old.jsonl", "-o", "again"), "not a model"),
        (("seal", model, "-o", "sealed"), "exists already"),
        (("seal", model, "-o", "again", "--mode", "loud"), "quiet"),
        (("seal", model, "-o", "again", "--min-documents", 9999), "only 0 rows"),
        (("cost", model, "--term", "rent"), "--documents"),
        (("cost", model, "--documents", "old.jsonl", "--term", "secretword"), "term 1 of --term"),
        (("update", model, "new.jsonl", "--spans", "new-spans.jsonl", "-o", "again"), "not a sealed model"),
    ):
        found = textveil("hashed", *arguments)
        assert found.code == 2 and said in found.err and "secretword" not in found.err, (arguments, found.err)
        assert not Path("again").exists()
    weights = bytearray(Path(model, "model/weights.bin").read_bytes())
    weights[0] ^= 255
    Path(model, "model/weights.bin").write_bytes(weights)
    assert "checksum" in textveil("hashed", "seal", model, "-o", "again").err
