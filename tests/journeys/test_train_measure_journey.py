"""What a trained model is good for: its score on a public file, beside the same model trained without privacy."""

from __future__ import annotations

import json
from pathlib import Path


def write_texts(name: str, count: int) -> None:
    kinds = {"blame": "the fee is bad and the rent is poor", "praise": "a good letter and a fine bank this year"}
    rows = [{"text": kinds[kind], "label": kind} for _ in range(count // 2) for kind in kinds]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_classifier_beside_itself_without_privacy(textveil):
    write_texts("in.jsonl", 60)
    write_texts("public.jsonl", 12)
    trained = ("--epsilon", 20, "--delta", "1e-3", "--batch", 1000, "--epochs", 3, "--text-field", "text")
    assert textveil("train", "classifier", "in.jsonl", "-o", "out", *trained).code == 0
    needs = textveil("measure", "out", "--truth", "in.jsonl")
    assert needs.code == 2 and "--test PUBLIC" in needs.err
    said = textveil("measure", "out", "--truth", "in.jsonl", "--test", "public.jsonl", "--text-field", "text", "--json")
    assert said.code == 0, said.err
    (row,) = said.json["utility"]
    assert (row["task"], row["metric"], row["chance"]) == ("classify the test file", "accuracy", 0.5)
    assert row["original"] >= 0.5 and row["sizes"] == {"test": 12}
    assert Path("out.private/utility.json").is_file()


def test_a_tagger_beside_itself_without_privacy(textveil):
    sentence = "Anna B-PER\nlives O\nin O\nBern B-LOC\n\n"
    Path("in.conll").write_text(sentence * 40)
    Path("public.conll").write_text(sentence * 6)
    trained = ("--epsilon", 20, "--delta", "1e-3", "--batch", 1000, "--epochs", 2)
    assert textveil("train", "tagger", "in.conll", "-o", "out", *trained).code == 0
    said = textveil("measure", "out", "--truth", "in.conll", "--test", "public.conll", "--json")
    assert said.code == 0, said.err
    (row,) = said.json["utility"]
    assert (row["metric"], row["chance"]) == ("entity F1", 0.0) and len(row["interval"]) == 2
