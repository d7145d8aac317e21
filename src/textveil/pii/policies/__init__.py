"""Policies: which kinds of personal data a rule of law names, and which of them are found, how."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources

from textveil.core.errors import UnknownName

BY_RULE, BY_MODEL, NOT_AT_ALL = "by rule", "by model", "not at all"


@dataclass(frozen=True)
class PolicyType:
    """One type of identifier that a policy names, and the labels that stand for it."""

    type: str
    labels: tuple[str, ...]
    note: str = ""

    def found(self, by_rule: Iterable[str], by_model: Iterable[str]) -> str:
        """How it is found by recognisers of these labels.

        >>> PolicyType("Names", ("PERSON",)).found(["URL"], ["PERSON"])
        'by model'
        """
        ways = [way for way, labels in ((BY_RULE, by_rule), (BY_MODEL, by_model)) if set(self.labels) & set(labels)]
        return " and ".join(ways) or NOT_AT_ALL


@dataclass(frozen=True)
class Policy:
    """A policy: its types, in the order of its text."""

    name: str
    title: str
    types: tuple[PolicyType, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that it asks to be masked."""
        return tuple(sorted({label for one in self.types for label in one.labels}))

    def labels_of(self, known: Sequence[str]) -> tuple[str, ...]:
        """Those of them that a recogniser has."""
        return tuple(label for label in self.labels if label in known)

    def table(self, by_rule: Iterable[str], by_model: Iterable[str] = ()) -> list[dict[str, str]]:
        """Type by type: how it is found, and what to know."""
        rule, model = tuple(by_rule), tuple(by_model)
        return [{"type": t.type, "found": t.found(rule, model), "note": t.note} for t in self.types]

    def lines(self, by_rule: Iterable[str], by_model: Iterable[str] = ()) -> tuple[str, ...]:
        """What a card says: counts, and the types that are not found."""
        rows = self.table(by_rule, by_model)
        missing = [row["type"] for row in rows if row["found"] == NOT_AT_ALL]
        head = f"policy {self.title}: {len(rows) - len(missing)} of its {len(rows)} types have a recogniser here"
        return (head, *(f"policy {self.name}, not looked for at all: {kind}" for kind in missing))


def policy_names() -> list[str]:
    """The policies that ship.

    >>> policy_names()
    ['hipaa']
    """
    return sorted(f.name.removesuffix(".toml") for f in resources.files(__name__).iterdir() if f.name.endswith(".toml"))


def load_policy(name: str) -> Policy:
    """A policy by name.

    >>> len(load_policy("hipaa").types)
    18
    """
    if name not in policy_names():
        raise UnknownName("policy", name, policy_names())
    kept = tomllib.loads((resources.files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))
    types = (PolicyType(t["type"], tuple(t["labels"]), t.get("note", "")) for t in kept["types"])
    return Policy(kept["name"], kept["title"], tuple(types))


__all__ = ["BY_MODEL", "BY_RULE", "NOT_AT_ALL", "Policy", "PolicyType", "load_policy", "policy_names"]
