"""Fields of records: which label a field's values carry, and how they are looked for.

The five labels of the paper (its Table 1) are BD (date of birth), PR (parents), SP (spouses), CH (children) and ED
(schools and universities). A field that this table does not know has its own name in capitals as its label, and a
kind guessed from its name. The names of the person that a document is about carry no label: they only tell who is
who.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from textveil.core import BadInput
from textveil.pii.records import PersonRecord


class Kind(StrEnum):
    PERSON = "person"
    DATE = "date"
    ORGANISATION = "organisation"
    PLACE = "place"
    VALUE = "value"
    SUBJECT = "subject"  # names of the person that the document is about
    NONE = "none"


@dataclass(frozen=True)
class FieldRule:
    """How the values of one field are marked."""

    label: str
    kind: Kind


_LABELLED = {
    ("BD", Kind.DATE): "birth_date birthdate born date_of_birth dob bday",
    ("PR", Kind.PERSON): "parent parents father fathers_name mother mothers_name",
    ("SP", Kind.PERSON): "spouse spouses partner partners husband wife domestic_partner domesticpartner",
    ("CH", Kind.PERSON): "child children issue son sons daughter daughters",
    ("ED", Kind.ORGANISATION): "education high_school highschool law_school school schools college colleges university "
    "universities alma_mater almat_mater",
    (
        "",
        Kind.SUBJECT,
    ): "name names full_name fullname birth_name birthname title other_names othername other_name alias "
    "pseudonym native_name surname family_name last_name given_name first_name",
}
FIELD_RULES = {name: FieldRule(*rule) for rule, names in _LABELLED.items() for name in names.split()}
_GUESSES = (
    (re.compile(r"date|birthday|_on$"), Kind.DATE),
    (re.compile(r"name|person|doctor|physician|relative|sibling|brother|sister|friend"), Kind.PERSON),
    (re.compile(r"place|city|town|country|state|county|residence|address|region"), Kind.PLACE),
    (re.compile(r"employer|company|organi[sz]ation|hospital|institution|workplace|clinic|bank"), Kind.ORGANISATION),
)


def folded_field(name: str) -> str:
    """A field's name without case, signs and the plural in brackets.

    >>> folded_field("Spouse(s)"), folded_field("Alma mater"), folded_field("Mother's name")
    ('spouse', 'alma_mater', 'mothers_name')
    """
    plain = re.sub(r"\(e?s\)", "", name.strip().lower()).replace("'", "").replace("’", "")
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def rule_of(field: str, own: dict[str, FieldRule] | None = None) -> FieldRule:
    """The rule of a field; `own` rules stand before the table.

    >>> rule_of("Spouse(s)")
    FieldRule(label='SP', kind=<Kind.PERSON: 'person'>)
    >>> rule_of("employer").label
    'EMPLOYER'
    """
    if own and field in own:
        return own[field]
    folded = folded_field(field)
    if folded in FIELD_RULES:
        return FIELD_RULES[folded]
    kind = next((kind for pattern, kind in _GUESSES if pattern.search(folded)), Kind.VALUE)
    return FieldRule(folded.upper() or "VALUE", kind)


def parse_rules(texts: Iterable[str]) -> dict[str, FieldRule]:
    """Rules as the command line gives them: `field=LABEL:kind`, or `field=-` to leave a field out.

    >>> parse_rules(["mother=MOTHER:person", "notes=-"])["notes"].kind
    <Kind.NONE: 'none'>
    """
    rules: dict[str, FieldRule] = {}
    possible = "FIELD=LABEL:KIND with a kind of " + ", ".join(k for k in Kind if k is not Kind.NONE) + "; or FIELD=-"
    for text in texts:
        field, sign, rest = text.partition("=")
        label, _, kind = rest.partition(":")
        if rest == "-" and field:
            rules[field] = FieldRule("", Kind.NONE)
            continue
        if not (sign and field and re.fullmatch(r"[^\s:]*", label) and kind in list(Kind)):
            raise BadInput(f"'{text}' is no rule for a field", possible=possible)
        if not label and kind != Kind.SUBJECT:
            raise BadInput(f"'{text}' names no label", possible=possible)
        rules[field] = FieldRule(label, Kind(kind))
    return rules


@dataclass(frozen=True)
class FieldValue:
    """One value of a record, and what it is looked for as."""

    field: str
    label: str
    kind: Kind
    text: str
    person: int = 0  # which row of the document's records it stands in


def values_of(people: list[PersonRecord], own: dict[str, FieldRule] | None = None) -> list[FieldValue]:
    """All values of a document's records, each once."""
    values: dict[tuple[str, str, str], FieldValue] = {}
    for number, person in enumerate(people):
        for field, texts in person.items():
            rule = rule_of(field, own)
            if rule.kind is Kind.NONE:
                continue
            for text in texts:
                values.setdefault((rule.label, rule.kind, text), FieldValue(field, rule.label, rule.kind, text, number))
    return list(values.values())


__all__ = ["FIELD_RULES", "FieldRule", "FieldValue", "Kind", "folded_field", "parse_rules", "rule_of", "values_of"]
