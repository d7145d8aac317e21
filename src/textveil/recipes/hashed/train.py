"""The journey of an extractor: read, hash, charge, train, write, card.

Documents stream into compact arrays (hashed/corpus). An unsealed model carries no promise: its line stands beside the
totals.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil.core import BadInput, Shape
from textveil.core.facts import DataFacts, Facts
from textveil.core.mechanism import passes_of
from textveil.hashed.corpus import Corpus
from textveil.hashed.extractor import MODEL, OUTSIDE, CollisionWarning, Extractor
from textveil.hashed.plan import FeaturePlan
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.recipes.read_again import remember
from textveil.text.marked import MarkedFiles

TRAINED = "hashed.train"


@dataclass(frozen=True)
class ExtractorJob:
    """Marked documents, and how to train on them. With `epsilon`, the sound variant is trained."""

    files: MarkedFiles
    out: Path
    plan: FeaturePlan = field(default_factory=FeaturePlan)
    parameters: dict[str, Any] = field(default_factory=dict)  # of the Extractor: epochs, c, widen, share, shuffle, seed
    dtype: str = "float32"
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False
    allow_large_delta: bool = False
    epsilon: float | None = None
    delta: float | None = None
    unit: str | None = None
    method: str | None = None


def train_model(job: ExtractorJob, *, bar: Bar, warn: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Train an extractor into a release folder and return what to print."""
    if job.epsilon is not None:
        from textveil.recipes.hashed.sound import train_sound

        return train_sound(job, bar=bar, warn=warn)
    for name in ("delta", "unit", "method"):
        if getattr(job, name) is not None:
            raise BadInput(f"--{name} belongs to the sound variant", possible=f"--epsilon with it, or no --{name}")
    with publish_job(job, f"hashed train {job.files.source.name}", seed=job.parameters.get("seed")) as publication:
        reader, fingerprint = job.files.open(), publication.account.fingerprint()
        model = Extractor(label=reader.labels[0], plan=job.plan, **job.parameters)
        model.check()
        corpus = Corpus(job.plan)
        with bar("hashing", reader.size, "bytes") as advance:
            for text, spans in reader.numbered(fingerprint, advance):
                corpus.add(text, spans)
        model.require_two_labels(corpus)
        parameters = {**model.public_params(), "label": list_or_one(reader.labels), "dtype": job.dtype}
        paid = publication.account.charge(
            model.event(Shape()),
            data=fingerprint.hexdigest(),
            binding=marked_binding(publication, job.files, parameters),
        )
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", CollisionWarning)
            sequences = sum(len(block.bounds) - 1 for block in corpus.blocks())
            with bar("training", sequences * model.epochs, "paragraphs") as advance:
                model.fit_corpus(corpus, (OUTSIDE, *reader.labels), noise=paid.noise(), advance=advance)
        beware = [str(w.message) for w in noted if issubclass(w.category, CollisionWarning)]
        write_model(publication, model, job.dtype)
        release = publication.finish(
            paid,
            TRAINED,
            parameters,
            MODEL,
            guarantee=model.guarantee_,
            passes=passes_of(model),
            facts=Facts(data=data_facts(publication, job.files), beware=tuple(beware)),
        )
    return {
        **publication.result(release),
        "label": list_or_one(reader.labels),
        "documents": corpus.count,
        "words": corpus.tokens,
        "marked_words": corpus.relevant,
        "slots": job.plan.slots,
        "occupied": model.table_.occupied,
        "collision_rate": model.collision_rate_,
        "warnings": beware,
    }


def list_or_one(labels: tuple[str, ...]) -> str | list[str]:
    """One label as it is, several as a list."""
    return labels[0] if len(labels) == 1 else list(labels)


def data_facts(publication: Publication, files: MarkedFiles) -> DataFacts:
    """The documents by name, and how they were read."""
    field = files.text_field
    return publication.data_facts(files.source, text_field=field, reading=remember("jsonl", text_field=field))


def write_model(publication: Publication, model: Extractor, dtype: str) -> None:
    """Write the model's files where they leave from."""
    publication.file(MODEL).mkdir()
    model.write(publication.file(MODEL), dtype=dtype)


def marked_binding(publication: Publication, files: MarkedFiles, parameters: dict[str, Any]) -> dict[str, Any]:
    """What makes two runs over marked documents the same run."""
    paths = [None if path is None else str(path.absolute()) for path in (files.source, files.spans)]
    return publication.bound(source=paths, label=files.label, text_field=files.text_field, parameters=parameters)
