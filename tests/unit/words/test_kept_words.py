"""Words that pass by choice: single ones, and the list of function words that ships."""

from __future__ import annotations

import pytest

import textveil as tv
from textveil.core import BadInput
from textveil.recipes.words.keep_lists import words_to_keep
from textveil.text import tokens
from textveil.text.vectors import from_arrays
from textveil.words.function_words import function_words
from textveil.words.kept import KeptWords

TEXT = "I didn't see the bank's letter, and she may not know it."


def words():
    return from_arrays(["bank", "letter", "the", "know", "see"], [[-2.0], [-1.0], [0.5], [1.0], [2.0]])


def test_function_words_stay_where_they_stand_and_all_others_are_drawn():
    mechanism = tv.words.Laplace(epsilon=0.001, keep="function-words").fit(words())
    drawn = [i for i, word in enumerate(tokens.words(TEXT)) if tokens.fold(word) not in mechanism.kept_]
    assert [tokens.words(TEXT)[i] for i in drawn] == ["see", "bank", "letter", "may", "know"]
    outputs = [tokens.words(out) for out in mechanism.transform([TEXT] * 100)]
    for i, word in enumerate(tokens.words(TEXT)):
        seen = {out[i] for out in outputs}
        assert len(seen) > 1 if i in drawn else seen == {word}


def test_the_list_is_one_word_an_entry_as_texts_are_cut():
    listed = function_words()
    assert len(set(map(tokens.fold, listed))) == len(listed)
    assert all(tokens.words(f"x{word}" if word in ("n't", "'s") else word) for word in listed)
    plain = [word for word in listed if word[0] != "'" and word != "n't"]
    assert all(tokens.words(word) == [word] for word in plain)
    assert all(tokens.words(f"it{word}")[-1] == word for word in listed if word[0] == "'")
    assert tokens.words("don't")[-1] in listed


def test_it_is_listed_as_not_protected():
    mechanism = tv.words.BRR(keep=["function-words", "Ohio"]).fit()
    (named,) = [name for name in mechanism.passes() if name.startswith("kept words")]
    assert "the 212 words of the public list 'function-words' and ohio" in named
    assert "all other words are none of them" in named
    assert any("213 kept words pass unchanged and are not protected" in line for line in mechanism.event().assumes)
    shown = mechanism.public_params()["keep"]
    assert len(shown) == 213 and "the" in shown and "ohio" in shown  # self-contained: a later list changes nothing
    again = tv.words.BRR(keep=shown).fit()
    assert again.kept_ == mechanism.kept_ and again.event() == mechanism.event()


def test_one_who_writes_a_word_chooses_its_spelling():
    kept = KeptWords.of(["THE", "function-words", "the"])
    assert kept.spelling["the"] == "THE" and kept.spelling["i"] == "I"
    assert KeptWords.of(()).named == "" and KeptWords.of("Ohio").folded == {"ohio"}
    assert KeptWords.of([f"w{i:02}" for i in range(25)]).named.endswith("w19 and 5 more")


def test_files_and_lists_can_be_joined(tmp_path):
    (tmp_path / "names.txt").write_text("Ohio\n\nFee\n")
    assert words_to_keep([str(tmp_path / "names.txt"), "function-words"]) == ["Ohio", "Fee", "function-words"]
    with pytest.raises(BadInput, match="does not exist; possible: a file of words, or function-words"):
        words_to_keep(["function_words"])
    with pytest.raises(BadInput, match="no list 'function-words' for the language 'german'"):
        KeptWords.of("function-words", "german")
