"""Attack a release of labels: does a party's view tell anything, and how good a copy of the model do the labels make?

Views are recorded on this machine, by the engine itself, on a toy network (`views`): they are about the protocol, not about
this release. For the copy, the original texts (`--truth`) are encoded again.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from textveil.attacks.mpc.seen import LabelsSeen, ViewsSeen
from textveil.core import BadInput
from textveil.mpc.inputs import Inputs
from textveil.noise import Source
from textveil.recipes.audit import AuditJob, AuditRoom, Filling
from textveil.recipes.mpc.views import record_views
from textveil.text.readers import open_reader

SHIPPED = ("minilm", "default")
RUNS = 60


class LabelFolder:
    """The labels of a release, and the texts they belong to where these are given."""

    def __init__(self, job: AuditJob, manifest: dict[str, Any]):
        self._job, self._parameters = job, manifest["parameters"]
        lines = (job.folder / manifest["data"]).read_text(encoding="utf-8").splitlines()
        self._labels = [json.loads(line)["label"] for line in lines]
        self.trust = self._parameters.get("trust")

    def views(self, rng: Source) -> ViewsSeen:
        """What a party sees, run by run."""
        return record_views(RUNS)

    def labels(self, rng: Source) -> LabelsSeen:
        """The texts as the network reads them, and their labels."""
        job = self._job
        assert job.truth is not None
        if self._parameters.get("encoder") not in SHIPPED:
            raise BadInput("the encoder of this release does not ship with Textveil")
        texts = [record.text for record in open_reader(job.truth, columns=(), **job.reading())]
        if len(texts) != len(self._labels):
            raise BadInput(f"has {len(texts):,} texts, and the release {len(self._labels):,} labels", where=job.truth)
        names = sorted(set(self._labels), key=str)
        numbers = np.array([names.index(label) for label in self._labels], dtype=np.int64)
        return LabelsSeen(Inputs(self._parameters["inputs"]).rows(texts), numbers)


ROOM = AuditRoom(
    open=LabelFolder,
    fillings=(
        Filling(ViewsSeen, LabelFolder.views, applies=lambda opened: opened.trust == "dealer"),
        Filling(LabelsSeen, LabelFolder.labels, asks=("truth",)),
    ),
)

__all__ = ["ROOM", "LabelFolder"]
