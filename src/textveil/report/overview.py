"""The overview of a folder of releases: one table, one chart, and the same as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..core import BadInput, Guarantee, TextveilError, read_manifest
from ..core.facts import Facts
from ..core.files import readable_name, write_whole
from ..core.release import CARD, MANIFEST
from .attackers import bar_of
from .first_screen import badge_of, first_sentence
from .html import bullets, esc, page, percent, section, table, tag
from .sums import ledger_sums, sums_section, unsummed
from .svg import Bar, success_chart
from .words import Finding, findings, headline, strongest

HTML, JSON = "report.html", "report.json"
MOST_NAMED = 3  # things that left unprotected, named in a row


def write_report(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Write `report.html` and `report.json` into a folder of releases (or into one release) and return the JSON."""
    root = Path(folder)
    found = collect(root)
    manifests = {row["json"]["name"]: row["manifest"] for row in found["rows"]}
    sums, loose = ledger_sums(manifests), unsummed(manifests)
    shown = {
        "releases": [row["json"] for row in found["rows"]],
        "ledgers": [line.to_json() for line in sums],
        "in_no_ledger": loose,
        "unreadable": found["unreadable"],
    }
    try:
        write_whole(root / JSON, json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        write_whole(root / HTML, _page(root, found, sums_section(sums, loose)))
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
            rows.append(_row(path, readable_name(name), readable_name(path.relative_to(root).as_posix())))
        except (TextveilError, KeyError, ValueError, TypeError, AttributeError) as error:
            why = str(error) if isinstance(error, TextveilError) else "release.json is not of the known form"
            unreadable.append({"name": readable_name(name), "why": why})
    return {"rows": rows, "unreadable": unreadable}


def _row(path: Path, name: str, where: str) -> dict[str, Any]:
    manifest = read_manifest(path)
    promise = Guarantee.from_json(manifest["guarantee"])
    found, unreadable = findings(manifest, promise)
    facts = Facts.from_json(manifest.get("facts") or {})
    refuted = any(f.refuted for f in found)
    badge = badge_of(promise, refuted=refuted, draft=bool(manifest["draft"]))
    shown = {
        "name": name,
        "folder": where,
        "mechanism": manifest["mechanism"],
        "parameters": manifest["parameters"],
        "label": promise.label,
        "badge": badge.name,
        "loss": promise.loss.to_json(),
        "unit": str(promise.unit),
        "adjacency": str(promise.adjacency),
        "bounding": promise.is_bounding,
        "explain": promise.explain(),
        "in_short": first_sentence(promise, found, facts),
        "passes": list(manifest.get("passes") or []),
        "draft": bool(manifest["draft"]),
        "data": None if facts.data is None else facts.data.to_json(),
        "entry": manifest.get("entry"),
        "created": manifest.get("created", ""),
        "evidence": [{**f.evidence.to_json(), "verdict": f.verdict, "refuted": f.refuted} for f in found],
        "unreadable_evidence": unreadable,
    }
    return {
        "json": shown,
        "manifest": manifest,
        "promise": promise,
        "badge": badge,
        "found": found,
        "card": (path / CARD).is_file(),
    }


def _page(root: Path, found: dict[str, Any], sums: str) -> str:
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
        section("What was spent, by ledger", sums),
        section("What attackers achieve", success_chart(_bars(rows))),
        section("Could not be read", bullets(lines)),
    )
    return page(f"Report: {root.resolve().name}", "\n".join(b for b in body if b), "plain")


def _table(rows: list[dict[str, Any]]) -> str:
    head = ("Release", "Mechanism", "Label", "Loss", "Unit", "Strongest attack", "Refuted?")
    return table(head, [_cells(row) for row in rows])


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    shown, promise = row["json"], row["promise"]
    name = esc(shown["name"])
    if row["card"]:
        name = f'<a href="{quote(shown["folder"])}/{CARD}">{name}</a>'
    if shown["passes"]:
        name += f"<br>{tag('span', esc(_unprotected(shown['passes'])), 'small')}"
    badge = row["badge"]
    label = tag("span", esc(badge.name), "badge badge-plain")
    figure, counts = headline(promise.loss)
    loss = f"{esc(figure)}<br>{tag('span', esc(counts), 'small')}"
    return (
        name,
        esc(shown["mechanism"]),
        tag("span", label, f"label-{badge.tone}"),
        loss,
        shown["unit"],
        *_attack(row),
    )


def _unprotected(passes: list[str]) -> str:
    """
    >>> _unprotected(["letter case", "column a", "column b", "column c"])
    'leaves unprotected: column a, column b, column c and 1 more'
    """
    passes = sorted(passes, key=lambda name: not name.startswith("column"))  # what is most telling comes first
    more = f" and {len(passes) - MOST_NAMED} more" if len(passes) > MOST_NAMED else ""
    return f"leaves unprotected: {', '.join(passes[:MOST_NAMED])}{more}"


def _attack(row: dict[str, Any]) -> tuple[str, str]:
    best = strongest(row["found"])
    if not row["found"]:
        return "not attacked yet", ""
    if best is None:
        return "no better than chance", _refuted(row["found"])
    e = best.evidence
    low, high = (percent(limit) for limit in e.interval())
    limits = f"{e.attack}, {best.asked}; {low} to {high}; chance {percent(e.chance)}"
    return f"{esc(percent(e.value))}<br>{tag('span', esc(limits), 'small')}", _refuted(row["found"])


def _refuted(found: list[Finding]) -> str:
    if any(f.refuted for f in found):
        return '<span class="alarm">refuted</span>'
    return "not refuted" if any(f.allowed is not None for f in found) else "nothing to refute"


def _bars(rows: list[dict[str, Any]]) -> Iterator[Bar]:
    for row in rows:
        for finding in row["found"]:
            e = finding.evidence
            yield bar_of(finding, row["json"]["name"], f"{e.attack}, {finding.asked}")


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
