"""Where figures about a release are kept: in its folder, or beside it where only its owner can read.

    release.json, card.html       figures that need nothing but the folder and public text
    OUT.private/evidence.json     attacks scored on the original (mode 600, in a folder of mode 700)
    OUT.private/utility.json      tasks done with the original at hand, kept in the same way

Newer figures about the same question take the place of the older.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.accounting.ledger import EVIDENCE as ATTACK_PUBLISHED
from textveil.accounting.ledger import UTILITY as TASK_PUBLISHED
from textveil.accounting.ledger import Ledger
from textveil.attacks.evidence import Evidence
from textveil.core import BadInput, Guarantee
from textveil.core.files import write_whole
from textveil.core.release import CARD, write_manifest
from textveil.recipes.publish import private_file

Row = dict[str, Any]


@dataclass(frozen=True)
class FigureKind:
    """One kind of figures. Rows that agree in the fields `question` answer the same question."""

    name: str  # their key in release.json and in the private file, which has this name too
    verb: str  # that makes them
    question: tuple[str, ...]
    title: str  # the field that names a row in the ledger
    published: str  # what the card says of a published row
    listed_as: str  # what the ledger says of published rows

    @property
    def file(self) -> str:
        return f"{self.name}.json"


EVIDENCE = FigureKind(
    "evidence",
    "audit",
    ("attack", "metric"),
    "attack",
    "scored on the private text and published (--publish): counts of that text can be read off it",
    ATTACK_PUBLISHED,
)
UTILITY = FigureKind(
    "utility",
    "measure",
    ("task", "metric", "how"),
    "task",
    "measured with the private text and published (--publish): facts about that text can be read off it",
    TASK_PUBLISHED,
)


def evidence_rows(found: list[Evidence], promise: Guarantee) -> list[Row]:
    """Evidence with what it says about the promise, as it is written and printed."""
    judged = [(evidence, evidence.judge(promise)) for evidence in found]
    return [{**e.to_json(), "verdict": judgement.sentence, "refuted": judgement.refuted} for e, judgement in judged]


def record_public(kind: FigureKind, folder: Path, manifest: dict[str, Any], rows: list[Row]) -> Path:
    """Put figures on the card; release.json and card are written whole."""
    write_manifest(folder, {**manifest, kind.name: merged(kind, manifest.get(kind.name) or [], rows)})
    return folder / CARD


def publish_figures(
    kind: FigureKind, folder: Path, manifest: dict[str, Any], rows: list[Row], ledger: Path | None
) -> Path:
    """Put figures about private text on the card, which says so; the ledger's line is on disk first."""
    if ledger is not None:
        note_published(kind, ledger, manifest, rows)
    marked = [{**row, "published": True, "notes": [*row.get("notes", []), kind.published]} for row in rows]
    return record_public(kind, folder, manifest, marked)


def record_private(kind: FigureKind, folder: Path, rows: list[Row]) -> Path:
    """Keep figures about private text beside the folder, for its owner alone."""
    path = private_file(folder, kind.file)
    kept = {kind.name: merged(kind, _read(kind, path), rows)}
    write_whole(path, json.dumps(kept, ensure_ascii=False, indent=2) + "\n", mode=0o600)
    return path


def check_publishing(kind: FigureKind, manifest: dict[str, Any], ledger: Path | None) -> None:
    """Refuse to publish figures of a recorded release without its ledger."""
    if manifest.get("entry") and ledger is None:
        raise BadInput(
            f"{kind.name} about private text is published under the ledger of the release", possible="--ledger FILE"
        )


def note_published(kind: FigureKind, ledger: Path, manifest: dict[str, Any], rows: list[Row]) -> None:
    """Write down that figures about the private text left with a release: a line without a price."""
    book, entry = Ledger(ledger, must_exist=True), manifest.get("entry")
    if entry and book.find(entry) is None:
        raise BadInput("is not the ledger of this release", where=ledger, possible=f"the one with the line {entry}")
    unit = Guarantee.from_json(manifest["guarantee"]).unit
    names = ", ".join(sorted({str(row[kind.title]) for row in rows}))
    note = f"{kind.verb} --publish: {names}, of {entry or 'no entry'}"
    book.note_evidence(note, unit=unit, mechanism=kind.verb, why=kind.listed_as)


def merged(kind: FigureKind, older: list[Row], newer: list[Row]) -> list[Row]:
    """All questions once.

    >>> merged(EVIDENCE, [{"attack": "a", "metric": "m", "hits": 1}], [{"attack": "a", "metric": "m", "hits": 2}])
    [{'attack': 'a', 'metric': 'm', 'hits': 2}]
    """

    def question(row: Row) -> tuple[Any, ...]:
        return tuple(row.get(name) for name in kind.question)

    answered = {question(row) for row in newer}
    return [row for row in older if question(row) not in answered] + newer


def _read(kind: FigureKind, path: Path) -> list[Row]:
    if not path.exists():
        return []
    try:
        return list(json.loads(path.read_text(encoding="utf-8"))[kind.name])
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput(f"is no file of {kind.name}", where=path, possible=f"remove it, and {kind.verb} again") from None
