"""The reassembly meter: all attacks on fragments, as one table that a client can read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.recipes.audit import audit_release
from textveil.recipes.fragments.audit import FragmentsAuditJob
from textveil.text.pairs import PairFile


@dataclass(frozen=True)
class RiskJob:
    """One release of fragments and the text that it was made from."""

    folder: Path
    truth: PairFile
    public: PairFile | None = None
    publish: bool = False
    ledger: Path | None = None


def measure_risk(job: RiskJob, *, progress: Callable[[str], None] = lambda title: None) -> dict[str, Any]:
    """What an adversary with the folder rebuilds; the upper limit of the strongest attack stands first."""
    audit = FragmentsAuditJob(
        folder=job.folder, truth=job.truth.path, publish=job.publish, ledger=job.ledger, pairs=_only_if_told(job.truth),
        public=None if job.public is None else job.public.path,
        public_pairs=None if job.public is None else _only_if_told(job.public),
    )  # fmt: skip
    result = audit_release(audit, progress=progress)
    tokens = [row for row in result.rows if row["metric"].startswith("words in runs")]
    worst = max(tokens, key=lambda row: row["interval"][1])
    return {
        "risk": worst["value"],
        "interval": worst["interval"],
        "attack": worst["attack"],
        "rows": result.rows,
        "not_run": result.not_run,
        "written": str(result.written),
    }


def _only_if_told(file: PairFile) -> PairFile | None:
    """The file as it was described; None where the release knows better how it is read."""
    told = (file.target, file.source_field, file.target_field, file.source_language, file.target_language, file.format)
    return file if any(value is not None for value in told) else None


__all__ = ["RiskJob", "measure_risk"]
