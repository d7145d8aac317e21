"""The journey of the sound variant: read, check, charge, draw, write.

It ends in the same kind of folder as `hashed train` without --epsilon, and `hashed apply` reads it. Counts of documents
and words are shown to whoever trains and never written into the folder: they are facts of private data that nothing was
charged for.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from textveil.accounting import check_delta
from textveil.core import BadInput, BadParameter, Shape
from textveil.core.facts import Facts
from textveil.core.mechanism import passes_of
from textveil.core.params import needs, open_fraction
from textveil.hashed.extractor import MODEL
from textveil.hashed.sound import SoundTrainer
from textveil.hashed.sound_plan import METHODS, UNITS, SoundPlan
from textveil.recipes.hashed.train import ExtractorJob, data_facts, marked_binding, write_model
from textveil.recipes.progress import Bar
from textveil.recipes.publish import publish_job


def train_sound(job: ExtractorJob, *, bar: Bar, warn: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Train an extractor under a guarantee into a release folder and return what to print."""
    plan = plan_of(job)
    if find_spec("numba") is None:
        needs("hashed", "mmh3")
    assert job.epsilon is not None and job.delta is not None
    with publish_job(job, f"hashed train {job.files.source.name}", seed=job.parameters.get("seed")) as publication:
        files, fingerprint = job.files.open(), publication.account.fingerprint()
        if len(files.labels) > 1:
            raise BadInput(
                "the sound variant learns one label",
                possible="a model for each label; on one ledger their losses add up",
            )
        trainer = SoundTrainer(job.epsilon, job.delta, files.label, job.plan, plan)
        reader = trainer.reader()
        with bar("hashing", files.size, "bytes") as advance:
            for text, spans in files.documents(fingerprint, advance):
                reader.add(text, spans)
        examples = reader.examples()
        check_delta(job.delta, examples.count, allow=job.allow_large_delta)
        for line in examples.warnings:  # before the charge
            warn(line)
        parameters = {
            "epsilon": job.epsilon, "delta": job.delta, "label": files.label, "plan": job.plan.to_json(),
            "sound": plan.to_json(), "dtype": job.dtype,
        }  # fmt: skip
        paid = publication.account.charge(
            trainer.event(Shape()),
            data=fingerprint.hexdigest(),
            binding=marked_binding(publication, job.files, parameters),
        )
        with bar("training", trainer.times, "steps") as advance:
            model = trainer.train(examples, noise=paid.noise(), advance=advance)
        write_model(publication, model, job.dtype)
        release = publication.finish(
            paid,
            trainer.name,
            parameters,
            MODEL,
            delta=job.delta,
            passes=passes_of(model),
            facts=Facts(data=data_facts(publication, job.files), making=making_of(trainer)),
        )
    return {
        **publication.result(release),
        "label": files.label,
        "documents": examples.documents,
        "words": examples.words,
        "units": examples.count,
        "warnings": list(examples.warnings),
        "slots": job.plan.slots,
        "epsilon": job.epsilon,
        "delta": job.delta,
        "unit": plan.unit,
        "method": plan.method,
        "multiplier": trainer.multiplier,
        "times": trainer.times,
    }


def plan_of(job: ExtractorJob) -> SoundPlan:
    """The public plan that the options name; delta and the unit have no default, since both are promises."""
    if job.delta is None:
        raise BadInput("the sound variant needs --delta: the chance that its bound fails", possible="--delta 1e-6")
    open_fraction("delta", job.delta)
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


def making_of(trainer: SoundTrainer) -> tuple[str, ...]:
    """What the card says about how it was made: public constants only."""
    draws = f"{trainer.times} sums" if trainer.times > 1 else "one minimiser"
    return (
        f"{trainer.sound.method}: {draws} over all {trainer.sound.unit}s, each bounded, released with Gaussian noise of "
        f"{trainer.multiplier:.4g} times the bound in every one of {trainer.plan.slots:,} slots",
        "every slot was drawn: which of them are 0 says no more about the documents than the promise allows",
        "other runs on the same documents (other labels too) add to the loss: keep a ledger",
    )
