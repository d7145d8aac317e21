"""Cut text into words and what stands between them, so that the pieces join back to the exact text.

A *word* is what a mechanism replaces: the private part. What is not a word passes through unchanged, so the rule is
written from that side: white space, punctuation, currency and mathematical signs (Unicode categories P*, Z*, Sc, Sm and the
Latin-1 accents such as ` and ^) are separators, **and every other character belongs to a word**: letters, digits, marks,
emoji, control and invisible characters (which could carry a hidden message), even code points without a meaning.

Three cuts are made inside a run of word characters, where the vocabularies of GloVe and its like have them:

- English clitics stand alone: `do|n't`, `it|'s`, `we|'ll`, `I|'m` (with ' or ’); any other apostrophe is punctuation;
- pictures (category So: emoji, but also ° and ©) are cut off from letters; a run of them is one word;
- nothing else: `covid19` is one word, `well-known` is two and a hyphen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal, NamedTuple

Case = Literal["lower", "title", "upper", "other"]

_SEPARATORS = frozenset({"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Zs", "Zl", "Zp", "Sc", "Sm"})
_ACCENT_SIGNS = frozenset("^`¨¯´¸")  # category Sk, which also holds the skin tones of emoji: those are private
_LAST_TABLED = 0x1FFFF  # beyond it Unicode has ideographs, tags and private use, all of them word characters


class Token(NamedTuple):
    """One piece of a text."""

    text: str
    is_word: bool


def split(text: str) -> tuple[list[str], list[int]]:
    """Pieces that join back to `text`, and the positions of those that are words. Pieces between words may be empty.

    >>> split("It's 5 o'clock, don't run 🙂!")  # doctest: +NORMALIZE_WHITESPACE
    (['', 'It', '', "'s", ' ', '5', ' ', 'o', "'", 'clock', ', ', 'do', '', "n't", ' ', 'run', ' ', '🙂', '!'],
     [1, 3, 5, 7, 9, 11, 13, 15, 17])
    """
    pieces = _WORD.split(text)  # one capturing group: separators and words take turns
    return pieces, list(range(1, len(pieces), 2))


def tokenize(text: str) -> list[Token]:
    """The tokens of `text`, none of them empty.

    >>> [t.text for t in tokenize("Can’t stop")]
    ['Ca', 'n’t', ' ', 'stop']
    """
    return [Token(piece, bool(i & 1)) for i, piece in enumerate(_WORD.split(text)) if piece]


def words(text: str) -> list[str]:
    """The words of `text` alone.

    >>> words("Dr. O'Neil paid $20.50")
    ['Dr', 'O', 'Neil', 'paid', '20', '50']
    """
    return _WORD.findall(text)


def join(tokens: Iterable[Token]) -> str:
    """The text that was cut.

    >>> join(tokenize("a  b\\n")) == "a  b\\n"
    True
    """
    return "".join([token.text for token in tokens])


def fold(word: str) -> str:
    """The form under which a vocabulary knows `word`.

    >>> fold("N’T")
    "n't"
    """
    return word.lower().replace("’", "'")


def case_of(word: str) -> Case:
    """How `word` is written. A single capital is `title`: "I" and "A" shout no more than "The" does.

    The case of a word is a fact about the word. Who copies it to the substitute publishes it without noise.

    >>> [case_of(w) for w in ("tea", "Tea", "TEA", "I", "iPod", "42")]
    ['lower', 'title', 'upper', 'title', 'other', 'lower']
    """
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper" if len(word) > 1 else "title"
    if word[:1].istitle() and word[1:].islower():
        return "title"
    return "other" if word.lower() != word else "lower"


def recase(word: str, case: Case) -> str:
    """`word` written in `case`; `other` (as in iPod) has no rule to follow and becomes lower case.

    >>> recase("coffee", "title"), recase("coffee", "upper"), recase("Coffee", "other")
    ('Coffee', 'COFFEE', 'coffee')
    """
    if case == "upper":
        return word.upper()
    folded = word.lower()
    return folded[:1].title() + folded[1:] if case == "title" else folded


def recase_like(word: str, model: str) -> str:
    """`word` with capitals at the places where `model`, of the same length, has them.

    >>> recase_like("xy7z", "Ab1C")
    'Xy7Z'
    """
    return "".join(a.upper() if b.isupper() else a for a, b in zip(word, model.ljust(len(word)), strict=False))


def _word_pattern() -> re.Pattern[str]:
    """The one regular expression, about three million words a second.

    Two things make it quick. Plain words take the first branch, one possessive run over one class; only a word before an
    apostrophe or a character beyond the first 65,536 needs the careful branch. And the classes of `re` are a table
    look-up for those 65,536 but a list to walk through beyond, so the two parts are written apart.
    """
    low, high = _kinds(0, 0xFFFF), _kinds(0x10000, _LAST_TABLED)
    inner, low_picture, high_picture = (_char_ranges(k) for k in (low["inner"], low["picture"], high["picture"]))
    beyond = "\U00010000-\U0010ffff"
    high_inner = f"(?![{_char_ranges(high['separator'] + high['picture'])}])[{beyond}]"
    letter = f"(?:[{inner}]|{high_inner})"

    plain = f"[{inner}]++(?!['’{beyond}])"
    negation = f"[nN]['’][tT](?!{letter})"
    run = f"(?:(?!{negation}){letter})++"  # stops before n't
    clitic = f"['’](?:[sSmMdD]|[rR][eE]|[vV][eE]|[lL][lL])(?!{letter})"
    # A clitic may also stand apart ("it 's", as treebanks have it), but 's' in quotes is a letter.
    apart = f"(?:(?<=[{inner}]){clitic}|{clitic}(?!['’]))"
    # What joins pictures: variation selectors, zero-width joiner, key cap, skin tones, tags (flags of regions).
    joins = "\ufe0e\ufe0f\u200d\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
    picture = f"[{low_picture}{high_picture}][{low_picture}{high_picture}{joins}]*+"
    careful = f"(?=[{inner}{low_picture}'’{beyond}])(?:{run}|{negation}|{apart}|{picture})"
    return re.compile(f"({plain}|{careful})")


def _kinds(first: int, last: int) -> dict[str, list[int]]:
    """Code points by what they do in a text, from the Unicode table of the running Python (a few ms)."""
    kinds: dict[str, list[int]] = {"separator": [], "picture": [], "inner": []}
    for code in range(first, last + 1):
        char = chr(code)
        category = unicodedata.category(char)
        separates = category in _SEPARATORS or char in _ACCENT_SIGNS or char.isspace()
        kinds["separator" if separates else "picture" if category == "So" else "inner"].append(code)
    return kinds


def _char_ranges(codes: list[int]) -> str:
    """The inside of a character class that holds exactly `codes`."""
    first, *others = sorted(codes)
    last, parts = first, []
    for code in [*others, -1]:
        if code != last + 1:
            parts.append(f"{re.escape(chr(first))}-{re.escape(chr(last))}")
            first = code
        last = code
    return "".join(parts)


_WORD = _word_pattern()
