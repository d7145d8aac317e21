"""Parallel text to fragments and their risk, by the command line: every format, every policy, mistakes on purpose."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

pytest.importorskip("numba")

SECRET = "Zebulon"
NOUNS = "Tisch Stuhl Haus Baum Hund Katze Fisch Vogel Blume Stein".split()
THINGS = "table chair house tree dog cat fish bird flower stone".split()
VERBS, ACTS = "sieht nimmt holt mag".split(), "sees takes fetches likes".split()
PAIRS = [
    (
        f"der {NOUNS[i % 10]} {VERBS[i % 4]} heute den {NOUNS[(3 * i + 1) % 10]} und nicht den {NOUNS[(7 * i + 2) % 10]}",
        f"the {THINGS[i % 10]} {ACTS[i % 4]} today the {THINGS[(3 * i + 1) % 10]} and not the {THINGS[(7 * i + 2) % 10]}",
    )
    for i in range(40)
]
FIELDS = ("--source-field", "de", "--target-field", "en")


def write_jsonl(name="in.jsonl", pairs=PAIRS):
    Path(name).write_text("".join(json.dumps({"id": n, "de": s, "en": t}) + "\n" for n, (s, t) in enumerate(pairs)))
    return [name, *FIELDS]


def write_two_files():
    Path("in.de").write_text("".join(f"{s}\n" for s, _ in PAIRS))
    Path("in.en").write_text("".join(f"{t}\n" for _, t in PAIRS))
    return ["in.de", "in.en"]


def write_tsv():
    Path("in.tsv").write_text("id\tde\ten\n" + "".join(f"{n}\t{s}\t{t}\n" for n, (s, t) in enumerate(PAIRS)))
    return ["in.tsv", *FIELDS]


def write_parquet():
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"de": [s for s, _ in PAIRS], "en": [t for _, t in PAIRS]}), "in.parquet")
    return ["in.parquet", *FIELDS]


def write_tmx():
    units = "".join(
        f'<tu><tuv xml:lang="en-GB"><seg>{escape(t)}</seg></tuv><tuv xml:lang="de-CH"><seg><bpt i="1">&lt;b></bpt>{escape(s)}'
        '<ept i="1">&lt;/b></ept></seg></tuv></tu>'
        for s, t in PAIRS
    )
    Path("in.tmx").write_text(f'<tmx version="1.4"><header srclang="de"/><body>{units}<tu></tu></body></tmx>')
    return ["in.tmx"]


def write_xliff():
    units = "".join(
        f'<trans-unit id="{n}"><source>{escape(s)}<x id="1"/></source><target><g id="2">{escape(t)}</g></target></trans-unit>'
        for n, (s, t) in enumerate(PAIRS)
    )
    Path("in.xlf").write_text(
        f'<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file><body>{units}</body></file></xliff>'
    )
    return ["in.xlf"]


def rows(out="out"):
    return [json.loads(line) for line in Path(out, "data.jsonl").read_text().splitlines()]


def counted(out="out"):
    return Counter((row["source"], row["target"]) for row in rows(out))


def test_every_format_gives_the_same_fragments(textveil):
    forms = (write_jsonl, write_two_files, write_tsv, write_parquet, write_tmx, write_xliff)
    results = []
    for number, write in enumerate(forms):
        said = textveil("fragments", "make", *write(), "-o", f"out{number}", "--drop", 0)
        assert said.code == 0, said.err
        results.append(counted(f"out{number}"))
    assert all(result == results[0] for result in results)
    assert results[0]["der", "the"] > 0
    manifest = json.loads(Path("out0/release.json").read_text())
    assert manifest["guarantee"]["label"] == "heuristic"
    assert sorted(p.name for p in Path("out0").iterdir()) == ["card.html", "data.jsonl", "release.json"]


def test_make_then_risk(textveil):
    textveil("fragments", "make", *write_jsonl(), "-o", "out", "--longest", 5, "--drop", 0)
    before = {p: p.read_bytes() for p in Path("out").iterdir()}
    said = textveil("fragments", "risk", "out", "--truth", "in.jsonl", "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    named = {row["metric"] for row in found["rows"]}
    assert {"words in runs of ten (source)", "words in runs of ten (both)", "whole sentences (target)"} <= named
    assert found["risk"] > 0.2
    assert before == {p: p.read_bytes() for p in Path("out").iterdir()}
    textveil("fragments", "make", *write_jsonl(), "-o", "apart", "--longest", 2, "--cut", "apart")
    less = json.loads(
        textveil("fragments", "risk", "apart", "--truth", "in.jsonl", "--public", "in.jsonl", "--json").out
    )
    assert less["risk"] < found["risk"]
    said = textveil("audit", "out", "--truth", "in.jsonl", "--attack", "fragments.greedy")
    assert said.code == 0, said.err


def test_the_risk_of_two_files_finds_the_second(textveil):
    textveil("fragments", "make", *write_two_files(), "-o", "out")
    assert textveil("fragments", "risk", "out", "--truth", "in.de").code == 0
    Path("in.en").rename("other.en")
    said = textveil("fragments", "risk", "out", "--truth", "in.de")
    assert said.code == 2
    assert "in.en" in said.err


def test_names_stay_and_a_glossary_passes(textveil):
    told = [(f"Ruf +49 30 {n:07d} an", f"call +49 30 {n:07d} now") for n in range(20)]
    textveil("fragments", "make", *write_jsonl(pairs=[*PAIRS, *told]), "-o", "out", "--drop", 0, "--names", "patterns")
    assert not any("+49" in row["source"] or "+49" in row["target"] for row in rows())
    Path("terms.txt").write_text("+49\n")
    options = ("--names", "patterns", "--glossary", "terms.txt")
    textveil("fragments", "make", "in.jsonl", *FIELDS, "-o", "with", "--drop", 0, *options)
    assert any(row["source"] == "+49" for row in rows("with"))


def test_a_threshold_has_a_price_and_shows_what_is_frequent(textveil):
    write_jsonl("public.jsonl")
    make = ["fragments", "make", *write_jsonl(pairs=[*PAIRS * 20, (SECRET, SECRET)]), "-o", "out", "--epsilon", 4]
    assert textveil(*make).code == 2  # the aligner would learn from the private text
    said = textveil(*make, "--align-on", "public.jsonl", "--delta", "1e-5", "--ledger", "l.ledger", "--longest", 2)
    assert said.code == 0, said.err
    manifest = json.loads(Path("out/release.json").read_text())
    assert manifest["guarantee"]["label"] == "guarantee"
    assert manifest["guarantee"]["loss"]["epsilon"] == pytest.approx(4, rel=1e-3)
    assert rows()
    assert all(set(row) == {"source", "target", "count"} for row in rows())
    assert SECRET not in Path("out/data.jsonl").read_text()
    assert "which phrase pairs appear" in Path("out/card.html").read_text()


def test_links_of_a_file_are_used(textveil):
    Path("a.txt").write_text("".join(" ".join(f"{i}-{i}" for i in range(9)) + "\n" for _ in PAIRS))
    said = textveil(
        "fragments", "make", *write_jsonl(), "-o", "out", "--alignment", "a.txt", "--drop", 0, "--longest", 1
    )
    assert said.code == 0, said.err
    assert len(rows()) == 9 * len(PAIRS)
    assert json.loads(Path("out/release.json").read_text())["parameters"]["aligned_on"] == "links of a file"


def test_the_aligner_is_chosen_and_said(textveil):
    write_jsonl("public.jsonl")
    for name, model in (("out", ("--aligner", "hmm")), ("on", ("--aligner", "hmm", "--align-on", "public.jsonl"))):
        said = textveil("fragments", "make", *write_jsonl(), "-o", name, "--drop", 0, *model)
        assert said.code == 0, said.err
        assert counted(name)["der", "the"] > 0
        assert json.loads(Path(name, "release.json").read_text())["parameters"]["aligner"] == "hmm"
    assert counted("out") == counted("on")  # the public text is the same


def bad(textveil, *arguments, named):
    said = textveil("fragments", "make", *arguments, "-o", "out", "--ledger", "r.ledger")
    assert said.code == 2, said.err
    assert all(part in said.err for part in named), said.err
    assert said.err.count("\n") == 1
    assert SECRET not in said.err + said.out
    assert not Path("out").exists()
    assert not Path("r.ledger").exists()
    assert not Path(".out.unfinished").exists()


def test_bad_input_is_told_in_one_sentence(textveil):
    write_two_files()
    Path("short.en").write_text("".join(f"{t}\n" for _, t in PAIRS[:-3]))
    bad(textveil, "in.de", "short.en", named=("in.de", "line 38", "short.en"))
    Path("mixed.en").write_bytes(
        "".join(f"{t}\n" for _, t in PAIRS[:-1]).encode() + f"{SECRET} \xff\n".encode("latin-1")
    )
    bad(textveil, "in.de", "mixed.en", "--encoding", "utf-8", named=("mixed.en", "line 40"))
    Path("empty.de").write_text("\n" * 5)
    Path("empty.en").write_text("\n" * 5)
    bad(textveil, "empty.de", "empty.en", named=("empty.de", "both sides"))
    bad(textveil, *write_jsonl()[:1], named=("--source-field",))
    bad(textveil, "in.jsonl", "--source-field", "de", named=("--target-field",))
    bad(textveil, "in.jsonl", "--source-field", "de", "--target-field", "fr", named=("fr",))
    Path("bad.tmx").write_text(f"<tmx><body><tu>{SECRET}")
    bad(textveil, "bad.tmx", named=("bad.tmx", "line 1", "TMX"))
    write_tmx()
    bad(textveil, "in.tmx", "--target-language", "fr", named=("in.tmx", "fr"))
    lines = [" ".join(f"{i}-{i}" for i in range(9)) for _ in PAIRS]
    for name, content, at in (
        ("few", lines[:-1], "line 39"),
        ("many", [*lines, "0-0"], "line 41"),
        ("outside", [*lines[:6], "0-99", *lines[7:]], "line 7"),
        ("words", [*lines[:4], SECRET, *lines[5:]], "line 5"),
    ):
        Path(f"{name}.align").write_text("".join(f"{line}\n" for line in content))
        bad(textveil, "in.jsonl", *FIELDS, "--alignment", f"{name}.align", named=(f"{name}.align", at))
    both = ("--aligner", "hmm", "--alignment", "few.align")
    bad(textveil, "in.jsonl", *FIELDS, *both, named=("--alignment", "--aligner hmm"))
    bad(textveil, "in.jsonl", *FIELDS, "--aligner", "giza", named=("--aligner", "built-in", "hmm", "eflomal"))
    bad(textveil, "in.jsonl", *FIELDS, "--longest", 2, "--shortest", 3, named=("shortest",))
    bad(textveil, "in.jsonl", *FIELDS, "--drop", 1, named=("drop",))


def test_empty_and_very_long_lines_are_passed_over_and_told(textveil):
    long = " ".join(f"w{i}" for i in range(501))
    said = textveil(
        "fragments", "make", *write_jsonl(pairs=[*PAIRS, ("", "x"), (long, long), (long[:2400], "y")]), "-o", "out"
    )
    assert said.code == 0, said.err
    assert "1 sentence pairs have an empty side" in said.err
    assert "more than 500 words" in said.err
