"""From words as they are written to rows and back, at the speed of a dictionary.

A text repeats its words. So the way from a written word to what is done with it (fold it, find its row, see its case,
ask whether it is kept) is gone once per written form, and the answer is one number:

    row * CASES + case    it is drawn; `case` says how the substitute is written (see COPIED)
    KEPT                  it passes
    -1 - case             it becomes the token for words outside the vocabulary
    OF_A_KIND             it is a number, a date or a code, and drawn elsewhere (words/kinds); a token until then

The table lives as long as one call: nothing of a private text stays in the mechanism, or in a file made of it.

Capitals are copied from the text only on request. Else they are put where a sentence begins, which the punctuation tells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from itertools import pairwise

from textveil.text import tokens

COPIED: tuple[tokens.Case, ...] = ("lower", "lower", "title", "upper")  # number 0: as the vocabulary writes it
CASES = len(COPIED)
KEPT, OF_A_KIND = -1 - CASES, -1
_STOP = re.compile(r"[.!?]\S*\s")
_NUMBER = {"lower": 1, "other": 1, "title": 2, "upper": 3}


class Forms(dict[str, int]):
    """Written form -> number. With `unknown=None`, words outside the vocabulary become the token.

    >>> forms = Forms({"tea": 5}, kept={"sir"}, unknown=9, copy_case=True)
    >>> [forms[w] for w in ("tea", "Tea", "TEA", "tEa", "Sir", "zzz")] == [20, 22, 23, 21, KEPT, 36]
    True
    """

    def __init__(self, rows: Mapping[str, int], kept: Set[str], unknown: int | None, copy_case: bool):
        super().__init__()
        self._rows, self._kept, self._unknown, self._copy_case = rows, kept, unknown, copy_case

    def __missing__(self, written: str) -> int:
        word = tokens.fold(written)
        as_it_is = written == word or not self._copy_case
        case = 0 if as_it_is else _NUMBER[tokens.case_of(written)]
        row = self._rows.get(word, self._unknown)
        found = KEPT if word in self._kept else -1 - case if row is None else row * CASES + case
        self[written] = found
        return found


class Starts(dict[str, bool]):
    """What stands before a word -> whether a sentence begins there: after a full stop, ! or ? and white space.

    >>> starts = Starts()
    >>> [starts[gap] for gap in (" ", ". ", '!" ', ".", "; (")]
    [False, True, True, False, False]
    """

    def __missing__(self, gap: str) -> bool:
        self[gap] = _STOP.search(gap) is not None
        return self[gap]


def put_capitals(cut: list[list[str]], words: list[str]) -> None:
    """Write the words that begin a text or a sentence with a capital, by their position alone; changes `words`.

    >>> words = ["tea", "is", "hot", "mcCoy", "no"]
    >>> put_capitals([["", "X", " ", "X", "! ", "X", "? ", "X", ""], ["- ", "X", ""]], words)
    >>> words
    ['Tea', 'is', 'Hot', 'mcCoy', 'No']
    """
    starts, first = Starts(), 0
    for pieces in cut:
        last = first + len(pieces) // 2
        begins = [i for i, gap in enumerate(pieces[2:-1:2], first + 1) if starts[gap]]
        for i in [first, *begins] if last > first else ():
            if words[i].islower():  # one that the vocabulary writes with capitals has them already
                words[i] = words[i][:1].title() + words[i][1:]
        first = last


def join(cut: list[list[str]], new: list[str], replaced: list[bool]) -> list[str]:
    """The texts with new words: `cut` holds separators and words in turn, `new` the words of all texts in a row.

    Where two words stood side by side (a clitic, an emoji), the new ones get a hyphen between them unless they may touch:
    otherwise they would grow together into one. It is a hyphen, since a blank would make two tokens of one.

    >>> join([["", "it", "", "'s", "!"], ["", "no", ""]], ["us", "is", "yes"], [True, True, True])
    ['us-is!', 'yes']
    """
    texts, start = [], 0
    for pieces in cut:
        gaps = pieces[::2]
        stop = start + len(gaps) - 1
        if "" in gaps[1:-1]:
            for i, (left, right) in enumerate(pairwise(range(start, stop)), start=1):
                if not gaps[i] and (replaced[left] or replaced[right]) and not _may_touch(new[left], new[right]):
                    gaps[i] = "-"
        merged = [""] * len(pieces)
        merged[::2], merged[1::2] = gaps, new[start:stop]
        texts.append("".join(merged))
        start = stop
    return texts


def _may_touch(left: str, right: str) -> bool:
    """Only a clitic may follow a word without a space, and no clitic follows a clitic."""
    return _is_clitic(right) and not _is_clitic(left)


def _is_clitic(word: str) -> bool:
    return word.startswith("'") or tokens.fold(word) == "n't"
