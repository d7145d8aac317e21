"""How the tokens of a sentence stand in the lines of a column file: three layouts, told apart by what the file holds.

    columns    one token a line, its columns divided by tabs, or by blanks where a line has no tab
    CoNLL-U    ten columns that begin with a number: the word is the second, its lemma the third
    bars       `I|PRP|O like|VBP|O`: a sentence a line, the parts of each token divided by bars (spaCy's .iob)

A layout cuts a line into what passes and the tokens, in turn: [passes, token, passes, token, passes]. What must not pass is
left out there, so that no later step can bring it back.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from textveil.core.errors import BadInput
from textveil.text.formats.base import columns
from textveil.text.formats.lines import cut_end

MARK = "-DOCSTART-"
Fault = Callable[[str], BadInput]  # makes the error of a line that is not as it must be
Keeps = Callable[[str], bool]  # whether a column leaves with the text

_BY_BLANKS = re.compile(r"[^ \r\n]+")
_BY_TABS = re.compile(r"[^\t\r\n]+")
_COMMENT = re.compile(r"#\s*\w[\w:.\- ]*=|#(?:begin|end) document")


class Layout(ABC):
    """Where the tokens stand in a line, and what leaves beside them. `width` counts the columns of the first token."""

    sentence_a_line = False

    def __init__(self, width: int, column: int, keeps: Keeps, *, all_pass: bool):
        self.width, self.column, self._all_pass = width, column, all_pass
        self.kept = [i for i in range(width) if i == column or keeps(str(i + 1))]

    def divides(self, line: str) -> bool:
        """Whether the line stands between sentences."""
        return line.isspace() or line.split(maxsplit=1)[0] == MARK

    def between(self, line: str) -> str:
        """What passes of a line between sentences: nothing where columns stay behind (see `end`)."""
        return line if self._all_pass else ""

    @abstractmethod
    def cut(self, line: str, fault: Fault) -> list[str]:
        """What passes and the tokens, in turn."""

    @abstractmethod
    def values(self, line: str) -> list[list[str]]:
        """The columns of each token on the line."""

    def end(self) -> str:
        """What ends a sentence where the lines between sentences do not pass."""
        return "" if self._all_pass else "\n"

    def passing(self) -> list[str]:
        """Names of what leaves beside the tokens."""
        named = [f"column {i + 1}" for i in self.kept if i != self.column]
        return [*named, *([f"marks between documents ({MARK})"] if self._all_pass else [])]

    def written_column(self) -> int:
        """The tokens' column in what is written."""
        return self.kept.index(self.column)


class Columns(Layout):
    """One token a line."""

    def cut(self, line: str, fault: Fault) -> list[str]:
        if _COMMENT.match(line):
            raise fault("is a comment, which may repeat the text; take such lines out first")
        spans = [match.span() for match in cells(line)]
        if len(spans) != self.width:
            raise fault(f"has {columns(len(spans))} where the first token has {self.width}")
        start, end = spans[self.column]
        if self._all_pass:
            return [line[:start], line[start:end], line[end:]]
        divider = "\t" if "\t" in line else " "
        before = "".join(line[slice(*spans[i])] + divider for i in self.kept if i < self.column)
        after = "".join(divider + line[slice(*spans[i])] for i in self.kept if i > self.column)
        return [before, line[start:end], after + cut_end(line)[1]]

    def values(self, line: str) -> list[list[str]]:
        return [[match[0] for match in cells(line)]]


class ConllU(Layout):
    """CoNLL-U: the lemma, the notes (which spell the word out too) and the comments never pass.

    Lines of numbers such as 1-2 (a word of several tokens) and 1.1 (a word that is not written) repeat or add words, so
    only their place passes, and nothing of them where columns stay behind.
    """

    WIDTH, FORM = 10, 1
    NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
    PRIVATE = (2, 9)  # LEMMA, MISC
    EMPTY = "_"

    def __init__(self, keeps: Keeps, *, all_pass: bool):
        super().__init__(self.WIDTH, self.FORM, keeps, all_pass=all_pass)
        self.kept = [i for i in {0, 1, *self.kept} if i not in self.PRIVATE]  # ID counts, it tells nothing

    def divides(self, line: str) -> bool:
        return line.isspace() or line.startswith("#")

    def between(self, line: str) -> str:
        return super().between(line) if line.isspace() else ""

    def cut(self, line: str, fault: Fault) -> list[str]:
        found = [match[0] for match in cells(line)]
        if len(found) != self.WIDTH or not _is_id(found[0]):
            raise fault(f"has {columns(len(found))} or no number in the first, where CoNLL-U has ten and a number")
        is_word = found[0].isdecimal()
        if not is_word and not self._all_pass:
            return [""]
        rest = [found[i] if i in self.kept and is_word else self.EMPTY for i in range(2, self.WIDTH)]
        after = "".join("\t" + cell for cell in rest) + cut_end(line)[1]
        return [found[0] + "\t", found[self.FORM], after] if is_word else [f"{found[0]}\t{self.EMPTY}{after}"]

    def values(self, line: str) -> list[list[str]]:
        found = [match[0] for match in cells(line)]
        return [found] if found[0].isdecimal() else []

    def passing(self) -> list[str]:
        named = [f"column {i + 1} ({self.NAMES[i]})" for i in sorted(self.kept) if i > self.FORM]
        return [*named, *(["places of word groups and of unwritten words (CoNLL-U)"] if self._all_pass else [])]

    def written_column(self) -> int:
        return self.FORM


class Bars(Layout):
    """A sentence a line. Without all of its parts it is written as columns, one token a line."""

    sentence_a_line = True

    def cut(self, line: str, fault: Fault) -> list[str]:
        pieces, last = [""], 0
        for match in _BY_BLANKS.finditer(line):
            parts = match[0].rsplit("|", self.width - 1)
            if len(parts) != self.width or not parts[0]:
                raise fault(f"has a token without its {self.width} parts divided by bars")
            if self._all_pass:
                pieces[-1] += line[last : match.start()]
                pieces += [parts[0], match[0][len(parts[0]) :]]
            else:
                pieces += [parts[0], "".join(f" {parts[i]}" for i in self.kept if i) + "\n"]
            last = match.end()
        if self._all_pass:
            pieces[-1] += line[last:]
        return pieces

    def values(self, line: str) -> list[list[str]]:
        return [item.rsplit("|", self.width - 1) for item in line.split()]

    def passing(self) -> list[str]:
        return [f"part {i + 1} of each token" for i in self.kept if i != self.column]


def cells(line: str) -> list[re.Match[str]]:
    """The columns of a line."""
    return list((_BY_TABS if "\t" in line else _BY_BLANKS).finditer(line))


def _is_id(cell: str) -> bool:
    """Whether a cell is a number of CoNLL-U: 7, 7-8 or 7.1.

    >>> _is_id("7"), _is_id("7-8"), _is_id("7.1"), _is_id("7th")
    (True, True, True, False)
    """
    return re.fullmatch(r"\d+(?:[-.]\d+)?", cell) is not None
