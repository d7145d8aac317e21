"""What released counts are good for: a classifier of documents, nearest documents and topics.

Words that were noised as one group are compared with the same group of the original; noise below zero counts as nothing, as
any reader would take it. Topics need words, so they are fitted to what was dealt out to words.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from textveil.core import BadInput
from textveil.core.payload import read_payload
from textveil.core.utility import Utility
from textveil.recipes.audit import AuditJob
from textveil.recipes.counts.audit import CountsFolder
from textveil.recipes.counts.release import VOCABULARY
from textveil.recipes.measure import MeasureJob, MeasureRoom, UseTask
from textveil.recipes.read_again import open_original
from textveil.recipes.use.bags import Bags
from textveil.recipes.use.classify import Learning, utility_of
from textveil.recipes.use.labels import labels_of
from textveil.recipes.use.linear import TfIdf
from textveil.recipes.use.retrieve import retrieval
from textveil.recipes.use.topics import topic_agreement
from textveil.text.count_tables import is_matrix_file, read_words


class CountedTexts:
    """Released counts and those of the original, in the columns that were noised."""

    def __init__(self, job: MeasureJob, manifest: dict[str, Any]):
        self.job, self.manifest = job, manifest
        files = AuditJob(job.folder, truth=job.truth, **job.reading())
        self.folder = CountsFolder(files, manifest)

    @cached_property
    def cells(self) -> tuple[Bags, Bags]:
        """Counts per noised cell: of words, or of groups of words."""
        released, original = self.folder.released, self.folder.fold(self.folder.documents)
        width = released.shape[1]
        names = [f"cell {number}" for number in range(width)]
        clear = sparse.csr_array(original)
        clear.resize(clear.shape[0], width)
        return _bags(released, names), _bags(clear, names)

    @cached_property
    def words(self) -> tuple[Bags, Bags]:
        """Counts per word."""
        table, vocabulary = read_payload(self.job.folder, self.manifest["data"]), self.job.folder / VOCABULARY
        if not vocabulary.is_file() or table.shape[1] != self.folder.documents.shape[1]:
            raise BadInput(
                "topics need counts of words, and this release has counts of groups, or of words without names"
            )
        names = read_words(vocabulary)
        return _bags(table, names), _bags(self.folder.documents, names)

    def label_values(self) -> list[object]:
        job = self.job
        if is_matrix_file(job.truth):
            raise BadInput("holds counts and no labels", where=job.truth, possible="the file of texts that was counted")
        field = job.label_field or ""
        return [record.fields[field] for record in open_original(self.manifest, job.truth, job, fields=(field,))]


def classify(opened: CountedTexts) -> list[Utility]:
    """A classifier of documents by their counts; it is tested on folds of the clear counts."""
    labels = labels_of(opened.label_values(), opened.job.label_field or "")
    released, original = (bags.take(labels.rows) for bags in opened.cells)
    learning = Learning(released, original, labels.numbers, len(labels.names))
    notes = () if opened.job.test is None else ("counts are tested on folds; the test file was not used",)
    return [utility_of(learning, TfIdf(), f"classify by {opened.job.label_field}", notes)]


def retrieve(opened: CountedTexts) -> list[Utility]:
    return [retrieval(*opened.cells)]


def topics(opened: CountedTexts) -> list[Utility]:
    return [topic_agreement(*opened.words)]


def _bags(table: Any, names: list[str]) -> Bags:
    counts = sparse.csr_array(table if sparse.issparse(table) else np.asarray(table)).astype(np.int64)
    counts.data = np.maximum(counts.data, 0)
    counts.eliminate_zeros()
    return Bags(counts, names)


ROOM = MeasureRoom(
    CountedTexts,
    (
        UseTask("classify", classify, asks=("label",)),
        UseTask("retrieve", retrieve),
        UseTask("topics", topics),
    ),
)
