"""Laws of the tokenizer: nothing is lost, and whatever is not a separator is a word."""

from __future__ import annotations

import itertools
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from textveil.text.tokens import case_of, fold, join, recase, split, tokenize, words

any_text = st.text(
    st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"])
)  # "C" brings controls and lone surrogates
english = st.lists(
    st.sampled_from(
        [*"nNtTsdm'’ -_.", "don't", "we'll", "n't", "'s", "I", "é", "e\u0301", "🙂", "👩‍👧", "👍🏽", "\x00", "\ud800"]
    )
).map("".join)
texts = any_text | english


def is_separator(char: str) -> bool:
    """The slow oracle, straight from the definition."""
    category = unicodedata.category(char)
    return char.isspace() or category[0] in "PZ" or category in ("Sc", "Sm") or char in "^`¨¯´¸"


@given(texts)
@example("")
@example("\ud800\x00e\u0301n't")
def test_pieces_and_tokens_join_to_the_exact_text(text: str) -> None:
    pieces, places = split(text)
    assert "".join(pieces) == text
    assert join(tokenize(text)) == text
    assert [pieces[i] for i in places] == [t.text for t in tokenize(text) if t.is_word] == words(text)
    assert all(token.text for token in tokenize(text))


@given(texts)
def test_no_private_character_stands_outside_the_words(text: str) -> None:
    for token in tokenize(text):
        if not token.is_word:
            assert all(map(is_separator, token.text))
        else:  # only a clitic's apostrophe may be inside
            assert not any(map(is_separator, token.text.replace("'", "").replace("’", "")))
            assert any(not is_separator(char) for char in token.text)


@given(texts)
def test_a_word_is_cut_from_its_neighbour_only_at_a_clitic_or_a_picture(text: str) -> None:
    tokens = tokenize(text)
    for left, right in itertools.pairwise(tokens):
        if left.is_word and right.is_word:
            pictures = [unicodedata.category(side) == "So" for side in (left.text[0], right.text[0])]
            assert fold(right.text) in {"n't", "'s", "'m", "'d", "'re", "'ve", "'ll"} or any(pictures)


@given(texts)
def test_words_are_found_again_when_they_stand_alone(text: str) -> None:
    for word in words(text):
        assert words(word) == [word]


@given(st.text(alphabet="abzéßñ", min_size=1), st.sampled_from(["lower", "title", "upper"]))
def test_case_survives_the_way_through_the_folded_form(word: str, case: str) -> None:
    written = recase(word, case)
    if case_of(written) == case:  # one letter in upper case counts as title
        assert recase(fold(written), case_of(written)) == written
    else:
        assert len(word) == 1
