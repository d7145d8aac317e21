"""`textveil counts` end to end: text or matrix in, release folder out, charge first, nothing left after bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse

from textveil.core import Release
from textveil.recipes.audit import AuditJob, audit_release
from textveil.text import sample

TABLE = np.array([[3, 0, 1, 2], [0, 2, 0, 1], [1, 1, 1, 1]])


def entries(textveil, ledger: str = "c.ledger") -> int:
    if not Path(ledger).exists():
        return 0
    return sum(
        json.loads(line).get("kind") == "charge" for line in textveil("ledger", "export", ledger).out.splitlines()
    )


def test_letters_become_a_release(textveil):
    said = textveil(
        "counts", sample.path(), "-o", "out", "--epsilon", 2, "--precision", 5, "--compress", 40, "--vocabulary-size", 500,
        "--text-field", "text", "--ledger", "c.ledger", "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["mechanism"] == "counts.limited_precision" and not shown["draft"] and shown["entry"]
    assert shown["guarantee"]["loss"] == {"kind": "limited_precision", "epsilon": 2.0, "n": 5, "delta": 0.0}
    assert {p.name for p in Path("out").iterdir()} == {
        "card.html", "data.npz", "groups.npz", "release.json", "vocabulary.txt",
    }  # fmt: skip
    table = Release.load("out").value
    assert table.shape == (said.json["documents"], 500) and table.min() >= 0
    assert len(Path("out/vocabulary.txt").read_text().split("\n")) == 501
    assert entries(textveil) == 1


def test_raw_counts_without_clamping_are_dense(textveil):
    said = textveil(
        "counts", sample.path(), "-o", "out", "--epsilon", 1, "--no-clamp", "--vocabulary-size", 300, "--json"
    )
    assert said.code == 0, said.err
    table = Release.load("out").value
    assert isinstance(table, np.ndarray) and table.min() < 0 and not said.json["sparse"]


def test_the_papers_budget_prints_its_true_total(textveil):
    said = textveil(
        "counts", sample.path(), "-o", "out", "--epsilon", 0.5, "--compress", 10, "--vocabulary-size", 680,
        "--budget", "paper", "--method", "random", "--prior", "uniform",
    )  # fmt: skip
    assert said.code == 0 and "the true total is 34" in said.out
    assert json.loads(Path("out/release.json").read_text())["guarantee"]["loss"]["epsilon"] == 34.0


def test_a_vocabulary_chosen_under_the_budget(textveil):
    said = textveil(
        "counts", sample.path(), "-o", "out", "--epsilon", 50, "--precision", 1, "--vocabulary-size", 2000, "--choose", 30,
        "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert said.json["columns"] == 30 and said.json["spending"]["corpus_counts"] == pytest.approx(5.0)
    words = Path("out/vocabulary.txt").read_text().split()
    assert len(words) == 30 and "the" in words


@pytest.mark.parametrize("name", ["t.npz", "dense.npz", "t.mtx"])
def test_matrix_files_are_read(textveil, name):
    if name == "t.mtx":
        io.mmwrite(name, sparse.coo_matrix(TABLE))
    elif name == "dense.npz":
        np.savez(name, counts=TABLE)
    else:
        sparse.save_npz(name, sparse.csr_matrix(TABLE))
    said = textveil("counts", name, "-o", "out", "--epsilon", 1000, "--precision", 1)
    assert said.code == 0, said.err
    assert (Release.load("out").value.toarray() == TABLE).all()


@pytest.mark.parametrize(
    ("table", "options", "what"),
    [
        (TABLE - 1, [], "negative count"),
        (TABLE * 0.5, [], "fractional count"),
        (TABLE, ["--compress", 9], "at most the number of words"),
        (TABLE, ["--precision", 0], "precision must be a whole number of 1 or more"),
        (TABLE, ["--vocabulary", "words.txt"], "4 columns, but the vocabulary has 2 words"),
        (TABLE, ["--epsilon", 0], "epsilon must be a finite number above 0"),
        (TABLE, ["--method", "hungarian"], "is not one of 'random', 'frequency'"),
        (TABLE, ["--choose", 9], "at most the number of words"),
        (TABLE, ["--compress", 2, "--method", "cluster"], "needs the words of the columns"),
    ],
)
def test_bad_input_charges_nothing_and_leaves_nothing(textveil, table, options, what):
    Path("words.txt").write_text("one\ntwo\n")
    sparse.save_npz("t.npz", sparse.csr_matrix(table))
    said = textveil("counts", "t.npz", "-o", "out", "--epsilon", 1, "--ledger", "c.ledger", *options)
    assert said.code == 2 and what in said.err and said.err.count("\n") == 1
    assert entries(textveil) == 0
    assert {p.name for p in Path().iterdir()} <= {"t.npz", "words.txt", "c.ledger"}


@pytest.mark.parametrize("content", [b"", b"not a matrix", b"PK\x03\x04 broken"])
@pytest.mark.parametrize("name", ["t.npz", "t.mtx"])
def test_broken_matrix_files_are_named(textveil, name, content):
    Path(name).write_bytes(content)
    said = textveil("counts", name, "-o", "out", "--epsilon", 1)
    assert said.code == 2 and name in said.err and not Path("out").exists()


def test_a_budget_that_is_spent_refuses(textveil):
    sparse.save_npz("t.npz", sparse.csr_matrix(TABLE))
    made = textveil("ledger", "new", "c.ledger", "--unit", "document", "--metric", "counts_l1", "--epsilon", 0.1)
    assert made.code == 0, made.err
    first = textveil("counts", "t.npz", "-o", "one", "--epsilon", 1, "--precision", 10, "--ledger", "c.ledger")
    second = textveil("counts", "t.npz", "-o", "two", "--epsilon", 1, "--precision", 10, "--ledger", "c.ledger")
    assert (first.code, second.code) == (0, 1), (first.err, second.err)
    assert not Path("two").exists() and not list(Path().glob(".two*"))


def test_a_seed_makes_a_draft(textveil):
    sparse.save_npz("t.npz", sparse.csr_matrix(TABLE))
    assert textveil("counts", "t.npz", "-o", "out", "--epsilon", 1, "--seed", 3).code == 0
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["draft"] and shown["guarantee"]["label"] == "seeded"


def test_attacks_find_the_folder_and_leave_their_evidence(textveil):
    common = ("--epsilon", 3, "--precision", 3, "--vocabulary-size", 800, "--text-field", "text")
    for options in ((), ("--compress", 60)):
        out = f"out{len(options)}"
        assert textveil("counts", sample.path(), "-o", out, *common, *options).code == 0
        attacks = ("counts.passage", "counts.linkage", "counts.phrase")
        found = audit_release(AuditJob(Path(out), attacks, sample.path(), text_field="text")).evidence
        passage, linkage, phrase = found
        assert passage.distance <= 3 and passage.value < passage.upper
        assert linkage.value > 10 * linkage.chance  # documents are far apart: linking them is not what is bounded
        assert 0 <= phrase.hits <= phrase.tries
        assert json.loads(Path(out, "release.json").read_text())["evidence"] == []
        shown = json.loads(Path(f"{out}.private", "evidence.json").read_text())["evidence"]
        assert [e["attack"] for e in shown] == [e.attack for e in found] and not any(e["refuted"] for e in shown)


def test_audit_from_the_command_line(textveil):
    """`textveil audit` knows a folder of counts when it sees one."""
    Path("letters.jsonl").write_text("".join(json.dumps(r) + "\n" for r in sample.letters()))
    options = ("--epsilon", 1, "--precision", 5, "--vocabulary", "default", "--vocabulary-size", 500)
    said = textveil("counts", "letters.jsonl", "-o", "counted", *options)
    assert said.code == 0, said.err
    said = textveil("audit", "counted", "--json").json
    (evidence,) = said["evidence"]
    assert evidence["attack"] == "counts.passage" and not evidence.get("refuted")
    assert set(said["not_run"]) == {"counts.linkage", "counts.phrase"}
    assert all("--truth IN" in why for why in said["not_run"].values())


def test_ids_and_labels_leave_with_the_rows_and_are_named(textveil):
    options = ("--epsilon", 2, "--vocabulary-size", 200, "--text-field", "text")
    said = textveil("counts", sample.path(), "-o", "out", *options, "--id-field", "id", "--label-field", "kind")
    assert said.code == 0, said.err
    assert "column 'id' (unprotected)" in said.out
    assert "column 'kind' (unprotected)" in said.out
    rows = [json.loads(line) for line in Path("out/documents.jsonl").read_text().splitlines()]
    letters = [json.loads(line) for line in sample.path().read_text().splitlines()]
    assert rows == [{"row": n, "id": letter["id"], "label": letter["kind"]} for n, letter in enumerate(letters)]
    assert json.loads(Path("out/release.json").read_text())["passes"][-2:] == ["column 'id'", "column 'kind'"]
    assert "&#x27;id&#x27;, &#x27;kind&#x27;" in Path("out/card.html").read_text()
    missing = textveil("counts", sample.path(), "-o", "other", *options, "--label-field", "topic")
    assert (missing.code, Path("other").exists()) == (2, False)
    np.savez("counts.npz", TABLE)
    matrix = textveil("counts", "counts.npz", "-o", "other", "--epsilon", 1, "--id-field", "id")
    assert "a matrix has no fields" in matrix.err


def test_words_can_be_left_out_of_the_vocabulary(textveil):
    Path("stop.txt").write_text("the\nOf\nand\n")
    options = ("--epsilon", 2, "--vocabulary-size", 50, "--text-field", "text", "--without", "stop.txt")
    said = textveil("counts", sample.path(), "-o", "out", *options)
    assert said.code == 0, said.err
    words = Path("out/vocabulary.txt").read_text().split()
    assert len(words) == 50
    assert not {"the", "of", "and"} & set(words)
    assert json.loads(Path("out/release.json").read_text())["parameters"]["without"] == "stop.txt"
    np.savez("counts.npz", TABLE)
    assert "not known" in textveil("counts", "counts.npz", "-o", "x", "--epsilon", 1, "--without", "stop.txt").err


def test_the_public_list_of_function_words_can_be_left_out(textveil):
    options = ("--epsilon", 2, "--vocabulary-size", 60, "--text-field", "text", "--without", "function-words")
    said = textveil("counts", sample.path(), "-o", "out", *options)
    assert said.code == 0, said.err
    words = set(Path("out/vocabulary.txt").read_text().split())
    assert len(words) == 60
    assert not words & {"the", "of", "and", "i", "is", "'s"}
    assert textveil(*said.next_step, "--attack", "counts.linkage").code == 0
