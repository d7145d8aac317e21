"""Veil a file, audit it, read its card, see it in the ledger: from the command line, as a newcomer would."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from textveil.text import sample, tokens


def letters(name: str = "letters.jsonl", count: int = 20) -> Path:
    path = Path(name)
    rows = sample.letters()[:count]
    with gzip.open(path, "wt") if name.endswith(".gz") else open(path, "w") as out:
        out.writelines(json.dumps(r) + "\n" for r in rows)
    return path


def rows_of(path: Path) -> list[dict]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("mechanism, epsilon", [("words.brr", 0.5), ("words.laplace", 10)])
def test_the_main_journey(textveil, mechanism, epsilon):
    source = letters()
    options = ("--mechanism", mechanism, "--epsilon", epsilon, "--ledger", "r.ledger")
    said = textveil("veil", source, "-o", "out", *options)
    assert said.code == 0, said.err
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["draft"] is False and shown["entry"] and shown["guarantee"]["unit"] == "word"
    assert (
        shown["guarantee"]["loss"]["epsilon"] == epsilon
        and shown["guarantee"]["assumes"]
        and shown["guarantee"]["source"]
    )

    before, after = rows_of(source), rows_of(Path("out/data.jsonl"))
    assert [r["id"] for r in after] == [r["id"] for r in before]
    changed = [a["text"] != b["text"] for a, b in zip(after, before, strict=True)]
    assert all(changed)
    card = Path("out/card.html").read_text()
    assert shown["entry"] in card
    assert not any(r["text"] in card for r in before + after)  # no user text on a card

    folder = {p.name: p.read_bytes() for p in Path("out").iterdir()}
    said = textveil("audit", "out", "--truth", source, "--attack", "words.bayes", "--json")
    (evidence,) = said.json["evidence"]
    low, high = evidence["interval"]
    assert evidence["chance"] < low <= evidence["value"] <= high
    assert evidence["tries"] == sum(len(tokens.words(r["text"])) for r in before)
    assert {p.name: p.read_bytes() for p in Path("out").iterdir()} == folder  # it is about private text
    assert json.loads(Path("out.private/evidence.json").read_text())["evidence"] == [evidence]

    assert textveil("ledger", "verify", "r.ledger").code == 0
    (total,) = textveil("ledger", "show", "r.ledger", "--json").json["totals"]
    assert total["loss"]["epsilon"] == epsilon
    assert (
        textveil(
            "veil", source, "-o", "again", "--mechanism", mechanism, "--epsilon", epsilon, "--ledger", "r.ledger"
        ).code
        == 0
    )
    (total,) = textveil("ledger", "show", "r.ledger", "--json").json["totals"]
    assert total["loss"]["epsilon"] == 2 * epsilon

    assert textveil("report", ".").code == 0
    assert {r["name"] for r in json.loads(Path("report.json").read_text())["releases"]} == {"out", "again"}


def test_a_budget_refuses_and_leaves_nothing(textveil):
    source = letters()
    textveil("ledger", "new", "r.ledger", "--unit", "word", "--metric", "hamming", "--epsilon", 0.8)
    assert textveil("veil", source, "-o", "one", "--epsilon", 0.5, "--ledger", "r.ledger").code == 0
    said = textveil("veil", source, "-o", "two", "--epsilon", 0.5, "--ledger", "r.ledger")
    assert said.code == 1 and "0.3 left" in said.err
    said = textveil("veil", source, "-o", "two", "--mechanism", "words.laplace", "--epsilon", 1, "--ledger", "r.ledger")
    assert said.code == 1  # no budget for that metric
    assert sorted(p.name for p in Path().iterdir()) == ["letters.jsonl", "one", "r.ledger"]


def test_other_data_is_refused_unless_asked(textveil):
    assert textveil("veil", letters("a.jsonl"), "-o", "a", "--epsilon", 0.5, "--ledger", "r.ledger").code == 0
    other = letters("b.jsonl", count=5)
    assert textveil("veil", other, "-o", "b", "--epsilon", 0.5, "--ledger", "r.ledger").code == 1
    assert textveil("veil", other, "-o", "b", "--epsilon", 0.5, "--ledger", "r.ledger", "--other-data").code == 0


def test_the_same_data_in_another_container_is_the_same_data(textveil):
    assert textveil("veil", letters("a.jsonl"), "-o", "a", "--epsilon", 0.5, "--ledger", "r.ledger").code == 0
    assert textveil("veil", letters("a.jsonl.gz"), "-o", "b", "--epsilon", 0.5, "--ledger", "r.ledger").code == 0
    assert Path("b/data.jsonl.gz").is_file()


def test_a_seed_makes_a_draft(textveil):
    said = textveil(
        "veil", letters(), "-o", "out", "--epsilon", 0.5, "--seed", 71_717, "--ledger", "r.ledger", "--json"
    )
    assert said.code == 0 and said.json["draft"] is True
    written = [p.read_text() for p in (Path("out/release.json"), Path("out/card.html"))]
    assert not any("71717" in text for text in written)  # who has the seed can undo the noise
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["draft"] is True and shown["guarantee"]["label"] == "seeded"
    state = textveil("ledger", "show", "r.ledger", "--json").json
    assert state["totals"] == [] and len(state["unpriced"]) == 1


def test_without_truth_the_public_vocabulary_is_attacked(textveil):
    textveil("veil", letters(count=3), "-o", "out", "--epsilon", 0.5)
    (evidence,) = textveil("audit", "out", "--attack", "words.bayes", "--json").json["evidence"]
    assert evidence["chance"] < evidence["value"] < 1
    assert json.loads(Path("out/release.json").read_text())["evidence"] == [evidence]


def test_a_declared_cap_gives_the_document_line(textveil):
    source = letters()
    assert textveil("veil", source, "-o", "out", "--epsilon", 0.5, "--max-words", 500).code == 0
    document = json.loads(Path("out/release.json").read_text())["facts"]["document"]
    assert document == {"per_word": 128.0, "max_words": 500}
    said = textveil("veil", source, "-o", "two", "--epsilon", 0.5, "--max-words", 5)
    assert said.code == 2 and "more words than the declared cap of 5" in said.err and not Path("two").exists()


def test_words_info(textveil):
    found = textveil("words", "info", "doctor", "--epsilon", 0.8, "--json").json
    assert set(found) >= {"word", "stay", "entropy", "substitutes"}
    assert found["substitutes"][0][0] == "doctor" and 0.5 < found["stay"] <= 1
    said = textveil("words", "info", "doctr")
    assert said.code == 2 and "doctor" in said.err


def test_vectors_verbs(textveil):
    assert textveil("vectors", "info", "--json").json["words"] >= 20_000
    assert textveil("vectors", "list", "--json").json["vectors"][0]["name"] == "default"
    Path("tiny.txt").write_text("cold -1 0.5\nhot 1 0.5\n")
    assert textveil("vectors", "build", "tiny.txt", "-o", "tiny.tvv", "--bits", 64).code == 0
    assert textveil("vectors", "info", "tiny.tvv", "--json").json["bits"] == 64


def test_the_demo_ends_with_promise_attack_and_use(textveil):
    said = textveil("demo", "-o", "demo")
    assert said.code == 0
    end = said.out[said.out.index("\nbrr\n") :].splitlines()
    assert len(end) <= 24  # one screen
    assert [line.split()[0] for line in end if line.startswith("  ")][:6] == ["promise", "attack", "use"] * 2
    assert all(Path(line.strip()).is_file() for line in end[-4:])
    card = Path("demo/brr/card.html").read_text()
    strip = card.partition('class="figures figures-strip"')[2].partition('class="figures figures-below"')[0]
    assert re.findall("<i>(.*?)</i>", strip) == ["Promise", "Attack", "Use"]
    assert "classify by kind" in strip and "words.bayes" in strip


def test_as_a_module():
    out = subprocess.run([sys.executable, "-m", "textveil", "--version"], capture_output=True, text=True, check=True)
    assert out.stdout.startswith("textveil ")


@pytest.mark.data
def test_a_part_of_imdb(textveil, data_dir):
    with gzip.open(data_dir / "imdb" / "dev.jsonl.gz", "rt") as lines:
        Path("reviews.jsonl").write_text("".join(next(lines) for _ in range(200)))
    said = textveil(
        "veil", "reviews.jsonl", "-o", "out", "--epsilon", 0.5, "--text-field", "text", "--ledger", "r.ledger"
    )
    assert said.code == 0
    (evidence,) = textveil("audit", "out", "--truth", "reviews.jsonl", "--attack", "words.bayes", "--json").json[
        "evidence"
    ]
    assert 0.2 < evidence["value"] < 0.4  # a third of the words stay at this epsilon
