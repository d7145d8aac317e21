"""Attack the folder of a hashed model, sealed or not, and put the evidence on its card.

The original documents (`truth`) choose the terms that are asked about and score the answers; attacks that suppose them
known (the redacted document, retrain and compare) are handed what their adversary would have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Exposure
from textveil.core import BadInput, read_manifest, registry
from textveil.core.errors import UnknownName
from textveil.hashed.extractor import Extractor, load
from textveil.noise import Source, secure
from textveil.recipes import hashed_exposure as seen
from textveil.recipes.audit import record_evidence
from textveil.recipes.hashed_files import MarkedFiles
from textveil.recipes.hashed_sound_worlds import SoundWorlds, trainer_of

DETECTORS = ("correlation", "granularity", "likelihood")
DEFAULT = ("hashed.lookup",)
NAMES = tuple(f"hashed.{name}" for name in ("api", "lookup", "membership", "probing", "redacted", "retrain"))


def audit_hashed(
    folder: Path,
    attack_names: list[str],
    *,
    truth: Path | None = None,
    spans: Path | None = None,
    text_field: str | None = None,
    progress: Callable[[str], None] = lambda title: None,
) -> list[Evidence]:
    """Run attacks on a model folder and record their evidence."""
    for name in attack_names:
        if name not in NAMES:
            raise UnknownName("attack on hashed models", name, NAMES)
    manifest, model = read_manifest(folder), load(folder)
    documents = originals(model, attack_names[0], truth, spans, text_field)
    found = []
    for name in attack_names:
        progress(name)
        found += run_attack(name, model, documents, secure())
    record_evidence(folder, manifest, found)
    return found


def run_attack(name: str, model: Extractor, documents: seen.Documents, rng: Source) -> list[Evidence]:
    """One attack by name (membership: its three detectors)."""
    exposure = exposure_of(name, model, documents, rng)
    ways: list[dict[str, Any]] = [{"detector": d} for d in DETECTORS] if name == "hashed.membership" else [{}]
    if exposure.channel is not None:
        ways = [{"unit": str(model.guarantee_.unit)}]
    return [registry.make("attack", name, **way).run(exposure, rng=rng) for way in ways]


def exposure_of(name: str, model: Extractor, documents: seen.Documents, rng: Source) -> Exposure:
    """What the adversary of this attack has."""
    if name == "hashed.retrain" and "sound" in model.table_.facts:
        return Exposure(channel=SoundWorlds(trainer_of(model), documents.texts, documents.spans))
    if name == "hashed.retrain":
        shuffled = int(rng.below(2**31, 1)[0]) if model.shuffle else None
        return seen.retrain_exposure(model, documents, rng, shuffled)
    if name == "hashed.redacted":
        return seen.redacted_exposure(model, documents, rng)
    if name == "hashed.probing":
        return seen.probing_exposure(model, documents, rng)
    if name == "hashed.api":
        return seen.api_exposure(model, documents, rng)
    return seen.table_exposure(model, documents, rng)


def originals(
    model: Extractor, attack: str, truth: Path | None, spans: Path | None, text_field: str | None
) -> seen.Documents:
    """The training documents and the spans of the model's label in them."""
    if truth is None:
        raise BadInput(f"the attack {attack} needs the original documents", possible="--truth IN (and --spans FILE)")
    label = model.table_.labels[-1]
    files = MarkedFiles(truth, spans, None if label == "CLAUSE" else label, text_field)
    rows = list(files.open().documents())
    return seen.Documents(model, [row.text for row in rows], [row.spans for row in rows])
