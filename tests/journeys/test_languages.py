"""Vectors of a second language, from a file as it is published to a veiled text, and what is told before the charge."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import textveil as tv
from textveil.core import BadInput, BadParameter
from textveil.recipes.words.coverage import Coverage
from textveil.text.vectors import from_arrays, load

GERMAN = "der die und ich habe einen brief an bank geschrieben für über straße müller gebühr zahlen".split()
LETTERS = ["Ich habe der Bank einen Brief geschrieben.", "Für die Gebühr zahlen: Müller, Straße über der Bank."]


def write_vectors(path: Path, *, header: bool) -> None:
    """Invented numbers, in the text format of word2vec (with a header) or GloVe (without)."""
    rng = np.random.default_rng(9)
    lines = [f"{word} {' '.join(f'{x:.3f}' for x in rng.normal(size=6))}" for word in GERMAN]
    path.write_text("\n".join([*([f"{len(GERMAN)} 6"] if header else []), *lines]) + "\n", encoding="utf-8")


@pytest.fixture
def german(textveil) -> Path:
    write_vectors(Path("wiki.de.vec"), header=True)
    Path("briefe.txt").write_text("\n".join(LETTERS * 10) + "\n", encoding="utf-8")
    said = textveil("vectors", "build", "wiki.de.vec", "-o", "de.tvv", "--language", "german", "--bits", 64)
    assert said.code == 0, said.err
    return Path("de.tvv")


OPTIONS = ("-o", "out", "--epsilon", 0.3, "--ledger", "l.ledger")


def test_a_text_of_a_second_language_is_veiled_with_words_of_it(textveil, german):
    said = textveil("veil", "briefe.txt", *OPTIONS, "--vectors", german, "--case", "drop")
    assert said.code == 0, said.err
    assert "wiki.de.vec (german, 16 words); 0.0 % of the words of this text lie outside" in said.err
    assert "beware" not in said.err
    words = {w for line in Path("out/data.txt").read_text().splitlines() for w in tv.text.tokens.words(line)}
    assert words <= set(GERMAN)
    shown = json.loads(Path("out/release.json").read_text())
    assert shown["facts"]["vectors"]["language"] == "german"
    assert "german" in Path("out/card.html").read_text()
    info = textveil("vectors", "info", german, "--json").json
    assert (info["language"], info["words"], info["bits"]) == ("german", 16, 64)
    assert textveil("audit", "out", "--attack", "words.nearest").code == 0


def test_a_text_in_another_language_is_warned_about_before_the_charge_and_nowhere_else(textveil, german):
    Path("letter.txt").write_text("Dear bank, the fee for my account was charged twice. Please pay it back.\n" * 5)
    said = textveil("veil", "letter.txt", *OPTIONS, "--vectors", german, "--json")
    assert said.code == 0, said.err
    assert "(german, 16 words); 92.9 % of the words of this text lie outside" in said.err
    assert "more than a third of the words" in said.err and "--language" in said.err
    for path in (*Path("out").iterdir(), Path("l.ledger")):
        content = path.read_bytes()
        assert b"92.9" not in content and b"0.92" not in content and b"outside their vocabulary" not in content
    said = textveil("veil", "letter.txt", "-o", "english", "--epsilon", 0.3)
    assert "(english, 30,000 words); 0.0 % of the words" in said.err and "beware" not in said.err


def test_a_refused_release_was_told_all_the_same(textveil, german):
    textveil("ledger", "new", "l.ledger", "--unit", "word", "--metric", "hamming", "--epsilon", 0.1)
    said = textveil("veil", "briefe.txt", *OPTIONS, "--vectors", german)
    assert said.code == 1 and "lie outside their vocabulary" in said.err


def test_the_language_is_kept_by_files_and_is_no_part_of_the_metric(tmp_path):
    write_vectors(tmp_path / "de.txt", header=False)
    plain = load(tmp_path / "de.txt")
    named = plain.in_language("de-CH")
    assert (plain.language, named.language) == ("", "de-CH")
    assert named.fingerprint == plain.fingerprint and named.head(3).language == "de-CH"
    for name in ("de.tvv", "de.npz"):
        named.save(tmp_path / name)
        assert load(tmp_path / name).language == "de-CH"
        assert load(tmp_path / name).fingerprint == plain.fingerprint
    plain.save(tmp_path / "unnamed.tvv")
    assert load(tmp_path / "unnamed.tvv").language == "" and load().language == "english"
    for bad in ("", "x" * 41, "de\n", "zwei Worte"):
        with pytest.raises(BadParameter, match="language must be a name such as german"):
            plain.in_language(bad)


def test_function_words_are_those_of_the_language():
    words = from_arrays(["der", "bank"], [[1.0], [2.0]])
    for language in ("english", "en", "en-GB"):
        assert "the" in tv.words.Laplace(keep="function-words").fit(words.in_language(language)).kept_
    assert "the" in tv.words.Laplace(keep="function-words").fit(words).kept_  # not stated: whoever asks knows
    with pytest.raises(BadInput, match="no list 'function-words' for the language 'german'"):
        tv.words.Laplace(keep="function-words").fit(words.in_language("german"))


def test_what_is_kept_or_drawn_within_its_kind_is_not_outside():
    words = from_arrays(["der", "brief"], [[1.0], [2.0]])
    text = "Der Brief 2021 an Anna"
    shares = []
    for parameters in ({}, {"keep": ["Anna"]}, {"kinds": True}, {"kinds": True, "keep": ["an", "anna"]}):
        coverage = Coverage(tv.words.Laplace(**parameters).fit(words))
        coverage.add(text)
        shares.append(coverage.share)
    assert shares == [0.6, 0.4, 0.4, 0.0]
    assert Coverage(tv.words.Laplace().fit(words)).share == 0.0  # an empty text
