"""`pii review` from the command line: begin, go on, export, and mistakes on purpose."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from textveil.cli import run
from textveil.pii.review.marks import Mark, Status
from textveil.pii.review.store import ReviewStore

DOCUMENTS = [{"id": "a", "text": "Anna called."}, {"id": "b", "text": "Nobody did."}]
SPANS = [{"id": "a", "start": 0, "end": 4, "type": "PERSON", "score": 0.8, "rule": "names"}]


def write(name, rows):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def review(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write("docs.jsonl", DOCUMENTS)
    write("spans.jsonl", SPANS)

    def call(*arguments):
        code = run(["pii", "review", *arguments])
        return code, capsys.readouterr()

    return call


BEGIN = ("a.review", "--documents", "docs.jsonl", "--spans", "spans.jsonl")
EXPORT = ("--export", "spans", "-o", "out.jsonl", "--json")


def test_an_export_holds_what_the_reviewer_let_stand(review):
    code, said = review(*BEGIN, *EXPORT)
    assert code == 2  # nothing is finished yet; the store is made
    assert "finished no document" in said.err
    store = ReviewStore(Path("a.review"))
    store.save("me", 0, 0, [Mark(m.span, Status.CONFIRMED) for m in store.state("me", 0).marks], done=True)
    code, said = review("a.review", *EXPORT)
    assert (code, json.loads(said.out)["documents"]) == (0, 1)
    assert os.stat("out.jsonl").st_mode & 0o777 == 0o600
    row = json.loads(Path("out.jsonl").read_text(encoding="utf-8"))
    assert (row["id"], row["start"], row["end"], row["label"]) == ("a", 0, 4, "PERSON")


BAD = {
    "no store and no documents": (("a.review",), "does not exist"),
    "documents for a store that stands": (BEGIN, "exists already"),
    "a format without a file": (("a.review", "--export", "bio"), "a format and a file"),
    "an unknown format": (("a.review", "--export", "word", "-o", "x"), "word"),
    "documents that are not there": (("b.review", "--documents", "nowhere.jsonl"), "does not exist"),
    "spans that do not fit": (("b.review", "--documents", "docs.jsonl", "--spans", "long.jsonl"), "does not fit"),
    "spans of unknown documents": (("b.review", "--documents", "docs.jsonl", "--spans", "other.jsonl"), "not in docs"),
    "spans without an end": (("b.review", "--documents", "docs.jsonl", "--spans", "endless.jsonl"), "start, end"),
    "records of unknown documents": (
        ("b.review", "--documents", "docs.jsonl", "--records", "other.jsonl"),
        "not in docs",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_mistakes_get_one_sentence_and_leave_nothing(review, name):
    arguments, expected = BAD[name]
    if name == "documents for a store that stands":
        review(*BEGIN, *EXPORT)
    write("long.jsonl", [{**SPANS[0], "end": 99}])
    write("other.jsonl", [{**SPANS[0], "id": "zz"}])
    write("endless.jsonl", [{"id": "a", "start": 0}])
    before = sorted(os.listdir())
    code, said = review(*arguments)
    assert code == 2
    assert expected in said.err
    assert said.err.count("\n") == 1
    assert "Anna" not in said.err
    assert sorted(os.listdir()) == before


def test_a_taken_port_is_said(review):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, said = review(*BEGIN, "--port", str(taken.getsockname()[1]))
    assert code == 2
    assert "is taken" in said.err
