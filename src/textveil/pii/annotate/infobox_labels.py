"""What an infobox of Wikipedia calls the five kinds of values, as rendered pages show it and as templates write it.

`SHOWN` is Table 1 of the paper (labels of a rendered page, folded by `folded_field`); `WRITTEN` are keys of
templates. The birthplace is out, as in the paper: places are named in too many ways.
"""

from __future__ import annotations

import re

from .fields import folded_field

SHOWN = {
    "born": "birth_date",
    "parent": "parents",
    "parents": "parents",
    "father": "parents",
    "fathers_name": "parents",
    "mother": "parents",
    "mothers_name": "parents",
    "mothers_name_": "parents",
    "spouse": "spouse",
    "spouses": "spouse",
    "children": "children",
    "education": "education",
    "high_school": "education",
    "law_school": "education",
    "school": "education",
    "schools": "education",
    "college": "education",
    "colleges": "education",
    "alma_mater": "education",
    "almat_mater": "education",
}
WRITTEN = {
    **{key: value for key, value in SHOWN.items() if key != "born"},
    "birth_date": "birth_date",
    "birthdate": "birth_date",
    "date_of_birth": "birth_date",
    "partner": "spouse",
    "partners": "spouse",
    "domestic_partner": "spouse",
    "domesticpartner": "spouse",
    "wife": "spouse",
    "husband": "spouse",
    "issue": "children",
    "highschool": "education",
    "university": "education",
    "name": "name",
    "birth_name": "name",
    "birthname": "name",
    "fullname": "name",
    "full_name": "name",
    "othername": "name",
    "other_names": "name",
}
_CITATION = re.compile(r"\[(?:\d+|[a-z]|note \d+|citation needed|nb \d+)\]", re.IGNORECASE)
_COUNTED = re.compile(r"^\W*\d+\b\W*(?:,? ?including)?\W*$|^\W*(?:including|none|several|deceased)\W*$", re.IGNORECASE)
_DIVIDED = re.compile(r"\s*(?:;|\n|•|·)\s*")
_LISTED = re.compile(r",\s+and\s+|\s+and\s+|,\s+|\s+&\s+")
_BRACKETS = re.compile(r"\s*\([^()]*\)|\s*\([^)]*$")
_PEOPLE = ("parents", "spouse", "children")


def without_citations(text: str) -> str:
    """A value without citation brackets.

    >>> without_citations("Anna Meyer[3][note 1]")
    'Anna Meyer'
    """
    return _CITATION.sub("", text).replace("\xa0", " ").strip()


def field_of(label: str, table: dict[str, str]) -> str | None:
    """The record's field for an infobox label; None for labels of other things."""
    return table.get(folded_field(label.rstrip(":")))


def split_values(field: str, text: str) -> list[str]:
    """Single values of a cell; names of people are also divided at commas and "and".

    >>> split_values("children", "Robert, Edward, Willie, and Tad")
    ['Robert', 'Edward', 'Willie', 'Tad']
    >>> split_values("children", '11, including: Sharon; David "Ziggy"')
    ['Sharon', 'David "Ziggy"']
    >>> split_values("education", "University of Jena (PhD, 1813)\\nTexas A&M")
    ['University of Jena', 'Texas A&M']
    """
    values: list[str] = []
    for piece in _DIVIDED.split(without_citations(text)):
        plain = _BRACKETS.sub("", _BRACKETS.sub("", piece)).strip(" ,:–-")
        plain = re.sub(r"^\d+,? including:? *", "", plain)
        parts = _LISTED.split(plain) if field in _PEOPLE and not re.search(r"\b(?:Jr|Sr)\.?$", plain) else [plain]
        values += [part.strip(" ,:") for part in parts if part.strip(" ,:.") and not _COUNTED.match(part)]
    return list(dict.fromkeys(values))


__all__ = ["SHOWN", "WRITTEN", "field_of", "split_values", "without_citations"]
