"""The journey of an extractor: read, hash, charge, train, write, card.

Documents stream into compact arrays (hashed/corpus), all of them are read and checked before the ledger is charged, and
the folder appears at the end in one step. An unsealed model carries no promise: its line stands beside the totals.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import BadInput, Event, Guarantee, Payload, Release, Shape, Stamp
from textveil.core.fingerprint import Fingerprint
from textveil.core.release import check_free, new_folder, write_manifest
from textveil.hashed.corpus import Corpus
from textveil.hashed.extractor import MODEL, OUTSIDE, CollisionWarning, Extractor
from textveil.hashed.plan import FeaturePlan
from textveil.recipes.charging import charge, ledger_key
from textveil.recipes.hashed_files import MarkedFiles
from textveil.recipes.veil import Bar, check_writable

TRAINED = "hashed.train"


@dataclass(frozen=True)
class TrainJob:
    """Marked documents, and how to train on them. With `epsilon`, the sound variant is trained."""

    files: MarkedFiles
    out: Path
    plan: FeaturePlan = field(default_factory=FeaturePlan)
    parameters: dict[str, Any] = field(default_factory=dict)  # of the Extractor: epochs, c, widen, share, shuffle, seed
    dtype: str = "float32"
    ledger: Path | None = None
    other_data: bool = False
    epsilon: float | None = None
    delta: float | None = None
    unit: str | None = None
    method: str | None = None


def train_model(job: TrainJob, *, bar: Bar) -> dict[str, Any]:
    """Train an extractor into a release folder and return what to print."""
    if job.epsilon is not None:
        from textveil.recipes.hashed_sound import train_sound

        return train_sound(job, bar=bar)
    for name in ("delta", "unit", "method"):
        if getattr(job, name) is not None:
            raise BadInput(f"--{name} belongs to the sound variant", possible=f"--epsilon with it, or no --{name}")
    check_free(job.out)
    check_writable(job.out)
    key = ledger_key(job.ledger)
    reader = job.files.open()
    model = Extractor(label=reader.label, plan=job.plan, **job.parameters)
    model.check()
    corpus, fingerprint = Corpus(job.plan), Fingerprint(key)
    with bar("hashing", reader.size, "bytes") as advance:
        for text, spans in reader.documents(fingerprint, advance):
            corpus.add(text, [(start, end, 1) for start, end in spans])
    model.require_two_labels(corpus)
    event = model.event(Shape())
    with new_folder(job.out) as hidden, warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", CollisionWarning)
        entry = charge(
            job.ledger, key, event, f"hashed train {job.files.source.name}",
            fingerprint=fingerprint.hexdigest(), other_data=job.other_data,
        )  # fmt: skip
        sequences = sum(len(block.bounds) - 1 for block in corpus.blocks())
        with bar("training", sequences * model.epochs, "paragraphs") as advance:
            model.fit_corpus(corpus, (OUTSIDE, reader.label), advance=advance)
        (hidden / MODEL).mkdir()
        model.write(hidden / MODEL, dtype=job.dtype)
        beware = [str(w.message) for w in noted if issubclass(w.category, CollisionWarning)]
        release = model_release(model, hidden, event, model.guarantee_, entry, TRAINED, job.dtype, beware)
        write_manifest(hidden, release.manifest(MODEL))
    return {
        "out": str(job.out),
        "label": reader.label,
        "documents": corpus.count,
        "words": corpus.tokens,
        "marked_words": corpus.relevant,
        "slots": job.plan.slots,
        "occupied": model.table_.occupied,
        "collision_rate": model.collision_rate_,
        "warnings": beware,
        "entry": entry,
        "promise": release.guarantee.loss.sentence(),
        "guarantee": release.guarantee.to_json(),
    }


def model_release(
    model: Extractor,
    folder: Path,
    event: Event,
    guarantee: Guarantee,
    entry: str | None,
    mechanism: str,
    dtype: str = "float32",
    policies: list[str] | None = None,
    *,
    draft: bool = False,
    facts: dict[str, Any] | None = None,
) -> Release:
    """The release of a model whose files stand in `folder`/model already."""
    parameters = {**model.get_params(), "plan": model.plan.to_json(), "seed": None, "dtype": dtype}
    stamp = Stamp.now(mechanism, parameters, draft=draft, facts={"policies": policies or [], **(facts or {})})
    return Release(Payload(folder / MODEL, MODEL), event, guarantee, entry, stamp)
