"""What releases come to by ledger: the latest card of each ledger says it."""

from __future__ import annotations

import json

from textveil.cli import run
from textveil.report import write_report
from textveil.text import sample


def veil(folder, name, epsilon, *more):
    source = folder / "letters.jsonl"
    if not source.exists():
        source.write_text("".join(sample.path().read_text().splitlines(keepends=True)[:3]))
    arguments = [
        "veil",
        str(source),
        "-o",
        str(folder / name),
        "--epsilon",
        str(epsilon),
        "--text-field",
        "text",
        *more,
    ]
    assert run([*arguments, "--json"]) == 0


def test_a_report_sums_by_ledger_and_names_what_is_in_none(tmp_path, capsys):
    ledger = ["--ledger", str(tmp_path / "notes.ledger")]
    budget = ["--unit", "word", "--metric", "hamming", "--epsilon", "2"]
    assert run(["ledger", "new", ledger[1], *budget]) == 0
    veil(tmp_path, "zuerst", 0.5, *ledger)
    veil(tmp_path, "then", 0.25, *ledger)  # sorted by name it comes first, in the ledger it is the later one
    veil(tmp_path, "a", 0.5)
    veil(tmp_path, "b", 0.5)
    capsys.readouterr()
    result = write_report(tmp_path)
    (line,) = result["ledgers"]
    assert (line["ledger"], line["epsilon"], line["charges"], line["left"]) == ("notes", 0.75, 2, 1.25)
    assert sorted(line["releases"]) == ["then", "zuerst"]
    (loose,) = result["in_no_ledger"]
    assert "2 releases of letters.jsonl are in no ledger" in loose
    assert json.loads((tmp_path / "report.json").read_text())["ledgers"] == result["ledgers"]
    page = (tmp_path / "report.html").read_text()
    for part in ("What was spent, by ledger", "ε 0.75", "1.25 left", "are in no ledger"):
        assert part in page, part
    assert run(["report", str(tmp_path)]) == 0
    assert "ledger 'notes': epsilon 0.75 per step of hamming distance" in capsys.readouterr().out


def test_ledger_show_lists_every_release_with_its_cost(tmp_path, capsys):
    ledger = str(tmp_path / "notes.ledger")
    veil(tmp_path, "first", 0.5, "--ledger", ledger)
    veil(tmp_path, "draft", 0.5, "--ledger", ledger, "--seed", "1")
    capsys.readouterr()
    assert run(["ledger", "show", ledger, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    first, draft = shown["releases"]
    assert first["note"] == "veil letters.jsonl -> first"
    assert (first["mechanism"], first["unit"], first["label"], first["loss"]["epsilon"]) == (
        "words.brr", "word", "guarantee", 0.5,
    )  # fmt: skip
    assert (draft["label"], [row["id"] for row in shown["unpriced"]]) == ("seeded", [draft["id"]])
    assert run(["ledger", "show", ledger]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for part in ("releases, and what each cost by itself", first["created"][:10], "epsilon 0.5", "no price"):
        assert part in printed, part
