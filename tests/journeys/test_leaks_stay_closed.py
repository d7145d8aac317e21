"""What must not leave, tried from the command line: capitals, columns, headers, words in files that are half understood,
releases that no budget covers, ledgers that nobody meant to make."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from textveil.accounting import Ledger
from textveil.text import vectors

SECRET = "Zebulonia"  # in no vocabulary, so it can only have been copied
VEIL = ("--epsilon", "0.5", "--ledger", "r.ledger")


def write(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def charges(ledger: str = "r.ledger") -> int:
    return len(Ledger(ledger, must_exist=True).entries()) if Path(ledger).exists() else 0


def card_text(folder: str = "out") -> str:
    page = Path(folder, "card.html").read_text().partition("</style>")[2]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))


def passes(folder: str = "out") -> list[str]:
    return list(json.loads(Path(folder, "release.json").read_text())["passes"])


def anywhere(word: str, *folders: str) -> list[str]:
    """Files of the folders that hold a word, in whatever case."""
    paths = [path for folder in folders for path in Path(folder).rglob("*") if path.is_file()]
    return [str(path) for path in paths if word.lower().encode() in path.read_bytes().lower()]


# ---- letter case ------------------------------------------------------------------------------------------------------


def test_capitals_do_not_come_through(textveil):
    write("in.txt", "he has HIV now\n" * 200 + "in May we may go\n" * 200)
    assert textveil("veil", "in.txt", "-o", "out", "--epsilon", 0.001).code == 0
    for line in Path("out/data.txt").read_text().splitlines():
        first, *others = line.split(" ")
        assert first[1:] == first[1:].lower()
        assert others == [word.lower() for word in others]


def test_may_and_may_are_one_word(textveil):
    """Drafts from one seed differ only by what passes: texts that differ in letter case have the same output."""
    for name, text in (("a.txt", "we may go. in may HIV\n"), ("b.txt", "We MAY go. In May hiv\n")):
        write(name, text * 50)
        assert textveil("veil", name, "-o", name[0], "--epsilon", 0.5, "--seed", 11).code == 0
    assert Path("a/data.txt").read_bytes() == Path("b/data.txt").read_bytes()
    assert not any("case" in name for name in passes("a"))


def test_capitals_that_are_kept_are_said_to_pass(textveil):
    write("in.txt", "he has HIV now, for $5\n" * 20)
    said = textveil("veil", "in.txt", "-o", "out", "--epsilon", 0.5, "--case", "keep")
    assert said.code == 0
    for place in (said.out, card_text(), " ".join(passes())):
        assert "letter case: which words have capitals" in place.replace("Letter", "letter")
        assert "currency and mathematical signs" in place


# ---- other columns ----------------------------------------------------------------------------------------------------


def test_no_column_or_metadata_of_parquet_leaves_unsaid(textveil):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = arrow.table({"text": ["the bank called"] * 3, "customer": [SECRET] * 3})
    parquet.write_table(table.replace_schema_metadata({"author": SECRET}), "in.parquet")
    said = textveil("veil", "in.parquet", "-o", "out", "--text-field", "text", *VEIL)
    assert said.code == 0
    for place in (said.out, card_text(), " ".join(passes())):
        assert "'customer'" in place
        assert "'author'" in place
    assert textveil("veil", "in.parquet", "-o", "bare", "--text-field", "text", *VEIL, "--only-text").code == 0
    assert anywhere(SECRET, "bare") == []
    assert parquet.read_schema("bare/data.parquet").names == ["text"]


UNCLEAR = {
    "a csv of one column without a header": ("in.csv", f"{SECRET} called the bank\na letter came\n"),
    "one word a line": ("in.csv", f"{SECRET}\nletter\n"),
    "a csv without a header": ("in.csv", f"{SECRET} Smith,called the bank,12\nAnn,a letter came,13\n"),
    "mixed line ends": ("in.csv", f"id,text\r1,{SECRET} called\r2,a letter\n"),
    "semicolons": ("in.csv", f"1;{SECRET};called the bank\n2;Ann;a letter came\n"),
    "lemmas": ("in.conll", f"{SECRET} {SECRET.lower()} O\ncalls call O\n"),
    "words after numbers": ("in.conll", f"1 {SECRET} O\n2 calls O\n"),
    "comments": ("in.conll", f"# text = {SECRET} calls\n{SECRET} x y O\ncalls x y O\n"),
}


@pytest.mark.parametrize(
    ("verb", "case"),
    [(verb, case) for verb in ("veil", "counts") for case in UNCLEAR if (verb, case) != ("counts", "lemmas")],
)
def test_a_file_that_is_not_understood_is_refused_and_not_quoted(textveil, verb, case):
    source = write(*UNCLEAR[case])
    said = textveil(verb, source, "-o", "out", *VEIL)
    assert said.code == 2, said
    assert SECRET.lower() not in (said.out + said.err).lower()
    assert not Path("out").exists()
    assert charges() == 0


UNDERSTOOD = {
    "CoNLL-U without comments": (
        "in.conll",
        f"1\t{SECRET}\t{SECRET}\tPROPN\tNNP\t_\t2\tnsubj\t_\t_\n2\tcalls\tcall\tVERB\tVBZ\t_\t0\troot\t_\t_\n",
    ),
    "bars": ("in.iob", f"I|PRP|O like|VBP|O {SECRET}|NNP|B-PER\n{SECRET}|NNP|B-PER calls|VBZ|O\n"),
    "clitics that stand together": ("in.conll", f"don't O\n{SECRET} O\n\nit's O\n{SECRET}'s B-PER\n"),
}


@pytest.mark.parametrize("case", UNDERSTOOD)
def test_no_token_of_a_column_file_stays_in_clear(textveil, case):
    name, content = UNDERSTOOD[case]
    write(name, content)
    said = textveil("veil", name, "-o", "out", *VEIL)
    assert said.code == 0, said.err
    assert anywhere(SECRET, "out") == []
    assert Path("out/data.conll").read_text().count("\n") == content.count("\n")
    assert charges() == 1


def test_a_missing_text_neither_stops_the_file_nor_costs_anything(textveil):
    write("in.jsonl", '{"text": "the bank called"}\n{"text": null}\n{"text": ""}\n')
    assert textveil("veil", "in.jsonl", "-o", "out", *VEIL).code == 0
    rows = [json.loads(line)["text"] for line in Path("out/data.jsonl").read_text().splitlines()]
    assert rows[1:] == [None, ""]
    assert any("missing" in name for name in passes())
    refused = textveil("veil", "in.jsonl", "-o", "again", *VEIL, "--nulls", "refuse")
    assert refused.code == 2
    assert charges() == 1


# ---- what a card may say ----------------------------------------------------------------------------------------------


def test_no_card_of_counts_promises_a_whole_document(textveil):
    write("in.txt", "the bank called me about the letter\n" * 20)
    said = textveil("counts", "in.txt", "-o", "out", "--epsilon", 1, "--precision", 10, "--ledger", "r.ledger")
    assert said.code == 0, said.err
    assert "10 counts" in card_text()
    assert "whole document" not in card_text().partition("Not protected")[0]


def test_no_document_is_refused_for_being_empty(textveil):
    """Two inputs one count apart: whoever sees that one of them is refused tells them apart for certain."""
    write("words.txt", "bank\nletter\n")
    for name, text in (("one.txt", "bank\nletter\n"), ("none.txt", "bank\nunlisted\n")):
        write(name, text)
        said = textveil("counts", name, "-o", name[:-4], "--epsilon", 1, "--vocabulary", "words.txt")
        assert said.code == 0, said.err


def test_no_card_calls_every_occurrence_of_a_word_protected(textveil):
    write("in.txt", "the bank called me\n" * 30)
    assert textveil("veil", "in.txt", "-o", "out", "--epsilon", 0.3).code == 0
    assert "One occurrence of a word" in card_text()
    assert "stands several times" in card_text()
    said = textveil("audit", "out", "--truth", "in.txt", "--attack", "words.repeated", "--json")
    assert said.code == 0, said.err
    assert [row["attack"] for row in said.json["evidence"]] == ["words.repeated"]


def test_no_number_is_stated_for_documents_that_differ_in_what_passes(textveil):
    write("in.txt", "the bank called me\n" * 3)
    assert textveil("veil", "in.txt", "-o", "out", "--epsilon", 0.3, "--max-words", 10).code == 0
    assert "of the same length, at most 10 words, that agree in all that leaves unprotected" in card_text()


def test_a_kept_word_tells_what_the_others_are_not(textveil):
    write("in.txt", "the bank called me\n" * 3)
    write("keep.txt", "bank\n")
    assert textveil("veil", "in.txt", "-o", "out", "--epsilon", 0.3, "--keep", "keep.txt").code == 0
    assert "that all other words are none of them" in " ".join(passes())
    assert "that all other words are none of them" in card_text()


# ---- ledgers ----------------------------------------------------------------------------------------------------------

UNPRICED = {
    "a seed": ("--seed", 1, "--epsilon", 1000),
    "a mechanism as printed": ("--mechanism", "words.vickrey", "--paper-mode", "--epsilon", 10),
}


@pytest.mark.parametrize("case", UNPRICED)
def test_no_budget_lets_a_release_without_a_price_through(textveil, case):
    write("in.txt", "the bank called\n")
    textveil("ledger", "new", "r.ledger", "--unit", "word", "--metric", "hamming", "--epsilon", 0.5)
    command = ("veil", "in.txt", "-o", "out", *UNPRICED[case], "--ledger", "r.ledger")
    refused = textveil(*command)
    assert refused.code == 1
    assert "--unpriced" in refused.err
    assert not Path("out").exists()
    assert charges() == 0
    assert textveil(*command, "--unpriced").code == 0
    assert len(Ledger("r.ledger").unpriced()) == 1


def write_small_vectors() -> str:
    rng = np.random.default_rng(3)
    vectors.from_arrays(["the", "bank", "called", "me"], rng.normal(size=(4, 3))).save("small.npz")
    return "small.npz"


VERBS = {
    "veil": ("veil", "in.txt", "-o", "out", "--epsilon", 0.5),
    "counts": ("counts", "in.txt", "-o", "out", "--epsilon", 1),
    "words tune": ("words", "tune", "-C", 0.6, "--vectors", "small.npz", "--draws", 500, "--prior", "empirical",
                   "--data", "in.txt", "--max-words", 5),
}  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("as_json", [True, False])
def test_no_ledger_is_made_without_saying_so(textveil, verb, as_json):
    write("in.txt", "the bank called me\n" * 30)
    write_small_vectors()
    command = (*VERBS[verb], "--ledger", "misspelt.ledger", *(["--json"] if as_json else []))
    said = textveil(*command)
    assert said.code == 0, said.err
    (notice,) = [line for line in said.err.splitlines() if line.startswith("NOTICE: ")]
    assert "misspelt.ledger did not exist and was made. It has no budget" in notice
    again = textveil(*(str(part).replace("out", "again") for part in command))
    assert again.code == 0
    assert "NOTICE" not in again.err


def test_no_epsilon_is_charged_that_cannot_be_drawn(textveil):
    write("in.txt", "the bank called\n")
    said = textveil(
        "veil", "in.txt", "-o", "out", "--mechanism", "words.laplace", "--epsilon", 1e-17, "--ledger", "r.ledger"
    )
    assert said.code == 2
    assert charges() == 0


def test_a_delta_that_publishes_somebody_is_refused(textveil, made_up_contracts):
    documents = [{"id": str(n), "text": text} for n, (text, _) in enumerate(made_up_contracts(30))]
    spans = [
        {"id": str(n), "start": start, "end": end, "label": "LAW"}
        for n, (_, marked) in enumerate(made_up_contracts(30))
        for start, end in marked
    ]
    write("in.jsonl", "".join(json.dumps(row) + "\n" for row in documents))
    write("spans.jsonl", "".join(json.dumps(row) + "\n" for row in spans))
    command = ("hashed", "train", "in.jsonl", "--spans", "spans.jsonl", "-o", "out", "--epsilon", 2, "--delta", 0.2,
               "--unit", "document", "--bits", 10, "--clusters", "none", "--ledger", "r.ledger")  # fmt: skip
    refused = textveil(*command)
    assert refused.code == 1
    assert "1/n" in refused.err
    assert charges() == 0
    assert textveil(*command, "--allow-large-delta").code == 0
