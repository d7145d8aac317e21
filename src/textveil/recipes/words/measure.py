"""What veiled text is good for: a classifier, nearest documents, topics, and the words that stayed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from textveil.core import BadInput
from textveil.core.utility import Utility
from textveil.recipes.measure import MeasureJob, MeasureRoom, UseTask
from textveil.recipes.read_again import open_original, open_released
from textveil.recipes.use.bags import Bags, bags_of
from textveil.recipes.use.classify import Learning, utility_of
from textveil.recipes.use.labels import Labels, labels_of, spread_rows
from textveil.recipes.use.linear import TfIdf, VectorMean
from textveil.recipes.use.retrieve import retrieval
from textveil.recipes.use.stay import stay_by_band
from textveil.recipes.use.topics import topic_agreement
from textveil.recipes.words.audit import aligned_rows, rebuild
from textveil.text.documents import Record
from textveil.text.vectors import Vectors, load

MOST_RECORDS = 20_000  # that are learnt from and tested on; more change little and take long


class VeiledTexts:
    """Released and original texts side by side, and the labels of the original."""

    def __init__(self, job: MeasureJob, manifest: dict[str, Any]):
        self.job, self.manifest = job, manifest
        released = [r.text for r in open_released(manifest, job.folder / manifest["data"], job)]
        original = list(open_original(manifest, job.truth, job, fields=_fields(job)))
        if len(released) != len(original):
            what = f"has {len(original):,} records, the release has {len(released):,}"
            raise BadInput(what, where=job.truth, possible="the file that was veiled")
        if not released:
            raise BadInput("holds no records", where=job.truth)
        self.rows = spread_rows(len(released), MOST_RECORDS)
        self.released = [released[row] for row in self.rows]
        self.original = [original[row].text for row in self.rows]
        self._label_values = [original[row].fields.get(job.label_field or "") for row in self.rows]

    @cached_property
    def bags(self) -> tuple[Bags, Bags, Bags]:
        """Released, original and test texts over one vocabulary; without a test file the last is empty."""
        released, original, test = bags_of(self.released, self.original, [r.text for r in self._test])
        return released, original, test

    @cached_property
    def labels(self) -> Labels:
        return labels_of(self._label_values, self.job.label_field or "")

    @cached_property
    def _test(self) -> list[Record]:
        job = self.job
        if job.test is None or job.label_field is None:
            return []
        return list(open_original(self.manifest, job.test, job, fields=(job.label_field,)))

    @cached_property
    def learning(self) -> Learning:
        """What a classifier learns from and is tested on."""
        released, original, test = self.bags
        labels = self.labels
        known = released.take(labels.rows), original.take(labels.rows), labels.numbers, len(labels.names)
        if self.job.test is None:
            return Learning(*known)
        asked = labels.numbers_of([r.fields[self.job.label_field or ""] for r in self._test])
        rows = np.flatnonzero(asked >= 0)
        if len(rows) == 0:
            raise BadInput("has no record with a label of the original", where=self.job.test)
        return Learning(*known, test.take(rows), asked[rows])

    @cached_property
    def vectors(self) -> Vectors:
        """The public vectors that a reader would use: those of the release, where they are vectors."""
        used = rebuild(self.manifest, self.job.vectors).vectors_
        return used if isinstance(used, Vectors) else load("default")


def classify(opened: VeiledTexts) -> list[Utility]:
    """Both classifiers, first the one that is better on the original: it is the one that would be used."""
    left_out = opened.labels.left_out
    notes = (f"{left_out:,} records without a label, or with a rare one, are left out",) if left_out else ()
    task = f"classify by {opened.job.label_field}"
    uses = [utility_of(opened.learning, seeing, task, notes) for seeing in (TfIdf(), VectorMean(opened.vectors))]
    return sorted(uses, key=lambda use: -(use.original or 0.0))


def retrieve(opened: VeiledTexts) -> list[Utility]:
    return [retrieval(opened.bags[0], opened.bags[1])]


def topics(opened: VeiledTexts) -> list[Utility]:
    return [topic_agreement(opened.bags[0], opened.bags[1])]


def stay(opened: VeiledTexts) -> list[Utility]:
    """The words that stayed, by frequency."""
    mechanism = rebuild(opened.manifest, opened.job.vectors)
    pairs = zip(opened.released, opened.original, strict=True)
    aligned = aligned_rows(mechanism, pairs, opened.job.truth)
    return stay_by_band(aligned.observed, aligned.truth, np.asarray(mechanism.vectors_.prior))


def _fields(job: MeasureJob) -> tuple[str, ...]:
    return () if job.label_field is None else (job.label_field,)


ROOM = MeasureRoom(
    VeiledTexts,
    (
        UseTask("classify", classify, asks=("label",)),
        UseTask("retrieve", retrieve),
        UseTask("topics", topics),
        UseTask("stay", stay),
    ),
)
