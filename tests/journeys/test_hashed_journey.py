"""Train, apply and the mistakes one can make, from the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from textveil.hashed import load

LAW = "Governing Law"
SMALL = ("--bits", 16)


def write(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def files(textveil, made_up_contracts):
    """20 documents to train on with their spans in a file, in the records, and 10 new documents."""
    made = made_up_contracts(30)
    write("documents.jsonl", [{"id": f"d{n}", "text": text} for n, (text, _) in enumerate(made[:20])])
    marks = [{"id": f"d{n}", "start": a, "end": b, "clause": LAW} for n, (_, s) in enumerate(made[:20]) for a, b in s]
    others = [{"id": f"d{n}", "start": 0, "end": 9, "clause": "Title"} for n in range(20)]
    write("spans.jsonl", [*marks, *others])
    write("inside.jsonl", [{"text": t, "spans": [{"start": a, "end": b} for a, b in s]} for t, s in made[:20]])
    write("new.jsonl", [{"id": n, "text": text} for n, (text, _) in enumerate(made[20:])])
    return made[20:]


def test_train_and_apply(textveil, files):
    options = ("--spans", "spans.jsonl", "--label", LAW, "--ledger", "firm.ledger", *SMALL)
    said = textveil("hashed", "train", "documents.jsonl", "-o", "model", *options, "--json")
    assert said.code == 0, said.err
    result = said.json
    assert (result["documents"], result["label"], result["warnings"]) == (20, LAW, []) and result["entry"]
    manifest = json.loads(Path("model/release.json").read_text())
    assert manifest["mechanism"] == "hashed.train" and manifest["data"] == "model"
    assert manifest["guarantee"]["label"] == "heuristic" and not manifest["draft"]
    shown = textveil("ledger", "show", "firm.ledger", "--json").json
    assert len(shown["unpriced"]) == 1 and shown["totals"] == []
    card = Path("model/card.html").read_text()
    assert "seal it" in card and "Blue Finch" not in card

    said = textveil("hashed", "apply", "model", "new.jsonl", "-o", "found")
    shown = re.search(r"[\d,]+ finds in [\d,]+ of [\d,]+ documents", said.out)
    assert shown and shown[0] in Path("found/highlights.html").read_text(), "terminal and page count alike"
    assert said.code == 0 and "highlights.html" in said.out
    found = [json.loads(line) for line in Path("found/spans.jsonl").read_text().splitlines()]
    right = {(n, a, b) for n, (_, spans) in enumerate(files) for a, b in spans}
    assert len(right & {(f["id"], f["start"], f["end"]) for f in found}) >= 9
    assert all(f["text"] == files[f["id"]][0][f["start"] : f["end"]] and f["label"] == LAW for f in found)
    page = Path("found/highlights.html").read_text()
    assert f"<mark>{found[0]['text']}</mark>" in page and "http" not in page.split("</style>")[-1]
    assert "<script" not in page


def test_spans_inside_the_records_train_the_same_model(textveil, files):
    assert (
        textveil("hashed", "train", "documents.jsonl", "--spans", "spans.jsonl", "--label", LAW, "-o", "a", *SMALL).code
        == 0
    )
    said = textveil("hashed", "train", "inside.jsonl", "-o", "b", "--half", *SMALL)
    assert said.code == 0 and "nothing is promised" in said.out
    one, other = load("a").table_, load("b").table_
    assert abs(one.weights - other.weights).max() < 1e-3 * abs(one.weights).max()
    assert other.labels == ("O", "CLAUSE")
    assert Path("b/model/weights.bin").stat().st_size * 2 == Path("a/model/weights.bin").stat().st_size


def test_a_small_table_warns_with_the_collision_rate(textveil, files):
    said = textveil("hashed", "train", "inside.jsonl", "-o", "small", "--bits", 8)
    assert said.code == 0 and "2^8 slots are few" in said.err and "share a slot" in said.err
    assert "share a slot" in Path("small/card.html").read_text()


def bad(name, rows):
    """Break one line of the spans."""
    good = [json.loads(line) for line in Path("spans.jsonl").read_text().splitlines()]
    write(name, good[:3] + rows + good[3:])
    return ("documents.jsonl", "--spans", name, "--label", LAW)


BAD = {
    "label unknown": (
        lambda: ("documents.jsonl", "--spans", "spans.jsonl", "--label", "Law"),
        "there are: Governing Law",
    ),
    "label missing": (lambda: ("documents.jsonl", "--spans", "spans.jsonl"), "holds 2 labels"),
    "no spans given": (lambda: ("documents.jsonl",), "field 'spans'"),
    "span too long": (
        lambda: bad("s.jsonl", [{"id": "d1", "start": 5, "end": 99999, "clause": LAW}]),
        "s.jsonl, line 4",
    ),
    "span of text": (lambda: bad("s.jsonl", [{"id": "d1", "start": "5", "end": 9, "clause": LAW}]), "field 'start'"),
    "no id": (lambda: bad("s.jsonl", [{"start": 5, "end": 9, "clause": LAW}]), "line 4, field 'id'"),
    "unknown id": (lambda: bad("s.jsonl", [{"id": "zz", "start": 5, "end": 9, "clause": LAW}]), "s.jsonl, line 4"),
    "no json": (
        lambda: (Path("s.jsonl").write_text("{\n"), "documents.jsonl", "--spans", "s.jsonl")[1:],
        "s.jsonl, line 1",
    ),
    "no file": (lambda: ("documents.jsonl", "--spans", "none.jsonl"), "none.jsonl: does not exist"),
    "not jsonl": (lambda: ("spans.txt",), "read from jsonl"),
    "bits": (lambda: ("inside.jsonl", "--bits", 99), "bits must be"),
    "families": (lambda: ("inside.jsonl", "--families", "word,letters"), "unknown family of features 'letters'"),
    "delta alone": (lambda: ("inside.jsonl", "--delta", 1e-6), "--delta belongs to the sound variant"),
    "c": (lambda: ("inside.jsonl", "--c", 0), "c must be"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_leaves_nothing(textveil, files, name):
    arguments, message = BAD[name]
    before = arguments()
    said = textveil("hashed", "train", *before, "-o", "model", "--ledger", "l")
    assert said.code == 2 and message in said.err and said.err.count("\n") == 1, said.err
    assert not Path("model").exists() and not Path("l").exists() and not list(Path().glob(".*"))
    assert "Blue Finch" not in said.err


def test_a_single_label_is_refused(textveil, files):
    write("none.jsonl", [{"text": "one two", "spans": []}])
    said = textveil("hashed", "train", "none.jsonl", "-o", "model")
    assert said.code == 2 and "single label" in said.err
    write("all.jsonl", [{"text": "one two", "spans": [[0, 7]]}])
    said = textveil("hashed", "train", "all.jsonl", "-o", "model", "--ledger", "l")
    assert said.code == 2 and "all tokens are inside spans" in said.err and not Path("l").exists()


def test_what_is_no_model_or_a_damaged_one(textveil, files):
    Path("empty").mkdir()
    said = textveil("hashed", "apply", "empty", "new.jsonl", "-o", "found")
    assert said.code == 2 and "is not a model" in said.err
    assert textveil("hashed", "train", "inside.jsonl", "-o", "model", *SMALL).code == 0
    weights = Path("model/model/weights.bin")
    raw = bytearray(weights.read_bytes())
    raw[1000] ^= 8
    weights.write_bytes(bytes(raw))
    said = textveil("hashed", "apply", "model", "new.jsonl", "-o", "found")
    assert said.code == 2 and "weights.bin: is damaged: its checksum differs" in said.err
    assert not Path("found").exists()


def test_an_existing_folder_is_never_overwritten(textveil, files):
    Path("model").mkdir()
    Path("model/mine.txt").write_text("keep")
    said = textveil("hashed", "train", "inside.jsonl", "-o", "model")
    assert said.code == 2 and "exists already" in said.err


def test_apply_reads_other_formats(textveil, files):
    assert textveil("hashed", "train", "inside.jsonl", "-o", "model", *SMALL).code == 0
    Path("new.txt").write_text("The fee is due.\nThis Agreement shall be governed by the laws of the State of Ohio.\n")
    said = textveil("hashed", "apply", "model", "new.txt", "-o", "found", "--no-page", "--json")
    assert said.code == 0 and said.json["documents"] == 2 and not Path("found/highlights.html").exists()
    (found,) = [json.loads(line) for line in Path("found/spans.jsonl").read_text().splitlines()]
    assert found["id"] == 2 and found["text"].startswith("This Agreement")


def test_hashed_is_imported_without_heavy_packages():
    heavy = "'torch', 'numba', 'sklearn', 'mmh3'"
    code = f"import sys, textveil.cli, textveil.hashed.extractor; print({{{heavy}}} & {{*sys.modules}})"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        == "set()"
    )
