"""What counts as a word, as tables that can be read and disputed."""

from __future__ import annotations

import pytest

from textveil.text.tokens import Token, case_of, fold, join, recase, split, tokenize, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\n", []),
        ("one two", ["one", "two"]),
        ("don't", ["do", "n't"]),
        ("DON’T", ["DO", "N’T"]),
        ("can't've", ["ca", "n't", "'ve"]),
        (
            "it's we'll I'm you've they're he'd",
            ["it", "'s", "we", "'ll", "I", "'m", "you", "'ve", "they", "'re", "he", "'d"],
        ),
        ("do n't it 's", ["do", "n't", "it", "'s"]),  # as treebanks have it
        ("'isn't' 'it's'", ["is", "n't", "it", "'s"]),  # in quotes
        ("the letter 's'", ["the", "letter", "s"]),
        ("n'th n't'", ["n", "th", "n't"]),
        ("O'Neil 'tis o'clock", ["O", "Neil", "tis", "o", "clock"]),
        ("well-known snake_case", ["well", "known", "snake", "case"]),
        ("$20.50 = 5%", ["20", "50", "5"]),
        ("covid19 B2B", ["covid19", "B2B"]),
        ("a@b.org", ["a", "b", "org"]),
        ("café cafe\u0301 नमस्ते", ["café", "cafe\u0301", "नमस्ते"]),
        ("日本語。", ["日本語"]),
        ("ok🙂🙂ok", ["ok", "🙂🙂", "ok"]),
        ("👩‍👧 👍🏽 ❤️", ["👩‍👧", "👍🏽", "❤️"]),
        ("20°C", ["20", "°", "C"]),
        ("a\x00b\u200bc \ud800", ["a\x00b\u200bc", "\ud800"]),  # invisible characters may carry a message
        ("½ Ⅳ ²", ["½", "Ⅳ", "²"]),
        ("\U0001d4d0\U0001d4d1 x\U00020000", ["\U0001d4d0\U0001d4d1", "x\U00020000"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_words_stand_at_the_given_places() -> None:
    pieces, places = split("No, it's fine.")
    assert [pieces[i] for i in places] == ["No", "it", "'s", "fine"]
    for i in places:
        pieces[i] = "x"
    assert "".join(pieces) == "x, xx x."


def test_tokens_know_whether_they_are_words() -> None:
    tokens = tokenize("Hi, you")
    assert tokens == [Token("Hi", True), Token(", ", False), Token("you", True)]
    assert join(tokens) == "Hi, you"


@pytest.mark.parametrize(("word", "folded"), [("The", "the"), ("N’T", "n't"), ("ÉCOLE", "école"), ("42", "42")])
def test_fold(word: str, folded: str) -> None:
    assert fold(word) == folded


@pytest.mark.parametrize(
    ("word", "case"),
    [
        ("tea", "lower"),
        ("Tea", "title"),
        ("TEA", "upper"),
        ("I", "title"),
        ("iPod", "other"),
        ("McCoy", "other"),
        ("42", "lower"),
        ("🙂", "lower"),
        ("N'T", "upper"),
        ("n't", "lower"),
        ("B2B", "upper"),
        ("", "lower"),
    ],
)
def test_case_of(word: str, case: str) -> None:
    assert case_of(word) == case


@pytest.mark.parametrize(
    ("word", "case", "written"),
    [
        ("tea", "title", "Tea"),
        ("tea", "upper", "TEA"),
        ("Tea", "lower", "tea"),
        ("tEa", "other", "tea"),
        ("", "title", ""),
    ],
)
def test_recase(word: str, case: str, written: str) -> None:
    assert recase(word, case) == written
