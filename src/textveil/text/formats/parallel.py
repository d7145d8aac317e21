"""parallel: the same text in two languages, line by line.

Two files (`letters.en` and `letters.de`, in short `letters.en+de`) or one of two columns divided by a tab. Both sides say
the same thing, so both are private: a record's text is the source, a newline, and the target.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from textveil.core.errors import BadInput
from textveil.text.documents import Record
from textveil.text.formats.base import LineReader, Reading, columns
from textveil.text.formats.lines import Lines, cut_end
from textveil.text.formats.packing import cut_packing, packing_of


class ParallelReader(LineReader):
    """One file of two columns without a header. `row` is the line end."""

    format = "parallel"
    has_fields = False

    def __iter__(self) -> Iterator[Record]:
        for line in self._lines:
            content, end = cut_end(line)
            tabs = content.count("\t")
            if tabs != 1:
                raise self._lines.bad(f"has {columns(tabs + 1)}, not two divided by a tab")
            yield Record(content.replace("\t", "\n"), end)

    def render(self, record: Record) -> tuple[str, ...]:
        if record.text.count("\n") != 1 or "\t" in record.text:
            raise self.bad_text("does not have two sides")
        return (record.text.replace("\n", "\t") + record.row,)


class PairReader(LineReader):
    """Two files. `row` is the pair of line ends."""

    format = "parallel"
    has_fields = False

    def __init__(self, pair: tuple[Path, Path], reading: Reading):
        self._pair = pair
        super().__init__(pair[0], reading, packing=packing_of(pair[0].name) or packing_of(pair[1].name))

    @property
    def paths(self) -> tuple[Path, ...]:
        return self._pair

    @property
    def ending(self) -> str:
        """`.en+de`; `.source+target` where the two names do not tell the sides apart."""
        first, second = (cut_packing(path.name)[0].rpartition(".")[2] for path in self._pair)
        return f".{first}+{second}" if first != second else ".source+target"

    def _open(self) -> None:
        self._lines, self._others = (
            self._lines_of(self._sample_of(path, packing_of(path.name))) for path in self._pair
        )

    @property
    def all_lines(self) -> tuple[Lines, ...]:
        return (self._lines, self._others)

    @property
    def head(self) -> tuple[str, ...]:
        return (self._lines.start, self._others.start)

    @property
    def bytes_read(self) -> int:
        return self._lines.bytes_read + self._others.bytes_read

    def __iter__(self) -> Iterator[Record]:
        for source, target in zip_longest(self._lines, self._others):
            if source is None or target is None:
                short, long = (self._lines, self._others) if source is None else (self._others, self._lines)
                raise BadInput(f"has no line beside this one in {short.path}", where=long.path, line=long.number)
            (source, end), (target, other_end) = cut_end(source), cut_end(target)
            yield Record(f"{source}\n{target}", (end, other_end))

    def render(self, record: Record) -> tuple[str, ...]:
        if record.text.count("\n") != 1:
            raise self.bad_text("does not have two sides")
        source, _, target = record.text.partition("\n")
        return source + record.row[0], target + record.row[1]


def pair_from_name(path: Path) -> tuple[Path, Path] | None:
    """The two files meant by one name, or None where the name means one file.

    >>> [p.name for p in pair_from_name(Path("mail/letters.en+de.gz"))]
    ['letters.en.gz', 'letters.de.gz']
    """
    name, _ = cut_packing(path.name)
    stem, dot, endings = name.rpartition(".")
    first, plus, second = endings.partition("+")
    if not (stem and dot and plus and first and second) or path.exists():
        return None
    packing = path.name[len(name) :]
    return path.with_name(f"{stem}.{first}{packing}"), path.with_name(f"{stem}.{second}{packing}")
