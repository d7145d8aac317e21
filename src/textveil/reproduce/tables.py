"""The end of a study: one table (claim, printed figure, ours with its interval, verdict), as Markdown and JSON; figures."""

from __future__ import annotations

import json
import math
import platform
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textveil import __version__
from textveil.reproduce.cells import Cell
from textveil.reproduce.claims import Judged
from textveil.reproduce.figures import Figure, svg
from textveil.reproduce.study import Run, Study
from textveil.reproduce.verdicts import WORDS, Measure

EARLIER = "earlier"  # of a kept result: its code or data may differ from today's
_SHOWN_MEASURES = 8


def summary(study: Study, run: Run, judged: Sequence[Judged], scale: str) -> dict[str, Any]:
    """The whole result as one JSON object."""
    return {
        "paper": study.paper,
        "title": study.title,
        "scale": scale,
        "verdicts": dict(Counter(j.verdict.word for j in judged)),
        "claims": [_claim_json(j) for j in judged],
        "cells": [_cell_json(cell, run) for cell in run.results],
        "failed": [{"cell": c.kind, "parameters": c.parameters, "why": why} for c, why in run.failed.items()],
        "notes": list(study.notes),
        "versions": {"textveil": __version__, "python": platform.python_version()},
    }


def write(folder: Path, whole: dict[str, Any], figures: Sequence[Figure]) -> None:
    """`README.md`, `results.json` and one SVG a figure."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for figure in figures:
        (folder / f"{figure.name}.svg").write_text(svg(figure), encoding="utf-8")
    (folder / "README.md").write_text(markdown(whole, figures), encoding="utf-8")


def markdown(whole: dict[str, Any], figures: Sequence[Figure]) -> str:
    """The page of a study."""
    counts = ", ".join(f"{whole['verdicts'][word]} {word}" for word in sorted(whole["verdicts"], key=_place))
    lines = [
        f"# Paper {whole['paper']}: {whole['title']}",
        "",
        f"Made by `textveil reproduce {whole['paper']} --scale {whole['scale']}`; do not edit. "
        f"{len(whole['claims'])} claims: {counts}.",
        "",
        "A verdict is given by a rule on the interval, never on the point (see `textveil/reproduce/verdicts.py`): confirmed, "
        "refuted, undecided (the interval reaches over the limit) or not comparable. Intervals are of 95 %; where a claim "
        "has several measures, theirs hold together. Numbers without brackets are exact. One run has no interval, and so "
        "no verdict.",
        "",
        "| claim | where | the paper says | printed | ours [interval] (runs or draws) | verdict |",
        "|---|---|---|---|---|---|",
        *(_row(claim) for claim in whole["claims"]),
        "",
    ]
    for figure in figures:
        lines += [f"## {figure.caption}", "", f"![{figure.caption}]({figure.name}.svg)", ""]
    lines += ["## Data, stand-ins, sizes", "", *(f"- {note}" for note in whole["notes"]), *_cells_lines(whole), ""]
    if whole["failed"]:
        lines += [
            "## Cells that failed",
            "",
            *(f"- {f['cell']} {f['parameters']}: {f['why']}" for f in whole["failed"]),
            "",
        ]
    return "\n".join(lines)


def _place(word: str) -> int:
    """The order in which verdicts are told; what was not run comes last."""
    return WORDS.index(word) if word in WORDS else len(WORDS)


def _row(claim: dict[str, Any]) -> str:
    verdict = f"**{claim['verdict']}**" + (f": {claim['reason']}" if claim["reason"] else "")
    says = claim["says"] + (f" *({claim['caveat']})*" if claim["caveat"] else "")
    shown = [_shown(m) for m in claim["measures"][:_SHOWN_MEASURES]]
    more = len(claim["measures"]) - len(shown)
    ours = "<br>".join(shown + ([f"and {more} more in results.json"] if more > 0 else []))
    cells = (claim["id"], claim["where"], says, claim["printed"], ours, verdict)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _shown(measure: dict[str, Any]) -> str:
    value, low, high = (number(float(measure[name])) for name in ("value", "low", "high"))
    if measure["n"] == 0 and low == high:
        return f"{measure['label']}: {value}"
    if measure["n"] == 1:
        return f"{measure['label']}: {value} (one run)"
    return f"{measure['label']}: {value} [{low}, {high}] (n={measure['n']})"


def number(value: float) -> str:
    """
    >>> number(0.12345), number(1234.5), number(float("inf")), number(-0.00001)
    ('0.123', '1234', 'inf', '-1e-05')
    """
    if not math.isfinite(value):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _claim_json(judged: Judged) -> dict[str, Any]:
    claim = judged.claim
    return {
        "id": claim.id,
        "where": claim.where,
        "kind": claim.kind,
        "says": claim.says,
        "printed": claim.printed,
        "caveat": claim.caveat,
        "rule": {"name": claim.rule, **claim.settings},
        "measures": [m.to_json() for m in judged.measures],
        "verdict": judged.verdict.word,
        "reason": judged.verdict.reason,
    }


def _cell_json(cell: Cell, run: Run) -> dict[str, Any]:
    return {
        "cell": cell.kind,
        "parameters": cell.parameters,
        **({"key": run.keys[cell]} if cell in run.keys else {}),
        **({"code": EARLIER} if cell in run.older else {}),
        "seconds": round(run.seconds[cell], 1),
        "result": run.results[cell],
    }


def _cells_lines(whole: dict[str, Any]) -> list[str]:
    kinds = Counter(cell["cell"] for cell in whole["cells"])
    lines = []
    for kind, count in kinds.items():
        own = [c for c in whole["cells"] if c["cell"] == kind]
        axes = {
            name: sorted({json.dumps(c["parameters"][name]) for c in own if name in c["parameters"]}, key=_as_number)
            for name in dict.fromkeys(name for c in own for name in c["parameters"])
        }
        settings = "; ".join(f"{name} {', '.join(values)}" for name, values in sorted(axes.items()))
        older = sum(c.get("code") == EARLIER for c in own)
        by = f" ({older} kept from an earlier run, whose code or data may differ from today's)" if older else ""
        lines.append(f"- {count} cells `{kind}`{by}: {settings or 'no parameters'}")
    return lines


def _as_number(text: str) -> tuple[float, str]:
    try:
        return float(text), ""
    except ValueError:
        return math.inf, text


def text_table(judged: Sequence[Judged]) -> list[str]:
    """The table for a terminal: one line a claim."""
    lines = []
    for j in judged:
        first = _shown(j.measures[0].to_json()) if j.measures else ""
        reason = f" ({j.verdict.reason})" if j.verdict.reason else ""
        lines.append(f"{j.verdict.word:15} {j.claim.id}: printed {j.claim.printed}; ours {first}{reason}")
    return lines


__all__ = ["Measure", "markdown", "number", "summary", "text_table", "write"]
