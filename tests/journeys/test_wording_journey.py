"""Better text from the command line: words that are drawn once, kept lists, and what attacks and ledger say of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from textveil.text import tokens, vectors

WORDS = "the of and fee bank rent letter year good fine poor state law due".split()


@pytest.fixture
def source(textveil) -> Path:
    """Letters in which 'fee' stands in every text three times, and a small public vocabulary."""
    rng = np.random.default_rng(4)
    vectors.from_arrays(WORDS, rng.normal(size=(len(WORDS), 8))).save("small.npz")
    rows = [{"text": f"The fee of {a} and fee of the {b}: fee {a}."} for a, b in rng.choice(WORDS[4:], (40, 2))]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Path("in.jsonl")


def veiled() -> list[list[str]]:
    lines = Path("out/data.jsonl").read_text().splitlines()
    return [[tokens.fold(w) for w in tokens.words(json.loads(line)["text"])] for line in lines]


OPTIONS = ("-o", "out", "--epsilon", 0.3, "--vectors", "small.npz", "--ledger", "l.ledger")


def test_a_text_draws_each_word_once(textveil, source):
    said = textveil("veil", source, *OPTIONS, "--once")
    assert said.code == 0, said.err
    assert "which places of a text hold equal words" in said.out + said.err
    assert all(words[1] == words[5] == words[9] for words in veiled())
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["guarantee"]["unit"] == "document_term" and shown["parameters"]["once"] is True
    assert any(name.startswith("which places of a text hold equal words") for name in shown["passes"])
    card = Path("out/card.html").read_text()
    assert "at all the places where it stands there" in card and "have no bound" in card
    (total,) = textveil("ledger", "show", "l.ledger", "--json").json["totals"]
    assert (total["unit"], total["loss"]["epsilon"]) == ("document_term", 0.3)


@pytest.mark.parametrize("once", [False, True])
def test_the_repeated_word_attack_runs_unasked(textveil, source, once):
    assert textveil("veil", source, *OPTIONS, *(["--once"] if once else [])).code == 0
    for truth in ((), ("--truth", source)):
        said = textveil("audit", "out", *truth, "--json")
        assert said.code == 0, said.err
        metrics = [e["metric"] for e in said.json["evidence"] if e["attack"] == "words.repeated"]
        within = "success on words that occur 20 times" + (" in one text" if once else "")
        across = ["success on words that occur in 20 texts"] if once else []
        if truth and once:  # 'fee' stands three times in each of forty texts
            assert metrics == across
        else:
            assert metrics == [within, *across]
        units = {e["unit"] for e in said.json["evidence"]}
        assert units == {"document_term" if once else "word"}
    assert not any("refuted: " in e.get("verdict", "") for e in said.json["evidence"])


def test_function_words_pass_and_are_no_success_of_an_attack(textveil, source):
    Path("own.txt").write_text("bank\n")
    said = textveil("veil", source, *OPTIONS, "--keep", "function-words", "--keep", "own.txt")
    assert said.code == 0, said.err
    assert "public list 'function-words' and bank" in said.out + said.err
    assert all((words[0], words[2], words[4]) == ("the", "of", "and") for words in veiled())
    shown = json.loads(Path("out/release.json").read_text())
    assert any(name.startswith("kept words (the 212 words of the public list") for name in shown["passes"])
    assert "public list" in Path("out/card.html").read_text()
    said = textveil("audit", "out", "--truth", source, "--attack", "words.nearest", "--json")
    before = [tokens.words(json.loads(line)["text"]) for line in source.read_text().splitlines()]
    drawn = sum(tokens.fold(w) not in {"the", "of", "and", "bank"} for words in before for w in words)
    assert said.json["evidence"][0]["tries"] == drawn


def test_a_misspelt_list_is_named(textveil, source):
    said = textveil("veil", source, *OPTIONS, "--keep", "functionwords")
    assert said.code == 2 and "a file of words, or function-words" in said.err
    assert not Path("out").exists() and not Path("l.ledger").exists()


def test_numbers_dates_and_codes_stay_what_they_are(textveil, source):
    text = "The fee of 2021-03-04 is 125 for AB12."
    rows = "".join(json.dumps({"text": text}) + "\n" for _ in range(60))
    Path("in.jsonl").write_text(rows)
    said = textveil("veil", source, *OPTIONS, "--kinds", "--kinds-epsilon", 0.5, "--case", "drop")
    assert said.code == 0, said.err
    assert "which words are numbers, dates or codes" in said.out
    texts = [json.loads(line)["text"] for line in Path("out/data.jsonl").read_text().splitlines()]
    form = re.compile(r"\S+ \S+ \S+ (19|20)\d\d-[01]\d-[0-3]\d \S+ \d{3} \S+ [a-z]{2}\d\d\.")
    assert all(form.fullmatch(veiled_text) for veiled_text in texts) and len(set(texts)) > 50
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["guarantee"]["loss"]["metric"] == "hamming+kinds"
    assert (shown["parameters"]["kinds"], shown["parameters"]["kinds_epsilon"]) == (True, 0.5)
    card = Path("out/card.html").read_text().lower()
    assert "same kind and form at each place" in card
    assert "which words are numbers, dates or codes" in card
    (total,) = textveil("ledger", "show", "l.ledger", "--json").json["totals"]
    assert total["loss"]["metric"] == "hamming+kinds"
    said = textveil("audit", "out", "--truth", source, "--attack", "words.nearest", "--json")
    assert said.json["evidence"][0]["tries"] == 60 * 5  # the, fee, of, is, for
    textveil("ledger", "new", "b.ledger", "--unit", "word", "--metric", "hamming", "--epsilon", 5)
    refused = textveil(
        "veil", source, "-o", "two", "--epsilon", 0.3, "--vectors", "small.npz", "--kinds", "--ledger", "b.ledger"
    )
    assert refused.code == 1 and "metric: hamming+kinds" in refused.err
    assert (
        textveil("ledger", "allow", "b.ledger", "--unit", "word", "--metric", "hamming+kinds", "--epsilon", 1).code == 0
    )
