"""The overview of a folder of releases: one table, one chart, and the same as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..core import BadInput, Guarantee, TextveilError, read_manifest
from ..core.release import CARD, MANIFEST
from .html import bullets, esc, page, percent, section, table, tag
from .svg import Bar, success_chart
from .words import LABELS, Finding, findings, headline

HTML, JSON = "report.html", "report.json"


def write_report(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Write `report.html` and `report.json` into a folder of releases (or into one release) and return the JSON."""
    root = Path(folder)
    found = collect(root)
    shown = {"releases": [row["json"] for row in found["rows"]], "unreadable": found["unreadable"]}
    try:
        _write_whole(root / JSON, json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        _write_whole(root / HTML, _page(root, found))
    except OSError as error:
        raise BadInput(f"cannot be written ({error.strerror or 'system error'})", where=root) from None
    return {**shown, "html": str(root / HTML), "json": str(root / JSON)}


def collect(root: Path) -> dict[str, Any]:
    """All releases in a folder, at any depth; hidden folders hold unfinished work and are passed over."""
    if not root.is_dir():
        raise BadInput("is not a folder", where=root)
    paths = sorted(p.parent for p in root.rglob(MANIFEST) if not _hidden(p.relative_to(root)))
    if not paths:
        raise BadInput("holds no release (no release.json in it or below it)", where=root)
    rows, unreadable = [], []
    for path in paths:
        name = root.resolve().name if path == root else path.relative_to(root).as_posix()
        try:
            rows.append(_row(path, name, path.relative_to(root).as_posix()))
        except (TextveilError, KeyError, ValueError, TypeError, AttributeError) as error:
            why = str(error) if isinstance(error, TextveilError) else "release.json is not of the known form"
            unreadable.append({"name": name, "why": why})
    return {"rows": rows, "unreadable": unreadable}


def _row(path: Path, name: str, where: str) -> dict[str, Any]:
    manifest = read_manifest(path)
    promise = Guarantee.from_json(manifest["guarantee"])
    found, unreadable = findings(manifest, promise)
    shown = {
        "name": name,
        "folder": where,
        "mechanism": manifest["mechanism"],
        "parameters": manifest["parameters"],
        "label": promise.label,
        "loss": promise.loss.to_json(),
        "unit": str(promise.unit),
        "adjacency": str(promise.adjacency),
        "explain": promise.explain(),
        "draft": bool(manifest["draft"]),
        "entry": manifest.get("entry"),
        "created": manifest.get("created", ""),
        "evidence": [{**f.evidence.to_json(), "verdict": f.verdict, "refuted": f.refuted} for f in found],
        "unreadable_evidence": unreadable,
    }
    return {"json": shown, "promise": promise, "found": found, "card": (path / CARD).is_file()}


def _page(root: Path, found: dict[str, Any]) -> str:
    rows = found["rows"]
    refuted = sorted({r["json"]["name"] for r in rows if any(f.refuted for f in r["found"])})
    banner = ""
    if refuted:
        banner = f'<div class="banner" role="alert"><b>A PROMISE IS REFUTED</b>{esc(", ".join(refuted))}</div>'
    head = f'<header><p class="kicker">Textveil report</p><h1>{esc(root.resolve().name)}</h1></header>'
    note = "Losses of different units, adjacencies or metrics do not compare; attack success, on the same words, does."
    lines = [f"{u['name']}: {u['why']}" for u in found["unreadable"]]
    body = (
        banner,
        head,
        section("Releases", _table(rows), tag("p", note, "small")),
        section("What attackers achieve", success_chart(_bar(r, f) for r in rows for f in r["found"])),
        section("Could not be read", bullets(lines)),
    )
    return page(f"Report: {root.resolve().name}", "\n".join(b for b in body if b), "guarantee")


def _table(rows: list[dict[str, Any]]) -> str:
    head = ("Release", "Mechanism", "Label", "Loss", "Unit", "Best attack", "Refuted?")
    return table(head, [_cells(row) for row in rows])


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    shown, promise = row["json"], row["promise"]
    name = esc(shown["name"])
    if row["card"]:
        name = f'<a href="{quote(shown["folder"])}/{CARD}">{name}</a>'
    label = tag("span", esc(LABELS[promise.label][0]), "badge badge-plain")
    if shown["draft"] and promise.label != "seeded":
        label += '<br><span class="alarm">draft</span>'
    figure, counts = headline(promise.loss)
    loss = f"{esc(figure)}<br>{tag('span', esc(counts), 'small')}"
    return (
        name,
        esc(shown["mechanism"]),
        tag("span", label, f"label-{promise.label}"),
        loss,
        shown["unit"],
        *_attack(row),
    )


def _attack(row: dict[str, Any]) -> tuple[str, str]:
    if not row["found"]:
        return "not attacked yet", ""
    best = max(row["found"], key=lambda f: f.evidence.value).evidence
    low, high = (percent(limit) for limit in best.interval())
    success = f"{esc(percent(best.value))}<br>{tag('span', f'{low} to {high}; chance {percent(best.chance)}', 'small')}"
    return success, _refuted(row["found"])


def _refuted(found: list[Finding]) -> str:
    if any(f.refuted for f in found):
        return '<span class="alarm">refuted</span>'
    return "not refuted" if any(f.allowed is not None for f in found) else "nothing to refute"


def _bar(row: dict[str, Any], finding: Finding) -> Bar:
    e = finding.evidence
    return Bar(
        row["json"]["name"],
        f"{e.attack}, {e.metric}",
        e.value,
        *e.interval(),
        e.chance,
        finding.allowed,
        finding.refuted,
    )


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _write_whole(path: Path, text: str) -> None:
    hidden = path.with_name(f".{path.name}.tmp")
    hidden.write_text(text, encoding="utf-8")
    os.replace(hidden, path)
