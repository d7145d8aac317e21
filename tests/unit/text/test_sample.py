"""The sample is data that others measure on: these tests hold its labels, balance and variety."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter

import pytest

from textveil.text.sample import KINDS, MOODS, letters, path

LETTERS = letters()


def words(text: str) -> list[str]:
    return re.findall(r"\w+(?:['’-]\w+)*", text.lower())


def test_every_line_of_the_file_is_one_letter() -> None:
    raw = path().read_bytes()
    assert raw.endswith(b"\n") and b"\r" not in raw
    lines = raw.decode("utf-8").splitlines()  # splits at every Unicode line end: none may be inside a letter
    assert [json.loads(line) for line in lines] == LETTERS


def test_each_letter_has_just_the_four_text_fields() -> None:
    for letter in LETTERS:
        assert list(letter) == ["id", "kind", "mood", "text"]
        assert all(isinstance(value, str) for value in letter.values())


def test_ids_count_up_without_gap() -> None:
    assert [letter["id"] for letter in LETTERS] == [f"letter-{i:03d}" for i in range(1, len(LETTERS) + 1)]


def test_kinds_are_balanced() -> None:
    counts = Counter(letter["kind"] for letter in LETTERS)
    assert set(counts) == set(KINDS)
    assert max(counts.values()) - min(counts.values()) <= 2


@pytest.mark.parametrize(("mood", "share"), [("angry", 0.45), ("neutral", 0.35), ("pleased", 0.20)])
def test_moods_have_their_share(mood: str, share: float) -> None:
    count = sum(letter["mood"] == mood for letter in LETTERS)
    assert abs(count / len(LETTERS) - share) < 0.03


def test_every_kind_comes_in_every_mood() -> None:
    counts = Counter((letter["kind"], letter["mood"]) for letter in LETTERS)
    assert set(counts) == {(kind, mood) for kind in KINDS for mood in MOODS}
    assert min(counts.values()) >= 3


def test_lengths_are_in_range_and_varied() -> None:
    lengths = [len(letter["text"].split()) for letter in LETTERS]
    assert min(lengths) >= 40 and max(lengths) <= 120
    assert min(lengths) < 50 and max(lengths) > 100


def test_texts_are_nfc_trimmed_and_printable() -> None:
    for letter in LETTERS:
        text = letter["text"]
        assert unicodedata.is_normalized("NFC", text)
        assert text == text.strip() and "  " not in text
        assert all(char == "\n" or char.isprintable() for char in text)


def test_some_texts_hold_a_line_break() -> None:
    assert 3 <= sum("\n" in letter["text"] for letter in LETTERS) <= 20


def test_no_two_letters_share_eight_words_in_a_row() -> None:
    size = 8
    first_seen: dict[tuple[str, ...], str] = {}
    for letter in LETTERS:
        tokens = words(letter["text"])
        for start in range(len(tokens) - size + 1):
            run = tuple(tokens[start : start + size])
            assert first_seen.setdefault(run, letter["id"]) == letter["id"], run


def test_phone_numbers_are_from_the_range_kept_for_fiction() -> None:
    numbers = [n for letter in LETTERS for n in re.findall(r"\b\d{3}-\d{4}\b", letter["text"])]
    assert numbers and all(re.fullmatch(r"555-01\d\d", n) for n in numbers)
