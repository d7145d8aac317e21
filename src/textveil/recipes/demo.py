"""The demo: about a hundred invented letters, two mechanisms, one ledger, two audits, two cards, one report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textveil.core import read_manifest
from textveil.core.facts import SamplePair
from textveil.core.release import check_free, write_manifest
from textveil.recipes.audit import AuditJob, audit_release
from textveil.recipes.progress import Bar
from textveil.recipes.words.veil import VeilJob, veil_file
from textveil.report import write_report
from textveil.text import readers, sample
from textveil.words import BRR, Laplace

ATTACK_DRAWS = 80_000
PAIRS_SHOWN = 3


def run_demo(
    out: Path, *, bar: Bar, say: Callable[[str], None], evidence_line: Callable[[dict[str, Any]], str]
) -> dict[str, Any]:
    """Veil, audit, card, report."""
    check_free(out)
    out.mkdir(parents=True, exist_ok=True)
    letters, ledger = sample.path(), out / "letters.ledger"
    found: dict[str, Any] = {}
    for name, mechanism in {"brr": BRR(epsilon=0.5), "laplace": Laplace(epsilon=10)}.items():
        folder = out / name
        say(f"veiling {len(sample.letters())} letters with {mechanism!r} ...")
        veil_file(VeilJob(letters, folder, mechanism, ledger=ledger, text_field="text"), bar=bar)
        show_pairs(folder, letters)
        # The letters are invented and bundled with the package, so that evidence about them may stand on the card.
        job = AuditJob(
            folder, ("words.bayes",), letters, publish=True, ledger=ledger, parameters={"draws": ATTACK_DRAWS}
        )
        found[name] = audit_release(job).rows
        for line in found[name]:
            say("  " + evidence_line(line))
    write_report(out)
    look_at = [out / "brr" / "card.html", out / "laplace" / "card.html", out / "report.html", ledger]
    return {"evidence": found, "look_at": [str(p) for p in look_at]}


def show_pairs(folder: Path, letters: Path) -> None:
    """Put before/after text on the card. Only ever done for the bundled letters, whose people are invented."""
    manifest = read_manifest(folder)
    released = readers.open_reader(folder / manifest["data"], text_field="text")
    originals = readers.open_reader(letters, text_field="text")
    pairs = [SamplePair(b.text, a.text).to_json() for a, b in zip(released, originals, strict=True)][:PAIRS_SHOWN]
    facts = {**manifest.get("facts", {}), "sample": pairs}
    write_manifest(folder, {**manifest, "facts": facts})
