"""The claims of a paper: every table, figure and sentence that is checked, read from `claims/NN.toml`.

[[claim]]
id = "f2a-higher-t"
where = "Section 4, Figure 2(A)"
kind = "sentence"                  # figure, table, sentence, theorem, number; "ours" for a question of our own
says = "..."                       # what the paper says, in our words
printed = "rising in t"            # the printed figure
cells = ["lexicon"]                # kinds of cells that answer it; if left out, the kind that the measure is handed
measure = "steps_in_t"             # a measure of the study
arguments = {embedding = "glove"}  # handed to it
rule = "above"                     # see verdicts
settings = {limit = 0.0}
caveat = "..."                     # what differs from the paper's setting, if anything

A printed table is one block: fields that its claims share, and a row for each. A column may lie in a table of the claim,
and what stands in braces in a shared text is the row's value in that column (numbers as they are said, 1.0 as 1):

[[claim]]
says = "noise {noise} at batch 32 costs this epsilon"
rule = "near"
columns = ["id", "printed", "arguments.noise", "settings.value", "settings.tolerance"]
rows = [
  ["eps-1", "0.688", 1.0, 0.688, 0.0344],
  ["eps-5", "0.05", 5.0, 0.05, 0.0025],
]
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from textveil.core.errors import BadInput
from textveil.reproduce.measures import MEASURES, MeasureFunction
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


def claims_of(study: Study) -> list[Claim]:
    """The claims of a study, from its own file or from ours."""
    if study.claims is None:
        return load_claims(study.paper)
    return load_claims(study.claims.stem, study.claims.parent)


def load_claims(paper: str, folder: Path = FOLDER) -> list[Claim]:
    """The claims of a paper.

    >>> load_claims("06")[0].where
    'Figure 1, top'
    """
    path = folder / f"{paper}.toml"
    if not path.is_file():
        raise BadInput("the study has no claims file", where=path)
    with open(path, "rb") as file:
        blocks = tomllib.load(file).get("claim", [])
    claims = [_claim(entry, path) for block in blocks for entry in expand(block, path)]
    repeated = {c.id for c in claims if sum(other.id == c.id for other in claims) > 1}
    if repeated:
        raise BadInput(f"claims share the name {min(repeated)}", where=path.name)
    return claims


def expand(block: dict[str, Any], path: Path) -> list[dict[str, Any]]:
    """One entry a claim: the block itself, or one for each of its rows.

    >>> block = {"says": "at noise {noise}", "columns": ["id", "arguments.noise"], "rows": [["a", 1.0], ["b", 0.5]]}
    >>> expand(block, Path("99.toml"))[1]
    {'says': 'at noise 0.5', 'id': 'b', 'arguments': {'noise': 0.5}}
    """
    shared = {name: value for name, value in block.items() if name not in ("columns", "rows")}
    if "rows" not in block:
        return [shared]
    columns = block.get("columns", [])
    if wrong := [row for row in block["rows"] if len(row) != len(columns)]:
        raise BadInput(f"a row has {len(wrong[0])} fields, not {len(columns)}", where=path.name, field=str(wrong[0][0]))
    return [_entry(shared, dict(zip(columns, row, strict=True))) for row in block["rows"]]


def _entry(shared: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    texts = {column.split(".")[-1]: f"{v:g}" if isinstance(v, float) else str(v) for column, v in row.items()}
    entry = _filled(shared, texts)
    for column, value in row.items():
        *folder, name = column.split(".")
        place = entry.setdefault(folder[0], {}) if folder else entry
        place[name] = value
    return entry


def _filled(value: Any, texts: dict[str, str]) -> Any:
    """The value with every {column} in its texts filled in."""
    if isinstance(value, str):
        for name, text in texts.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, dict):
        return {name: _filled(inner, texts) for name, inner in value.items()}
    return [_filled(inner, texts) for inner in value] if isinstance(value, list) else value


def _claim(entry: dict[str, Any], path: Path) -> Claim:
    known = {f.name for f in fields(Claim)}
    name = entry.get("id", "?")
    if unknown := set(entry) - known:
        raise BadInput(f"claim {name} has an unknown field '{min(unknown)}'", where=path.name)
    cells = entry.get("cells") or [entry.get("arguments", {}).get("kind")]
    try:
        return Claim(**{**entry, "cells": tuple(cell for cell in cells if cell)})
    except TypeError:
        needed = ", ".join(("id", "where", "kind", "says", "printed", "measure", "rule"))
        raise BadInput(f"claim {name} lacks a field", where=path.name, possible=needed) from None


def gaps(claims: list[Claim], study: Study) -> list[str]:
    """What stands between the claims and a verdict: no cell, a cell nobody plans, an unknown measure or rule, no reason."""
    planned = [{cell.kind for cell in study.cells(scale)} for scale in ("small", "full")]
    found = []
    for claim in claims:
        if not claim.cells:
            found.append(f"{claim.id}: no cell answers it")
        found += [f"{claim.id}: no cell '{k}' is planned" for k in claim.cells if any(k not in p for p in planned)]
        if claim.measure not in _measures(study):
            found.append(f"{claim.id}: unknown measure '{claim.measure}'")
        if claim.rule not in RULES:
            found.append(f"{claim.id}: unknown rule '{claim.rule}'")
        if claim.kind not in KINDS:
            found.append(f"{claim.id}: unknown kind '{claim.kind}'")
        if claim.rule == "not_comparable" and not claim.settings.get("reason"):
            found.append(f"{claim.id}: not comparable without a reason")
    return found


def _measures(study: Study) -> dict[str, MeasureFunction]:
    """The shared measures and the paper's own; the paper's stand first."""
    return {**MEASURES, **study.measures}


def judge_all(claims: list[Claim], study: Study, results: Results, missing: set[str]) -> list[Judged]:
    """Every claim with its verdict. A claim of which any cell is missing was not run, and says so."""
    return [_judged(claim, study, results, missing) for claim in claims]


def _judged(claim: Claim, study: Study, results: Results, missing: set[str]) -> Judged:
    if lacking := [k for k in claim.cells if k in missing or k not in results.kinds()]:
        return Judged(claim, (), Verdict(NOT_RUN, f"cells of '{lacking[0]}' are missing"))
    measures = _measures(study)[claim.measure](results, **claim.arguments)
    return Judged(claim, tuple(measures), judge(claim.rule, measures, **claim.settings))
