"""From text to the words that a vocabulary counts: everything here is public and the same for every data set.

Case and accents are folded, characters outside a public alphabet become one stand-in, and words end at blanks and at
punctuation (BERT's rules, by Hugging Face `tokenizers`). The alphabet is part of the program, not of the data: a rare
character in a private text must not show itself by being in the vocabulary. Every alphabet character is a piece of its
own, so a word is [UNK] only when it is longer than 100 characters.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

STAND_IN = "\ufffd"  # what every character outside the alphabet becomes
LONGEST_WORD = 100  # characters; WordPiece gives [UNK] beyond
PREFIX = "##"
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_GREEK = "αβγδεζηθικλμνξοπρςστυφχψω"
_MORE = "ßæøœðþłđı£¥€¢§©®°µ±×÷¼½¾²³¹–—‘’“”„•…†™→≤≥≠"


def alphabet() -> tuple[str, ...]:
    """The public characters, in a fixed order.

    >>> len(alphabet()), alphabet()[:3], STAND_IN in alphabet()
    (136, ('!', '"', '#'), True)
    """
    ascii_ones = (c for c in map(chr, range(33, 127)) if c not in string.ascii_uppercase)
    return tuple(dict.fromkeys([*ascii_ones, *_GREEK, *_MORE, STAND_IN]))


def pieces_of_alphabet() -> list[str]:
    """Each character as the start of a word and, where words can go on with it, as a continuation."""
    return [*alphabet(), *(PREFIX + c for c in alphabet() if not _stands_alone(c))]


def _stands_alone(character: str) -> bool:
    """BERT's punctuation: all ASCII signs, and Unicode's category P."""
    return character in string.punctuation or unicodedata.category(character).startswith("P")


def normaliser() -> Any:
    """Folding of case and accents, then the stand-in for what the alphabet lacks."""
    from tokenizers import Regex, normalizers

    known = "".join(f"\\x{{{ord(c):x}}}" for c in alphabet())
    return normalizers.Sequence(
        [
            normalizers.BertNormalizer(lowercase=True, strip_accents=True, handle_chinese_chars=False),
            normalizers.Replace(Regex(rf"[^\s{known}]"), STAND_IN),
        ]
    )


def splitter() -> Any:
    """Words end at blanks; each punctuation sign is a word."""
    from tokenizers import pre_tokenizers

    return pre_tokenizers.BertPreTokenizer()


class Words:
    """Texts as lists of folded words.

    >>> Words()("Café No. 7")
    ['cafe', 'no', '.', '7']
    """

    def __init__(self) -> None:
        self._fold, self._split = normaliser().normalize_str, splitter().pre_tokenize_str

    def __call__(self, text: str) -> list[str]:
        return [word for word, _ in self._split(self._fold(text)) if len(word) <= LONGEST_WORD]

    def all(self, texts: Iterable[str]) -> Iterator[list[str]]:
        for text in texts:
            yield self(text)
