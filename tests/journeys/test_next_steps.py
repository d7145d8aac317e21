"""The next step that a verb prints works as it is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import make_contracts


def write_letters(name: str) -> str:
    rows = ["id,letter body,city"] + [f'{n},"The bank, of all banks, closed account {n}.",Bern' for n in range(12)]
    Path(name).write_text("\n".join(rows) + "\n")
    return name


@pytest.mark.parametrize(
    ("verb", "options", "quick"),
    [
        ("veil", ("--epsilon", 0.5, "--only-text"), ("--attack", "words.nearest")),  # the others take half a minute
        ("counts", ("--epsilon", 1, "--vocabulary-size", 300), ()),
    ],
)
def test_what_reads_texts_remembers_the_field(textveil, verb, options, quick):
    source = write_letters("my letters.csv")
    said = textveil(verb, source, "-o", "the out", "--text-field", "letter body", *options)
    assert said.code == 0, said.err
    step = said.next_step
    assert step == ["audit", "the out", "--truth", source]
    answer = textveil(*step, "--json", *quick)
    assert answer.code == 0, answer.err
    assert answer.json["evidence"]


def test_a_file_whose_name_tells_no_format(textveil):
    Path(write_letters("letters.csv")).rename("letters.dat")
    options = ("--format", "csv", "--text-field", "letter body", "--header", "--epsilon", 0.5)
    said = textveil("veil", "letters.dat", "-o", "out", *options)
    assert said.code == 0, said.err
    answer = textveil(*said.next_step, "--attack", "words.nearest")
    assert answer.code == 0, answer.err


def test_a_hashed_model_names_its_documents_and_spans(textveil):
    contracts = make_contracts(12)
    documents = [{"id": n, "body": text} for n, (text, _) in enumerate(contracts)]
    spans = [{"id": n, "start": a, "end": b} for n, (_, found) in enumerate(contracts) for a, b in found]
    for name, rows in (("in.jsonl", documents), ("marked.jsonl", spans)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ("--bits", 12, "--clusters", "none", "--text-field", "body")
    said = textveil("hashed", "train", "in.jsonl", "--spans", "marked.jsonl", "-o", "model", *options)
    assert said.code == 0, said.err
    step = said.next_step
    assert step == ["audit", "model", "--truth", "in.jsonl", "--spans", "marked.jsonl"]
    answer = textveil(*step, "--attack", "hashed.lookup")
    assert answer.code == 0, answer.err
    assert textveil("hashed", "seal", "model", "-o", "sealed").code == 0
    card = Path("sealed/card.html").read_text()
    assert "in.jsonl" in card  # the sealed model knows what it was trained on
