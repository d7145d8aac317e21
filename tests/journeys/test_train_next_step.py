"""The next step that training prints works as it is printed: fields, labels and the public file are remembered."""

from __future__ import annotations

import json
from pathlib import Path


def test_a_classifier_is_audited_as_printed(textveil):
    for name, what, count in (("in.jsonl", "letter", 40), ("public.jsonl", "review", 24)):
        rows = [{"note": f"{what} {n} is {('good', 'bad')[n % 2]}", "topic": ("x", "y")[n % 2]} for n in range(count)]
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    fields = ("--text-field", "note", "--label-field", "topic", "--test", "public.jsonl")
    promise = ("--epsilon", 20, "--delta", 1e-3, "--batch", 1000, "--epochs", 2)
    said = textveil("train", "classifier", "in.jsonl", "-o", "out", *promise, *fields)
    assert said.code == 0, said.err
    step = said.next_step
    assert step == ["audit", "out", "--truth", "in.jsonl", "--public", "public.jsonl"]
    answer = textveil(*step, "--json")
    assert answer.code == 0, answer.err
    assert {row["attack"] for row in answer.json["evidence"]} == {"training.membership", "training.lira"}
    assert set(answer.json["not_run"]) == {"training.exposure", "training.one_run"}
    assert all("canaries.json" in why for why in answer.json["not_run"].values())
