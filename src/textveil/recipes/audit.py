"""One runner for all audits: which attacks a release folder allows, what each of them is shown, and where its evidence goes.

A room says in its row (`AuditRoom`, in recipes/ROOM/audit.py) how it opens a folder and how it can fill exposures: each
`Filling` names the kind, the optional fields that it fills, and what it asks for (--truth, --public). An attack is
found by its name (ROOM.something, one line of the registry) and gets the first filling of a kind that it sees with all that
it needs. So neither a room nor an attack is named here, or in the command line.

Where evidence goes. Whatever was run with the original at hand (`truth`) is about private text: how often the commonest word
stood in it can be read off a chance. It goes to the terminal and to `OUT.private/evidence.json`, and the folder stays as it
was, to the last byte. With `publish` it goes into the folder, marked as published, and the ledger gets a line for it.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Exposure, kinds_of
from textveil.attacks.training.canaries import is_canaries_file
from textveil.core import BadInput, Guarantee, read_manifest, registry
from textveil.core.attack_needs import ASKED
from textveil.core.errors import UnknownName
from textveil.noise import Source, secure
from textveil.recipes.figure_files import (
    EVIDENCE,
    check_publishing,
    evidence_rows,
    publish_figures,
    record_private,
    record_public,
)
from textveil.text.readers import FileOptions

ROOMS = {
    "counts": "textveil.recipes.counts.audit",
    "federated": "textveil.recipes.federated.audit",
    "fragments": "textveil.recipes.fragments.audit",
    "hashed": "textveil.recipes.hashed.audit",
    "mpc": "textveil.recipes.mpc.audit",
    "pii": "textveil.recipes.pii.audit",
    "texthide": "textveil.recipes.texthide.audit",
    "training": "textveil.recipes.training.audit",
    "words": "textveil.recipes.words.audit",
}


@dataclass(frozen=True)
class AuditJob(FileOptions):
    """One audit. `attacks` empty: all that the folder and the files given allow."""

    folder: Path
    attacks: tuple[str, ...] = ()
    truth: Path | None = None
    public: Path | None = None
    spans: Path | None = None
    vectors: str | None = None
    records: Path | None = None  # of the people that documents are about
    other: Path | None = None  # another release about the same people
    recogniser: str | None = None  # masked text: what reads it a second time
    publish: bool = False
    ledger: Path | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of the attacks

    def has(self, asked: str) -> bool:
        """Whether what a filling asks for was given: planted examples are no original, and the other way round."""
        given = {"public": self.public, "records": self.records, "other": self.other}
        if asked in given:
            return given[asked] is not None
        return self.truth is not None and is_canaries_file(self.truth) == (asked == "canaries")


@dataclass(frozen=True)
class Filling:
    """One way to fill an exposure of one kind: `gives` names the optional fields that it fills."""

    kind: type[Exposure]
    fill: Callable[[Any, Source], Exposure]  # the opened folder, randomness -> exposure
    gives: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    applies: Callable[[Any], bool] = lambda opened: True

    def suits(self, attack: Any, opened: Any) -> bool:
        """Whether this shows an attack all that it needs."""
        wanted = set(attack.needs) & self.kind.optional()
        return issubclass(self.kind, kinds_of(attack)) and wanted <= set(self.gives) and self.applies(opened)


@dataclass(frozen=True)
class AuditRoom:
    """How the folders of one room are opened, and what their adversaries can be shown."""

    open: Callable[[AuditJob, dict[str, Any]], Any]  # the job and release.json -> what the fillings share
    fillings: tuple[Filling, ...]


class AuditResult(NamedTuple):
    """What was found, why other attacks were not run, and the file that has it."""

    evidence: list[Evidence]
    rows: list[dict[str, Any]]  # as they are written: with verdicts
    not_run: dict[str, str]
    written: Path


def audit_release(job: AuditJob, *, progress: Callable[[str], None] = lambda title: None) -> AuditResult:
    """Attack a folder and put the evidence where it belongs."""
    manifest = read_manifest(job.folder)
    _check_publishing(job, manifest)
    room_name, room = room_of(manifest["mechanism"])
    opened = room.open(job, manifest)
    chosen, not_run = choose_fillings(job, room_name, room, opened)
    promise = Guarantee.from_json(manifest["guarantee"])
    found, exposures = list[Evidence](), dict[int, Exposure]()
    for name, filling in chosen.items():
        progress(name)
        try:
            if id(filling) not in exposures:
                exposures[id(filling)] = filling.fill(opened, secure())
            found += run_attack(name, exposures[id(filling)], promise, job.parameters)
        except BadInput as error:
            if job.attacks or (
                error.where is not None and error.where in (job.truth, job.public, job.spans, job.records, job.other)
            ):
                raise  # a file that does not fit is a mistake, not a reason to go without
            not_run[name] = str(error)
    if not found:
        raise BadInput(f"no attack could be run: {'; '.join(f'{n}: {why}' for n, why in not_run.items())}")
    rows = evidence_rows(found, promise)
    if job.truth is None:
        written = record_public(EVIDENCE, job.folder, manifest, rows)
    elif job.publish:
        written = publish_figures(EVIDENCE, job.folder, manifest, rows, job.ledger)
    else:
        written = record_private(EVIDENCE, job.folder, rows)
    return AuditResult(found, rows, not_run, written)


def run_attack(
    name: str, exposure: Exposure, promise: Guarantee, parameters: Mapping[str, Any] | None = None, rng: Any = None
) -> list[Evidence]:
    """One attack by name, in each of its variants; parameters that speak of the promise are taken from it."""
    factory, known = registry.find("attack", name), _from_promise(promise)
    allowed = factory._parameter_names() if hasattr(factory, "_parameter_names") else []
    own = {key: value for key, value in {**known, **(parameters or {})}.items() if key in allowed}
    evidence, refusals = list[Evidence](), list[BadInput]()
    for variant in _variants(factory, exposure):
        try:
            start = time.perf_counter()
            result = factory(**{**own, **variant}).run(exposure, rng=rng or secure())
            if getattr(factory, "timed", False):  # where the time an attack takes is part of what it shows
                result = replace(result, notes=(*result.notes, f"it took {time.perf_counter() - start:.1f} s"))
            evidence.append(result)
        except BadInput as refusal:  # one way to run it may be impossible and another not
            refusals.append(refusal)
    if not evidence and refusals:
        raise refusals[0]
    return evidence


def _variants(factory: Any, exposure: Exposure) -> tuple[dict[str, Any], ...]:
    """The ways in which an attack is run: `variants` of its class, or what that says of an exposure."""
    known: Any = getattr(factory, "variants", ({},))
    return tuple(known(exposure)) if callable(known) else known


def choose_fillings(
    job: AuditJob, room_name: str, room: AuditRoom, opened: Any
) -> tuple[dict[str, Filling], dict[str, str]]:
    """The filling of each attack that can be run, and why the others cannot."""
    own = [name for name in registry.names("attack") if name.startswith(f"{room_name}.")]
    for name in job.attacks:
        if name not in own:
            raise UnknownName(f"attack on releases of {room_name}", name, own)
    chosen, not_run = dict[str, Filling](), dict[str, str]()
    for name in job.attacks or own:
        try:
            attack = registry.find("attack", name)
        except BadInput as error:  # of another package, which cannot be loaded
            if job.attacks:
                raise
            not_run[name] = str(error)
            continue
        suiting = [f for f in room.fillings if f.suits(attack, opened)]
        filling = next((f for f in suiting if all(job.has(asked) for asked in f.asks)), None)
        if filling is not None:
            chosen[name] = filling
        elif suiting:
            not_run[name] = f"needs {' and '.join(ASKED[asked] for asked in suiting[0].asks)}"
        else:
            not_run[name] = "is not meant for such a release"
    for name in job.attacks:
        if name in not_run:
            raise BadInput(f"the attack {name} {not_run[name]}")
    return chosen, not_run


def room_of(mechanism: str) -> tuple[str, AuditRoom]:
    """The room of a mechanism; one of another package is taken for a word mechanism, or refused when it is opened."""
    name = mechanism.partition(".")[0]
    name = name if name in ROOMS else "words"
    return name, importlib.import_module(ROOMS[name]).ROOM


def _check_publishing(job: AuditJob, manifest: dict[str, Any]) -> None:
    if not job.publish:
        return
    if job.truth is None:
        raise BadInput("there is nothing to publish: evidence without --truth goes into the folder anyway")
    check_publishing(EVIDENCE, manifest, job.ledger)


def _from_promise(promise: Guarantee) -> dict[str, Any]:
    """What attacks may want to know of the promise: its unit and its numbers."""
    return {
        "unit": str(promise.unit),
        "epsilon": getattr(promise.loss, "epsilon", None),
        "delta": getattr(promise.loss, "delta", 0.0),
    }
