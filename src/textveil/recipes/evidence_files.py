"""Where evidence is kept: in the folder of a release, or beside it where only its owner can read.

    release.json, card.html       evidence that needs nothing but the folder and public text
    OUT.private/evidence.json     evidence scored on the original (mode 600, in a folder of mode 700)

Newer evidence of the same attack on the same question takes the place of the older.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from textveil.accounting.ledger import Ledger
from textveil.attacks.evidence import Evidence
from textveil.core import BadInput, Guarantee
from textveil.core.files import write_whole
from textveil.core.release import CARD, write_manifest
from textveil.recipes.publish import private_file

PRIVATE = "evidence.json"
PUBLISHED = "scored on the private text and published (--publish): counts of that text can be read off it"


def evidence_rows(found: list[Evidence], promise: Guarantee) -> list[dict[str, Any]]:
    """Evidence with what it says about the promise, as it is written and printed."""
    return [
        {**e.to_json(), "verdict": judged.sentence, "refuted": judged.refuted} for e, judged in _judged(found, promise)
    ]


def record_public(folder: Path, manifest: dict[str, Any], rows: list[dict[str, Any]]) -> Path:
    """Put evidence on the card; release.json and card are written whole."""
    write_manifest(folder, {**manifest, "evidence": merged(manifest.get("evidence", []), rows)})
    return folder / CARD


def publish_evidence(folder: Path, manifest: dict[str, Any], rows: list[dict[str, Any]], ledger: Path | None) -> Path:
    """Put evidence about private text on the card, which says so; the ledger's line is on disk first."""
    if ledger is not None:
        note_published(ledger, manifest, [row["attack"] for row in rows])
    marked = [{**row, "published": True, "notes": [*row.get("notes", []), PUBLISHED]} for row in rows]
    return record_public(folder, manifest, marked)


def record_private(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Keep evidence about private text beside the folder, for its owner alone."""
    path = private_file(folder, PRIVATE)
    write_whole(
        path, json.dumps({"evidence": merged(_read(path), rows)}, ensure_ascii=False, indent=2) + "\n", mode=0o600
    )
    return path


def note_published(ledger: Path, manifest: dict[str, Any], attacks: list[str]) -> None:
    """Write down that evidence scored on the private text left with a release: a line without a price."""
    book, entry = Ledger(ledger, must_exist=True), manifest.get("entry")
    if entry and book.find(entry) is None:
        raise BadInput("is not the ledger of this release", where=ledger, possible=f"the one with the line {entry}")
    unit = Guarantee.from_json(manifest["guarantee"]).unit
    book.note_evidence(f"audit --publish: {', '.join(sorted(set(attacks)))}, of {entry or 'no entry'}", unit=unit)


def merged(older: list[dict[str, Any]], newer: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All questions once.

    >>> merged([{"attack": "a", "metric": "m", "hits": 1}], [{"attack": "a", "metric": "m", "hits": 2}])
    [{'attack': 'a', 'metric': 'm', 'hits': 2}]
    """
    answered = {(row["attack"], row["metric"]) for row in newer}
    return [row for row in older if (row.get("attack"), row.get("metric")) not in answered] + newer


def _judged(found: list[Evidence], promise: Guarantee) -> Any:
    return [(evidence, evidence.judge(promise)) for evidence in found]


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    try:
        return list(json.loads(path.read_text(encoding="utf-8"))["evidence"])
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput("is no file of evidence", where=path, possible="remove it, and audit again") from None
