"""The claims of a paper: every table, figure and sentence that is checked, read from `claims/NN.toml`.

[[claim]]
id = "f2a-higher-t"
where = "Section 4, Figure 2(A)"
kind = "sentence"                  # figure, table, sentence, theorem, number; "ours" for a question of our own
says = "..."                       # what the paper says, in our words
printed = "rising in t"            # the printed figure
cells = ["lexicon"]                # kinds of cells that answer it
measure = "steps_in_t"             # a measure of the study
arguments = {embedding = "glove"}  # handed to it
rule = "above"                     # see verdicts
settings = {limit = 0.0}
caveat = "..."                     # what differs from the paper's setting, if anything
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput
from textveil.reproduce.study import Results, Study
from textveil.reproduce.verdicts import RULES, Measure, Verdict, judge

FOLDER = Path(__file__).parent / "claims"
KINDS = ("figure", "table", "sentence", "theorem", "number", "ours")
NOT_RUN = "not run"


@dataclass(frozen=True)
class Claim:
    id: str
    where: str
    kind: str
    says: str
    printed: str
    cells: tuple[str, ...]
    measure: str
    rule: str
    arguments: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    caveat: str = ""


@dataclass(frozen=True)
class Judged:
    """A claim, what was measured for it, and the verdict."""

    claim: Claim
    measures: tuple[Measure, ...]
    verdict: Verdict


def load_claims(paper: str, folder: Path = FOLDER) -> list[Claim]:
    """The claims of a paper.

    >>> load_claims("06")[0].where
    'Figure 1, top'
    """
    path = folder / f"{paper}.toml"
    with open(path, "rb") as file:
        entries = tomllib.load(file).get("claim", [])
    claims = [_claim(entry, path) for entry in entries]
    repeated = {c.id for c in claims if sum(other.id == c.id for other in claims) > 1}
    if repeated:
        raise BadInput(f"claims share the name {min(repeated)}", where=path.name)
    return claims


def _claim(entry: dict[str, Any], path: Path) -> Claim:
    known = {f.name for f in fields(Claim)}
    name = entry.get("id", "?")
    if unknown := set(entry) - known:
        raise BadInput(f"claim {name} has an unknown field '{min(unknown)}'", where=path.name)
    try:
        return Claim(**{**entry, "cells": tuple(entry["cells"])})
    except (TypeError, KeyError):
        needed = ", ".join(("id", "where", "kind", "says", "printed", "cells", "measure", "rule"))
        raise BadInput(f"claim {name} lacks a field", where=path.name, possible=needed) from None


def gaps(claims: list[Claim], study: Study) -> list[str]:
    """What stands between the claims and a verdict: no cell, a cell nobody plans, an unknown measure or rule, no reason."""
    planned = [{cell.kind for cell in study.cells(scale)} for scale in ("small", "full")]
    found = []
    for claim in claims:
        if not claim.cells:
            found.append(f"{claim.id}: no cell answers it")
        found += [f"{claim.id}: no cell '{k}' is planned" for k in claim.cells if any(k not in p for p in planned)]
        if claim.measure not in study.measures:
            found.append(f"{claim.id}: unknown measure '{claim.measure}'")
        if claim.rule not in RULES:
            found.append(f"{claim.id}: unknown rule '{claim.rule}'")
        if claim.kind not in KINDS:
            found.append(f"{claim.id}: unknown kind '{claim.kind}'")
        if claim.rule == "not_comparable" and not claim.settings.get("reason"):
            found.append(f"{claim.id}: not comparable without a reason")
    return found


def judge_all(claims: list[Claim], study: Study, results: Results, missing: set[str]) -> list[Judged]:
    """Every claim with its verdict. A claim of which any cell is missing was not run, and says so."""
    return [_judged(claim, study, results, missing) for claim in claims]


def _judged(claim: Claim, study: Study, results: Results, missing: set[str]) -> Judged:
    if lacking := [k for k in claim.cells if k in missing or k not in results.kinds()]:
        return Judged(claim, (), Verdict(NOT_RUN, f"cells of '{lacking[0]}' are missing"))
    measures = study.measures[claim.measure](results, **claim.arguments)
    return Judged(claim, tuple(measures), judge(claim.rule, measures, **claim.settings))
