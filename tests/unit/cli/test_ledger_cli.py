"""textveil ledger: the lines people type, what they print and how they end."""

from __future__ import annotations

import json
import sqlite3

import pytest

from textveil.accounting.ledger import Ledger
from textveil.cli import run
from textveil.core import (
    Adjacency,
    Event,
    GaussianNoise,
    Guarantee,
    Metric,
    MetricNoise,
    NoPromise,
    Unit,
    Unpriced,
)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "notes.ledger"


def word(epsilon: float, metric_id: str = "ab12") -> Event:
    return Event(MetricNoise(epsilon, "hamming", metric_id, 256.0), Unit.WORD, Adjacency.METRIC, mechanism="words.brr")


def test_a_day_with_a_ledger(path, capsys):
    assert run(["ledger", "new", str(path), "--unit", "word", "--metric", "hamming", "--epsilon", "0.8"]) == 0
    assert "epsilon 0.8, delta 0, unit: word, metric: hamming" in capsys.readouterr().out
    assert run(["ledger", "allow", str(path), "--unit", "user", "--epsilon", "8", "--delta", "1e-6"]) == 0
    ledger = Ledger(path)
    ledger.charge(word(0.3, "one"))
    ledger.charge(word(0.2, "two"))
    ledger.charge(Event(GaussianNoise(2.0), Unit.USER, Adjacency.REPLACE))
    ledger.charge(
        Event(Unpriced(NoPromise("why", "broken")), Unit.USER, Adjacency.REPLACE), note="[bold] note", unpriced=True
    )
    capsys.readouterr()

    assert run(["ledger", "show", str(path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    own = [t for t in shown["totals"] if not t["from_larger"]]
    assert {(t["unit"], t["adjacency"]) for t in own} == {("word", "metric"), ("user", "replace")}
    assert [t["loss"]["epsilon"] for t in own if t["unit"] == "word"] == [0.3, 0.2]
    inside = {t["unit"] for t in shown["totals"] if t["from_larger"]}
    assert inside == {"word", "document_term", "paragraph", "example", "document"}
    assert shown["budgets"][0]["left"] == pytest.approx(0.3)
    assert shown["joint"] == {"word": "0.3 * hamming[one] + 0.2 * hamming[two]"}
    assert [u["label"] for u in shown["unpriced"]] == ["broken"]

    assert run(["ledger", "show", str(path)]) == 0
    printed = capsys.readouterr().out
    for part in (
        "totals of ledger 'notes'",
        "0.3 * hamming[one] + 0.2 * hamming[two]",
        "[bold] note",
        "left",
        "for larger units",
    ):
        assert part in printed

    assert run(["ledger", "verify", str(path)]) == 0
    assert f"all 7 lines hold; head {ledger.head}" in capsys.readouterr().out
    assert run(["ledger", "verify", str(path), "--head", ledger.head]) == 0


def release_of(folder, entry) -> str:
    """A release folder as far as `verify --release` reads it."""
    folder.mkdir()
    promise = Guarantee(Metric(0.5, "hamming", "ab", 8.0), Unit.WORD, Adjacency.METRIC)
    manifest = {
        "mechanism": "words.brr",
        "parameters": {},
        "guarantee": promise.to_json(),
        "data": "data.txt",
        "draft": False,
    }
    anchor = {} if entry is None else {"entry": entry.id, "head": entry.head}
    (folder / "release.json").write_text(json.dumps({**manifest, **anchor}))
    return str(folder)


def test_a_release_anchors_a_ledger_that_was_cut_or_rewritten(path, tmp_path, capsys):
    ledger = Ledger(path)
    entries = [ledger.charge(word(0.1)) for _ in range(4)]
    first, last = (release_of(tmp_path / f"out{i}", entries[i]) for i in (0, 3))
    assert run(["ledger", "verify", str(path), "--release", last]) == 0
    db = sqlite3.connect(path)
    with db:
        db.execute("DELETE FROM lines WHERE number > 3")
        db.execute("UPDATE meta SET value = ? WHERE name = 'head'", (entries[1].head,))
    db.close()
    assert run(["ledger", "verify", str(path)]) == 0  # by itself the shorter chain looks whole
    assert run(["ledger", "verify", str(path), "--release", first]) == 0
    capsys.readouterr()
    assert run(["ledger", "verify", str(path), "--release", last]) == 1
    assert "line 4 was removed" in capsys.readouterr().err
    Ledger(path).charge(word(0.2))  # rewritten: as long as before, with other lines
    Ledger(path).charge(word(0.2))
    assert run(["ledger", "verify", str(path)]) == 0
    assert run(["ledger", "verify", str(path), "--release", last]) == 1
    assert "was rewritten" in capsys.readouterr().err


def test_a_release_without_a_charge_is_no_anchor(path, tmp_path, capsys):
    Ledger(path).charge(word(0.1))
    assert run(["ledger", "verify", str(path), "--release", release_of(tmp_path / "out", None)]) == 2
    assert "keeps no head of a ledger" in capsys.readouterr().err


def test_export_prints_or_writes_json_lines_and_overwrites_nothing(path, tmp_path, capsys):
    Ledger(path).charge(word(0.5))
    assert run(["ledger", "export", str(path)]) == 0
    printed = capsys.readouterr().out
    assert [json.loads(line)["kind"] for line in printed.splitlines()] == ["opened", "charge", "head"]
    out = tmp_path / "out.jsonl"
    assert run(["ledger", "export", str(path), "-o", str(out)]) == 0
    assert out.read_text() == printed
    assert run(["ledger", "export", str(path), "-o", str(out)]) == 2
    assert run(["ledger", "export", str(path), "-o", str(tmp_path / "missing" / "out.jsonl")]) == 2


def test_a_broken_chain_is_refused(path, capsys):
    Ledger(path).charge(word(0.5))
    db = sqlite3.connect(path)
    with db:
        db.execute("UPDATE lines SET note = 'nothing happened' WHERE number = 2")
    db.close()
    for verb in ("verify", "show"):
        assert run(["ledger", verb, str(path)]) == 1
        assert "line 2 was altered" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "{missing}"], "there is no such ledger"),
        (["verify", "{text}"], "is not a ledger"),
        (["new", "{text}"], "exists already"),
        (["new", "{missing}", "--unit", "word", "--epsilon", "0"], "epsilon must be a finite number above 0"),
        (["new", "{missing}", "--unit", "word", "--epsilon", "nan"], "epsilon must be a finite number above 0"),
        (
            ["new", "{missing}", "--unit", "wrod", "--epsilon", "1"],
            "'wrod' is not one of 'word', 'document_term', 'term'",
        ),
        (["new", "{missing}", "--unit", "word", "--metric", "haming", "--epsilon", "1"], "unknown metric 'haming'"),
        (["new", "{missing}", "--epsilon", "1"], "a budget needs a unit"),
        (["new", "{missing}", "--unit", "word"], "a budget needs an epsilon"),
        (["allow", "{missing}", "--unit", "word", "--epsilon", "1"], "there is no such ledger"),
        (["allow", "{missing}", "--epsilon", "1"], "--unit"),
    ],
)
def test_bad_usage_is_one_sentence_and_leaves_nothing(path, tmp_path, capsys, arguments, sentence):
    text = tmp_path / "letter.txt"
    text.write_text("dear all\n")
    assert run(["ledger", *(a.format(missing=path, text=text) for a in arguments)]) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("verb", ["new", "allow", "show", "verify", "export"])
def test_help_has_an_example_that_can_be_pasted(verb, path, capsys):
    assert run(["ledger", verb, "--help"]) == 0
    helped = " ".join(capsys.readouterr().out.partition("Arguments:")[0].split())
    example = helped[helped.index(f"textveil ledger {verb}", helped.index("Example:")) :]
    if verb != "new":
        Ledger(path)
    words = [w.replace("notes", str(path.with_suffix("")), 1) if w.startswith("notes") else w for w in example.split()]
    assert run(words[1:]) == 0
