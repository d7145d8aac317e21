"""`pii infobox`, `pii annotate` and `pii score` from the command line: pages to records to spans to scores, and mistakes."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from textveil.cli import run

ROWS = "<tr><th>Spouse</th><td>Anna Meyer[1]</td></tr><tr><th>Born</th><td>3 April 1885</td></tr>"
PAGES = [
    {"id": "a", "text": f'<table class="infobox">{ROWS}</table>'},
    {"id": "b", "text": "{{Infobox person | name = Ida Lang | children = Tom & Eva | birth_place = [[Ulm]] }}"},
]
DOCUMENTS = [
    {"id": "a", "text": "Karl Berg (born April 3, 1885) married Anna Meyer. Anna sang."},
    {"id": "b", "text": "Ida Lang has a son, Tom. She lives in Ulm."},
    {"id": "c", "text": "Nobody wrote a record about this one."},
]
GOLD = [
    {"id": "a", "start": 16, "end": 29, "label": "BD"},
    {"id": "a", "start": 39, "end": 49, "label": "SP"},
    {"id": "a", "start": 51, "end": 55, "label": "SP"},
    {"id": "b", "start": 20, "end": 23, "label": "CH"},
]


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def pii(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write("docs.jsonl", DOCUMENTS)
    write("pages.jsonl", PAGES)
    write("gold.jsonl", GOLD)
    write(
        "records.jsonl",
        [
            {"id": "a", "name": "Karl Berg", "spouse": "Anna Meyer", "born": "1885-04-03"},
            {"id": "b", "name": "Ida Lang", "children": ["Tom", "Eva"]},
        ],
    )

    def call(*arguments):
        code = run(["pii", *arguments])
        said = capsys.readouterr()
        return (code, json.loads(said.out), said) if "--json" in arguments and code == 0 else (code, None, said)

    return call


def rows(name):
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def test_from_pages_to_scores(pii):
    pytest.importorskip("mwparserfromhell")
    assert pii("infobox", "pages.jsonl", "-o", "boxes.jsonl", "--json")[1]["pages"] == 2
    assert rows("boxes.jsonl")[0] == {"id": "a", "spouse": ["Anna Meyer"], "birth_date": ["3 April 1885"]}
    code, result, _ = pii("annotate", "docs.jsonl", "--records", "boxes.jsonl", "-o", "spans.jsonl", "--json")
    assert (code, result["spans"], result["documents_without_record"]) == (0, 4, 1)
    assert [(r["id"], r["start"], r["end"], r["label"]) for r in rows("spans.jsonl")] == [
        (g["id"], g["start"], g["end"], g["label"]) for g in GOLD
    ]
    assert {oct(os.stat(name).st_mode & 0o777) for name in ("spans.jsonl", "boxes.jsonl")} == {"0o600"}
    code, score, _ = pii(
        "score", "gold.jsonl", "spans.jsonl", "--documents", "docs.jsonl", "--records", "boxes.jsonl", "--json"
    )
    assert code == 0
    assert {m: score["scores"][m]["f1"] for m in ("strict", "partial")} == {"strict": 1.0, "partial": 1.0}
    assert (score["documents"], score["documents_complete"], score["actions"]) == (3, 2, 0)


def test_csv_records_bio_output_and_own_rules(pii):
    Path("records.csv").write_text(
        "id,name,spouse,pet\na,Karl Berg,Anna Meyer;Eva Lang,\nb,Ida Lang,,Ulm\n", encoding="utf-8"
    )
    more = ("--field", "pet=PET:value", "--field", "spouse=-", "--output", "bio")
    assert pii("annotate", "docs.jsonl", "--records", "records.csv", "-o", "out.conll", *more)[0] == 0
    tagged = [line.split("\t") for line in Path("out.conll").read_text(encoding="utf-8").splitlines() if line]
    assert [token for token, tag in tagged if tag != "O"] == ["Ulm"]
    code, _, said = pii("score", "out.conll", "out.conll")
    assert code == 0
    assert "strict        1.000" in said.out


def test_a_score_in_lines_for_people_and_in_both_schemes(pii):
    write(
        "found.jsonl",
        [{**GOLD[0], "end": 24}, {**GOLD[1], "label": "CH"}, {"id": "b", "start": 38, "end": 41, "label": "CH"}],
    )
    code, paper, _ = pii("score", "gold.jsonl", "found.jsonl", "--documents", "docs.jsonl", "--json")
    other = pii("score", "gold.jsonl", "found.jsonl", "--scheme", "semeval", "--json")[1]
    assert code == 0
    assert (paper["scores"]["type"]["recall"], other["scores"]["type"]["recall"]) == (0.125, 0.25)
    assert (paper["scores"]["partial"]["recall"], other["scores"]["partial"]["recall"]) == (0.25, 0.375)
    assert paper["errors"] == {"ambiguous name": 1, "boundary": 1, "label": 1, "missed": 2}
    assert paper["confusion"]["SP->CH"] == 1
    said = pii("score", "gold.jsonl", "found.jsonl")[2].out
    assert "7 actions instead of 8 by hand" in said
    assert "Anna" not in said


BAD = {
    "records of unknown documents": (
        ("annotate", "docs.jsonl", "--records", "strange.jsonl", "-o", "out"),
        "records name documents that are not in docs.jsonl",
    ),
    "records without an id": (
        ("annotate", "docs.jsonl", "--records", "nameless.jsonl", "-o", "out"),
        "line 1, field 'id': is missing",
    ),
    "a nested value": (
        ("annotate", "docs.jsonl", "--records", "nested.jsonl", "-o", "out"),
        "field 'spouse': is neither a value nor a list",
    ),
    "a rule for no field": (
        ("annotate", "docs.jsonl", "--records", "records.jsonl", "-o", "out", "--field", "x=X:value"),
        "no record has the field 'x'",
    ),
    "records in txt": (
        ("annotate", "docs.jsonl", "--records", "records.txt", "-o", "out"),
        "names a format of records",
    ),
    "a ragged csv": (
        ("annotate", "docs.jsonl", "--records", "ragged.csv", "-o", "out"),
        "line 3: has another number of columns",
    ),
    "an output that stands": (
        ("annotate", "docs.jsonl", "--records", "records.jsonl", "-o", "gold.jsonl"),
        "exists already",
    ),
    "twice the same document": (
        ("annotate", "twice.jsonl", "--records", "records.jsonl", "-o", "out"),
        "line 2, field 'id': stands in two documents",
    ),
    "a threshold above 1": (
        ("annotate", "docs.jsonl", "--records", "records.jsonl", "-o", "out", "--threshold", "2"),
        "threshold must be",
    ),
    "gold spans that overlap": (
        ("score", "overlapping.jsonl", "gold.jsonl"),
        "two spans of document 'a' overlap, from 20 to 29",
    ),
    "spans of other texts": (
        ("score", "gold.jsonl", "long.jsonl", "--documents", "docs.jsonl"),
        "does not fit document 'a'",
    ),
    "an I after O": (
        ("score", "odd.conll", "odd.conll"),
        "odd.conll, line 2: an I- tag goes on with a span that has not begun",
    ),
    "BIO beside jsonl": (("score", "gold.jsonl", "odd.conll"), "one file is BIO and the other jsonl"),
    "other tokens": (("score", "odd.conll", "other.conll", "--repair-bio"), "document 1 has other tokens"),
    "records without texts": (
        ("score", "gold.jsonl", "gold.jsonl", "--records", "records.jsonl"),
        "only with the texts",
    ),
    "nothing to score against": (("score", "gold.jsonl", "gold.jsonl", "--labels", "XY"), "holds no gold span"),
}


@pytest.mark.parametrize("name", BAD)
def test_mistakes_get_one_sentence_and_leave_nothing(pii, name):
    arguments, expected = BAD[name]
    write("strange.jsonl", [{"id": "zz", "spouse": "Anna Meyer"}])
    write("nameless.jsonl", [{"spouse": "Anna Meyer"}])
    write("nested.jsonl", [{"id": "a", "spouse": {"name": "Anna Meyer"}}])
    write("twice.jsonl", [DOCUMENTS[0], DOCUMENTS[0], DOCUMENTS[1]])
    write("overlapping.jsonl", [*GOLD, {**GOLD[0], "start": 20}])
    write("long.jsonl", [{**GOLD[0], "end": 999}])
    Path("records.txt").write_text("Anna Meyer\n")
    Path("ragged.csv").write_text("id,spouse\na,Anna Meyer\nb,Anna Meyer,x\n")
    Path("odd.conll").write_text("was O\nborn I-BD\n")
    Path("other.conll").write_text("was O\nBorn B-BD\n")
    before = sorted(os.listdir())
    code, _, said = pii(*arguments)
    assert code == 2
    assert expected in said.err
    assert said.err.count("\n") == 1
    assert "Anna" not in said.err
    assert sorted(os.listdir()) == before


def test_a_gzipped_output_and_a_repaired_bio_file(pii):
    assert pii("annotate", "docs.jsonl", "--records", "records.jsonl", "-o", "spans.jsonl.gz")[0] == 0
    assert gzip.decompress(Path("spans.jsonl.gz").read_bytes()).count(b"\n") == 4
    Path("odd.conll").write_text("was O\nborn I-BD\n")
    assert pii("score", "odd.conll", "odd.conll", "--repair-bio")[0] == 0


def test_candidates_of_a_tagger_find_names_without_capitals(pii):
    """A tagger that was trained here marks "anna meyer"; the record then says whose wife that is."""
    names = ("anna meyer", "bo lind", "carl moor", "dora fox", "emil lang")
    examples = [{"id": n, "text": f"his wife {name} sang ."} for n, name in enumerate(names * 6)]
    spans = [{"start": 9, "end": 9 + len(name), "label": "PERSON"} for name in names * 6]
    write("train.jsonl", [{**row, "spans": [span]} for row, span in zip(examples, spans, strict=True)])
    assert pii("train", "train.jsonl", "-o", "tagger", "--bits", "12", "--epochs", "8")[0] == 0
    write("low.jsonl", [{"id": "a", "text": "karl berg came . his wife anna meyer sang ."}])
    write("one.jsonl", [{"id": "a", "name": "Karl Berg", "spouse": "Anna Meyer"}])
    plain = ("annotate", "low.jsonl", "--records", "one.jsonl", "--json")
    assert pii(*plain, "-o", "without.jsonl")[1]["spans"] == 0
    assert pii(*plain, "-o", "with.jsonl", "--model", "tagger")[1]["labels"] == {"SP": 1}
    (span,) = rows("with.jsonl")
    assert (span["start"], span["end"]) == (26, 36)
    code, _, said = pii("annotate", "low.jsonl", "--records", "one.jsonl", "-o", "x.jsonl", "--model", "nowhere")
    assert code == 2
    assert "patterns, names, presidio" in said.err
    assert not Path("x.jsonl").exists()
