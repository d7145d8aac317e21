"""Rules on synthetic sentences: F1 of the pattern recogniser by kind, on the templates of presidio-research."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from textveil.pii.patterns import PatternRecogniser
from textveil.pii.scores.intervals import DocumentSpans, sums_of
from textveil.pii.scores.rewards import Scheme
from textveil.pii.spans import Span

from .scored import scored

PRESIDIO = "pii_presidio"
FORMATS = ("CREDIT_CARD", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "PHONE_NUMBER", "US_DRIVER_LICENSE", "US_SSN")


def patterns(data: Path) -> dict[str, Any]:
    """Kinds that both the rules and the data know: each alone, all of them, and those with a fixed format."""
    recogniser = PatternRecogniser()
    rows = []
    with gzip.open(data / PRESIDIO / "synth_v2.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            gold = [Span(s["start"], s["end"], s["type"]) for s in row["spans"]]
            rows.append(DocumentSpans(str(row["id"]), gold, recogniser.find_one(row["text"])))
    shared = sorted({s.label for r in rows for s in r.gold} & set(recogniser.labels))
    by_label = {label: scored(sums_of(rows, Scheme.PAPER, label)) for label in shared}
    return {
        "shared": scored(sums_of(_only(rows, shared), Scheme.PAPER)),
        "formats": scored(sums_of(_only(rows, FORMATS), Scheme.PAPER)),
        "labels": by_label,
        "documents": len(rows),
    }


def _only(documents: list[DocumentSpans], labels: Collection[str]) -> list[DocumentSpans]:
    return [
        DocumentSpans(d.name, [s for s in d.gold if s.label in labels], [s for s in d.found if s.label in labels])
        for d in documents
    ]
