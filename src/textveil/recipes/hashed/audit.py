"""Show the adversary of a hashed model, sealed or not, what it would have.

The original documents (`truth`) choose the terms that are asked about and score the answers; attacks that suppose them
known (the redacted document, retrain and compare) are shown what their adversary would have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import AnswersSeen, TwoWorlds
from textveil.attacks.hashed.seen import TableSeen
from textveil.core import BadInput, registry
from textveil.hashed.extractor import Extractor, load
from textveil.hashed.sound_worlds import SoundWorlds, trainer_of
from textveil.noise import Source
from textveil.recipes.audit import AuditJob, AuditRoom, Filling, run_attack
from textveil.recipes.hashed import exposure as seen
from textveil.recipes.read_again import read_as
from textveil.text.marked import NO_LABEL, MarkedFiles


@dataclass(frozen=True)
class ModelFolder:
    """A model folder, opened, and where its training documents are."""

    model: Extractor
    read: Callable[[], seen.Documents]

    @cached_property
    def documents(self) -> seen.Documents:
        return self.read()

    @property
    def is_sound(self) -> bool:
        return "sound" in self.model.table_.facts

    def sound_worlds(self, rng: Source) -> TwoWorlds:
        """Fresh releases of two corpora that differ in one unit."""
        return TwoWorlds(SoundWorlds(trainer_of(self.model), self.documents.texts, self.documents.spans))

    def table(self, rng: Source) -> TableSeen:
        return seen.table_exposure(self.model, self.documents, rng)

    def redacted(self, rng: Source) -> TableSeen:
        return seen.redacted_exposure(self.model, self.documents, rng)

    def retrained(self, rng: Source) -> TableSeen:
        """The adversary's own training; where training is shuffled, in an order of its own."""
        shuffled = int(rng.below(2**31, 1)[0]) if self.model.shuffle else None
        return seen.retrain_exposure(self.model, self.documents, rng, shuffled)

    def probed(self, rng: Source) -> AnswersSeen:
        return seen.probing_exposure(self.model, self.documents, rng)

    def asked(self, rng: Source) -> AnswersSeen:
        return seen.api_exposure(self.model, self.documents, rng)


def open_model(job: AuditJob, manifest: dict[str, Any]) -> ModelFolder:
    """The model of a folder."""
    model = load(job.folder)
    field = None if job.truth is None else read_as(manifest, job.truth, text_field=job.text_field)["text_field"]
    return ModelFolder(model, lambda: originals(model, job.truth, job.spans, field))


def attack_model(name: str, model: Extractor, documents: seen.Documents, rng: Source) -> list[Evidence]:
    """One attack by name on a model at hand (membership: its three detectors)."""
    opened = ModelFolder(model, lambda: documents)
    filling = next(f for f in ROOM.fillings if f.suits(registry.find("attack", name), opened))
    return run_attack(name, filling.fill(opened, rng), model.guarantee_, rng=rng)


def originals(model: Extractor, truth: Path | None, spans: Path | None, text_field: str | None) -> seen.Documents:
    """The training documents and the spans of the model's label in them."""
    if truth is None:
        raise BadInput("the original documents are needed", possible="--truth IN (and --spans FILE)")
    labels = model.table_.labels[1:]
    files = MarkedFiles(truth, spans, None if labels == (NO_LABEL,) else labels, text_field)
    rows = list(files.open().numbered())
    return seen.Documents(model, [row.text for row in rows], [row.spans for row in rows])


_TRUTH = ("truth",)
ROOM = AuditRoom(
    open_model,
    (
        Filling(TwoWorlds, ModelFolder.sound_worlds, asks=_TRUTH, applies=lambda opened: opened.is_sound),
        Filling(TableSeen, ModelFolder.table, asks=_TRUTH),
        Filling(TableSeen, ModelFolder.redacted, ("known",), _TRUTH),
        Filling(TableSeen, ModelFolder.retrained, ("retrain",), _TRUTH, applies=lambda opened: not opened.is_sound),
        Filling(AnswersSeen, ModelFolder.probed, ("scores",), _TRUTH),
        Filling(AnswersSeen, ModelFolder.asked, ("query",), _TRUTH),
    ),
)
