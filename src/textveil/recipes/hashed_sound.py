"""The journey of the sound variant: read, check, charge, draw, write, card.

It ends in the same kind of folder as `hashed train` without --epsilon, and `hashed apply` reads it. All documents are
read and checked before the ledger is charged, and the charge is on disk before any noise is drawn. Counts of
documents and words are shown to whoever trains and never written into the folder: they are facts of private data that
nothing was charged for.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from textveil.accounting import guarantee_of
from textveil.core import BadInput, BadParameter, Payload, Release, Shape, Stamp
from textveil.core.fingerprint import Fingerprint
from textveil.core.params import needs
from textveil.core.release import check_free, new_folder, write_manifest
from textveil.hashed.extractor import MODEL
from textveil.hashed.sound import SoundTrainer
from textveil.hashed.sound_plan import METHODS, UNITS, SoundPlan
from textveil.noise import source_for
from textveil.recipes.charging import charge, ledger_key
from textveil.recipes.hashed_train import TrainJob
from textveil.recipes.veil import Bar, check_writable


def train_sound(job: TrainJob, *, bar: Bar) -> dict[str, Any]:
    """Train an extractor under a guarantee into a release folder and return what to print."""
    plan = plan_of(job)
    check_free(job.out)
    check_writable(job.out)
    if find_spec("numba") is None:
        needs("hashed", "mmh3")
    key = ledger_key(job.ledger)
    files = job.files.open()
    assert job.epsilon is not None and job.delta is not None
    trainer = SoundTrainer(job.epsilon, job.delta, files.label, job.plan, plan)
    reader, fingerprint = trainer.reader(), Fingerprint(key)
    with bar("hashing", files.size, "bytes") as advance:
        for text, spans in files.documents(fingerprint, advance):
            reader.add(text, spans)
    examples = reader.examples()
    event = trainer.event(Shape())
    seed = job.parameters.get("seed")
    with new_folder(job.out) as hidden:
        entry = charge(
            job.ledger, key, event, f"hashed train {job.files.source.name}",
            fingerprint=fingerprint.hexdigest(), other_data=job.other_data,
        )  # fmt: skip
        with bar("training", trainer.times, "steps") as advance:
            model = trainer.train(examples, noise=source_for(seed), advance=advance)
        (hidden / MODEL).mkdir()
        model.write(hidden / MODEL, dtype=job.dtype)
        parameters = {
            "epsilon": job.epsilon, "delta": job.delta, "label": files.label, "plan": job.plan.to_json(),
            "sound": plan.to_json(), "dtype": job.dtype, "seed": None,
        }  # fmt: skip
        stamp = Stamp.now(trainer.name, parameters, draft=seed is not None, facts={"policies": policies_of(trainer)})
        promise = guarantee_of(event, delta=job.delta)
        release = Release(Payload(hidden / MODEL, MODEL), event, promise, entry, stamp)
        write_manifest(hidden, release.manifest(MODEL))
    return {
        "out": str(job.out),
        "label": files.label,
        "documents": examples.documents,
        "words": examples.words,
        "units": examples.count,
        "slots": job.plan.slots,
        "epsilon": job.epsilon,
        "delta": job.delta,
        "unit": plan.unit,
        "method": plan.method,
        "multiplier": trainer.multiplier,
        "times": trainer.times,
        "draft": release.stamp.draft,
        "entry": entry,
        "promise": release.guarantee.loss.sentence(),
        "guarantee": release.guarantee.to_json(),
    }


def plan_of(job: TrainJob) -> SoundPlan:
    """The public plan that the options name; delta and the unit have no default, since both are promises."""
    if job.delta is None:
        raise BadInput("the sound variant needs --delta: the chance that its bound fails", possible="--delta 1e-6")
    if job.unit is None:
        raise BadInput(
            "the sound variant needs --unit: whom it protects", possible=" or ".join(f"--unit {u}" for u in UNITS)
        )
    if job.unit not in UNITS:
        raise BadParameter("unit", job.unit, " or ".join(UNITS))
    method = job.method or METHODS[0]
    if method not in METHODS:
        raise BadParameter("method", method, " or ".join(METHODS))
    return SoundPlan.of(method, job.unit)


def policies_of(trainer: SoundTrainer) -> list[str]:
    """What the card says about how it was made: public constants only."""
    draws = f"{trainer.times} sums" if trainer.times > 1 else "one minimiser"
    return [
        f"{trainer.sound.method}: {draws} over all {trainer.sound.unit}s, each bounded, released with Gaussian noise of "
        f"{trainer.multiplier:.4g} times the bound in every one of {trainer.plan.slots:,} slots",
        "every slot was drawn: which of them are 0 says no more about the documents than the promise allows",
        "other runs on the same documents (other labels too) add to the loss: keep a ledger",
    ]
