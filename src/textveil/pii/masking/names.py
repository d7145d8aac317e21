"""Names of people as they are written: which part is given, which is family, and the shape they stand in.

Anna Meyer, Anna Maria Meyer      given names, then the family's
Meyer, Anna                       the other way round
Dr Meyer, Meyer                   one word: taken for the family's or a given name, whichever is known
A. Meyer, Anna M.                 with an initial
von der Heide                     small words belong to the family's name
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TITLES = frozenset(
    "mr mrs ms miss mx dr prof professor sir madam lady lord rev reverend father sister judge capt captain col sgt herr frau "
    "monsieur madame mme señor señora sr sra signor signora med jr sen phd md".split()
)
PARTICLES = frozenset("van von de del der den di da la le bin al zu af ten ter du dos das".split())
_PART = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*\.?")
_POSSESSIVE = re.compile(r"['’]s\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Name:
    """A written name: folded parts, and the places of the parts in the text. An initial is one letter."""

    given: tuple[str, ...]
    family: str
    single: bool = False  # one word, of which nobody knows which part it is

    @property
    def is_full(self) -> bool:
        """Whether it names a person by given and family name."""
        return bool(self.given) and not self.single and len(self.given[0]) > 1 and len(self.family) > 1

    def fits(self, full: Name) -> bool:
        """Whether this could be a shorter way to write a full name.

        >>> anna = parse_name("Anna Maria Meyer")
        >>> [parse_name(n).fits(anna) for n in ("Meyer", "Anna", "A. Meyer", "Anna M.", "Anna Meyer", "Bo Meyer")]
        [True, True, True, True, True, False]
        """
        if self.single:
            return self.family in (full.family, full.given[0])
        if not _matches(self.family, full.family):
            return False
        return all(_matches(a, b) for a, b in zip(self.given, full.given, strict=False))


def _matches(part: str, whole: str) -> bool:
    return part == whole or (len(part) == 1 and whole.startswith(part))


@dataclass(frozen=True)
class Piece:
    """A part of a written name: where it stands, and its role."""

    start: int
    end: int
    role: str  # title, given, family
    initial: bool


def pieces_of(value: str) -> list[Piece]:
    """The parts of a written name with their roles; a single word has the role `family`."""
    value = _POSSESSIVE.sub("", value)
    parts = [(m.start(), m.end(), m.group()) for m in _PART.finditer(value)]
    named = [p for p in parts if p[2].rstrip(".").casefold() not in TITLES] or parts
    turned = "," in value and len(named) > 1
    first_family = _family_at(named, value.index(",") if turned else None)
    pieces = []
    for start, end, text in parts:
        word = text.rstrip(".")
        if (start, end, text) not in named:
            pieces.append(Piece(start, end, "title", False))
            continue
        place = named.index((start, end, text))
        is_family = place < first_family if turned else place >= first_family
        initial = len(word) == 1
        end = start + len(word) if not (initial and text.endswith(".")) else end
        pieces.append(Piece(start, end, "family" if is_family else "given", initial))
    return pieces


def _family_at(named: list[tuple[int, int, str]], comma: int | None) -> int:
    """The number of the first part of the family's name; of turned names, of the first given one."""
    if comma is not None:
        return max(1, sum(start < comma for start, _, _ in named))
    place = len(named) - 1
    while place > 1 and named[place - 1][2].casefold() in PARTICLES:
        place -= 1
    if place == 1 and named[0][2].casefold() in PARTICLES:
        place = 0
    return max(0, place)


def parse_name(value: str) -> Name:
    """
    >>> parse_name("Dr. Anna M. von der Heide").family, parse_name("Meyer, Anna").given
    ('von der heide', ('anna',))
    """
    pieces = [p for p in pieces_of(value) if p.role != "title"]
    texts = {
        role: [value[p.start : p.end].rstrip(".").casefold() for p in pieces if p.role == role]
        for role in ("given", "family")
    }
    return Name(tuple(texts["given"]), " ".join(texts["family"]), single=len(pieces) == 1)


def render(value: str, given: str, family: str, *, first_is_given: bool = False) -> str:
    """A written name with other names in its places; middle names are left out.

    >>> [render(v, "Robin", "Ashford") for v in ("Dr. Anna Maria Meyer", "A. Meyer", "Anna M.", "MEYER, ANNA", "Meyer's")]
    ['Dr. Robin Ashford', 'R. Ashford', 'Robin A.', 'ASHFORD, ROBIN', "Ashford's"]
    """
    pieces, out, last, used = pieces_of(value), list[str](), 0, set[str]()
    for piece in pieces:
        if piece.role == "title":
            continue
        between = value[last : piece.start]
        last = piece.end
        if piece.role in used:  # a middle name, or a further word of the family's
            continue
        used.add(piece.role)
        name = given if piece.role == "given" or (first_is_given and len(pieces) == 1) else family
        dot = "." if value[piece.start : piece.end].endswith(".") else ""
        out += [between, _as_written(name[0] + dot if piece.initial else name, value[piece.start : piece.end])]
    return "".join([*out, value[last:]])


def _as_written(name: str, like: str) -> str:
    letters = like.rstrip(".")
    if len(letters) > 1 and letters.isupper():
        return name.upper()
    return name.lower() if letters.islower() else name


__all__ = ["Name", "Piece", "parse_name", "pieces_of", "render"]
