"""The demo: about a hundred invented letters, two mechanisms, one ledger, two audits, two measures, two cards, one report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textveil.core import read_manifest
from textveil.core.facts import SamplePair
from textveil.core.release import check_free, write_manifest
from textveil.recipes.audit import AuditJob, audit_release
from textveil.recipes.measure import MeasureJob, measure_release
from textveil.recipes.progress import Bar
from textveil.recipes.words.veil import VeilJob, veil_file
from textveil.report import write_report
from textveil.text import readers, sample
from textveil.words import BRR, Laplace

ATTACK_DRAWS = 80_000
PAIRS_SHOWN = 3
LABEL = "kind"  # of a letter: bank, clinic, housing, shop, travel, work


def run_demo(out: Path, *, bar: Bar, say: Callable[[str], None]) -> dict[str, Any]:
    """Veil, audit, measure, card, report: promise, attack and use of both releases."""
    check_free(out)
    out.mkdir(parents=True, exist_ok=True)
    letters, ledger = sample.path(), out / "letters.ledger"
    shown: dict[str, Any] = {"promise": {}, "evidence": {}, "utility": {}}
    for name, mechanism in {"brr": BRR(epsilon=0.5), "laplace": Laplace(epsilon=10)}.items():
        folder = out / name
        say(f"veiling {len(sample.letters())} letters with {mechanism!r} ...")
        job = VeilJob(letters, folder, mechanism, ledger=ledger, text_field="text")
        shown["promise"][name] = veil_file(job, bar=bar)["promise"]
        show_pairs(folder, letters)
        say("attacking them, and learning from them ...")
        shown["evidence"][name] = _attacked(folder, letters, ledger)
        shown["utility"][name] = _used(folder, letters, ledger)
    write_report(out)
    look_at = [out / "brr" / "card.html", out / "laplace" / "card.html", out / "report.html", ledger]
    return {**shown, "look_at": [str(p) for p in look_at]}


# The letters are invented and bundled with the package, so that figures about them may stand on the card.


def _attacked(folder: Path, letters: Path, ledger: Path) -> list[dict[str, Any]]:
    parameters = {"draws": ATTACK_DRAWS}
    return audit_release(
        AuditJob(folder, ("words.bayes",), letters, publish=True, ledger=ledger, parameters=parameters)
    ).rows


def _used(folder: Path, letters: Path, ledger: Path) -> list[dict[str, Any]]:
    tasks = ("classify", "retrieve")
    return measure_release(MeasureJob(folder, letters, tasks, LABEL, publish=True, ledger=ledger)).rows


def show_pairs(folder: Path, letters: Path) -> None:
    """Put before/after text on the card. Only ever done for the bundled letters, whose people are invented."""
    manifest = read_manifest(folder)
    released = readers.open_reader(folder / manifest["data"], text_field="text")
    originals = readers.open_reader(letters, text_field="text")
    pairs = [SamplePair(b.text, a.text).to_json() for a, b in zip(released, originals, strict=True)][:PAIRS_SHOWN]
    facts = {**manifest.get("facts", {}), "sample": pairs}
    write_manifest(folder, {**manifest, "facts": facts})
